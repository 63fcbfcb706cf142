"""Second factors in a real browser: an authenticator app, a recovery code, and passkeys of a virtual authenticator."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.browser.steps import PASSWORD
from tests.second_factors import app_code

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.servers import Studio

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(autouse=True)
def allowed_on_console(allowed_on_console: list[str]) -> list[str]:
    # Pages that ask again who somebody is, and those that say that a code is wrong.
    allowed_on_console.append(r"status of (400|403)")
    return allowed_on_console


@pytest.fixture
def url(studio: Studio) -> str:
    """By name: passkeys belong to names, not to addresses."""
    return studio.url.replace("127.0.0.1", "localhost")


def _sign_in(page: Page, url: str, name: str) -> None:
    page.goto(f"{url}/sign-in/")
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()


def _sign_out(page: Page) -> None:
    page.locator("details.user summary").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def _check(page: Page) -> None:
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()


def _add_authenticator(page: Page) -> None:
    session = page.context.new_cdp_session(page)
    session.send("WebAuthn.enable")
    options = {"protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True,
               "isUserVerified": True, "automaticPresenceSimulation": True}  # fmt: skip
    session.send("WebAuthn.addVirtualAuthenticator", {"options": options})


def test_an_app_and_a_recovery_code(page: Page, url: str) -> None:
    _sign_in(page, url, "the-author")
    page.goto(f"{url}/security/")
    _check(page)
    page.get_by_role("button", name="Set up app").click()
    _check(page)
    secret = page.locator("code.secret").inner_text().replace(" ", "")
    page.get_by_label("The app's 6 digits").fill("000000")
    page.get_by_role("button", name="Turn on").click()
    expect(page.get_by_role("alert")).to_contain_text("not correct")
    page.get_by_label("The app's 6 digits").fill(app_code(-1, secret=secret))
    page.get_by_role("button", name="Turn on").click()
    codes = page.locator(".codes li").all_inner_texts()
    assert len(codes) == 10
    _check(page)
    _sign_out(page)

    _sign_in(page, url, "the-author")
    expect(page.get_by_role("heading", name="Confirm that it's you")).to_be_visible()
    _check(page)
    page.goto(f"{url}/capabilities/")
    expect(page).to_have_url(re.compile("/sign-in/"))
    page.goto(f"{url}/sign-in/second-step/")
    page.get_by_label("Code").fill("123456")
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("alert")).to_contain_text("not correct")
    page.get_by_label("Code").fill(app_code(secret=secret))
    page.get_by_role("button", name="Continue").click()
    expect(page).to_have_url(f"{url}/")
    _sign_out(page)

    _sign_in(page, url, "the-author")
    page.get_by_label("Code").fill(codes[0])
    page.get_by_role("button", name="Continue").click()
    expect(page).to_have_url(f"{url}/")
    page.goto(f"{url}/security/")
    expect(page.get_by_text("9 codes are left.")).to_be_visible()


def test_a_passkey_is_made_and_signs_in_alone(page: Page, url: str) -> None:
    _add_authenticator(page)
    _sign_in(page, url, "the-publisher")
    page.goto(f"{url}/security/")
    page.get_by_role("button", name="Add passkey").click()
    _check(page)
    page.get_by_label("Name").fill("Work laptop")
    page.get_by_role("button", name="Create passkey").click()
    expect(page.get_by_label("Name of passkey Work laptop")).to_be_visible()
    expect(page.locator(".codes li")).to_have_count(10)
    _sign_out(page)

    page.get_by_role("button", name="Sign in with a passkey").click()
    expect(page).to_have_url(f"{url}/")
    _sign_out(page)

    # After the password it is the second step.
    _sign_in(page, url, "the-publisher")
    page.get_by_role("button", name="Use a passkey").click()
    expect(page).to_have_url(f"{url}/")

    page.goto(f"{url}/security/")
    page.get_by_label("Name of passkey Work laptop").fill("Old laptop")
    page.get_by_role("button", name="Rename passkey Work laptop").click()
    page.get_by_role("button", name="Remove passkey Old laptop").click()
    page.get_by_role("button", name="Remove passkey", exact=True).click()
    expect(page.get_by_text("Passkey “Old laptop” removed.")).to_be_visible()


def test_a_browser_without_passkeys_says_nothing_of_them(page: Page, url: str) -> None:
    page.context.add_init_script("delete window.PublicKeyCredential")
    page.goto(f"{url}/sign-in/")
    expect(page.get_by_role("button", name="Sign in with a passkey")).to_be_hidden()
    _check(page)
