"""No page for operators speaks of variables of the server, or has a command for its shell: the docs do."""

from __future__ import annotations

import re
from html import unescape
from typing import Any, Final

import pytest
from django.test import Client

from studio.config.environment import VARIABLES
from tests.sweeps import check_each
from tests.unit.studio import page_sweep
from tests.unit.studio.conftest import SignIn

pytestmark = pytest.mark.django_db

# The docs, for who runs the server, and the reference of the API, for who writes programs.
_FOR_OTHERS: Final = ("/docs/", "/api/")
_VARIABLE: Final = re.compile(r"\b(?:{}|CAP_KEY)\b".format("|".join(name for name in VARIABLES if "_" in name)))
_COMMAND: Final = re.compile(
    r"\bmanage\.py\b|\brun\.py\b|\bdocker compose\b|\bexport [A-Z]|\bpip install\b|"
    r"<code>(?:agent_key|bundle|credential|evaluation|git_source|job|operator|registry|set|tool_source|webhook) [a-z]"
)
# A line to copy for a client of agents, which a person asked for by its kind.
_SNIPPET: Final = re.compile(r"<pre\b.*?</pre>", re.DOTALL)
_MARKUP: Final = re.compile(r"<(script|style|template)\b.*?</\1>|<[^>]*>", re.DOTALL)


def find_server_words(page: str) -> list[str]:
    """Variables and commands in what a person reads."""
    shown = _SNIPPET.sub(" ", page)
    return [*_VARIABLE.findall(unescape(_MARKUP.sub(" ", shown))), *_COMMAND.findall(shown)]


def test_variables_and_commands_are_found() -> None:
    assert find_server_words("<p>Set MODEL_URL, then <code>python3 run.py</code> </p><code>bundle restore</code>")
    assert not find_server_words("<p>Set it by hand</p><pre>export CAP_KEY=1</pre>")


@pytest.mark.usefixtures("furnished")
def test_pages_speak_of_no_variable_and_no_command(signed_in: SignIn) -> None:
    client = signed_in("admin")
    check_each(_list(), lambda address: _check(client, address))


def _list() -> list[str]:
    return [one for one in page_sweep.list_addresses() if not one.startswith(_FOR_OTHERS)]


def _check(client: Client, address: str) -> Any:
    found = find_server_words(page_sweep.read_page(client, address))
    assert not found, found
