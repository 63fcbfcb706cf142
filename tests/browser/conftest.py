"""A browser in which somebody is signed in, and that may say nothing on its console."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from tests.browser.furnished_studio import furnish
from tests.browser.steps import PASSWORD, sign_in
from tests.servers import Studio, run_manage, start_studio

if TYPE_CHECKING:
    from playwright.sync_api import Page

ROLES = ("viewer", "author", "publisher", "admin")


def add_operators(env: Mapping[str, str]) -> None:
    """An operator of each role, named as the role is with `the-` before it; all with PASSWORD."""
    for role in ROLES:
        run_manage("operator", "create", f"the-{role}", "--role", role, "--password-stdin", env=env, text=PASSWORD)


@pytest.fixture(scope="module")
def studio_settings() -> dict[str, str]:
    """A module that needs other settings overrides this."""
    return {}


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory, studio_settings: dict[str, str]) -> Iterator[Studio]:
    """The product with an operator of each role."""
    studio = start_studio(tmp_path_factory.mktemp("studio"), None, add_operators, **studio_settings)
    yield studio
    studio.stop()


@pytest.fixture(scope="module")
def furnished(studio: Studio, tmp_path_factory: pytest.TempPathFactory) -> Studio:
    """The same with something to see on every page of ADDRESSES."""
    furnish(studio, tmp_path_factory.mktemp("bundles"))
    return studio


@pytest.fixture(scope="module")
def other_pages(furnished: Studio) -> dict[str, str]:
    """The address of a page by its template, for each that ADDRESSES does not show; rows of all features besides."""
    program = (Path(__file__).parent / "other_pages.py").read_text("utf-8")
    found: dict[str, str] = json.loads(furnished.manage("shell", "-c", program).stdout.splitlines()[-1])
    return found


@pytest.fixture
def allowed_on_console() -> list[str]:
    """A test that breaks something on purpose adds patterns of what the browser then says."""
    # axe asks each frame by the page's origin, and goes on where a sandbox has none. Our scripts name no origin.
    return [r"'postMessage' .* does not match the recipient window's origin \('null'\)"]


@pytest.fixture(autouse=True)
def quiet_console(page: Page, allowed_on_console: list[str]) -> Iterator[None]:
    """No page says anything on the console."""
    said: list[str] = []
    page.context.on("console", lambda line: said.append(line.text) if line.type in ("error", "warning") else None)
    yield
    assert not [text for text in said if not any(re.search(pattern, text) for pattern in allowed_on_console)]


@pytest.fixture(scope="module")
def cookies() -> dict[str, Any]:
    """Of each role, from its last sign-in: a password takes half a second to check."""
    return {}


@pytest.fixture
def as_role(studio: Studio, page: Page, cookies: dict[str, Any]) -> Callable[[str], Page]:
    """Opens the list as an operator of a role."""

    def sign(role: str = "publisher") -> Page:
        page.context.add_cookies(cookies.get(role, []))
        page.goto(f"{studio.url}/capabilities/")
        if "/sign-in/" in page.url:
            sign_in(page, studio.url, f"the-{role}", PASSWORD)
            cookies[role] = page.context.cookies()
            page.goto(f"{studio.url}/capabilities/")
        return page

    return sign


@pytest.fixture(scope="module")
def agent(studio: Studio) -> Iterator[httpx2.Client]:
    """What an agent runtime is to the product: a client with the key that the first start has printed."""
    key = re.search(r"csk_\S+", studio.prepared)
    assert key is not None
    with httpx2.Client(base_url=studio.url, headers={"Authorization": f"Bearer {key[0]}"}) as client:
        yield client
