"""Quick fixes: each makes its finding go away, touches nothing else, and is offered only where it is sure."""

from __future__ import annotations

import json
from typing import Any

import pytest

from capability_rules.bundles.json_edits import apply_edits
from capability_rules.tests.bundles.test_vendor_tools import FORMS
from capability_rules.tests.validation.a2ui.forms import REPOSITORY
from capability_rules.validation import BUNDLE_FILES, Finding, validate_bundle
from registry.authoring.quick_fixes import QuickFix, quick_fixes_for
from tests.factories import Files, bundle, to_json, tool
from tests.sweeps import check_each

CAPABILITY = json.loads(bundle()["capability.json"])


def _with(**changes: Any) -> Files:
    capability = {key: value for key, value in (CAPABILITY | changes).items() if value is not None}
    return bundle() | {"capability.json": to_json(capability)}


def _find_fix(files: Files, code: str) -> tuple[Finding, QuickFix] | None:
    fixes = quick_fixes_for(validate_bundle(files), "alpha")
    return next(((finding, fix) for finding, fix in fixes.items() if finding.code == code), None)


def _fixed(files: Files, fix: QuickFix) -> Files:
    return files | {fix.file: apply_edits(files[fix.file], fix.edits)}


_READ = tool("alpha_get", "read")
_WRITE = {**tool("alpha_save", "write"), "policy": {"kind": "write"}}
_SKILL = bundle()["skill.md"]
FIXED: dict[str, tuple[Files, str, str]] = {
    "a trailing comma": (bundle() | {"tools.json": "[\n  1,\n]\n"}, "JSON_INVALID", "Remove the comma"),
    "a trailing comma in an object": (bundle() | {"tools.json": '[{"a": 1, }]'}, "JSON_INVALID", "Remove the comma"),
    "no name": (_with(name=None), "FIELD_MISSING", "Add name"),
    "no triggers": (_with(intent_triggers=None), "FIELD_MISSING", "Add intent_triggers"),
    "no id": (_with(capability_id=None), "FIELD_MISSING", "Add capability_id"),
    "no arguments": (
        bundle(tools=[_READ]) | {"tools.json": to_json([{k: v for k, v in _READ.items() if k != "args_schema"}])},
        "FIELD_MISSING",
        "Add args_schema",
    ),
    "a misspelt key": (_with(emojis="x"), "FIELD_UNKNOWN", "Rename it to emoji"),
    "a key of nobody": (_with(zzzzzzzz=[]), "FIELD_UNKNOWN", "Remove the key"),
    "the last key": (
        bundle() | {"capability.json": json.dumps(CAPABILITY | {"zzzzzz": ""})},
        "FIELD_UNKNOWN",
        "Remove the key",
    ),
    "a trigger twice": (_with(intent_triggers=["Lift", "lift", "up"]), "TRIGGER_DUPLICATE", "Remove the second one"),
    "a version": (_with(version="1.2"), "VERSION_IGNORED", "Remove it"),
    "no word on approval": (bundle(tools=[_WRITE]), "TOOL_APPROVAL_UNSET", "Ask a person first"),
    "no title": (bundle() | {"skill.md": _SKILL.partition("\n\n")[2]}, "TITLE_MISSING", "Add the title"),
    "two titles": (bundle() | {"skill.md": _SKILL + "\n# Again\n\nx\n"}, "TITLE_DUPLICATE", "Make it an H2"),
    "no section": (
        bundle() | {"skill.md": _SKILL.replace("## Default behavior\n\nAnswer in one sentence.\n\n", "")},
        "SECTION_MISSING",
        "Add Default behavior",
    ),
    "an unnamed tool": (
        bundle(tools=[_READ]) | {"tools.json": to_json([_READ, tool("alpha_more", "read")])},
        "TOOL_NOT_DOCUMENTED",
        "Name it in skill.md",
    ),
}


def test_a_mend_makes_its_finding_go_away_and_brings_no_other() -> None:
    def check(case: str) -> None:
        files, code, label = FIXED[case]
        found = _find_fix(files, code)
        assert found is not None
        finding, fix = found
        assert fix.label == label
        after = validate_bundle(_fixed(files, fix))
        assert (finding.code, finding.message) not in {(one.code, one.message) for one in after.findings}
        before = {(one.code, one.message) for one in validate_bundle(files).findings}
        if code != "JSON_INVALID":
            # A section that was put in is there for its author to write.
            new = {(one.code, one.message) for one in after.findings if one.code != "PLACEHOLDER_LEFT"}
            assert new <= before

    check_each(FIXED, check)


def test_a_section_is_put_where_the_profile_has_it() -> None:
    files, code, _ = FIXED["no section"]
    found = _find_fix(files, code)
    assert found is not None
    headings = [line for line in _fixed(files, found[1])["skill.md"].split("\n") if line.startswith("## ")]
    assert headings == ["## When to use", "## Default behavior", "## Examples"]


def test_a_playbook_is_completed_step_by_step_until_nothing_is_missing() -> None:
    capability = CAPABILITY | {
        "skill_profile": "playbook",
        "playbook": {"problem": "x", "conditions": [], "keywords": ["x"]},
    }
    files = {"capability.json": to_json(capability), "skill.md": "# Alpha\n\n## Steps\n\n### Look\n\n**Do:** look\n"}
    for _ in range(12):
        fixes = quick_fixes_for(validate_bundle(files), "alpha")
        if not fixes:
            break
        files = _fixed(files, next(iter(fixes.values())))
    assert {finding.code for finding in validate_bundle(files).findings} == {
        "PLACEHOLDER_LEFT",
        "STEP_CHECK_MISSING",
        "STEP_SAY_MISSING",
    }
    assert "### 1. Look" in files["skill.md"]


def test_the_id_of_another_capability_becomes_the_own_one(db: None) -> None:
    from registry.catalog import drafts

    files = _with(capability_id="beta")
    report = drafts.validate_draft_files("alpha", files)
    fix = next(fix for finding, fix in quick_fixes_for(report, "alpha").items() if finding.code == "FIELD_INVALID")
    assert drafts.validate_draft_files("alpha", _fixed(files, fix)).ok


def test_what_only_the_author_can_know_has_no_mend() -> None:
    for files in (_with(description=None), _with(name="x" * 81), bundle() | {"tools.json": "[1 2]"}):
        assert quick_fixes_for(validate_bundle(files), "alpha") == {}


def test_a_heading_of_another_level_is_left_to_the_author() -> None:
    files = bundle() | {"skill.md": _SKILL.replace("## Examples", "### Examples")}
    assert "SECTION_MISSING" in {finding.code for finding in validate_bundle(files).findings}
    assert _find_fix(files, "SECTION_MISSING") is None


def test_the_wrapper_and_the_front_matter_shift_nothing() -> None:
    skill = "---\nlicense: x\n---\n" + _SKILL.partition("\n\n")[2]
    files = bundle(tools=[_WRITE]) | {"tools.json": to_json({"tools": [_WRITE]})}
    found = _find_fix(files, "TOOL_APPROVAL_UNSET")
    assert found is not None
    assert json.loads(_fixed(files, found[1])["tools.json"])["tools"][0]["policy"]["requires_approval"] is True
    found = _find_fix(bundle() | {"skill.md": skill}, "TITLE_MISSING")
    assert found is not None
    assert _fixed(bundle() | {"skill.md": skill}, found[1])["skill.md"].startswith("---\nlicense: x\n---\n# Alpha\n")


ODD = ["", "{", "[]", "null", '{"a": {"a": 1}}', "[[[[]]]]", "\x00", "{}" * 3, "\U0001d4b3" * 9, "# x\n# y"]


@pytest.mark.parametrize("odd", ODD)
def test_odd_texts_never_break_it(odd: str) -> None:
    for name in BUNDLE_FILES:
        files = bundle(tools=[_READ]) | {name: odd}
        for fix in quick_fixes_for(validate_bundle(files), "alpha").values():
            assert apply_edits(validate_bundle(files).files[fix.file], fix.edits)


@pytest.mark.slow
def test_a_large_file_has_no_mends() -> None:
    skill = "word " * 50_000
    assert quick_fixes_for(validate_bundle(bundle() | {"skill.md": skill}), "alpha") == {}


def test_a_playbook_that_states_its_confidence_is_told_and_the_line_goes() -> None:
    example = json.loads((REPOSITORY / "schemas" / "examples" / "invalid" / "confidence_stated.json").read_text())
    capability = CAPABILITY | {
        "skill_profile": "playbook",
        "playbook": {"problem": "p", "conditions": [], "keywords": []},
    }
    files = bundle() | {"capability.json": to_json(capability), "skill.md": example["replace"]["skill.md"]}
    found = _find_fix(files, "CONFIDENCE_STATED")
    assert found is not None
    finding, fix = found
    assert (finding.severity, finding.line, fix.label) == ("warning", 3, "Remove the line")
    fixed = _fixed(files, fix)
    assert "Confidence" not in fixed["skill.md"]
    assert _find_fix(fixed, "CONFIDENCE_STATED") is None
    code = files["skill.md"].replace("**Confidence:**", "    **Confidence:**")
    assert _find_fix(files | {"skill.md": code}, "CONFIDENCE_STATED") is None
    other = files | {"capability.json": to_json(CAPABILITY | {"skill_profile": "agent_skill"})}
    assert _find_fix(other, "CONFIDENCE_STATED") is None


def _with_tools(document: Any) -> Files:
    return bundle() | {"tools.json": json.dumps(document, indent=2)}


def test_one_click_converts_all_tools_of_a_vendor() -> None:
    def check(name: str) -> None:
        report = validate_bundle(_with_tools({"tools": [FORMS[name]]} if name != "Gemini" else FORMS[name]))
        (error,) = (one for one in report.errors if one.file == "tools.json")
        (edit,) = quick_fixes_for(report, "alpha")[error].edits
        assert json.loads(edit.text)[0]["args_schema"]["required"] == ["city"]

    check_each(FORMS, check)


def test_no_fix_removes_a_key_that_says_something() -> None:
    def check(key: str) -> None:
        given = {**tool("alpha_list"), key: {"type": "object", "properties": {"a": {"type": "string"}}}}
        report = validate_bundle(_with_tools([given]))
        (finding,) = (one for one in report.findings if one.code == "FIELD_UNKNOWN")
        assert "Did you mean" not in finding.hint
        assert finding not in quick_fixes_for(report, "alpha")

    check_each(["inputSchema", "input_schema", "parameters", "outputSchema", "annotations", "strict_schema"], check)


@pytest.mark.parametrize("value", [None, "", [], {}])
def test_unknown_key_that_says_nothing_is_removed_by_a_click(value: Any) -> None:
    report = validate_bundle(_with_tools([{**tool("alpha_list"), "parameters": value}]))
    (finding,) = (one for one in report.findings if one.code == "FIELD_UNKNOWN")
    assert quick_fixes_for(report, "alpha")[finding].label == "Remove the key"
