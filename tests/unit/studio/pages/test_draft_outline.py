"""The outline of a draft: its parts in order, and the findings where they are."""

from __future__ import annotations

import json
from typing import Any

import pytest

from registry.catalog import drafts
from studio.pages.draft_findings import group_findings
from studio.pages.draft_outline import OutlineItem, build_outline
from tests import costs
from tests.factories import Files, bundle, to_json, tool

pytestmark = pytest.mark.django_db


def _items(files: Files, file: str) -> tuple[OutlineItem, ...]:
    groups = build_outline(drafts.validate_draft_files("alpha", files))
    return next(one for one in groups if one.file == file).items


def test_the_parts_of_a_draft_in_their_order() -> None:
    files = bundle("alpha", [tool("alpha_list"), tool("alpha_save") | {"policy": {"kind": "write"}}])
    files["skill.md"] = "---\nname: x\n---\n# Alpha\n\n## One\n\ntext\n\n```\n## no\n```\n\n## Two\n"
    files["ui_schemas.json"] = to_json([{"schema_id": "Ask.v1", "title": "Ask"}, {"schema_id": "Tell.v1"}, 1])
    groups = build_outline(drafts.validate_draft_files("alpha", files))
    assert [(one.label, [item.label for item in one.items]) for one in groups] == [
        ("Details", ["Basics", "Matching", "Runs on a computer"]),
        ("Instructions", ["One", "Two", "Default behavior", "Examples", "Tools", "UI", "When to use"]),
        ("Tools", ["alpha_list", "alpha_save"]),
        ("Forms", ["Ask", "Tell.v1", "No ID"]),
    ]
    assert [(one.part, one.line, one.last_line) for one in groups[1].items[:2]] == [("/0", 6, 13), ("/1", 14, 15)]
    assert [one.part for one in groups[1].items if one.is_missing][:2] == ["+Default behavior", "+Examples"]
    assert [one.policy for one in groups[2].items] == ["read", "write"]
    assert [one.part for one in groups[3].items] == ["/0", "/1", "/2"]


@pytest.mark.parametrize("text", ["", "{", "1", '"x"', "null", "[1, null]", '{"tools": 3}', '{"tools": [{}]}', "[[]]"])
def test_any_text_has_an_outline(text: str) -> None:
    files = {"capability.json": text, "skill.md": text, "tools.json": text, "ui_schemas.json": text}
    assert len(build_outline(drafts.validate_draft_files("alpha", files))) == 4


def test_tools_below_a_key_and_forms_as_a_map_have_their_own_pointers() -> None:
    files = bundle() | {"tools.json": to_json({"tools": [tool("alpha_list")]}), "ui_schemas.json": '{"Ask/it.v1": {}}'}
    assert [one.part for one in _items(files, "tools.json")] == ["/tools/0"]
    assert [(one.label, one.part) for one in _items(files, "ui_schemas.json")] == [("Ask/it.v1", "/Ask~1it.v1")]


@pytest.mark.slow
@pytest.mark.parametrize(
    "forms", [{f"F{number}.v1": 0 for number in range(60_000)}, [{}] * 200_000], ids=["map", "list"]
)
def test_the_parts_of_a_large_file_are_found_in_time(forms: Any) -> None:
    report = drafts.validate_draft_files("alpha", bundle() | {"ui_schemas.json": json.dumps(forms)})
    with costs.at_most(100):
        assert [len(one.items) for one in build_outline(report)] == [3, 4, 0, 100]


def test_findings_are_counted_where_they_are() -> None:
    files = bundle("alpha", [tool("alpha_list")])
    files["tools.json"] = to_json([tool("alpha_list"), {"name": "alpha_other"}])
    files["skill.md"] = "# Alpha\n\n## When to use\n\n**User:** what a user would say\n\n## Other\n\nfine\n"
    first, second = _items(files, "tools.json")
    assert (first.errors, second.errors > 0) == (0, True)
    sections = {one.label: one.warnings for one in _items(files, "skill.md")}
    assert sections["When to use"] > 0
    assert sections["Other"] == 0


def test_the_details_are_the_sections_of_their_form_with_what_is_wrong_in_each() -> None:
    files = bundle("alpha")
    written = json.loads(files["capability.json"]) | {"intent_triggers": "towels", "playbook": {}}
    files["capability.json"] = json.dumps(written, indent=2)
    items = {one.part: one for one in _items(files, "capability.json")}
    assert list(items) == ["basics", "matching", "problem", "computer"]
    assert (items["basics"].errors, items["matching"].errors) == (0, 1)
    lines = files["capability.json"].split("\n")
    assert '"intent_triggers"' in lines[items["matching"].line - 1]
    assert items["computer"].line == 1 or '"os"' in lines[items["computer"].line - 1]


def _kinds(files: Files) -> list[Any]:
    report = drafts.validate_draft_files("alpha", files)
    return group_findings(report, "alpha", files, build_outline(report))


def test_what_is_of_one_kind_stands_together_and_is_fixed_by_edits_that_do_not_meet() -> None:
    tools = [{"name": f"alpha_{n}", "description": "🍎", "policy": {"kind": "read"}} for n in range(4)]
    files = bundle() | {"tools.json": to_json(tools)}
    found = _kinds(files)
    assert [one.severity for one in found] == sorted(one.severity for one in found)
    missing = next(one for one in found if one.title == "Missing required field 'args_schema'")
    assert (len(missing.rows), missing.fixed) == (4, 4)
    assert {row.where for row in missing.rows} == {f"Tools · alpha_{n}" for n in range(4)}
    (fix,) = json.loads(missing.fixes)
    text = files["tools.json"].encode("utf-16-le")
    for edit in sorted(fix["edits"], key=lambda one: -one["from"]):
        text = text[: 2 * edit["from"]] + edit["insert"].encode("utf-16-le") + text[2 * edit["to"] :]
    assert all("args_schema" in one for one in json.loads(text.decode("utf-16-le")))


def test_one_finding_alone_has_no_button_for_all() -> None:
    files = bundle() | {"tools.json": to_json([{"name": "alpha_x", "description": "x", "policy": {"kind": "read"}}])}
    assert all(not one.fixes for one in _kinds(files))
