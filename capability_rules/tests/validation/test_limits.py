"""No input takes a check down: sizes, bombs, crashes and floods become findings."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from capability_rules.validation import in_place, pipeline, validate_bundle
from tests import costs
from tests.cases import valid_bundle

MINIMAL = valid_bundle("minimal")
# Of the reference work, some five seconds; what these texts are made to cause takes minutes.
REFERENCES_MAX = 500


def _codes(files: dict[str, bytes | str]) -> list[str]:
    return [finding.code for finding in validate_bundle(files).findings]


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
    monkeypatch.setattr(in_place, "FINDINGS_MAX", 5)
    findings = validate_bundle(
        MINIMAL | {"tools.json": json.dumps([{"name": f"t{index}"} for index in range(9)])}
    ).findings
    assert len(findings) == 6
    assert [finding.code for finding in findings].count("FINDINGS_CUT") == 1


def test_a_check_that_fails_means_not_publishable(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr(pipeline, "check_tools", fail)
    report = validate_bundle(MINIMAL)
    assert "CHECK_FAILED" in [finding.code for finding in report.errors]
    assert not report.ok


def test_a_check_that_runs_out_of_time_means_not_publishable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_place, "SECONDS_MAX", -1.0)
    assert "CHECK_UNFINISHED" in [finding.code for finding in validate_bundle(MINIMAL).errors]


def test_the_check_in_which_the_time_runs_out_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def dawdle(*_: Any) -> list[Any]:
        monkeypatch.setattr(time, "thread_time", lambda: 1e9)
        return []

    monkeypatch.setattr(pipeline, "check_capability", dawdle)
    (unfinished,) = validate_bundle(MINIMAL).errors
    assert unfinished.code == "CHECK_UNFINISHED"
    assert "capability.json" in unfinished.message


def test_time_is_asked_for_inside_of_a_check(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hundreds of defaults, each of which is an object of thousands of properties: the last check is not waited for."""
    monkeypatch.setattr(in_place, "SECONDS_MAX", 30 * costs.reference_seconds())
    wide: Any = {"type": "object", "properties": {f"p{n}": {"type": "string"} for n in range(10_000)}}
    for _ in range(25):
        wide = {"type": "object", "default": {}, "properties": {"x": wide}}
    with costs.at_most(REFERENCES_MAX / 2):
        errors = validate_bundle(MINIMAL | {"tools.json": _tool(wide)}).errors
    (message,) = (one.message for one in errors if one.code == "CHECK_UNFINISHED")
    assert "tools.json" in message


def _tool(schema: Any) -> str:
    tools = [{"name": "bomb_tool", "description": "d", "args_schema": schema, "policy": {"kind": "read"}}]
    return json.dumps(tools, separators=(",", ":"))


def _properties(count: int, **schema: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {f"p{n}": {"description": "d", **schema} for n in range(count)}}


def _one(**schema: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"x": {"description": "d", **schema}}}


def _numbered(count: int, pattern: str, **schema: Any) -> dict[str, Any]:
    properties = {f"p{n}": {"description": "d", "pattern": f"{pattern}{n}", **schema} for n in range(count)}
    return {"type": "object", "properties": properties}


COSTLY_PATTERN = "(a{1,50}){1,50}"
# A schema, and how many hundreds of the reference work checking its bundle may take: four times of what it does. Most
# took from three seconds to many minutes when every default was compared with the whole document.
LINEAR: dict[str, tuple[Any, float]] = {
    "defaults": (_properties(15_000, type="integer", default=1), 3.0),
    "defaults that are refused": (_properties(15_000, type="integer", default="x"), 3.0),
    "defaults of one costly pattern": (_properties(10_000, pattern=COSTLY_PATTERN, default="a"), 3.0),
    "defaults of many costly patterns": (_numbered(8_000, COSTLY_PATTERN, default="a"), 4.0),
    "defaults behind references": (
        {
            "type": "object",
            "properties": {f"p{n}": {"$ref": f"#/$defs/{n}", "default": 1} for n in range(9_000)},
            "$defs": {f"{n}": {"type": "integer"} for n in range(9_000)},
        },
        4.0,
    ),
    "a long default against a costly pattern": (_one(pattern=COSTLY_PATTERN + "b", default="a" * 500_000), 2.0),
    "a long list against a long enum": (
        _one(items={"enum": [[n] for n in range(30_000)]}, default=[[n] for n in range(30_000)]),
        3.0,
    ),
    "a list against many branches": (_one(items={"allOf": [{"minimum": 0}] * 9_000}, default=[1] * 200_000), 3.0),
    "a pattern that is read again for each escape": (_one(pattern=r"\w" * 9_000), 1.0),
    "faults of thousands of properties": (_properties(15_000, type="whole"), 3.0),
    "branches of nothing": ({"type": "object", "allOf": [{}] * 340_000}, 5.0),
    "branches of constants": (_one(anyOf=[{"const": n} for n in range(60_000)]), 3.0),
    "properties": ({"type": "object", "properties": {f"p{n}": {} for n in range(80_000)}}, 5.0),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", LINEAR)
def test_a_large_schema_takes_as_long_as_its_size(name: str) -> None:
    schema, hundreds = LINEAR[name]
    with costs.at_most(100 * hundreds):
        report = validate_bundle(MINIMAL | {"tools.json": _tool(schema)})
    codes = {finding.code for finding in report.findings}
    assert codes
    assert not codes & {"CHECK_FAILED", "FILE_TOO_LARGE"}


BRANCHES: dict[str, Any] = {
    "anyOf": _one(anyOf=[{"const": n} for n in range(10_001)]),
    "oneOf": _one(oneOf=[{"const": n} for n in range(24_000)]),
    "allOf of true": _one(allOf=[True] * 10_001),
    "not, if, then, else": {
        "type": "object",
        "properties": {
            f"p{n}": {"description": "d", "if": {}, "then": {}, "else": {}, "not": {}} for n in range(2_501)
        },
    },
    "dependentSchemas": {"type": "object", "dependentSchemas": {f"p{n}": {} for n in range(10_001)}},
    "in $defs, used twice": {
        "type": "object",
        "properties": {name: {"description": "d", "$ref": "#/$defs/a"} for name in "xy"},
        "$defs": {"a": {"anyOf": [{"const": n} for n in range(5_001)]}},
    },
    "in all properties together": _properties(5_001, anyOf=[{"type": "string"}, {"type": "null"}]),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", BRANCHES)
def test_more_than_ten_thousand_branches_are_too_complex(name: str) -> None:
    assert "TOOL_SCHEMA_TOO_COMPLEX" in _codes(MINIMAL | {"tools.json": _tool(BRANCHES[name])})


@pytest.mark.parametrize(
    "schema",
    [
        _one(anyOf=[{"const": n} for n in range(10_000)]),
        _one(enum=list(range(60_000))),
        _one(type="array", prefixItems=[{"type": "string"}] * 10_001),
        _properties(5_000, anyOf=[{"type": "string"}, {"type": "null"}]),
    ],
    ids=["just at the limit", "an enum", "a tuple", "just at the limit together"],
)
def test_up_to_there_and_without_combinators_they_are_not(schema: Any) -> None:
    codes = _codes(MINIMAL | {"tools.json": _tool(schema)})
    assert not {"TOOL_SCHEMA_TOO_COMPLEX", "TOOL_SCHEMA_INVALID", "CHECK_FAILED"} & set(codes)


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


def _memory(name: str) -> int:
    """MiB of this process, by a name of Linux."""
    lines = Path("/proc/self/status").read_text("ascii").splitlines()
    return int(next(line for line in lines if line.startswith(f"{name}:")).split()[1]) // 1024


def _begin_peak() -> int:
    """What the process holds now, from which its peak is counted: other tests in it have had theirs."""
    Path("/proc/self/clear_refs").write_text("5", "ascii")
    return _memory("VmRSS")


@pytest.mark.slow
@pytest.mark.parametrize("name", BOMBS)
def test_a_schema_bomb_is_bounded_in_time_and_memory(name: str) -> None:
    tools = [{"name": "bomb_tool", "description": "d", "args_schema": BOMBS[name], "policy": {"kind": "read"}}]
    before = _begin_peak()
    with costs.at_most(REFERENCES_MAX):
        report = validate_bundle(MINIMAL | {"tools.json": json.dumps(tools)})
    assert _memory("VmHWM") - before < 400, "MiB"
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


@pytest.mark.slow
# One reader for all three.
@pytest.mark.parametrize(
    "file",
    [
        pytest.param("capability.json", marks=pytest.mark.rare),
        "tools.json",
        pytest.param("ui_schemas.json", marks=pytest.mark.rare),
    ],
)
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_bounded_in_time(file: str, name: str) -> None:
    with costs.at_most(REFERENCES_MAX):
        validate_bundle(MINIMAL | {file: HOSTILE[name]})


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece", ["# a\n", "## Tools\n", "`a_b` ", "- a_b\n", "a_b(", "[", "<", "`", "*", "X.v1 ", "\u200b", "```\n"]
)
def test_a_hostile_skill_is_bounded_in_time(piece: str) -> None:
    text = "# A\n\n## Tools\n\n" + piece * (900_000 // len(piece.encode()))
    with costs.at_most(REFERENCES_MAX):
        validate_bundle(valid_bundle("with_tools") | {"skill.md": text})


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
    report = validate_bundle(files)
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
    report = validate_bundle(dict(files))
    assert not report.ok
    assert report.findings
