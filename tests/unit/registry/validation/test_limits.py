"""No input takes a check down: sizes, bombs, crashes and floods become findings."""

from __future__ import annotations

import json
import resource
import time
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from registry import validation
from registry.validation import checks, validate
from tests.cases import valid_bundle

MINIMAL = valid_bundle("minimal")
# The promise is 2 s on an idle machine; CPU time with some room, so that a busy or slow one does not decide a test.
# What these texts are made to cause takes minutes.
CPU_SECONDS_MAX = 5


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine the clock on the wall must not decide; the tests bound CPU time themselves."""
    monkeypatch.setattr(validation, "SECONDS_MAX", 60.0)


def _codes(files: dict[str, bytes | str]) -> list[str]:
    return [finding.code for finding in validate(files).findings]


def test_a_file_over_one_mebibyte_is_refused() -> None:
    assert "FILE_TOO_LARGE" in _codes(MINIMAL | {"skill.md": "x" * (1024 * 1024 + 1)})


def test_a_bundle_over_two_mebibytes_is_refused() -> None:
    million = "# A\n" + "x " * 512_000
    large = MINIMAL | {
        "skill.md": million,
        "tools.json": " " * 1_040_000 + "[]",
        "ui_schemas.json": " " * 1_040_000 + "[]",
    }
    assert "BUNDLE_TOO_LARGE" in _codes(large)


def test_more_findings_than_anybody_reads_are_cut_with_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(validation, "FINDINGS_MAX", 5)
    findings = validate(MINIMAL | {"tools.json": json.dumps([{"name": f"t{index}"} for index in range(9)])}).findings
    assert len(findings) == 6
    assert [finding.code for finding in findings].count("FINDINGS_CUT") == 1


def test_a_check_that_fails_means_not_publishable(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr(checks, "check_tools", fail)
    report = validate(MINIMAL)
    assert "CHECK_FAILED" in [finding.code for finding in report.errors]
    assert not report.ok


def test_a_check_that_runs_out_of_time_means_not_publishable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(validation, "SECONDS_MAX", -1.0)
    assert "CHECK_FAILED" in [finding.code for finding in validate(MINIMAL).errors]


def _doubling(levels: int, keyword: str, leaf: Any) -> dict[str, Any]:
    definitions = {str(n): {keyword: [{"$ref": f"#/$defs/{n + 1}"}] * 2} for n in range(levels)}
    definitions[str(levels)] = leaf
    return {"type": "object", "properties": {"x": {"$ref": "#/$defs/0", "default": "aaaa"}}, "$defs": definitions}


BOMBS: dict[str, Any] = {
    "allOf doubling, valid": _doubling(25, "allOf", {"type": "string"}),
    "allOf doubling, invalid": _doubling(25, "allOf", {"type": "integer"}),
    "anyOf doubling": _doubling(25, "anyOf", {"type": "integer"}),
    "oneOf doubling": _doubling(25, "oneOf", {"type": "string"}),
    "just below the limit": _doubling(11, "anyOf", {"type": "integer"}),
    "recursion that doubles with depth": {
        "type": "object",
        "$defs": {"n": {"properties": {"x": {"allOf": [{"$ref": "#/$defs/n"}, {"$ref": "#/$defs/n"}]}}}},
        "properties": {"x": {"$ref": "#/$defs/n", "default": json.loads('{"x":' * 50 + "{}" + "}" * 50)}},
    },
    "a chain of references": {
        "type": "object",
        "properties": {"x": {"$ref": "#/$defs/0"}},
        "$defs": {str(n): {"$ref": f"#/$defs/{n + 1}"} for n in range(20_000)} | {"20000": {}},
    },
    "a pattern that backtracks": {
        "type": "object",
        "properties": {"x": {"type": "string", "pattern": "^(a+)+$", "default": "a" * 5000 + "b"}},
    },
    "a pattern with look-ahead that backtracks": {
        "type": "object",
        "properties": {"x": {"type": "string", "pattern": "^(?=a)((a+)+)+$", "default": "a" * 5000 + "b"}},
    },
    "a huge repetition": {"type": "object", "properties": {"x": {"pattern": "((a{1000}){1000}){1000}"}}},
    "ten thousand plain properties": {
        "type": "object",
        "properties": {f"p{n}": {"type": "string"} for n in range(10_001)},
    },
    "deep nesting": json.loads('{"type":"object","properties":{"x":' * 20 + "{}" + "}}" * 20),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_schema_bomb_is_bounded_in_time_and_memory(name: str) -> None:
    tools = [{"name": "bomb_tool", "description": "d", "args_schema": BOMBS[name], "policy": {"kind": "read"}}]
    started = time.process_time()
    report = validate(MINIMAL | {"tools.json": json.dumps(tools)})
    assert time.process_time() - started < CPU_SECONDS_MAX
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 700 * 1024
    assert "CHECK_FAILED" not in [finding.code for finding in report.findings]


@pytest.mark.parametrize("name", ["allOf doubling, valid", "anyOf doubling", "oneOf doubling"])
def test_a_doubling_bomb_is_called_too_complex(name: str) -> None:
    tools = [{"name": "bomb_tool", "description": "d", "args_schema": BOMBS[name], "policy": {"kind": "read"}}]
    assert "TOOL_SCHEMA_TOO_COMPLEX" in _codes(MINIMAL | {"tools.json": json.dumps(tools)})


def test_many_plain_properties_are_no_bomb() -> None:
    tools = [
        {
            "name": "t_a",
            "description": "d",
            "args_schema": BOMBS["ten thousand plain properties"],
            "policy": {"kind": "read"},
        }
    ]
    assert "TOOL_SCHEMA_TOO_COMPLEX" not in _codes(MINIMAL | {"tools.json": json.dumps(tools)})


HOSTILE = {
    "numbers": "[" + ",".join(["1"] * 500_000) + "]",
    "empty objects": "[" + ",".join(["{}"] * 340_000) + "]",
    "brackets": "[" * 1_000_000,
    "quotes": '"' * 1_000_000,
    "escapes": '"' + '\\"' * 500_000,
    "keys twice": "[" + ",".join(['{"a":1,"a":1}'] * 70_000) + "]",
    "one long key": '{"' + "k" * 1_000_000 + '": 1}',
    "many keys": "{" + ",".join(f'"{n}":0' for n in range(90_000)) + "}",
}


@pytest.mark.parametrize("file", ["capability.json", "tools.json", "ui_schemas.json"])
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_bounded_in_time(file: str, name: str) -> None:
    started = time.process_time()
    validate(MINIMAL | {file: HOSTILE[name]})
    assert time.process_time() - started < CPU_SECONDS_MAX


@pytest.mark.parametrize(
    "piece", ["# a\n", "## Tools\n", "`a_b` ", "- a_b\n", "a_b(", "[", "<", "`", "*", "X.v1 ", "\u200b", "```\n"]
)
def test_a_hostile_skill_is_bounded_in_time(piece: str) -> None:
    text = "# A\n\n## Tools\n\n" + piece * (900_000 // len(piece.encode()))
    started = time.process_time()
    validate(valid_bundle("with_tools") | {"skill.md": text})
    assert time.process_time() - started < CPU_SECONDS_MAX


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.text(max_size=5)
    | st.sampled_from(["read", "object", "#/$defs/x", "a_b"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["name", "args_schema", "policy", "kind", "type", "properties", "$ref", "items", "ui", "form", "$defs"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=15,
)


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(json_values, json_values, json_values, st.text(max_size=80))
def test_no_content_makes_a_check_fail(capability: Any, tools: Any, ui_schemas: Any, skill: str) -> None:
    files: dict[str, bytes | str] = {
        "capability.json": json.dumps(capability),
        "skill.md": skill,
        "tools.json": json.dumps(tools),
        "ui_schemas.json": json.dumps(ui_schemas),
    }
    report = validate(files)
    assert "CHECK_FAILED" not in [finding.code for finding in report.findings]
    for finding in report.findings:
        assert finding.line is None or 1 <= finding.line <= files.get(finding.file, "").count("\n") + 1  # type: ignore[arg-type]


@settings(max_examples=80, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(["capability.json", "skill.md", "tools.json", "ui_schemas.json", "x"]), st.binary(max_size=60)
    )
)
def test_any_bytes_become_findings(files: dict[str, bytes]) -> None:
    report = validate(dict(files))
    assert not report.ok
    assert report.findings
