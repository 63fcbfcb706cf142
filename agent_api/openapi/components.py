"""`schemas/` as OpenAPI 3.0 components: the API description refers to the contract and never restates it.

OpenAPI 3.0 has no `type` lists, no `const`, no `if`, and allows nothing beside a `$ref`; what cannot be expressed is
left out, so that the document is looser than the schema and never stricter.
"""

from __future__ import annotations

import posixpath
from typing import Any, Final

from capability_rules.schema_loader import SCHEMAS_DIR, read_api_schema, read_schema

# A keyword of 2020-12 that OpenAPI 3.0 does not know.
_DROPPED: Final = frozenset({"$schema", "$id", "$defs", "if", "then", "else", "propertyNames", "allOf", "title"})
_NAMED_PARTS: Final = {
    "tools.schema.json#/$defs/tool": "ToolContract",
    "ui_schemas.schema.json#/$defs/entry": "UiSchema",
}
_NAMED_FILES: Final = {"finding": "Finding", "capability": "CapabilityDocument"}


def build_components() -> dict[str, Any]:
    """The schemas of the API description, as `{component name: schema}`."""
    found = {name: _convert(read_schema(file), file) for file, name in _NAMED_FILES.items()}
    for path in sorted((SCHEMAS_DIR / "api").glob("*.schema.json")):
        name = path.name.removesuffix(".schema.json")
        document = read_api_schema(name)
        found[document["title"]] = _convert(document, f"api/{name}")
    for reference, component in _NAMED_PARTS.items():
        file, _, pointer = reference.partition(".schema.json#/$defs/")
        found[component] = _convert(read_schema(file)["$defs"][pointer], file)
    return found


def schema_reference(component: str) -> dict[str, str]:
    """A `$ref` to a component."""
    return {"$ref": f"#/components/schemas/{component}"}


def _convert(schema: Any, file: str) -> Any:
    if isinstance(schema, list):
        return [_convert(item, file) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return _converted_reference(schema, file)
    converted: dict[str, Any] = {}
    for keyword, value in schema.items():
        if keyword == "properties":
            converted["properties"] = {name: _convert(item, file) for name, item in value.items()}
        elif keyword == "const":
            converted.update(_const(value))
        elif keyword == "type":
            converted.update(_type(value))
        elif keyword not in _DROPPED:
            converted[keyword] = _convert(value, file)
    if converted.get("type") == "object" and "properties" not in converted:
        # Said, because generators of clients take silence for an object without members.
        converted.setdefault("additionalProperties", True)
    return converted


def _const(value: Any) -> dict[str, Any]:
    """One value: a boolean as its type alone, since generators of clients know no list of booleans."""
    if isinstance(value, bool):
        return {"type": "boolean"}
    return {"type": "string", "enum": [value]} if isinstance(value, str) else {"enum": [value]}


def _type(value: str | list[str]) -> dict[str, Any]:
    if isinstance(value, str):
        return {"type": value}
    types = [word for word in value if word != "null"]
    converted: dict[str, Any] = {"type": types[0]} if len(types) == 1 else {}
    if "null" in value:
        converted["nullable"] = True
    return converted


def _converted_reference(schema: dict[str, Any], file: str) -> dict[str, Any]:
    target: str = schema["$ref"]
    if target.startswith("#/$defs/"):
        inlined = _convert(read_schema(file)["$defs"][target.removeprefix("#/$defs/")], file)
        others = {key: value for key, value in schema.items() if key != "$ref"}
        return {**inlined, **others}
    path = posixpath.normpath(posixpath.join(posixpath.dirname(file), target))
    name = _NAMED_PARTS.get(path) or _NAMED_FILES[path.removesuffix(".schema.json")]
    return schema_reference(name)
