"""Schemas that show a reader one thing and a validator another, and random ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

Schema = dict[str, Any]


def doubling(levels: int) -> Schema:
    """Definitions `a0`, `a1` ... of which each asks the next one two times: 2^levels visits."""
    definitions: Schema = {f"a{n}": {"allOf": [{"$ref": f"#/$defs/a{n + 1}"}] * 2} for n in range(levels)}
    return definitions | {f"a{levels}": {"type": "integer"}}


def _by_address(address: str) -> Callable[[int], Schema]:
    def schema(levels: int) -> Schema:
        """In the resource `a0` is costly, at the root it is not."""
        inner = {"$id": address, "allOf": [{"$ref": "#/$defs/a0"}], "$defs": doubling(levels)}
        return _argument({"$ref": "#/$defs/inner"}, {"inner": inner, "a0": {"type": "integer"}})

    return schema


def _argument(schema: Schema, definitions: Schema) -> Schema:
    return {"type": "object", "properties": {"x": schema}, "$defs": definitions}


def _by_dynamic_anchor(levels: int) -> Schema:
    """The reference is written beside a cheap anchor, and the outermost one counts."""
    cheap = {"n": {"$dynamicAnchor": "node", "type": "integer"}}
    leaf = {"$id": "https://example.com/leaf", "$dynamicRef": "#node", "$defs": cheap}
    costly = {"$dynamicAnchor": "node", "$ref": "#/$defs/a0"}
    schema = _argument({"$ref": "https://example.com/leaf"}, {"leaf": leaf, "costly": costly, **doubling(levels)})
    return {"$id": "https://example.com/root", **schema}


def _by_recursive_anchor(levels: int) -> Schema:
    """As 2019-09 wrote it."""
    leaf = {"$id": "https://example.com/leaf", "$recursiveAnchor": True, "properties": {"y": {"$recursiveRef": "#"}}}
    schema = _argument({"$ref": "https://example.com/leaf"}, {"leaf": leaf, **doubling(levels)})
    return {"$id": "https://example.com/root", "$recursiveAnchor": True, **schema, "allOf": [{"$ref": "#/$defs/a0"}]}


def _by_unevaluated(levels: int) -> Schema:
    """Each level asks the next one again, to learn which properties it looked at."""
    definitions: Schema = {
        f"u{n}": {"anyOf": [{"$ref": f"#/$defs/u{n + 1}"}], "unevaluatedProperties": False} for n in range(levels)
    }
    return _argument({"$ref": "#/$defs/u0"}, definitions | {f"u{levels}": {"properties": {"a": True}}})


def _by_pointer_into_data(levels: int) -> Schema:
    """A pointer into a keyword that no vocabulary knows, with an address that a validator may read or not."""
    inner = {"$id": "urn:x:data", "allOf": [{"$ref": "#/$defs/a0"}], "$defs": doubling(levels)}
    schema = _argument({"$ref": "#/x-data/inner"}, doubling(levels))
    return schema | {"x-data": {"inner": inner}}


# Each by how many levels it has: its size grows with them, the work of a validator with two to their power.
COSTLY: dict[str, Callable[[int], Schema]] = {
    "urn": _by_address("urn:x:one"),
    "tag": _by_address("tag:example.com,2020:one"),
    "data": _by_address("data:,one"),
    "own scheme": _by_address("depot://shelf/one"),
    "https": _by_address("https://example.com/one"),
    "relative": _by_address("one.json"),
    "dynamic anchor": _by_dynamic_anchor,
    "recursive anchor": _by_recursive_anchor,
    "unevaluated": _by_unevaluated,
    "pointer into data": _by_pointer_into_data,
}


_NAMES = ("a", "b", "c", "d")
_ADDRESSES = ("urn:x:{}", "tag:x,1:{}", "{}.json", "https://example.com/{}", "depot://shelf/{}")


@st.composite
def schemas_with_references(draw: st.DrawFn) -> Schema:
    """Four definitions, some with an address of their own, that refer to each other by every kind of reference."""
    addresses = {name: draw(st.sampled_from(["", *(form.format(name) for form in _ADDRESSES)])) for name in _NAMES}
    known = [f"#/$defs/{name}" for name in _NAMES] + [address for address in addresses.values() if address]
    definitions = {}
    for name in _NAMES:
        definition = draw(_subschema(known))
        own: Schema = {"$id": addresses[name]} if addresses[name] else {}
        if addresses[name] and draw(st.booleans()):
            own["$defs"] = {"n": draw(_subschema(known)) | {"$dynamicAnchor": "node"}}
            own["$dynamicRef"] = "#node"
        definitions[name] = own | definition
    root = draw(_subschema(known))
    outer = {"n": {"$dynamicAnchor": "node", **draw(_subschema(known))}}
    return {"$id": "https://example.com/root", **root, "$defs": definitions | outer}


def _subschema(known: list[str]) -> st.SearchStrategy[Schema]:
    reference: st.SearchStrategy[Schema] = st.sampled_from(known).map(lambda target: {"$ref": target})
    leaf: st.SearchStrategy[Schema] = st.sampled_from(
        [{"type": "integer"}, {"minimum": 1}, {"type": "object"}, {"maxItems": 1}, {}]
    )
    part: st.SearchStrategy[Schema] = reference | leaf
    return st.fixed_dictionaries(
        {},
        optional={
            "allOf": st.lists(part, min_size=1, max_size=2),
            "anyOf": st.lists(part, min_size=1, max_size=2),
            "not": leaf,
            "if": leaf,
            "then": part,
            "properties": st.dictionaries(st.sampled_from(["p", "q"]), part, max_size=2),
            "additionalProperties": part,
            "items": part,
        },
    )


VALUES = st.recursive(
    st.integers(0, 2) | st.booleans() | st.just("t"),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["p", "q", "r"]), inner, max_size=2),
    max_leaves=5,
)
