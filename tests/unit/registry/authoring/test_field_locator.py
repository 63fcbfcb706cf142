"""From the pointer of a finding to the field of the form that writes it, or to the row in which it stands."""

from __future__ import annotations

import json
from typing import Any

import pytest

from capability_rules.validation import Finding, validate_bundle
from registry.authoring.field_locator import FormLocation, locate_field
from tests.factories import bundle, to_json, tool
from tests.sweeps import check_each


def _finding(file: str, pointer: str, *, code: str = "FIELD_INVALID", subject: str = "") -> Finding:
    return Finding(code, "error", file, pointer, 1, 1, "message", "hint", subject)


def _place(file: str, pointer: str, **more: str) -> FormLocation | None:
    return locate_field(_finding(file, pointer, **more), "")


def test_a_place_has_the_field_that_writes_it() -> None:
    def check(cell: tuple[str, str, str]) -> None:
        file, pointer, field = cell
        assert _place(file, pointer) == FormLocation(field, is_written=True)

    check_each(
        [
            ("capability.json", "/name", "/name"),
            ("capability.json", "/intent_triggers", "/intent_triggers"),
            ("capability.json", "/intent_triggers/3", "/intent_triggers"),
            ("capability.json", "/utterances/should_not_match/0", "/utterances/should_not_match"),
            ("capability.json", "/dependencies/env/0", "/dependencies/env"),
            ("capability.json", "/os/1", "/os"),
            ("capability.json", "/metadata/owner", "/metadata/owner"),
            ("capability.json", "/metadata/a~1b", "/metadata/a~1b"),
            # What holds fields leads to the first of them.
            ("capability.json", "/dependencies", "/dependencies/bins"),
            ("capability.json", "/playbook", "/playbook/problem"),
            ("tools.json", "/0", "/0"),
            ("tools.json", "/tools/12", "/tools/12"),
            ("tools.json", "/0/name", "/0/name"),
            ("tools.json", "/0/policy", "/0/policy/kind"),
            ("tools.json", "/tools/1/policy/kind", "/tools/1/policy/kind"),
            ("tools.json", "/0/policy/allowed_roles/2", "/0/policy/allowed_roles"),
            ("tools.json", "/0/ui", "/0/ui/form"),
            ("tools.json", "/0/ui/result", "/0/ui/result"),
            ("tools.json", "/0/args_schema/properties/limit", "/0/args_schema/properties/limit"),
            ("tools.json", "/0/args_schema/properties/limit/type", "/0/args_schema/properties/limit/type"),
            ("tools.json", "/0/args_schema/properties/limit/type/1", "/0/args_schema/properties/limit/type"),
            ("tools.json", "/0/args_schema/properties/limit/format", "/0/args_schema/properties/limit/type"),
            ("tools.json", "/0/args_schema/properties/tags/items", "/0/args_schema/properties/tags/type"),
            ("tools.json", "/0/args_schema/properties/tags/items/type", "/0/args_schema/properties/tags/type"),
            ("tools.json", "/0/args_schema/properties/kind/enum/1", "/0/args_schema/properties/kind/enum"),
            ("tools.json", "/0/args_schema/properties/kind/examples/0", "/0/args_schema/properties/kind/examples"),
            ("tools.json", "/0/result_schema/properties/a/description", "/0/result_schema/properties/a/description"),
            # An argument may be called as a word of JSON Schema is, or hold groups of arguments.
            ("tools.json", "/0/args_schema/properties/type", "/0/args_schema/properties/type"),
            ("tools.json", "/0/args_schema/properties/properties/type", "/0/args_schema/properties/properties/type"),
            (
                "tools.json",
                "/0/args_schema/properties/rows/items/properties/day/type",
                "/0/args_schema/properties/rows/items/properties/day/type",
            ),
            ("ui_schemas.json", "/0", "/0"),
            ("ui_schemas.json", "/0/title", "/0/title"),
            ("ui_schemas.json", "/WeightForm.v1", "/WeightForm.v1"),
        ],
        check,
    )


@pytest.mark.parametrize(
    ("file", "pointer", "row"),
    [
        ("tools.json", "/0/version", "/0"),
        ("tools.json", "/0/policy/unknown", "/0"),
        ("tools.json", "/0/args_schema", "/0"),
        ("tools.json", "/0/args_schema/$defs/x/properties/y/type", "/0"),
        ("tools.json", "/tools/0/args_schema/anyOf", "/tools/0"),
        ("tools.json", "/0/args_schema/properties/limit/pattern", "/0/args_schema/properties/limit"),
        ("tools.json", "/0/args_schema/properties/limit/type/a", "/0/args_schema/properties/limit"),
        ("ui_schemas.json", "/0/definition/components/5/name", "/0"),
        ("ui_schemas.json", "/WeightForm.v1/components", "/WeightForm.v1"),
    ],
)
def test_what_no_field_writes_is_shown_in_its_row(file: str, pointer: str, row: str) -> None:
    assert _place(file, pointer) == FormLocation(row, is_written=False)


def test_what_the_forms_do_not_show_has_no_place() -> None:
    def check(cell: tuple[str, str]) -> None:
        file, pointer = cell
        assert _place(file, pointer) is None

    check_each(
        [
            ("capability.json", ""),
            ("capability.json", "/capability_id"),
            ("capability.json", "/unknown"),
            ("capability.json", "/names"),
            ("capability.json", "/dependency_level/darwin"),
            ("capability.json", "/dependencies/binaries"),
            ("capability.json", "/metadata"),
            ("tools.json", ""),
            ("tools.json", "/tols"),
            ("tools.json", "/tools"),
            ("skill.md", "Title/Examples"),
            ("references/units.md", ""),
            ("Tools.json", "/0/name"),
        ],
        check,
    )


@pytest.mark.parametrize(
    ("file", "pointer", "code", "key", "field"),
    [
        ("capability.json", "", "FIELD_MISSING", "name", "/name"),
        ("capability.json", "/playbook", "FIELD_MISSING", "keywords", "/playbook/keywords"),
        ("tools.json", "/0", "FIELD_MISSING", "description", "/0/description"),
        ("tools.json", "/tools/0", "FIELD_MISSING", "policy", "/tools/0/policy/kind"),
        ("tools.json", "/0/policy", "TOOL_APPROVAL_UNSET", "requires_approval", "/0/policy/requires_approval"),
    ],
)
def test_a_key_that_is_missing_has_its_field(file: str, pointer: str, code: str, key: str, field: str) -> None:
    assert _place(file, pointer, code=code, subject=key) == FormLocation(field, is_written=True)


def test_a_key_that_no_field_writes_is_missing_from_its_row() -> None:
    assert _place("tools.json", "/0", code="FIELD_MISSING", subject="args_schema") == FormLocation(
        "/0", is_written=False
    )
    assert _place("capability.json", "", code="FIELD_MISSING", subject="capability_id") is None


def test_the_key_that_was_meant_is_no_field() -> None:
    """The key that is there has to go: writing the other one would leave it."""
    assert _place("capability.json", "/descripton", code="FIELD_UNKNOWN", subject="description") is None


def test_what_is_required_is_ticked_at_its_argument() -> None:
    tools: list[dict[str, Any]] = [{"args_schema": {"required": ["limit", "a/b", 7]}}]
    pointer = "/0/args_schema/required"
    for number, field in enumerate(["/limit/required", "/a~1b/required"]):
        place = locate_field(_finding("tools.json", f"{pointer}/{number}"), json.dumps(tools))
        assert place == FormLocation(f"/0/args_schema/properties{field}", is_written=True)
    for number in (2, 9):
        place = locate_field(_finding("tools.json", f"{pointer}/{number}"), json.dumps(tools))
        assert place == FormLocation("/0", is_written=False)
    assert locate_field(_finding("tools.json", f"{pointer}/0"), "[{") == FormLocation("/0", is_written=False)


def test_findings_of_the_checks_have_their_fields() -> None:
    one, other = tool("alpha_list", "read"), tool("alpha_save", "write")
    one["args_schema"] = {"type": "object", "properties": {"limit": {"type": "whole", "description": "How many."}}}
    other["args_schema"] = {"type": "object", "properties": {"day": {"type": "string"}}}
    other["policy"] = {"kind": "write"}
    del other["description"]
    report = validate_bundle(bundle() | {"tools.json": to_json({"tools": [one, other]})})
    found = {finding.code: locate_field(finding, report.files[finding.file]) for finding in report.findings}
    day = FormLocation("/tools/1/args_schema/properties/day/description", is_written=True)
    assert found["TOOL_PROPERTY_UNDESCRIBED"] == day
    assert found["TOOL_SCHEMA_INVALID"] == FormLocation("/tools/0/args_schema/properties/limit/type", is_written=True)
    assert found["TOOL_APPROVAL_UNSET"] == FormLocation("/tools/1/policy/requires_approval", is_written=True)
    assert found["FIELD_MISSING"] == FormLocation("/tools/1/description", is_written=True)


def test_a_pointer_of_any_length_is_read_in_no_time() -> None:
    """Each step upwards is held against the patterns: thousands of steps must not take seconds."""
    deep = "/0/args_schema" + "/properties/a" * 100 + "/x" * 100
    assert _place("tools.json", deep) == FormLocation("/0/args_schema" + "/properties/a" * 100, is_written=False)
