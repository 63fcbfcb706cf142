"""Write `basic.json`: the A2UI basic catalogue in the form that our checks use.

Run it after an upgrade of a2ui-core and read the diff: `python -m capability_rules.validation.a2ui.catalog.generate`. A
test compares the committed file with what the installed a2ui-core gives.

Three things differ from the official JSON Schema, each for the sake of what an operator reads:

- A component is one flat object that lists its keys. The official `allOf` with `unevaluatedProperties` reports every
  key as unknown as soon as one value is wrong.
- A function call inside a component is only required to be a call. Which function, and with which arguments, is checked
  at each call by itself, so that an error is reported once, where it is.
- `min` and `max` of DateTimeInput take what that widget writes. Officially the text must match exactly one of three
  formats, which most validators do not assert: they then refuse every text.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

JsonObject = dict[str, Any]

TARGET = Path(__file__).with_name("basic.json")
PROTOCOL = "v0.9.1"

# What is read by people or by generators only. The words in our file are ours; the structure is the official one.
_WORDS = ("description", "title", "default", "discriminator")

_DATE = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
_TIME = r"[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?(Z|[+-][0-9]{2}:[0-9]{2})?"
_ISO_8601 = f"^({_DATE}|{_TIME}|{_DATE}T{_TIME})?$"


def generate() -> JsonObject:
    """Build the document from the installed a2ui-core. Takes about a second: a2ui-core is slow to import."""
    # A package of the tests: the generated document is committed.
    from a2ui.core import __version__
    from a2ui.core.basic_catalog import BasicCatalog
    from a2ui.core.catalog import get_common_types_schema_map
    from a2ui.core.schema import ProtocolVersion

    catalog = BasicCatalog(PROTOCOL)
    official = catalog.to_json()
    common = get_common_types_schema_map(ProtocolVersion.V0_9_1)["$defs"]
    defs: JsonObject = {**common, **official["$defs"]}
    return {
        "source": f"a2ui-core {__version__}, {PROTOCOL}",
        "catalogId": official["catalogId"],
        "components": {name: _component(schema, defs) for name, schema in official["components"].items()},
        "references": {name: _references(catalog.get_component_ref_spec(name)) for name in official["components"]},
        "functions": {name: _function(schema) for name, schema in official["functions"].items()},
        "theme": _plain(defs["theme"]),
        "$defs": _definitions(defs),
    }


def _component(schema: JsonObject, defs: JsonObject) -> JsonObject:
    flat: JsonObject = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    for part in schema["allOf"]:
        whole = defs[part["$ref"].rsplit("/", 1)[-1]] if "$ref" in part else part
        flat["properties"].update(_plain(whole.get("properties", {}), is_map=True))
        flat["required"] += whole.get("required", [])
    for bound in ("min", "max"):
        if "allOf" in flat["properties"].get(bound, {}):
            lenient = {"if": {"type": "string"}, "then": {"pattern": _ISO_8601}}
            flat["properties"][bound] = {"allOf": [{"$ref": "#/$defs/DynamicString"}, lenient]}
    return flat


def _function(schema: JsonObject) -> JsonObject:
    # Nothing is combined here, so that the two keywords mean the same, and this one reports only what is unknown.
    text = json.dumps(_plain(schema)).replace('"unevaluatedProperties"', '"additionalProperties"')
    return dict(json.loads(text))


def _references(spec: Any) -> JsonObject:
    """Which properties name other components: `{"single": [..], "list": [..], "nested": {property: [..]}}`."""
    nested = {name: sorted(inner) for name, inner in spec.nested_refs.items()}
    return {
        "single": sorted(spec.single_refs),
        "list": sorted(set(spec.list_refs) - set(nested)),
        "nested": nested,
    }


def _definitions(defs: JsonObject) -> JsonObject:
    names = ("ComponentId", "AccessibilityAttributes", "DataBinding", "CheckRule")
    dynamic = sorted(name for name in defs if name.startswith("Dynamic"))
    return {
        **{name: _plain(defs[name]) for name in (*names, *dynamic)},
        "FunctionCall": _loose_call(defs["FunctionCall"]),
        "Action": _merged_action(defs["Action"]),
        "ChildList": _merged_child_list(defs["ChildList"]),
    }


def _loose_call(schema: JsonObject) -> JsonObject:
    kept = {name: _plain(schema["properties"][name]) for name in ("call", "returnType")}
    return {"type": "object", "properties": kept, "required": ["call"]}


def _merged_action(schema: JsonObject) -> JsonObject:
    """One object with one of two keys, in place of two alternatives: an error inside then keeps its own place."""
    properties: JsonObject = {}
    for branch in schema["oneOf"]:
        properties |= _plain(branch["properties"], is_map=True)
    return {
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
        "oneOf": [{"required": [key]} for key in properties],
    }


def _merged_child_list(schema: JsonObject) -> JsonObject:
    """A list of ids or a template: the keywords of one type do not touch the other, so both fit in one schema."""
    ids, template = (_plain(branch) for branch in schema["oneOf"])
    return {**ids, **template, "type": [ids["type"], template["type"]]}


def _plain(schema: Any, *, is_map: bool = False) -> Any:
    """Leave the words out and turn official references into local ones. In a map, keys are names, not keywords."""
    if isinstance(schema, list):
        return [_plain(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    result: JsonObject = {}
    for key, value in schema.items():
        if not is_map and key in _WORDS:
            continue
        if not is_map and key == "$ref":
            result[key] = "#/$defs/" + value.rsplit("/", 1)[-1]
        else:
            result[key] = _plain(value, is_map=not is_map and key in ("properties", "$defs"))
    return result


def render() -> str:
    """Give the text of `basic.json`."""
    return json.dumps(generate(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    TARGET.write_text(render(), encoding="utf-8")
