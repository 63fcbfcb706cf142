"""A chat with a model in a browser: its words come one after another, and what waits for a person is in view."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import ViewportSize, expect

from tests.browser.layout import find_layout_faults
from tests.browser.pictures import THEMES
from tests.factories import bundle, tool
from tests.model_servers import ModelServer, model_server
from tests.servers import run_manage
from tests.vendors import Reply, tool_names

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.servers import Studio

pytestmark = [pytest.mark.browser, pytest.mark.slow]
POEM = " ".join(f"{number} bottles of <b>tea</b> on the wall,\n" for number in range(60, 0, -1))
# The worker is a process that starts.
_SLOW_MS = 60_000
_SIZES: tuple[ViewportSize, ...] = ({"width": 390, "height": 844}, {"width": 1440, "height": 900})


def poet(body: Any) -> Reply:
    """Loads tea, recites, and wants to order where the user says so."""
    if "tea__tea_order" not in tool_names(body):
        return "", [("capability_skill_load", {"capability_id": "tea"})]
    if [one["role"] for one in body["messages"]].count("tool") > 1:
        return "Ordered.", []
    wants_order = any("order tea" in str(one["content"]) for one in body["messages"] if one["role"] == "user")
    return POEM, [("tea__tea_order", {})] if wants_order else []


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    with model_server("openai", poet) as found:
        yield found


@pytest.fixture(scope="module")
def studio_settings(server: ModelServer) -> dict[str, str]:
    return {"MODEL_URL": server.url, "MODEL_NAMES": "small"}


@pytest.fixture(autouse=True)
def tea(studio: Studio, tmp_path: Path) -> None:
    folder = tmp_path / "tea"
    folder.mkdir()
    for name, text in bundle("tea", [tool("tea_order", "write")]).items():
        (folder / name).write_text(text, "utf-8")
    run_manage("bundle", "publish", str(folder), env=studio.env)


@pytest.fixture
def words(server: ModelServer) -> Iterator[threading.Semaphore]:
    """Each permit lets the model write one event more."""
    found = threading.Semaphore(0)
    server.before_event = lambda: found.acquire(timeout=60)
    server.hung_up.clear()
    yield found
    server.before_event = lambda: None
    found.release(100_000)


@contextmanager
def _worker(studio: Studio) -> Iterator[None]:
    """Plays beside the test until nothing is due; the model has to have said all by the end of the block."""
    thread = threading.Thread(target=studio.manage, args=["worker", "--once"])
    thread.start()
    try:
        yield
    finally:
        thread.join()


def _ask(page: Page, studio: Studio, message: str) -> None:
    page.goto(f"{studio.url}/playground/model/")
    page.get_by_label("User message").fill(message)
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("button", name="Stop")).to_be_visible()


def _take(page: Page, name: str, button: str) -> None:
    """See that the page fits and opens with this button in view; CHAT_PICTURES names a folder for pictures of it."""
    for size in _SIZES:
        page.set_viewport_size(size)
        page.reload()
        expect(page.get_by_role("button", name=button)).to_be_in_viewport(ratio=1)
        assert find_layout_faults(page) == [], f"{name}, {size}"
        for theme in THEMES if "CHAT_PICTURES" in os.environ else ():
            page.emulate_media(color_scheme=theme)
            page.wait_for_timeout(1500)
            page.screenshot(path=f"{os.environ['CHAT_PICTURES']}/{name}-{size['width']}-{theme}.png")
    page.emulate_media(color_scheme="light")


def test_words_come_one_after_another_and_a_stop_ends_them(
    studio: Studio, server: ModelServer, words: threading.Semaphore, as_role: Callable[[str], Page]
) -> None:
    page = as_role("author")
    _ask(page, studio, "recite about tea")
    with _worker(studio):
        try:
            # The load of tea, which is ten events or more, and the first words.
            words.release(40)
            said = page.locator(".bubble--studio").last
            expect(said).to_contain_text("60 bottles of <b>tea</b>", timeout=_SLOW_MS)
            expect(said).not_to_contain_text("55 bottles")
            expect(said.locator("b")).to_have_count(0)
            _take(page, "writing", "Stop")
            words.release(60)
            expect(said).to_contain_text("55 bottles")
            # What is being written is followed.
            expect(page.get_by_role("button", name="Stop")).to_be_in_viewport()
            page.get_by_role("button", name="Stop").click()
            expect(page.get_by_text("Broken off: this is not part of the chat.")).to_be_visible()
            expect(page.get_by_role("button", name="Ask again")).to_be_in_viewport()
            # The model notices at its next words that nobody listens.
            for _ in range(100):
                words.release()
                if server.hung_up.wait(0.1):
                    break
        finally:
            words.release(100_000)
    assert server.hung_up.is_set()
    _take(page, "stopped", "Ask again")


@pytest.mark.parametrize("motion", ["no-preference", pytest.param("reduce", marks=pytest.mark.rare)])
def test_an_approval_is_brought_into_view_with_the_focus(
    studio: Studio, words: threading.Semaphore, as_role: Callable[[str], Page], motion: Any
) -> None:
    page = as_role("author")
    page.emulate_media(reduced_motion=motion)
    page.add_init_script(
        "const scroll = Element.prototype.scrollIntoView; window.scrolls = [];"
        "Element.prototype.scrollIntoView = function (how) {"
        "  window.scrolls.push(how.behavior); scroll.call(this, how); };"
    )
    _ask(page, studio, "order tea")
    # Somebody reads from the top while it is written.
    words.release(100_000)
    with _worker(studio):
        pass
    heading = page.get_by_role("heading", name="The agent asks before it writes")
    expect(heading).to_be_focused(timeout=_SLOW_MS)
    expect(page.get_by_role("button", name="Approve call")).to_be_in_viewport(ratio=1)
    assert page.evaluate("window.scrolls.at(-1)") == ("auto" if motion == "reduce" else "smooth")
    page.keyboard.press("Enter")
    expect(heading).to_be_visible()
    _take(page, f"approval-{motion}", "Approve call")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Approve call")).to_be_focused()
    page.keyboard.press("Enter")
    with _worker(studio):
        pass
    expect(page.get_by_text("Ordered.")).to_be_in_viewport(timeout=_SLOW_MS)


def test_somebody_who_types_keeps_the_focus(
    studio: Studio, words: threading.Semaphore, as_role: Callable[[str], Page]
) -> None:
    page = as_role("author")
    _ask(page, studio, "order tea")
    page.keyboard.press("Control+k")
    search = page.locator("#palette input")
    search.press_sequentially("te")
    words.release(100_000)
    with _worker(studio):
        pass
    expect(page.get_by_role("button", name="Approve call", include_hidden=True)).to_be_attached(timeout=_SLOW_MS)
    search.press_sequentially("a")
    expect(search).to_be_focused()
    expect(search).to_have_value("tea")
