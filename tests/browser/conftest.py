"""A browser in which somebody is signed in, and that may say nothing on its console."""

from __future__ import annotations

import contextlib
import json
import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import httpx2
import pytest

from tests.browser.furnished_studio import furnish
from tests.browser.steps import PASSWORD
from tests.servers import Studio, lend_studio, run_manage, start_studio

if TYPE_CHECKING:
    from playwright._impl._api_structures import SetCookieParam
    from playwright.sync_api import ConsoleMessage, Page

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
    """The product with an operator of each role; one of its own where the module has settings."""
    if not studio_settings:
        with lend_studio(add_operators) as lent:
            yield lent
        return
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
    said: list[tuple[str, str]] = []

    def record(line: ConsoleMessage) -> None:
        if line.type in ("error", "warning"):
            said.append((line.page.url if line.page else "", line.text))

    page.context.on("console", record)
    yield
    assert not [one for one in said if not any(re.search(pattern, one[1]) for pattern in allowed_on_console)]


_SESSIONS = """
import json
from django.conf import settings
from django.test import Client
from registry.models import Operator
from tests.sessions import confirm_identity
sessions = {}
for operator in Operator.objects.filter(username__startswith="the-"):
    client = Client()
    client.force_login(operator)
    confirm_identity(client)
    sessions[operator.username] = {"name": settings.SESSION_COOKIE_NAME, "value": client.session.session_key}
print(json.dumps(sessions))
"""


@pytest.fixture(scope="module")
def sessions() -> dict[str, SetCookieParam]:
    """The cookie of each operator by username: to check a password takes a quarter of a second."""
    return {}


@pytest.fixture
def as_role(studio: Studio, page: Page, sessions: dict[str, SetCookieParam]) -> Callable[[str], Page]:
    """The page in the browser of an operator of a role, who has just signed in and opened nothing yet."""

    def sign(role: str = "publisher") -> Page:
        if not _goes_on(studio, sessions.get(f"the-{role}")):
            sessions.update(json.loads(studio.manage("shell", "-c", _SESSIONS).stdout.splitlines()[-1]))
        page.context.add_cookies([{**sessions[f"the-{role}"], "url": studio.url}])
        return page

    return sign


def _goes_on(studio: Studio, cookie: SetCookieParam | None) -> bool:
    """Whether the session is there: a test may end it."""
    with contextlib.closing(sqlite3.connect(studio.data_dir / "studio.sqlite3")) as database:
        key = cookie and cookie["value"]
        return database.execute("SELECT 1 FROM django_session WHERE session_key = ?", [key]).fetchone() is not None


@pytest.fixture(scope="module")
def agent(studio: Studio) -> Iterator[httpx2.Client]:
    """What an agent runtime is to the product: a client with the key that the first start has printed."""
    key = re.search(r"csk_\S+", studio.prepared)
    assert key is not None
    with httpx2.Client(base_url=studio.url, headers={"Authorization": f"Bearer {key[0]}"}) as client:
        yield client
