"""Sign-ins at a real OpenID Connect provider: roles from groups, refusals in words, and what the browser is asked."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator

import httpx2
import pytest

from tests.identity_provider import IdentityProvider, parameters_of, sign_in_at_provider, start_identity_provider
from tests.servers import Studio, start_studio

pytestmark = [pytest.mark.system, pytest.mark.slow]


@pytest.fixture(scope="module")
def provider() -> Iterator[IdentityProvider]:
    with start_identity_provider() as provider:
        yield provider


@pytest.fixture(scope="module")
def studio(provider: IdentityProvider, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    # Many sign-ins come from one address here.
    studio = start_studio(tmp_path_factory.mktemp("studio"), RATE_LIMITS="off", **provider.settings())
    yield studio
    studio.stop()


@pytest.fixture
def browser() -> Iterator[httpx2.Client]:
    with httpx2.Client(timeout=60) as client:
        yield client


def _members(studio: Studio) -> dict[str, str]:
    found = json.loads(studio.manage("operator", "list", "--format", "json").stdout)["operators"]
    return {row["name"]: row["role"] for row in found}


def test_the_first_sign_in_makes_an_account_with_the_role_of_the_groups(
    provider: IdentityProvider, studio: Studio, browser: httpx2.Client
) -> None:
    provider.set_person(
        "ada-1", preferred_username="ada", email="ada@example.com", name="Ada L", groups=["x", "studio-authors"]
    )
    page = sign_in_at_provider(browser, studio.url, "ada-1", query="?next=/capabilities/")
    assert (page.status_code, page.url.path) == (200, "/capabilities/")
    assert _members(studio)["ada"] == "author"
    assert "Members" not in page.text
    # The same person again: the same account.
    browser.cookies.clear()
    assert sign_in_at_provider(browser, studio.url, "ada-1").url.path == "/"
    assert sum(name.startswith("ada") for name in _members(studio)) == 1


def test_the_button_leads_to_the_provider_with_state_nonce_and_pkce(
    provider: IdentityProvider, studio: Studio, browser: httpx2.Client
) -> None:
    assert "Sign in with Example Login" in browser.get(f"{studio.url}/sign-in/").text
    asked = browser.get(f"{studio.url}/sign-in/oidc/")
    assert asked.status_code == 302
    assert asked.headers["Location"].startswith(f"{provider.url}/oauth2/authorize?")
    sent = parameters_of(asked.headers["Location"])
    assert {"state", "nonce", "code_challenge", "redirect_uri", "scope"} <= set(sent)
    assert (sent["response_type"], sent["code_challenge_method"]) == ("code", "S256")


def test_without_a_group_nobody_gets_in(provider: IdentityProvider, studio: Studio, browser: httpx2.Client) -> None:
    provider.set_person("eve-1", preferred_username="eve", groups=["elsewhere"])
    page = sign_in_at_provider(browser, studio.url, "eve-1")
    assert page.status_code == 403
    assert "None of your groups has access to this Studio." in page.text
    assert "eve" not in _members(studio)
    assert browser.get(f"{studio.url}/capabilities/").headers["Location"].startswith("/sign-in/")


def test_another_group_is_another_role_at_the_next_sign_in(
    provider: IdentityProvider, studio: Studio, browser: httpx2.Client
) -> None:
    provider.set_person("bob-1", preferred_username="bob", groups=["studio-publishers", "studio-authors"])
    sign_in_at_provider(browser, studio.url, "bob-1")
    assert _members(studio)["bob"] == "publisher"
    provider.set_person("bob-1", preferred_username="bob", groups=["studio-authors"])
    with httpx2.Client(timeout=60) as elsewhere:
        assert sign_in_at_provider(elsewhere, studio.url, "bob-1").url.path == "/"
    assert _members(studio)["bob"] == "author"
    # The session with the higher role has ended.
    assert browser.get(f"{studio.url}/capabilities/").status_code == 302
    provider.set_person("bob-1", preferred_username="bob", groups=[])
    with httpx2.Client(timeout=60) as last:
        assert sign_in_at_provider(last, studio.url, "bob-1").status_code == 403
        assert _members(studio)["bob"] == "author"


def test_a_name_that_a_local_account_has_is_refused(
    provider: IdentityProvider, studio: Studio, browser: httpx2.Client
) -> None:
    provider.set_person("mallory-1", preferred_username="admin", groups=["studio-admins"])
    page = sign_in_at_provider(browser, studio.url, "mallory-1")
    assert page.status_code == 403
    assert "There is a member named &#x27;admin&#x27; who signs in with a password." in page.text


def test_an_answer_without_the_state_of_this_browser_is_refused(
    provider: IdentityProvider, studio: Studio, browser: httpx2.Client
) -> None:
    provider.set_person("ada-2", preferred_username="ada2", groups=["studio-authors"])
    asked = browser.get(f"{studio.url}/sign-in/oidc/", follow_redirects=True)
    back = httpx2.post(str(asked.url), data={"sub": "ada-2"}).headers["Location"]
    with httpx2.Client(timeout=60) as other:
        assert other.get(back).status_code == 401
    assert browser.get(back.replace("state=", "state=x")).status_code == 401
    assert "ada2" not in _members(studio)
    # Cancelled there.
    cancelled = browser.get(f"{studio.url}/sign-in/oidc/callback/?error=access_denied")
    assert cancelled.status_code == 401


def test_confirming_who_one_is_asks_the_provider_again(
    provider: IdentityProvider, studio: Studio, browser: httpx2.Client
) -> None:
    asked = browser.get(f"{studio.url}/sign-in/oidc/?again=1&next=/keys/")
    sent = parameters_of(asked.headers["Location"])
    assert (sent["prompt"], sent["max_age"]) == ("login", "0")


def test_a_form_waits_while_the_provider_asks_again(
    provider: IdentityProvider, studio: Studio, browser: httpx2.Client
) -> None:
    person = {"preferred_username": "grace", "groups": ["studio-admins"]}
    provider.set_person("grace-1", **person, auth_time=1)
    sign_in_at_provider(browser, studio.url, "grace-1")
    asked = _send(browser, studio, browser.get(f"{studio.url}/keys/"), "/keys/", name="waiting", scopes="read")
    assert asked.status_code == 403
    found = re.search(r"/sign-in/oidc/(\?[^\"]+)", asked.text)
    assert found is not None
    provider.set_person("grace-1", **person)
    waiting = sign_in_at_provider(browser, studio.url, "grace-1", query=html.unescape(found[1]))
    assert (waiting.url.path, 'value="waiting"' in waiting.text) == ("/confirmed/", True)
    done = _send(browser, studio, waiting, "/keys/", name="waiting", scopes="read")
    assert (done.status_code, "csk_" in done.text) == (200, True)


def _send(browser: httpx2.Client, studio: Studio, page: httpx2.Response, path: str, **form: str) -> httpx2.Response:
    token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page.text)
    assert token is not None
    return browser.post(f"{studio.url}{path}", data={"csrfmiddlewaretoken": token[1], **form})


def test_pages_of_the_library_that_are_not_ours_do_not_exist(studio: Studio, browser: httpx2.Client) -> None:
    paths = [
        *("accounts/signup/", "accounts/login/", "signup/", "accounts/email/", "password/reset/", "accounts/2fa/"),
        *("accounts/social/connections/", "sign-in/oidc/login/", "accounts/sessions/", "_allauth/browser/v1/config"),
    ]
    assert {path: browser.get(f"{studio.url}/{path}").status_code for path in paths} == dict.fromkeys(paths, 404)


def test_a_provider_that_is_down_is_said_to_be_and_local_accounts_work(
    provider: IdentityProvider, studio: Studio, browser: httpx2.Client
) -> None:
    # The last test: nobody needs the provider after it.
    provider.process.terminate()
    provider.process.wait(20)
    page = browser.get(f"{studio.url}/sign-in/oidc/")
    assert page.status_code == 401
    assert "Example Login could not be reached" in page.text
    assert browser.get(f"{studio.url}/sign-in/").status_code == 200
