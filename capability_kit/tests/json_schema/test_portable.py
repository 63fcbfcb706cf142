"""A schema as it is sent to others: its references are pointers into its own `$defs`."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest

from capability_kit.json_schema.graph import SchemaGraph
from capability_kit.json_schema.portable import SchemaNotPortable, make_portable

ITEM = {"type": "string", "description": "One."}
# By what a reference may be written, beside a plain pointer into `$defs`; each leads to a text.
FORMS: dict[str, dict[str, Any]] = {
    "definitions": {"properties": {"a": {"$ref": "#/definitions/x"}}, "definitions": {"x": ITEM}},
    "a property": {"properties": {"b": ITEM, "a": {"$ref": "#/properties/b"}}},
    "an anchor": {"properties": {"a": {"$ref": "#here"}}, "$defs": {"x": {"$anchor": "here", **ITEM}}},
    "an id": {"properties": {"a": {"$ref": "x"}}, "$id": "https://s/root", "$defs": {"y": {"$id": "x", **ITEM}}},
    "an urn": {"properties": {"a": {"$ref": "urn:x"}}, "$defs": {"y": {"$id": "urn:x", **ITEM}}},
    "a root combinator": {"properties": {"a": {"$ref": "#/allOf/0"}}, "allOf": [ITEM | {"x": 1}, {}][:1]},
    "an unknown keyword": {"properties": {"a": {"$ref": "#/components/x"}}, "components": {"x": ITEM}},
    "escapes": {"properties": {"a": {"$ref": "#/$defs/a~1b%20c"}}, "$defs": {"a/b c": ITEM}},
    "dynamic": {"properties": {"a": {"$dynamicRef": "#n"}}, "$defs": {"x": {"$dynamicAnchor": "n", **ITEM}}},
    "nested $defs": {"properties": {"a": {"$ref": "#/$defs/x/$defs/y"}}, "$defs": {"x": {"$defs": {"y": ITEM}}}},
}


@pytest.mark.parametrize("form", FORMS)
def test_each_form_of_a_reference_becomes_a_pointer_into_defs(form: str) -> None:
    made = make_portable({"type": "object", **FORMS[form]})
    graph = SchemaGraph(made)
    links = [link for node in graph.nodes for link in node.links]
    assert [link.reference.target.startswith("#/$defs/") for link in links] == [True]
    assert links[0].target.schema["description"] == "One."
    assert not {"$id", "$anchor", "$dynamicAnchor", "definitions", "components"} & set(str(made).split("'"))
    valid = jsonschema_rs.Draft202012Validator({"properties": made["properties"], "$defs": made["$defs"]}, offline=True)
    assert (valid.is_valid({"a": "x"}), valid.is_valid({"a": 1})) == (True, False)


def test_a_recursive_schema_refers_to_itself_by_name() -> None:
    made = make_portable({"type": "object", "title": "Tree", "properties": {"below": {"$ref": "#"}}})
    assert made["properties"] == {"below": {"$ref": "#/$defs/root"}}
    assert made["$defs"]["root"] == {
        "type": "object",
        "title": "Tree",
        "properties": {"below": {"$ref": "#/$defs/root"}},
    }


def test_what_is_portable_already_stays_as_it_is() -> None:
    plain = {"type": "object", "x-note": {"a": 1}, "properties": {"a": {"$ref": "#/$defs/x"}}, "$defs": {"x": ITEM}}
    assert make_portable(plain) is plain
    data = {"type": "object", "properties": {"a": {"default": {"$ref": "#/nowhere"}, "enum": [{"$ref": "x"}]}}}
    assert make_portable(data)["properties"] == data["properties"]


def test_names_of_two_targets_never_meet() -> None:
    schema = {
        "properties": {"a": {"$ref": "#/$defs/x"}, "b": {"$ref": "#/properties/c/$defs/x"}, "c": {"$defs": {"x": {}}}},
        "$defs": {"x": ITEM},
    }
    made = make_portable({"type": "object", **schema})
    assert made["properties"]["a"] != made["properties"]["b"]
    assert sorted(made["$defs"].values(), key=len) == [{}, ITEM]


@pytest.mark.parametrize(
    "target", ["https://elsewhere.example/x", "#/$defs/nowhere", "#none", "other.json"]
)  # fmt: skip
def test_a_reference_without_a_target_is_named(target: str) -> None:
    with pytest.raises(SchemaNotPortable, match=target.replace("$", r"\$")):
        make_portable({"type": "object", "properties": {"a": {"$ref": target}}})
