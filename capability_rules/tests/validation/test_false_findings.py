"""What a check must not say: faults of a text that nobody could read, tags that YAML knows, the wrong place."""

from __future__ import annotations

import json
from typing import Any

import pytest

from capability_kit.bundles.front_matter import split_front_matter
from capability_rules.bundles.validation_context import ValidationContext
from capability_rules.tests.validation.a2ui.forms import note_form
from capability_rules.validation import validate_bundle
from tests.bundle_files import bundle, tool
from tests.cases import valid_bundle
from tests.servers import ROOT

MINIMAL = valid_bundle("minimal")
SKILL = "# A\n\n## When to use\n\nx\n\n## Default behavior\n\nx\n\n## Examples\n\nx\n"


@pytest.mark.parametrize(
    ("skill", "code"),
    [
        (SKILL.encode() + b"x" * 2**20, "FILE_TOO_LARGE"),
        (SKILL + "x" * 2**20, "FILE_TOO_LARGE"),
        (SKILL.encode() + b"caf\xe9", "TEXT_NOT_UTF8"),
        (SKILL.encode("utf-16"), "TEXT_NOT_UTF8"),
    ],
)
@pytest.mark.parametrize("name", ["minimal", "with_tools", "playbook"])
def test_of_a_skill_that_cannot_be_read_nothing_is_missing(name: str, skill: bytes | str, code: str) -> None:
    codes = {finding.code for finding in validate_bundle(valid_bundle(name) | {"skill.md": skill}).findings}
    assert code in codes
    assert codes <= {code, "TEXT_NUL"}


def test_of_a_skill_that_cannot_be_read_nobody_says_that_it_names_no_form() -> None:
    files = MINIMAL | {"ui_schemas.json": json.dumps([note_form()])}
    assert "UI_SCHEMA_UNREFERENCED" in {finding.code for finding in validate_bundle(files).findings}
    codes = {finding.code for finding in validate_bundle(files | {"skill.md": b"caf\xe9"}).findings}
    assert "UI_SCHEMA_UNREFERENCED" not in codes


@pytest.mark.parametrize("bundle", ["workouts", "weights", "introduction", "billing_refund", "disk_pressure"])
@pytest.mark.parametrize("name", ["capability.json", "tools.json", "ui_schemas.json"])
@pytest.mark.parametrize("text", ["[{", "", b"\xff"])
def test_a_comma_too_few_is_the_only_fault(bundle: str, name: str, text: bytes | str) -> None:
    """An operator who is typing in one file was told faults of two others."""
    files = {file.name: file.read_text("utf-8") for file in (ROOT / "examples" / bundle).iterdir() if file.is_file()}
    assert not [finding for finding in validate_bundle(files).findings if finding.is_error]
    findings = validate_bundle(files | {name: text}).findings
    assert [(finding.file, finding.severity) for finding in findings] == [(name, "error")]


@pytest.mark.parametrize("bundle", ["workouts", "weights", "meals", "introduction"])
@pytest.mark.parametrize("text", ['{"a": 1}', '{"tools": 5}', "null", "5", '"x"'])
def test_tools_of_another_form_are_the_only_fault(bundle: str, text: str) -> None:
    files = {file.name: file.read_text("utf-8") for file in (ROOT / "examples" / bundle).iterdir() if file.is_file()}
    findings = validate_bundle(files | {"tools.json": text}).findings
    assert [(finding.code, finding.file) for finding in findings] == [("FIELD_INVALID", "tools.json")]


@pytest.mark.parametrize("entry", [5, {}, {"name": 5}])
def test_of_a_tool_without_a_name_no_other_file_is_blamed(entry: Any) -> None:
    files = {file.name: file.read_text("utf-8") for file in (ROOT / "examples/weights").iterdir() if file.is_file()}
    tools = json.loads(files["tools.json"])
    broken = json.dumps([*(tools if isinstance(tools, list) else tools["tools"])[1:], entry])
    assert {finding.file for finding in validate_bundle(files | {"tools.json": broken}).findings} == {"tools.json"}


def test_an_argument_is_not_called_a_tool() -> None:
    files = {file.name: file.read_text("utf-8") for file in (ROOT / "examples/weights").iterdir() if file.is_file()}
    told = [one.message for one in validate_bundle(files | {"tools.json": "[]"}).findings]
    assert "The tool 'weight_entry_delete' is not in tools.json" in told
    assert "'entry_id' is not a tool or an argument in tools.json" in told


@pytest.mark.parametrize(
    ("line", "tools", "others"),
    [
        ("- `a_get`, `b_get` and `c_get`: for `d_id`", ["a_get", "b_get", "c_get"], ["d_id"]),
        ("1. [x] **`a_get(d_id=1)`** takes `d_id`", ["a_get"], ["d_id"]),
        ("| `a_get` | needs `d_id` |", ["a_get"], ["d_id"]),
        ("  needs `d_id`, then `e_id`", [], ["d_id", "e_id"]),
        ("- Call `d_id`", [], ["d_id"]),
    ],
)
def test_the_tools_that_a_line_is_about(line: str, tools: list[str], others: list[str]) -> None:
    skill = SKILL.replace("## Examples", f"## Tools\n\n{line}\n\n## Examples")
    told = [one.message for one in validate_bundle(MINIMAL | {"skill.md": skill}).findings]
    expected = [f"The tool '{name}' is not in tools.json" for name in tools]
    assert told == expected + [f"'{name}' is not a tool or an argument in tools.json" for name in others]


def test_a_section_is_missing_whatever_capability_json_says() -> None:
    skill = SKILL.replace("## Examples", "## Other")
    findings = validate_bundle(MINIMAL | {"capability.json": "{", "skill.md": skill}).findings
    assert [finding.code for finding in findings] == ["JSON_INVALID", "SECTION_MISSING"]


@pytest.mark.parametrize(
    ("yaml", "value"),
    [
        ("!!str 1", "1"), ("!!int 1", "1"), ("!!float 1.5", "1.5"), ("!!bool yes", "yes"), ("!!null ~", "~"),
        ("!!seq [x]", ["x"]), ("!!map {x: y}", {"x": "y"}), ("!<tag:yaml.org,2002:str> 1", "1"),
    ],
)  # fmt: skip
def test_tags_that_yaml_knows_are_read_as_text(yaml: str, value: Any) -> None:
    text = f"---\na: {yaml}\n---\n{SKILL}"
    assert validate_bundle(MINIMAL | {"skill.md": text}).findings == ()
    assert split_front_matter(text).values == {"a": value}


@pytest.mark.parametrize("tag", ["!x", "!!python/object", "!!set", "!!binary", "!!timestamp", "!<tag:example.com:str>"])
def test_other_tags_are_errors(tag: str) -> None:
    (finding,) = validate_bundle(MINIMAL | {"skill.md": f"---\na: {tag} x\n---\n{SKILL}"}).findings
    assert (finding.code, finding.severity, finding.line, finding.column) == ("FRONT_MATTER_INVALID", "error", 2, 4)


def test_a_system_that_there_is_not_is_pointed_at_by_its_key() -> None:
    capability = {**json.loads(MINIMAL["capability.json"]), "dependency_level": {"linux": "builtin", "mac": "builtin"}}
    text = json.dumps(capability, indent=2)
    (finding,) = validate_bundle(MINIMAL | {"capability.json": text}).findings
    line = next(number for number, words in enumerate(text.split("\n"), start=1) if '"mac"' in words)
    assert (finding.code, finding.pointer) == ("FIELD_INVALID", "/dependency_level/mac")
    assert (finding.line, finding.column) == (line, 5)
    assert finding.message == "dependency_level: expected one of common, darwin, win32, linux, found 'mac'"


def test_a_key_and_its_value_are_two_faults() -> None:
    capability = {**json.loads(MINIMAL["capability.json"]), "dependency_level": {"mac": 1}}
    report = validate_bundle(MINIMAL | {"capability.json": json.dumps(capability)})
    assert [finding.pointer for finding in report.errors] == ["/dependency_level/mac"] * 2
    assert len({finding.column for finding in report.errors}) == 2


def test_a_bundle_that_does_not_say_which_it_is_collides_with_nobody() -> None:
    """It may be the very one that has the names."""
    files = bundle(tools=[tool("alpha_list")]) | {"capability.json": '{"capability_id": "alpha",}'}
    report = validate_bundle(files, published=ValidationContext({"alpha_list": "alpha"}))
    codes = {finding.code for finding in report.findings}
    assert "JSON_INVALID" in codes
    assert "TOOL_NAME_COLLISION" not in codes
