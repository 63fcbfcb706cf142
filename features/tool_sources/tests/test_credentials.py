"""MCP servers that are read with a credential, in place of a header's value."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from capability_rules.errors import InvalidRequest, SourceUnreadable
from features.credentials import credential_store
from features.tool_sources import source_client, source_store, watch
from features.tool_sources.models import ToolSource
from features.tool_sources.tests.pet_store import create_pets
from registry.common.actors import Actor
from registry.common.errors import Forbidden, NotFound
from registry.models import AuditEvent, Incident
from tests.factories import OLGA, bearer
from tests.unit.studio.conftest import SignIn

pytestmark = pytest.mark.django_db
COMMAND = Actor("command_line", "root")
URL = "https://mcp.example/mcp"
TOOLS = b'{"tools": [{"name": "find", "description": "Finds", "inputSchema": {"type": "object"}}]}'


@pytest.fixture(autouse=True)
def sent(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The headers that the server got."""
    seen: list[object] = []

    def answer(_url: str, header: object = None) -> bytes:
        seen.append(header)
        return TOOLS

    monkeypatch.setattr(source_client, "list_mcp_tools", answer)
    credential_store.create_credential(name="mcp", hosts=["mcp.example"], secret="canary", by=COMMAND)
    return seen


def _add(**given: Any) -> ToolSource:
    arguments: dict[str, Any] = {"url": URL, "by": COMMAND, "credential": "mcp"}
    return source_store.add_mcp_server(**arguments | given)


def test_its_secret_is_sent_and_replaced_in_one_place(sent: list[object]) -> None:
    source = _add()
    credential_store.replace_secret(name="mcp", secret="newer", by=COMMAND)
    source_store.read_again(source_store.get_source(source.pk))
    _add(header_name="X-Key")
    assert sent == [("Authorization", "Bearer canary"), ("Authorization", "Bearer newer"), ("X-Key", "newer")]
    assert source.header_secret == ""
    assert "canary" not in str(list(AuditEvent.objects.values_list("detail", flat=True)))


def test_who_may_not_import_with_it_sends_nothing(sent: list[object]) -> None:
    for by in (OLGA, Actor("agent_key", "ci")):
        with pytest.raises(Forbidden):
            _add(by=by)
    with pytest.raises(NotFound):
        _add(credential="other")
    for url in ("https://elsewhere.example/mcp", "http://mcp.example/mcp"):
        with pytest.raises(SourceUnreadable):
            _add(url=url)
    with pytest.raises(InvalidRequest):
        _add(header_name="X-Key", header_value="a")
    assert sent == []
    assert not ToolSource.objects.exists()


def test_a_member_chooses_one_that_is_open(signed_in: SignIn, sent: list[object]) -> None:
    author: Client = signed_in("author")
    given = {"url": URL, "is_mcp": "on", "credential": "mcp"}
    assert author.post("/new-capability/api/", given).status_code == 400
    credential_store.open_to_members(name="mcp", is_open=True, by=COMMAND)
    assert author.post("/new-capability/api/", given).status_code == 302
    assert sent == [("Authorization", "Bearer canary")]
    assert "mcp" in author.get(f"/tool-sources/{ToolSource.objects.get().pk}/").content.decode()


def test_a_key_reads_with_none(client: Client) -> None:
    credential_store.open_to_members(name="mcp", is_open=True, by=COMMAND)
    body = {"url": URL, "mcp": True, "credential": "mcp"}
    address = "/api/v1/operator/tool_source_read"
    answer = client.post(address, body, content_type="application/json", headers=bearer("publish"))
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "FORBIDDEN")


def test_one_that_is_ended_is_an_incident_of_each_capability() -> None:
    source = _add()
    create_pets(source, "find")
    credential_store.end_credential(name="mcp", by=COMMAND)
    incident = Incident.objects.get()
    assert (incident.kind, incident.closed_at) == ("tool", None)
    with pytest.raises(SourceUnreadable):
        watch.check_source(source_id=source.pk, by=COMMAND)
    assert Incident.objects.filter(closed_at=None).count() == 1
    source_store.remove_source(source_id=source.pk, by=COMMAND)
    assert not Incident.objects.filter(closed_at=None).exists()
