"""Databases, servers and browsers for every test; `tests/choice.py` says which tests run where."""

from __future__ import annotations

import gc
import json
import os
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import hypothesis
import pytest

from tests.choice import TIERS, choose, is_left_out, pytest_addoption
from tests.servers import Server, Studio, lend_studio, start_postgresql, start_redis
from tests.shared_folders import shared_root

# Hooks that pytest finds here.
__all__ = ["pytest_addoption"]

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

# How long an example takes says how busy the machine is.
hypothesis.settings.register_profile("suite", deadline=None)
hypothesis.settings.load_profile("suite")
_TESTS = Path(__file__).parent / "tests"
# What starts servers fails now and then on a busy machine for want of time: it is tried once more, and the closing line
# counts it. Any other test has no such excuse, unless it is marked `depends_on_speed` with the reason.
_WITH_SERVERS = tuple(_TESTS / folder for folder in ("browser", "integration", "system"))
# Of the files that are not slow, those that take seconds: whole pages are drawn.
_LONG = (_TESTS / "unit" / "studio",)
CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # To optimize code that runs for a second takes a quarter of a page's time.
    "--js-flags=--no-opt",
]


# As containers have it. Hundreds of processes are started here, on two databases one after the other, and each would
# compile Django, the product and the tests again: a fifth of the time of the suite.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# What is imported and collected lives on: the default would look through all of it thousands of times. `freeze` below
# takes it out of sight of whatever collects by hand too, as pytest does at its end.
gc.set_threshold(100_000, 50, 100)

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # As in a background job of a shell; the servers that tests interrupt would inherit it.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure() -> None:
    # Before there are processes that shall share it.
    shared_root()


def pytest_collection_finish() -> None:
    gc.freeze()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    return is_left_out(collection_path, config) or None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    choose(config, items)
    # Files are given out in this order: one that takes minutes must not be the last, with nothing to do for the others.
    ranks = _rank_slow_files(items)
    items.sort(key=lambda item: ranks.get(item.path, 1.0 if _is_within(item.path, _LONG) else 2.0))
    with_servers = {path for path in {item.path for item in items} if _is_within(path, _WITH_SERVERS)}
    for item in items:
        if item.path in with_servers or item.get_closest_marker("depends_on_speed"):
            item.add_marker(pytest.mark.flaky(reruns=1))


def _rank_slow_files(items: list[pytest.Item]) -> dict[Path, float]:
    """The place of each file of slow or rare tests, from 0 to 1: those of each folder are spread over the whole.

    Browsers take all of a core, and servers that are waited for none: side by side they take the time of one.
    """
    folders: dict[str, dict[Path, None]] = {}
    for item in items:
        if any(map(item.get_closest_marker, TIERS)):
            folders.setdefault(item.path.relative_to(_TESTS.parent).parts[1], {})[item.path] = None
    return {path: at / len(files) for files in folders.values() for at, path in enumerate(files)}


def _is_within(path: Path, folders: tuple[Path, ...]) -> bool:
    return any(path.is_relative_to(folder) for folder in folders)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    report = yield
    _refuse_skip(report, item.config)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Iterator[None]:
    report = yield
    _refuse_skip(report, collector.config)
    return report


def _refuse_skip(report: Any, config: pytest.Config) -> None:
    if report.skipped and not hasattr(report, "wasxfail") and config.getoption("--no-skips"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        report.outcome = "failed"
        report.longrepr = f"--no-skips: {reason}"


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print why tests were tried once more, and leave the counts for `run.py test`, which adds up both databases."""
    for report in terminalreporter.stats.get("rerun", []):
        # A try that passes at last hides the first failure, which may be the product's.
        terminalreporter.write_sep("_", f"first try of {report.nodeid}")
        terminalreporter.write_line(report.longreprtext)
    path = os.environ.get("STUDIO_TEST_COUNTS")
    if path:
        stats = terminalreporter.stats
        counted = ("passed", "failed", "error", "skipped", "xfailed", "xpassed", "deselected", "rerun")
        counts = {name: len(stats[name]) for name in counted if stats.get(name)}
        Path(path).write_text(json.dumps(counts))


@pytest.fixture(scope="session", autouse=True)
def _history_can_be_emptied(pytestconfig: pytest.Config) -> Iterator[None]:
    """A test with `transaction=True` empties every table at its end, also those that are append-only."""
    if not pytestconfig.pluginmanager.hasplugin("django"):
        # tests/packages.ini
        yield
        return
    from django.db import transaction
    from django.db.backends.base.operations import BaseDatabaseOperations

    from registry.core.append_only import lift_append_only

    flush = BaseDatabaseOperations.execute_sql_flush

    def lifted_flush(operations: BaseDatabaseOperations, statements: list[str]) -> None:
        with transaction.atomic(), lift_append_only():
            flush(operations, statements)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BaseDatabaseOperations, "execute_sql_flush", lifted_flush)
        yield


@pytest.fixture(scope="session", autouse=True)
def _pages_are_recorded_whole(pytestconfig: pytest.Config, request: pytest.FixtureRequest) -> Iterator[None]:
    """Django's tests copy the context of each template of a page, some sixty times: a fifth of the time of a page. What
    a test reads is what the view gave, the context of the outermost one."""
    if not pytestconfig.pluginmanager.hasplugin("django"):
        yield
        return
    request.getfixturevalue("django_test_environment")
    from django.template import Context, Template
    from django.test import utils

    name = "_render"
    recorded, plain = getattr(Template, name), vars(utils)["_TestState"].saved_data.template_render

    def render(template: Template, context: Context) -> Any:
        return (recorded if context.template is template else plain)(template, context)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Template, name, render)
        yield


@pytest.fixture(scope="session", autouse=True)
def _vectors_are_not_timed(pytestconfig: pytest.Config) -> Iterator[None]:
    """What a match finds must not depend on how fast the machine is: a busy one would compare words alone."""
    if not pytestconfig.pluginmanager.hasplugin("django"):
        yield
        return
    from features.evaluations import sides
    from registry.matching import index

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(index, "_SECONDS_AT_ONCE", 600.0)
        patch.setattr(sides, "_INDEX_SECONDS", 600.0)
        yield


@pytest.fixture(scope="session", autouse=True)
def _checks_are_not_timed() -> Iterator[None]:
    """What a check finds must not depend on how fast the machine is; tests of the limit set it themselves."""
    from capability_rules.validation import in_place

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(in_place, "SECONDS_MAX", 600.0)
        yield


@pytest.fixture(scope="session")
def postgresql_url() -> Iterator[str]:
    """An empty PostgreSQL of its own, for tests that start the whole product on it."""
    server = start_postgresql()
    yield server.url
    server.stop()


@pytest.fixture(scope="session")
def redis_server() -> Iterator[Server]:
    """A Redis that a test may stop."""
    if shutil.which("redis-server") is None:
        pytest.skip("needs Redis: apt install redis-server")
    server = start_redis()
    yield server
    server.stop()


@pytest.fixture
def redis_url(redis_server: Server) -> str:
    """An empty Redis database."""
    import redis

    with redis.Redis.from_url(redis_server.url) as client:
        client.flushall()
    return redis_server.url


@pytest.fixture(scope="session")
def node() -> str:
    """Node's program."""
    program = shutil.which("node")
    if program is None:
        pytest.skip("needs Node: apt install nodejs")
    return program


@pytest.fixture(scope="session")
def nginx() -> str:
    """nginx's program, which Debian keeps where only root looks."""
    program = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")
    if program is None:
        pytest.skip("needs nginx: apt install nginx")
    return program


@pytest.fixture(scope="module")
def live_studio() -> Iterator[Studio]:
    """The product with the examples published, as if it had just been started for the module."""
    with lend_studio() as studio:
        yield studio


def _chromium() -> str:
    # Without windows it is the same engine in a third of the time: tabs, toolbars and extensions are not there.
    names = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        pytest.skip("needs Chromium: apt install chromium-headless-shell")
    return found


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The Chromium of this machine; nothing is downloaded."""
    executable = _chromium()
    from playwright.sync_api import sync_playwright

    with pytest.MonkeyPatch.context() as patch:
        # Playwright keeps an event loop in this thread, which Django takes for a coroutine at work.
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=executable, args=CHROMIUM_FLAGS)
            yield browser
            browser.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page in a profile of its own.

    The test fails where a script threw, the Content-Security-Policy was broken or another host was asked for anything.
    """
    faults: list[str] = []
    # Colours on their way from one theme to the other would be measured else.
    context = browser.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    page = context.new_page()

    def record(fault: str) -> None:
        faults.append(f"{page.url}: {fault}")

    page.on("pageerror", lambda error: record(f"script: {error.stack or error}"))
    page.on("console", lambda line: record(line.text) if "Content Security Policy" in line.text else None)
    page.on("request", lambda request: record(f"asked {request.url}") if _is_foreign(request.url) else None)
    yield page
    context.close()
    assert not faults, faults


def _is_foreign(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme in {"http", "https", "ws", "wss"} and parts.hostname not in {"127.0.0.1", "localhost"}
