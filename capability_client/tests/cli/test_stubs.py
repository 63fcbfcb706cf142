"""The types that `stubs` writes: of every example, and of schemas that are odd."""

from __future__ import annotations

import typing
from typing import Any

import pytest

from capability_client.cli.commands import main
from capability_client.cli.stubs import write_stubs
from capability_client.client.local_registry import LocalSkills
from capability_client.testing import build_bundle
from tests.servers import ROOT

SKILLS = LocalSkills(ROOT / "examples")


def _module(text: str) -> dict[str, Any]:
    namespace: dict[str, Any] = {"__name__": "stubs"}
    exec(compile(text, "stubs.py", "exec"), namespace)
    return namespace


def _stubs(**properties: Any) -> dict[str, Any]:
    args = {"type": "object", "properties": properties, "required": list(properties)}
    contract = {"name": "put", "description": "Put.", "policy": {"kind": "read"}, "args_schema": args}
    return _module(write_stubs(build_bundle("alpha", tools=[contract])))


@pytest.mark.parametrize("name", [entry.capability_id for entry in SKILLS.list()])
def test_the_types_of_each_example_can_be_imported(name: str) -> None:
    bundle = SKILLS.load(name)
    made = _module(write_stubs(bundle))
    for tool in bundle.tools:
        class_name = "".join(word.title() for word in tool["name"].split("_"))
        hints = typing.get_type_hints(made[class_name], made) if isinstance(made[class_name], type) else {}
        assert set(hints) == set(typing.cast("dict[str, Any]", tool["args_schema"]).get("properties", {}))


def test_the_command_prints_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--skills-dir", str(ROOT / "examples"), "stubs", "weights"]) == 0
    text = capsys.readouterr().out
    assert 'source: NotRequired[Literal["chat", "scale", "import"]]' in text
    assert text == (ROOT / "docs" / "agents" / "weight_types.py").read_text("utf-8")
    assert "class WeightEntrySaveBatchResult(TypedDict):\n    saved: int\n" in text


@pytest.mark.parametrize(
    ("schema", "found"),
    [
        ({"type": ["string", "null"]}, str | None),
        ({"enum": ["a", 1, None]}, typing.Literal["a", 1, None]),
        ({"anyOf": [{"type": "integer"}, {"type": "boolean"}]}, int | bool),
        ({"type": "array", "items": {"type": "number"}}, list[float]),
        ({"type": "object", "additionalProperties": {"type": "string"}}, dict[str, str]),
        ({"type": "object"}, dict[str, object]),
        ({"$ref": "#/$defs/none"}, object),
        (True, object),
        ({"oneOf": [{"type": "string"}, {}]}, object),
    ],
)
def test_a_schema_becomes_a_type(schema: Any, found: Any) -> None:
    made = _stubs(value=schema)
    assert typing.get_type_hints(made["Put"], made) == {"value": found}


def test_names_that_are_no_identifiers_and_names_that_meet_are_kept_apart() -> None:
    inner = {"type": "object", "properties": {"x": {"type": "string"}}}
    made = _stubs(**{"a b": inner, "a_b": inner, "class": {"type": "string"}})
    assert set(made["Put"].__annotations__) == {"a b", "a_b", "class"}
    assert {"PutAB", "PutAB_"} <= set(made)


def test_what_refers_to_itself_has_an_end() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}
    args = {"type": "object", "properties": {"first": {"$ref": "#/$defs/node"}}, "$defs": {"node": node}}
    contract = {"name": "put", "description": "Put.", "policy": {"kind": "read"}, "args_schema": args}
    text = write_stubs(build_bundle("alpha", tools=[contract], name='Al"""pha\n'))
    assert "class PutNode(TypedDict):\n    next: NotRequired[PutNode]\n" in text
    assert typing.get_type_hints(_module(text)["Put"], _module(text))
