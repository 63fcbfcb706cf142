"""Sources of tools over HTTP."""

from __future__ import annotations

import json
from typing import Any

import pytest

from features.tool_sources.models import ToolBinding
from features.tool_sources.readers.limits import BYTES_MAX
from features.tool_sources.tests.pet_store import CREATE, LIST, add_source, content, create_pets
from registry.catalog import drafts
from registry.publishing import publication
from tests.factories import OLGA, bearer, publish

pytestmark = pytest.mark.django_db


@pytest.fixture
def key() -> dict[str, str]:
    return bearer("publish")


def test_document_is_read_and_a_capability_created(api: Any, key: dict[str, str]) -> None:
    read = api.ok(api.post("operator/tool_source_read", {"document": content().decode()}, headers=key), "tool_source")
    assert [one["key"] for one in read["operations"]][:2] == [LIST, CREATE]
    assert [one["kind"] for one in read["operations"]][:2] == ["read", "write"]
    asked = {
        "source_id": read["source_id"],
        "capability_id": "pets",
        "operations": [{"key": LIST}, {"key": CREATE, "name": "pet_add", "form": True}],
        "create": {"name": "Pets", "description": "Looks pets up.", "triggers": ["find a pet"]},
    }
    saved = api.ok(api.post("operator/tool_source_import", asked, headers=key), "draft_saved")
    assert saved["findings"] == []
    assert publication.publish(files=drafts.get_draft("pets").files, by=OLGA).status == "published"


@pytest.mark.both_databases
def test_tools_are_added_to_a_capability(api: Any, key: dict[str, str]) -> None:
    publish("alpha")
    asked = {"source_id": add_source().pk, "capability_id": "alpha", "operations": [{"key": LIST}]}
    saved = api.ok(api.post("operator/tool_source_import", asked, headers=key), "draft_saved")
    assert saved["draft_version"] == 1
    assert ToolBinding.objects.get().tool_name == "list_pets"


def test_source_is_checked(api: Any, key: dict[str, str]) -> None:
    source = add_source()
    create_pets(source)
    asked = {"source_id": source.pk, "document": content(required=["name", "kind"]).decode()}
    found = api.ok(api.post("operator/tool_source_check", asked, headers=key), "tool_source_changes")
    (row,) = found["changed"]
    assert (row["capability_id"], row["tool"], row["state"]) == ("pets", "create_pet", "changed")
    assert row["changes"][0]["effect"] == "breaks"


@pytest.mark.parametrize("form", ["mcp", "openapi"])
def test_tools_are_exported(api: Any, key: dict[str, str], form: str) -> None:
    create_pets(add_source())
    address = f"operator/tools_export?capability_id=pets&format={form}"
    api.error(api.get(address, headers=key), 409, "STATUS_CONFLICT")
    publication.publish(files=drafts.get_draft("pets").files, by=OLGA)
    document = api.ok(api.get(address, headers=key), "tools_document")
    assert ("tools" in document) == (form == "mcp")


@pytest.mark.parametrize(
    ("operation", "asked", "status", "code"),
    [
        ("read", {}, 400, "INVALID_REQUEST"),
        ("read", {"document": "hello"}, 400, "SOURCE_UNREADABLE"),
        ("read", {"url": "https://127.0.0.1/a"}, 400, "SOURCE_UNREADABLE"),
        ("import", {"capability_id": "alpha", "operations": []}, 400, "INVALID_REQUEST"),
        ("import", {"capability_id": "alpha", "operations": [], "source_id": 99}, 404, "NOT_FOUND"),
        ("import", {"capability_id": "alpha", "operations": ["x"], "source_id": 99}, 400, "INVALID_REQUEST"),
        (
            "import",
            {"capability_id": "new", "operations": [{"key": LIST}], "source_id": 99, "create": {"name": "x"}},
            400,
            "INVALID_REQUEST",
        ),
        ("check", {"source_id": 99}, 404, "NOT_FOUND"),
    ],
)
def test_wrong_call_is_refused(
    api: Any, key: dict[str, str], operation: str, asked: dict[str, Any], status: int, code: str
) -> None:
    api.error(api.post(f"operator/tool_source_{operation}", asked, headers=key), status, code)
    api.error(api.post(f"operator/tool_source_{operation}", asked, headers=bearer("read")), 403, "FORBIDDEN")


def test_key_of_a_team_adds_tools_to_its_own_capabilities_alone(api: Any) -> None:
    publish("other")
    key = bearer("publish", name="pipeline", capability_ids=["own"])
    asked = {"source_id": add_source().pk, "capability_id": "other", "operations": [{"key": LIST}]}
    api.error(api.post("operator/tool_source_import", asked, headers=key), 403, "FORBIDDEN")
    assert not ToolBinding.objects.exists()


def _document_of(size: int) -> str:
    operation = {"operationId": "find", "description": "", "responses": {}}
    document = {"openapi": "3.1.0", "info": {"title": "x", "version": "1"}, "paths": {"/a": {"get": operation}}}
    operation["description"] = "x" * (size - len(json.dumps(document)))
    return json.dumps(document)


def test_documents_of_10_mb_are_read_and_larger_ones_refused_with_the_number(api: Any, key: dict[str, str]) -> None:
    for size in (6_500_000, BYTES_MAX):
        api.ok(api.post("operator/tool_source_read", {"document": _document_of(size)}, headers=key), "tool_source")
    refused = api.post("operator/tool_source_read", {"document": _document_of(BYTES_MAX + 1)}, headers=key)
    assert refused.status_code == 400
    assert "10000000" in refused.json()["error"]["message"].replace(",", "")
    refused = api.post("operator/tool_source_read", {"document": "x" * (2 * BYTES_MAX)}, headers=key)
    assert refused.status_code == 413
    assert "20,000,000" in refused.json()["error"]["message"]
