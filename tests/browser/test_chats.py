"""A chat with a model in a browser: its words come one after another, and what waits for a person is in view."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest
from playwright.sync_api import ViewportSize, expect

from capability_client.session.message_export import FROM_SESSION
from tests.browser.accessibility import find_violations
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
    page.goto(f"{studio.url}/playground/")
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
        _picture(page, f"{name}-{size['width']}")


def _picture(page: Page, name: str) -> None:
    for theme in THEMES if "CHAT_PICTURES" in os.environ else ():
        page.emulate_media(color_scheme=theme)
        page.wait_for_timeout(700)
        page.screenshot(path=f"{os.environ['CHAT_PICTURES']}/{name}-{theme}.png")
    page.emulate_media(color_scheme="light")


def _look(page: Page, name: str) -> None:
    """See that a state of the page fits on a phone and a desk, and that axe finds nothing."""
    for size in _SIZES:
        page.set_viewport_size(size)
        page.reload()
        page.wait_for_timeout(300)
        assert find_layout_faults(page) == [], f"{name}, {size}"
        assert find_violations(page) == [], f"{name}, {size}"
        _picture(page, f"{name}-{size['width']}")


def _go_on(page: Page, studio: Studio, button: str) -> None:
    page.get_by_role("button", name=button).click()
    with _worker(studio):
        pass


def test_words_come_one_after_another_and_a_stop_ends_them(
    studio: Studio, server: ModelServer, words: threading.Semaphore, as_role: Callable[[str], Page]
) -> None:
    page = as_role("author")
    _ask(page, studio, "recite about tea")
    with _worker(studio):
        try:
            # The load of tea, which is ten events or more, and the first words.
            words.release(40)
            said = page.locator(".reply").last
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


VISIT_FORM: Final = {
    "schema_id": "VisitForm.v1",
    "title": "Book a visit",
    "description": "Where and when.",
    "a2ui_version": "v0.9.1",
    "actions": {"send": {"reply": True}},
    "definition": {
        "catalogId": "https://a2ui.org/specification/v0_9/catalogs/basic/catalog.json",
        "components": [
            {"id": "root", "component": "Column", "children": ["where", "send"]},
            {"id": "where", "component": "TextField", "label": "Street", "value": {"path": "/street"}},
            {"id": "send", "component": "Button", "child": "label",
             "action": {"event": {"name": "send", "context": {"value": {"path": "/street"}}}}},
            {"id": "label", "component": "Text", "text": "Send"},
        ],
        "dataModel": {"street": ""},
    },
}  # fmt: skip
BOOKED: Final[dict[str, Any]] = {
    "street": "12 Harbor Lane",
    "day": "2026-12-04",
    "pianos": 2,
    "note": "Upright, third floor",
}


def tuner(body: Any) -> Reply:
    """Loads the visits, and does what the user says: a form, a booking, or a long word."""
    talk = [one for one in body["messages"] if not str(one["content"]).startswith(FROM_SESSION)]
    place = max(number for number, one in enumerate(talk) if one["role"] == "user")
    said, after = str(talk[place]["content"]), talk[place:]
    if "visits__visit_book" not in tool_names(body):
        return "I look up how visits are booked.", [("capability_skill_load", {"capability_id": "visits"})]
    if any(one["role"] == "tool" and "loaded" not in str(one["content"]) for one in after):
        return "Thank you. Is there anything else?", []
    if "form" in said:
        return "", [("form_open", {"schema_id": "VisitForm.v1"})]
    return (LONG, []) if "story" in said else ("I'd book this visit:", [("visits__visit_book", BOOKED)])


LONG: Final = "A piano is tuned from its middle octave outward, string by string, and then again.\n\n" * 40


def test_every_state_of_a_conversation_fits_and_is_accessible(
    studio: Studio, server: ModelServer, tmp_path: Path, as_role: Callable[[str], Page]
) -> None:
    folder = tmp_path / "visits"
    folder.mkdir()
    arguments: dict[str, Any] = {"street": {"type": "string"}, "day": {"type": "string", "format": "date"}}
    arguments |= {"pianos": {"type": "integer"}, "note": {"type": "string", "maxLength": 400}}
    files = bundle(
        "visits", [tool("visit_book", "write", arguments)], name="Piano tuning visits", intent_triggers=["tuning"],
        body="Book visits.\n\n## UI\n\n- `VisitForm.v1`: where.",
    )  # fmt: skip
    for name, text in (files | {"ui_schemas.json": json.dumps([VISIT_FORM])}).items():
        (folder / name).write_text(text, "utf-8")
    run_manage("bundle", "publish", str(folder), env=studio.env)
    page = as_role("author")
    page.goto(f"{studio.url}/playground/")
    _look(page, "welcome")
    page.goto(f"{studio.url}/playground/?m=tuning+please")
    _look(page, "matched")
    server.vendor.reply = tuner
    try:
        _ask(page, studio, "I need a tuning")
        with _worker(studio):
            pass
        expect(page.get_by_role("button", name="Approve call")).to_be_visible(timeout=_SLOW_MS)
        drawn = page.frame_locator(".awaited iframe")
        expect(drawn.locator("input").first).to_have_value("12 Harbor Lane")
        _look(page, "waiting")
        _go_on(page, studio, "Decline call")
        expect(page.get_by_text("You declined")).to_be_visible(timeout=_SLOW_MS)
        _look(page, "declined")
        for message, decided in (("Book it then", "Approve call"), ("Show me the form", "")):
            page.get_by_label("User message").fill(message)
            _go_on(page, studio, "Send")
            if decided:
                expect(page.get_by_role("button", name=decided)).to_be_visible(timeout=_SLOW_MS)
                _go_on(page, studio, decided)
                expect(page.get_by_text("You approved")).to_be_visible(timeout=_SLOW_MS)
                _look(page, "approved")
        form = page.frame_locator(".awaited iframe")
        form.locator("input").first.fill("9 Mill Road")
        _look_filled(page)
        page.frame_locator(".awaited iframe").get_by_role("button", name="Send").click()
        with _worker(studio):
            pass
        expect(page.get_by_text("You sent it")).to_be_visible(timeout=_SLOW_MS)
        expect(page.get_by_text("9 Mill Road").first).to_be_visible()
        _look(page, "sent")
        server.faults += ["error_event"]
        page.get_by_label("User message").fill("Tell me a story")
        _go_on(page, studio, "Send")
        expect(page.get_by_text("It went wrong")).to_be_visible(timeout=_SLOW_MS)
        _look(page, "refused")
        _go_on(page, studio, "Ask again")
        for _time in range(4):
            page.get_by_label("User message").fill("Tell me a story again")
            _go_on(page, studio, "Send")
            expect(page.get_by_label("User message")).to_be_visible(timeout=_SLOW_MS)
        _look(page, "long")
    finally:
        server.vendor.reply = poet


def _look_filled(page: Page) -> None:
    page.wait_for_timeout(300)
    assert find_violations(page) == []
    for size in _SIZES:
        page.set_viewport_size(size)
        _picture(page, f"form-{size['width']}")
