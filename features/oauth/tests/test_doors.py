"""Who may, by which door: the column *token* of docs/contract.md 3.5, and what the audit log says of connections."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest
from django.test import Client as Browser

from features.oauth.tests.assistant import Assistant
from registry.models import AuditEvent
from registry.operations.backup.tables import read_stored
from registry.operations.rights.comparison import find_unrecorded
from tests.bundle_files import bundle
from tests.factories import publish
from tests.servers import ROOT
from tests.sweeps import check_each, rolled_back
from tests.unit.studio.conftest import SignIn

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("issuer")]
Try = Callable[[Assistant, str], bool]


def _tool(name: str, **arguments: Any) -> Try:
    return lambda assistant, token: "error" not in assistant.call_tool(token, name, **arguments)


def _get(*addresses: str) -> Try:
    def is_open(_: Assistant, token: str) -> bool:
        headers = {"Authorization": f"Bearer {token}"}
        return any(Browser(headers=headers).get(address).status_code == 200 for address in addresses)

    return is_open


DOORS: Final[dict[str, Try]] = {
    "list, load, match, search, prompts and files by `/mcp`": _tool("capability_skill_load", capability_id="alpha"),
    "`capability_feedback` by `/mcp`": _tool("capability_feedback", capability_id="alpha", outcome="used"),
    "`capability_propose` by `/mcp`": _tool("capability_propose", files=bundle("beta")),
    "agent API": _get("/api/v1/capability_registry_list", "/api/v1/capability_skill_load?capability_id=alpha"),
    "operator API": _get("/api/v1/operator/bundle_list", "/api/v1/operator/bundle_export?capability_id=alpha"),
    "discovery, ClawHub, sets": _get(
        "/.well-known/agent-skills/index.json",
        "/clawhub/api/v1/skills/alpha",
        "/api/search?q=alpha",
        "/api/v1/set_list",
    ),
    "pages of the Studio": _get("/", "/capabilities/", "/security/"),
}


def _column() -> dict[str, str]:
    section = (ROOT / "docs" / "contract.md").read_text("utf-8").split("Who may, by which door:")[1].split("\n#")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if "|" in line]
    at = rows[0].index("token")
    return {row[0]: row[at] for row in rows[2:]}


def test_a_token_opens_what_its_column_says(signed_in: SignIn) -> None:
    publish("alpha")
    column = _column()
    assert list(column) == list(DOORS)
    tokens: dict[tuple[str, str], tuple[Assistant, str]] = {}
    for role in ("viewer", "author"):
        for allowed in ("read", "feedback", "propose"):
            assistant = Assistant(signed_in(role))
            tokens[role, allowed] = (assistant, assistant.sign_in(allowed=[allowed])["access_token"])

    def check(cell: tuple[str, str, str]) -> None:
        row, role, allowed = cell
        needed, _, roles = column[row].partition(", ")
        may = needed != "-" and needed.strip("`") in ("read", allowed) and (not roles or role == "author")
        assert DOORS[row](*tokens[role, allowed]) == may

    check_each([(row, *held) for row in DOORS for held in tokens], check, isolate=rolled_back)


def test_the_audit_log_and_the_table_agree_and_tampering_is_found(signed_in: SignIn) -> None:
    from features.oauth.models import Connection

    assistant = Assistant(signed_in("author"))
    assistant.sign_in()
    first = Connection.objects.get()
    assistant.sign_in()
    assistant.http.post(
        "/oauth/revoke", {"token": assistant.sign_in()["access_token"], "client_id": assistant.client_id}
    )
    assert AuditEvent.objects.filter(verb="connection.end").count() == 1
    assert not [one for one in find_unrecorded(read_stored) if "connection" in str(one)]
    Connection.objects.filter(pk=first.pk).update(scopes=["read", "publish"])
    assert [one for one in find_unrecorded(read_stored) if "connection" in str(one)]
