"""A person lets an assistant in by a real browser: from its link to the page that waits for the code."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx2
import pytest
from playwright.sync_api import expect

from features.oauth.tests.assistant import challenge_of
from tests.browser.accessibility import find_violations
from tests.browser.layout import find_layout_faults
from tests.browser.steps import PASSWORD, sign_in
from tests.servers import Studio, free_port

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.slow]
VERIFIER = "v" * 43
# As if they had shown who they are long ago.
AGED = (
    "from django.contrib.sessions.backends.db import SessionStore\n"
    "from django.contrib.sessions.models import Session\n"
    "for row in Session.objects.all():\n"
    "    store = SessionStore(row.session_key)\n"
    "    store['identity_confirmed_at'] = 1\n"
    "    store.save()\n"
)


@pytest.fixture(scope="module")
def studio_settings() -> dict[str, str]:
    port = str(free_port())
    return {"PORT": port, "PUBLIC_URL": f"http://127.0.0.1:{port}", "AGENT_API_PUBLIC_READ": "off"}


@pytest.fixture
def arrivals() -> Iterator[tuple[str, list[dict[str, str]]]]:
    """The address of a program on this computer, and what browsers have brought there."""
    seen: list[dict[str, str]] = []

    class Callback(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append({name: values[0] for name, values in parse_qs(urlsplit(self.path).query).items()})
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<title>Back</title><link rel=icon href=data:,><h1>Back at the assistant</h1>")

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Callback)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/callback", seen
    server.shutdown()
    server.server_close()


def _begin(studio: Studio, callback: str) -> tuple[str, str]:
    """The id of a client that has registered, and the link that it opens."""
    said = {"redirect_uris": ["http://127.0.0.1/callback"], "client_name": "Desk helper"}
    client_id = httpx2.post(f"{studio.url}/oauth/register", json=said).json()["client_id"]
    given = {
        "response_type": "code",
        "client_id": client_id,
        "redirect_uri": callback,
        "state": "s",
        "scope": "read feedback propose",
        "code_challenge": challenge_of(VERIFIER),
        "code_challenge_method": "S256",
    }
    return client_id, f"{studio.url}/oauth/authorize?{urlencode(given)}"


def test_a_person_signs_in_allows_it_and_is_back_at_the_assistant(
    studio: Studio, page: Page, arrivals: tuple[str, list[dict[str, str]]]
) -> None:
    callback, seen = arrivals
    client_id, link = _begin(studio, callback)
    page.goto(link)
    page.get_by_label("Username").fill("the-author")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.get_by_label("Hand over texts").uncheck()
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        assert (find_layout_faults(page), find_violations(page)) == ([], [])
    _picture(page, "allow")
    page.get_by_role("button", name="Allow access").click()
    expect(page.get_by_role("heading", name="Back at the assistant")).to_be_visible()
    (answer,) = seen
    assert (answer["state"], answer["iss"]) == ("s", studio.url)
    given = {"grant_type": "authorization_code", "code": answer["code"], "client_id": client_id}
    given |= {"redirect_uri": callback, "code_verifier": VERIFIER}
    tokens = httpx2.post(f"{studio.url}/oauth/token", data=given).json()
    assert tokens["scope"] == "read feedback"

    page.goto(f"{studio.url}/security/")
    _picture(page, "security")
    if os.environ.get("CONNECT_PICTURES"):
        other = page.context.browser.new_page()  # type: ignore[union-attr]
        sign_in(other, studio.url, "the-admin", PASSWORD)
        for name, address in (("list", "/connections/"), ("fault", "/oauth/authorize?client_id=nobody")):
            other.goto(studio.url + address)
            _picture(other, name)
    page.get_by_role("button", name="End connection to localhost").click()
    page.get_by_role("dialog").get_by_role("button", name="End connection").click()
    expect(page.get_by_text("The connection has ended.")).to_be_visible()
    headers = {"Authorization": f"Bearer {tokens['access_token']}"}
    call = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    assert httpx2.post(f"{studio.url}/mcp", json=call, headers=headers).status_code == 401


def test_a_person_who_is_asked_for_the_password_is_led_on_to_the_assistant(
    studio: Studio, page: Page, arrivals: tuple[str, list[dict[str, str]]], allowed_on_console: list[str]
) -> None:
    # The page that asks for the password.
    allowed_on_console.append("status of 403")
    callback, seen = arrivals
    _, link = _begin(studio, callback)
    page.goto(link)
    page.get_by_label("Username").fill("the-author")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_role("button", name="Allow access")).to_be_visible()
    studio.manage("shell", "-c", AGED)
    page.get_by_role("button", name="Allow access").click()
    page.get_by_label("Your password").fill(PASSWORD)
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("heading", name="Back at the assistant")).to_be_visible()
    assert "code" in seen[-1]


def _picture(page: Page, name: str) -> None:
    """Pictures in both widths and themes, where somebody asks for them."""
    folder = os.environ.get("CONNECT_PICTURES")
    if not folder:
        return
    themes: tuple[Literal["light", "dark"], ...] = ("light", "dark")
    for theme in themes:
        page.emulate_media(color_scheme=theme)
        for width in (1440, 390):
            page.set_viewport_size({"width": width, "height": 900})
            page.screenshot(path=str(Path(folder) / f"{name}-{theme}-{width}.png"), full_page=True)
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": 1280, "height": 900})
