"""`manage.py tool_source`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from features.tool_sources.models import ToolSource
from features.tool_sources.tests.pet_store import CREATE, LIST, content
from registry.catalog import drafts
from registry.publishing import publication
from tests.factories import OLGA

pytestmark = pytest.mark.django_db


@pytest.mark.both_databases
def test_capability_is_made_checked_and_exported_from_the_terminal(manage: Any, tmp_path: Path) -> None:
    path = tmp_path / "pets.json"
    path.write_bytes(content())
    read = manage("tool_source", "read", str(path), "--format", "json")
    number = json.loads(read.out)["source_id"]
    assert "write  POST /pets  ->  create_pet" in manage("tool_source", "read", str(path)).out
    named = ("--name", "Pets", "--description", "Looks pets up.", "--trigger", "find a pet")
    operations = ("--operation", LIST, "--operation", f"{CREATE}=pet_add")
    assert (
        "draft 1, 2 tools, 0 findings" in manage("tool_source", "import", str(number), "pets", *operations, *named).out
    )
    publication.publish(files=drafts.get_draft("pets").files, by=OLGA)
    path.write_bytes(content(required=["name", "kind"]))
    checked = manage("tool_source", "check", str(number), str(path))
    assert checked.code == 1
    assert "pets.pet_add: changed" in checked.out
    exported = json.loads(manage("tool_source", "export", "pets").out)
    assert [tool["name"] for tool in exported["tools"]] == ["list_pets", "pet_add"]
    assert json.loads(manage("tool_source", "export", "pets", "--format", "openapi").out)["openapi"] == "3.1.0"
    assert "2 tools  Pets" in manage("tool_source", "list").out
    manage("tool_source", "remove", str(number))
    assert not ToolSource.objects.filter(pk=number).exists()


def test_file_that_is_not_there_is_named(manage: Any) -> None:
    done = manage("tool_source", "read", "/nothing/here.json")
    assert done.code == 1
    assert "/nothing/here.json" in done.err
