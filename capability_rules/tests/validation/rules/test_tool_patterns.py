"""Which patterns are held against values, which are a warning, which an error."""

from __future__ import annotations

from typing import Any

import pytest

from capability_rules.validation import Finding, validate_bundle
from capability_rules.validation.rules import tool_patterns
from tests.bundle_files import bundle, to_json, tool
from tests.sweeps import check_each

CODES = ("TOOL_SCHEMA_INVALID", "TOOL_PATTERN_NOT_CHECKED", "TOOL_DEFAULT_INVALID", "CHECK_FAILED")


def _found(properties: dict[str, Any]) -> list[Finding]:
    named = {name: {"description": "d", **schema} for name, schema in properties.items()}
    report = validate_bundle(bundle() | {"tools.json": to_json([tool("alpha_list", properties=named)])})
    return [finding for finding in report.findings if finding.code in CODES]


def _codes(properties: dict[str, Any]) -> list[str]:
    return [one.code for one in _found(properties)]


def test_a_pattern_that_is_not_run_is_a_warning() -> None:
    def check(pattern: str) -> None:
        found = _found({"a": {"type": "string", "pattern": pattern}})
        assert [(one.code, one.severity) for one in found] == [("TOOL_PATTERN_NOT_CHECKED", "warning")]
        assert found[0].pointer == "/0/args_schema/properties/a/pattern"

    check_each(
        [
            "(?=a)",
            "(?!x)y",
            "(?<=a)b",
            r"(a)\1",
            r"(?<n>a)\k<n>",
            "(?P<n>a)(?P=n)",
            "(?=a)*",
            "[^]",
            r"\0",
            r"[\b]",
            r"\ud83d\ude00",
            r"[\w-.]",
            "a{,3}",
            "((a{1000}){1000}){1000}",
            r"\w" * 9000,
            "a" * 20_001,
        ],
        check,
    )


@pytest.mark.parametrize("pattern", ["(", "[a", "a{2,1}", "*a", "(a{1000}){1000}(", r"(?<n>a)\k<m>"])
def test_garbage_is_an_error(pattern: str) -> None:
    assert _codes({"a": {"type": "string", "pattern": pattern}}) == ["TOOL_SCHEMA_INVALID"]


def test_it_says_why_a_pattern_is_not_run() -> None:
    patterns = ["(?=a)", r"(a)\1", "(a{1000}){1000}", "[^]", "a" * 20_001]
    found = _found({f"p{index}": {"pattern": pattern} for index, pattern in enumerate(patterns)})
    reasons = [
        "needs look-around", "needs a back-reference", "takes too much to compile",
        "is written in a way that a linear engine does not know", "is longer than 20,000 characters",
    ]  # fmt: skip
    for finding, reason in zip(found, reasons, strict=True):
        assert f"{reason}: it is not checked here" in finding.message


def test_a_pattern_that_runs_is_held_against_the_default() -> None:
    assert _codes({"a": {"pattern": "^a$", "default": "b"}}) == ["TOOL_DEFAULT_INVALID"]


def test_one_that_does_not_run_leaves_the_rest_of_the_property_checked() -> None:
    codes = _codes(
        {"a": {"type": "string", "pattern": "(?=a)", "default": 1}, "b": {"pattern": "(?=a)", "default": "b"}}
    )
    assert sorted(codes) == ["TOOL_DEFAULT_INVALID", "TOOL_PATTERN_NOT_CHECKED", "TOOL_PATTERN_NOT_CHECKED"]


def test_an_error_is_told_however_many_warnings_stand_before_it() -> None:
    properties = {f"p{index}": {"pattern": f"(?=a){index}"} for index in range(30)} | {"last": {"pattern": "("}}
    codes = _codes(properties)
    assert codes.count("TOOL_PATTERN_NOT_CHECKED") == 30
    assert codes.count("TOOL_SCHEMA_INVALID") == 1


def test_what_all_patterns_of_a_file_cost_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool_patterns, "COST_IN_ALL_MAX", 250)
    found = _found({name: {"pattern": f"{name}{{1,100}}"} for name in "abcd"} | {"e": {"pattern": "a{1,100}"}})
    assert [one.pointer[-9:-8] for one in found] == ["c", "d"]
    assert all("one of too many" in one.message for one in found)
