"""Tool definitions as OpenAI, Anthropic, Gemini and MCP write them: recognized, and converted to contracts.

Sources: OpenAI's function calling (Chat Completions, Responses), Anthropic's tool use, Gemini's function declarations,
and `tools/list` of the Model Context Protocol.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from capability_kit.json_schema.graph import copy_changed
from capability_rules.bundles.problem import Path

_NAME_MAX: Final = 64
_NOT_OF_A_NAME: Final = re.compile(r"[^a-zA-Z0-9_-]+")
_DECLARATIONS: Final = ("functionDeclarations", "function_declarations")
# The keys of a vendor's definition that hold the schemas, in the order in which they are looked for.
_ARGUMENTS: Final = ("input_schema", "inputSchema", "parameters", "parametersJsonSchema", "parameters_json_schema")
_RESULTS: Final = ("outputSchema", "output_schema", "response", "responseJsonSchema", "response_json_schema")
_OWN_KEYS: Final = ("name", "description", "policy", "ui", "result_schema")
_UPPER_TYPES: Final = frozenset({"STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"})
# What a type is called in JSON Schema, by its name in lower case: function lists that were made from Python have these.
_TYPE_NAMES: Final = {
    **{name.lower(): name.lower() for name in _UPPER_TYPES},
    "dict": "object",
    "str": "string",
    "int": "integer",
    "float": "number",
    "double": "number",
    "long": "integer",
    "bool": "boolean",
    "list": "array",
    "tuple": "array",
    "none": "null",
}
# Gemini's own, which mean nothing in JSON Schema.
_GEMINI_ONLY: Final = ("propertyOrdering", "property_ordering")
_EMPTY: Final[dict[str, Any]] = {"type": "object", "properties": {}}


@dataclass(slots=True)
class ConvertedTools:
    """`tools` is the list as tools.json has it; `vendors` names whose forms were found, and `losses` says in sentences
    what a conversion leaves out or has to suppose."""

    tools: list[Any] = field(default_factory=list)
    vendors: list[str] = field(default_factory=list)
    losses: list[str] = field(default_factory=list)
    # What each of `tools` was called before, in their order.
    names: list[Any] = field(default_factory=list)


def find_tool_list(document: Any) -> tuple[Path, list[Any]] | None:
    """The list of tools in a document and where it is: alone, below `tools`, below `functionDeclarations`, or in the
    result of `tools/list`. None where there is none."""
    if isinstance(document, list):
        return (), document
    if not isinstance(document, dict):
        return None
    for path in (("tools",), ("result", "tools"), *((name,) for name in _DECLARATIONS)):
        value: Any = document
        for key in path:
            value = value.get(key) if isinstance(value, dict) else None
        if isinstance(value, list):
            return path, value
    if find_vendor(document):
        return (), [document]
    return None


def find_vendor(tool: Any) -> str:
    """Whose form a definition has; empty for a contract of ours, and for what is not a definition."""
    if not isinstance(tool, dict) or "args_schema" in tool:
        return ""
    if any(isinstance(tool.get(name), list) for name in _DECLARATIONS):
        return "Gemini"
    if tool.get("type") == "function" and isinstance(tool.get("function"), dict):
        return "OpenAI"
    if not isinstance(tool.get("name"), str):
        return ""
    if "input_schema" in tool:
        return "Anthropic"
    if "inputSchema" in tool:
        return "MCP"
    if tool.get("type") == "function":
        return "OpenAI"
    held = next((tool[key] for key in _ARGUMENTS if isinstance(tool.get(key), dict)), None)
    if held is None:
        return ""
    is_gemini = held.get("type") in _UPPER_TYPES or any("JsonSchema" in key or "_json_schema" in key for key in tool)
    return "Gemini" if is_gemini else "OpenAI"


def convert_tools(tools: list[Any]) -> ConvertedTools | None:
    """The same tools as contracts; None where none has a vendor's form. What is a contract already stays as it is."""
    done, losses = ConvertedTools(), _Losses()
    for tool in tools:
        vendor = find_vendor(tool)
        if not vendor:
            done.tools.append(tool)
            done.names.append(tool.get("name") if isinstance(tool, dict) else None)
            continue
        if vendor not in done.vendors:
            done.vendors.append(vendor)
        for one in _definitions(tool):
            done.tools.append(_convert(one, losses))
            done.names.append(one.get("name"))
    done.losses = list(losses.describe())
    return done if done.vendors else None


def _definitions(tool: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Gemini's declarations stand in a list within a tool, OpenAI's function in a wrapper."""
    for name in _DECLARATIONS:
        if isinstance(tool.get(name), list):
            yield from (one for one in tool[name] if isinstance(one, dict))
            return
    inner = tool.get("function")
    yield inner if tool.get("type") == "function" and isinstance(inner, dict) else tool


class _Losses:
    """What a conversion leaves out, counted over all tools."""

    def __init__(self) -> None:
        self.keys: Counter[str] = Counter()
        self.names: list[tuple[str, str]] = []
        self.supposed: list[str] = []

    def describe(self) -> Iterator[str]:
        """In sentences, the most important first."""
        if self.supposed:
            names = _listed(self.supposed)
            words = "waits" if len(self.supposed) == 1 else "wait"
            yield f"{names} {words} for approval, since the form does not say what only reads: set kind read there."
        if self.keys:
            keys = ", ".join(f"`{key}`" for key in sorted(self.keys))
            yield f"Left out, since contracts have no such key: {keys}."
        if self.names:
            yield "Renamed: " + ", ".join(f"{old} is {new}" for old, new in self.names[:5]) + "."


def _listed(names: list[str]) -> str:
    more = len(names) - 3
    return ", ".join(names[:3]) + (f" and {more} more" if more > 0 else "")


def _convert(definition: dict[str, Any], losses: _Losses) -> dict[str, Any]:
    found: dict[str, Any] = {"name": _name(definition, losses)}
    described = definition.get("description") or definition.get("title")
    if isinstance(described, str):
        found["description"] = described
    arguments = next((key for key in _ARGUMENTS if definition.get(key) is not None), "")
    result = next((key for key in _RESULTS if definition.get(key) is not None), "")
    found["args_schema"] = _schema(definition.get(arguments), losses)
    if result:
        found["result_schema"] = _schema(definition[result], losses)
    found["policy"] = definition.get("policy") or _policy(definition, found["name"], losses)
    found |= {key: definition[key] for key in ("ui", "result_schema") if key in definition}
    used = {*_OWN_KEYS, arguments, result, "type", *(("title",) if not definition.get("description") else ())}
    losses.keys.update(str(key)[:40] for key, value in definition.items() if key not in used and value is not None)
    return found


def _name(definition: Mapping[str, Any], losses: _Losses) -> Any:
    name = definition.get("name")
    if not isinstance(name, str):
        return name
    valid = _NOT_OF_A_NAME.sub("_", name).strip("_-")[:_NAME_MAX]
    if valid[:1].isdigit():
        valid = f"tool_{valid}"[:_NAME_MAX]
    if valid != name and valid:
        losses.names.append((name[:_NAME_MAX], valid))
    return valid or name


def _policy(definition: Mapping[str, Any], name: Any, losses: _Losses) -> dict[str, Any]:
    """MCP's servers may say that a tool only reads; whatever does not is a write that a person approves."""
    hints = definition.get("annotations")
    if isinstance(hints, dict) and hints.get("readOnlyHint") is True:
        return {"kind": "read"}
    losses.supposed.append(str(name)[:_NAME_MAX])
    return {"kind": "write", "requires_approval": True}


def _schema(given: Any, losses: _Losses) -> Any:
    if given is None:
        return dict(_EMPTY)
    if not isinstance(given, dict):
        return given
    schema = copy_changed(given, lambda one: _write_plain(one, losses))
    return schema if "type" in schema or "$ref" in schema else {"type": "object", **schema}


def _write_plain(schema: dict[str, Any], losses: _Losses) -> None:
    """In the words of JSON Schema: Gemini writes types in upper case, and null as `nullable`."""
    kind = schema.get("type")
    if kind == "any":
        del schema["type"]
    elif isinstance(kind, str):
        schema["type"] = _TYPE_NAMES.get(kind.lower(), kind)
    if schema.pop("nullable", None) is True and isinstance(schema.get("type"), str):
        schema["type"] = [schema["type"], "null"]
        if isinstance(schema.get("enum"), list) and None not in schema["enum"]:
            schema["enum"] = [*schema["enum"], None]
    for key in _GEMINI_ONLY:
        if schema.pop(key, None) is not None:
            losses.keys[key] += 1
    if schema.get("format") == "enum":
        del schema["format"]
