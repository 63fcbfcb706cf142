"""Log lines: what stands in them, and what never does."""

from __future__ import annotations

import io
import json
import logging
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from ipaddress import ip_network
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from registry.common.log_context import bind_context, current_context
from registry.core import queries
from registry.core.jobs import queue
from registry.core.jobs.queue import HANDLERS
from registry.core.transactions import write_transaction
from studio.config.logging import JsonFormatter, TextFormatter, redact_secrets
from tests.factories import agent_key, publish

Lines = Callable[[], list[dict[str, Any]]]


@pytest.fixture
def stream() -> Iterator[tuple[io.StringIO, logging.Handler]]:
    """What the root logger writes, whatever its level in the settings."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonFormatter())
    root, access = logging.getLogger(), logging.getLogger("studio.pages.permissions")
    levels = (root.level, access.level)
    root.addHandler(handler)
    root.setLevel("INFO")
    access.setLevel("INFO")
    yield stream, handler
    root.removeHandler(handler)
    root.setLevel(levels[0])
    access.setLevel(levels[1])


@pytest.fixture
def lines(stream: tuple[io.StringIO, logging.Handler], settings: Settings) -> Lines:
    settings.ACCESS_LOG = True
    return lambda: [json.loads(line) for line in stream[0].getvalue().splitlines()]


def test_a_line_is_one_json_object(lines: Lines) -> None:
    with bind_context(request_id="r1"):
        logging.getLogger("registry.test").warning("two\nlines and %s", "a value")
    (line,) = lines()
    assert {name: line[name] for name in ("level", "logger", "message", "request_id")} == {
        "level": "WARNING",
        "logger": "registry.test",
        "message": "two\nlines and a value",
        "request_id": "r1",
    }
    at = datetime.fromisoformat(line["time"])
    assert at.utcoffset() == timedelta(0)
    assert abs(datetime.now(UTC) - at) < timedelta(minutes=1)


def test_an_exception_is_a_field(lines: Lines) -> None:
    try:
        int("broken")
    except ValueError:
        logging.getLogger("registry.test").exception("it failed")
    (line,) = lines()
    assert line["message"] == "it failed"
    assert line["exception"].startswith("Traceback")
    assert line["exception"].endswith("'broken'")


def test_text_carries_the_id_too() -> None:
    record = logging.LogRecord("registry.test", logging.WARNING, "", 0, "said %s", ("so",), None)
    with bind_context(request_id="r1", route="x"):
        assert re.fullmatch(r"\d{4}-.* WARNING registry.test: said so request_id=r1", TextFormatter().format(record))
    assert TextFormatter().format(record).endswith(": said so")


def test_work_within_work_and_its_end() -> None:
    with bind_context(request_id="r1"):
        with bind_context(job_id="7"):
            assert current_context() == {"request_id": "r1", "job_id": "7"}
        assert current_context() == {"request_id": "r1"}
    assert current_context() == {}


@pytest.mark.parametrize(
    "secret",
    [
        "csk_Ui0pbsBi25LzheqLu8d0a014w-VwfLwzX5r296mjOyY",
        "Authorization: Bearer s3cret-word",
        "SKILL-AB12-CD34-EF56",
        "/share/kXa93_jd-93kd/.well-known",
        "Forbidden (CSRF token missing.): /welcome/7/d1kz2p-abc0123456789/",
        "postgresql://studio:s3cret@db/studio",
        "Cookie: studio_session=abc; a=b",
        "/install?code=SKILL-AB12-CD34-EF56&x=1",
        "/open?x=1&token=abcdef",
    ],
)
def test_what_opens_something_is_hidden(secret: str) -> None:
    found = redact_secrets(f"before {secret}")
    assert "[hidden]" in found
    assert not re.search("csk_U|s3cret|AB12|kXa93|abc", found)


@pytest.mark.slow
@pytest.mark.django_db
def test_an_access_line_says_who_asked_for_what(client: Client, lines: Lines, settings: Settings) -> None:
    settings.TRUSTED_PROXIES = (ip_network("127.0.0.1"),)
    publish()
    key = agent_key("read", name="reader")
    headers = {
        "Authorization": f"Bearer {key}",
        "X-Forwarded-For": "203.0.113.7",
        "X-Request-ID": "from-the-proxy.1",
    }
    answer = client.get("/api/v1/capability_skill_load?capability_id=alpha", headers=headers)
    assert answer.headers["X-Request-ID"] == "from-the-proxy.1"
    (line,) = [line for line in lines() if line["logger"] == "studio.pages.permissions"]
    assert line["duration_ms"] > 0
    expected = {
        "level": "INFO",
        "method": "GET",
        "route": "capability_skill_load",
        "status": 200,
        "key": "reader",
        "client": "203.0.113.7",
        "request_id": "from-the-proxy.1",
    }
    assert {name: line[name] for name in expected} == expected
    assert "alpha" not in json.dumps(line)


@pytest.mark.django_db
def test_an_access_line_names_the_operator(signed_in: Any, lines: Lines) -> None:
    client = signed_in("viewer")
    client.get("/capabilities/")
    line = lines()[-1]
    assert (line["route"], line["operator"], line["status"]) == ("studio:capability_list", "the-viewer", 200)


@pytest.mark.django_db
def test_there_is_no_access_line_where_it_is_off(client: Client, lines: Lines, settings: Settings) -> None:
    settings.ACCESS_LOG = False
    client.get("/healthz")
    assert lines() == []


@pytest.mark.django_db
def test_no_secret_reaches_the_log(signed_in: Any, client: Client, lines: Lines, settings: Settings) -> None:
    settings.AGENT_API_PUBLIC_READ = False
    browser = signed_in("admin")
    cookie = browser.cookies[settings.SESSION_COOKIE_NAME].value
    key = agent_key("read")
    browser.get("/capabilities/?code=hush-hush-1")
    client.post("/sign-in/", {"username": "ada", "password": "hush-hush-2"})
    client.get("/api/v1/capability_registry_list", headers={"Authorization": f"Bearer {key}"})
    client.get("/api/v1/capability_registry_list", headers={"Authorization": "Bearer hush-hush-3"})
    client.get("/nowhere/hush-hush-4?token=hush-hush-5")
    written = json.dumps(lines())
    assert len(lines()) == 5
    for secret in (key, cookie, "hush-hush"):
        assert secret not in written


@pytest.mark.django_db
def test_a_job_logs_with_its_id(lines: Lines, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(HANDLERS, "noisy", lambda lease: logging.getLogger("registry.noisy").warning("at it"))
    with write_transaction():
        job, _ = queue.enqueue("noisy", {})
    assert queue.run_next_job() == "done"
    assert {(line["logger"], line["job_id"]) for line in lines()} == {
        ("registry.noisy", str(job.pk)),
        ("registry.core.jobs.queue", str(job.pk)),
    }


@pytest.mark.django_db
def test_what_failed_is_found_by_its_id(client: Client, lines: Lines, monkeypatch: pytest.MonkeyPatch) -> None:
    from agent_api.v1 import views

    def fail(*args: Any) -> None:
        raise RuntimeError("the cause")

    monkeypatch.setattr(views, "parse_query", fail)
    answer = client.get("/api/v1/capability_registry_list")
    request_id = answer.headers["X-Request-ID"]
    assert (answer.status_code, answer.json()["error"]["request_id"]) == (500, request_id)
    (error,) = [line for line in lines() if "exception" in line and line["logger"].startswith("agent_api")]
    assert error["request_id"] == request_id
    assert error["exception"].endswith("RuntimeError: the cause")


@pytest.mark.django_db
def test_the_page_of_a_failure_shows_its_id(signed_in: Any, lines: Lines, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(**_: object) -> None:
        raise RuntimeError("the cause")

    monkeypatch.setattr(queries, "list_capabilities", fail)
    client = signed_in("viewer")
    client.raise_request_exception = False
    answer = client.get("/capabilities/")
    request_id = answer.headers["X-Request-ID"]
    assert answer.status_code == 500
    assert f"<code>{request_id}</code>" in answer.content.decode()
    assert request_id in {line["request_id"] for line in lines() if "exception" in line}


@pytest.mark.parametrize(
    ("peer", "given", "is_taken"),
    [
        ("127.0.0.1", "a-Z_0.9", True),
        ("127.0.0.1", "x" * 128, True),
        ("127.0.0.1", "x" * 129, False),
        ("127.0.0.1", "a b", False),
        ("127.0.0.1", "a\tb", False),
        ("127.0.0.1", "é", False),
        ("127.0.0.1", "", False),
        ("192.0.2.1", "a-Z_0.9", False),
    ],
)
def test_whose_id_is_taken(client: Client, settings: Settings, peer: str, given: str, is_taken: bool) -> None:
    settings.TRUSTED_PROXIES = (ip_network("127.0.0.0/8"),)
    answer = client.get("/healthz", headers={"X-Request-ID": given}, REMOTE_ADDR=peer)
    if is_taken:
        assert answer.headers["X-Request-ID"] == given
    else:
        assert re.fullmatch("[0-9a-f]{32}", answer.headers["X-Request-ID"])
