"""Tools in the format of each model vendor (CLIENTS 7): OpenAI (chat, responses), Anthropic, Gemini, MCP.

What a vendor's schema dialect cannot express is left out of the exported schema and stated in the description; the
gate checks every call against the author's own schema, so that an export may be looser and never decides anything.
Every reference of an export leads to a target in it: a schema is made portable first, and the result is checked.
Sources: those of `vendor_limits`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, Literal

from capability_kit.bundles.vendor_limits import PROPERTY_NAMES, ROOT_REFUSED
from capability_kit.json_schema.graph import SchemaGraph
from capability_kit.json_schema.portable import SchemaNotPortable, make_portable, require_resolved
from capability_kit.json_schema.validation import allows_null
from capability_kit.text.sanitize import one_line

Vendor = Literal["openai", "openai_responses", "anthropic", "gemini", "mcp"]
VENDORS: Final[tuple[Vendor, ...]] = ("openai", "openai_responses", "anthropic", "gemini", "mcp")
Json = dict[str, Any]

# What an export leaves out at the root.
_ROOT_DROPPED: Final = frozenset(ROOT_REFUSED) | {"const", "if", "then", "else"}
_NEVER_SENT: Final = frozenset({"$schema", "$id", "$comment"})
_GEMINI: Final = frozenset(
    {"type", "format", "title", "description", "enum", "items", "minItems", "maxItems", "minLength", "maxLength"}
    | {"minProperties", "maxProperties", "pattern", "properties", "required", "anyOf", "minimum", "maximum"}
    | {"default", "$ref", "$defs", "oneOf", "prefixItems", "additionalProperties"}
)
_STRICT_OPENAI_DROPPED: Final = frozenset(
    {"allOf", "not", "if", "then", "else", "oneOf", "default", "minLength", "maxLength", "patternProperties"}
    | {"uniqueItems", "contains", "minContains", "maxContains", "minProperties", "maxProperties", "propertyNames"}
    | {"unevaluatedItems", "unevaluatedProperties", "dependentRequired", "dependentSchemas", "examples", "prefixItems"}
)
_STRICT_ANTHROPIC_DROPPED: Final = _STRICT_OPENAI_DROPPED | frozenset(
    {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "maxItems", "pattern"}
)
_STRICT_FORMATS: Final = frozenset(
    {"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}
)
# A tool beyond these is sent as a plain one.
_STRICT_LEVELS_MAX: Final = 10
_STRICT_PROPERTIES_MAX: Final = 5_000
_STRICT_CHOICES_MAX: Final = 1_000
_STRICT_CHARACTERS_MAX: Final = 120_000
_LOOK_AROUND: Final = re.compile(r"\(\?[=!<]|\\[1-9]")
# Said in words where a schema may not say it.
_SAID: Final = frozenset(
    {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "minItems"}
    | {"maxItems", "pattern", "uniqueItems", "format", "default", "minProperties", "maxProperties"}
)

# What is said at the place of a reference counts more than what its target says.
_SAID_BESIDE: Final = frozenset({"title", "description", "default"})
# Which keywords hold subschemas: by name, in a list, alone.
_MAPS: Final = ("properties", "$defs", "definitions", "patternProperties")
_LISTS: Final = ("anyOf", "oneOf", "allOf", "prefixItems")
_ONES: Final = ("items", "not", "contains", "propertyNames", "if", "then", "else", "additionalProperties")
_KNOWS_DEFERRED: Final = ("anthropic", "openai_responses")
_EXAMPLES_MAX: Final = 5
# Too long to be said: that there is more, a model learns from the gate's answer.
_RULES: Final = (_STRICT_OPENAI_DROPPED | {"dependentSchemas", "$dynamicRef"}) - _SAID - {"examples", "then", "else"}


@dataclass(frozen=True)
class ToolExport:
    """The tools in a vendor's form, and what could not be exported: `{wire name: why}`."""

    tools: list[Json]
    left_out: dict[str, str] = field(default_factory=dict)


def export_tools(
    tools: Mapping[str, Mapping[str, Any]], vendor: Vendor, *, strict: bool = False, deferred: Collection[str] = ()
) -> ToolExport:
    """`tools` maps the wire name to a tool of a bundle, or to one of that shape. Raises `ValueError` for the vendor.

    `deferred` are names that the vendor's own tool search brings in when they are needed: Anthropic and OpenAI's
    responses know that. `examples` of an args_schema become Anthropic's `input_examples`.
    """
    if vendor not in VENDORS:
        raise ValueError(f"vendor must be one of {', '.join(VENDORS)}")
    made: list[Json] = []
    left_out: dict[str, str] = {}
    for name, tool in tools.items():
        odd = _odd_property(tool["args_schema"], vendor)
        if odd is not None:
            left_out[name] = f"{vendor} takes no property named {one_line(odd, most=80)!r}"
            continue
        # Gemini's names begin with a letter or `_`; no wire name begins with `_`, so that it can be taken off again.
        shown = f"_{name}" if vendor == "gemini" and name[:1].isdigit() else name
        try:
            exported = _tool(shown, tool, vendor, strict=strict)
        except SchemaNotPortable as error:
            left_out[name] = f"its schema cannot be sent: {error}"
            continue
        if name in deferred and vendor in _KNOWS_DEFERRED:
            exported["defer_loading"] = True
        made.append(exported)
    if vendor == "gemini":
        made = [{"functionDeclarations": made}] if made else []
    return ToolExport(made, left_out)


def _tool(name: str, tool: Mapping[str, Any], vendor: Vendor, *, strict: bool) -> Json:
    description = one_line(tool["description"], most=1024)
    if vendor == "mcp":
        return _mcp(name, tool, description)
    strict = strict and vendor != "gemini" and can_be_strict(tool["args_schema"]) and _fits_strict(tool["args_schema"])
    schema = export_schema(tool["args_schema"], vendor, strict=strict)
    if vendor == "openai":
        function = {"name": name, "description": description, "parameters": schema, "strict": strict}
        return {"type": "function", "function": function}
    if vendor == "openai_responses":
        return {"type": "function", "name": name, "description": description, "parameters": schema, "strict": strict}
    if vendor == "anthropic":
        examples = [each for each in tool["args_schema"].get("examples") or () if isinstance(each, dict)]
        made: Json = {"name": name, "description": description, "input_schema": schema}
        made |= {"input_examples": examples[:_EXAMPLES_MAX]} if examples else {}
        return made | ({"strict": True} if strict else {})
    return {"name": name, "description": description, "parametersJsonSchema": schema}


def _mcp(name: str, tool: Mapping[str, Any], description: str) -> Json:
    """MCP accepts JSON Schema 2020-12 as it is; a result schema of another type than object is not allowed there."""
    policy = tool["policy"]
    is_read = policy["kind"] == "read"
    result = tool.get("result_schema")
    made = {"name": name, "description": description, "inputSchema": make_portable(tool["args_schema"])}
    if isinstance(result, dict) and result.get("type") == "object":
        made["outputSchema"] = make_portable(result)
    return made | {"annotations": {"readOnlyHint": is_read, "destructiveHint": not is_read}}


def export_schema(schema: Json, vendor: Vendor, *, strict: bool = False) -> Json:
    """The args_schema in the vendor's dialect: an object at the root, known keywords, strict rules where asked.

    Raises `SchemaNotPortable` for a reference without a target.
    """
    schema = make_portable(schema)
    root = {key: value for key, value in schema.items() if key not in _ROOT_DROPPED}
    made: Json = _converted({"type": "object", "properties": {}, **root}, vendor, strict=strict)
    dropped = sorted(_ROOT_DROPPED & set(schema))
    if dropped:
        note = f"Further rules ({', '.join(dropped)}) apply to the whole."
        made["description"] = f"{made.get('description', '')} {note}".strip()
    if vendor == "gemini":
        made = _with_lone_references(made, made.get("$defs", {}))
    require_resolved(SchemaGraph(made))
    return made


def _with_lone_references(value: Any, definitions: Json, *, is_copy: bool = False) -> Any:
    """Gemini takes nothing beside a `$ref`: where something is, a copy of the target has it.

    Within a copy the reference stays alone, without what was beside it: else a recursive schema had no end.
    """
    if not isinstance(value, dict):
        return value
    if "$ref" in value and (is_copy or len(value) == 1):
        return {"$ref": value["$ref"]}
    copied = "$ref" in value
    seen: set[str] = set()
    while "$ref" in value and value["$ref"] not in seen:
        seen.add(value["$ref"])
        beside = {key: item for key, item in value.items() if key != "$ref"}
        target = definitions[value["$ref"].removeprefix("#/$defs/")]
        value = {**beside, **target, **{key: item for key, item in beside.items() if key in _SAID_BESIDE}}
    below = partial(_with_lone_references, definitions=definitions, is_copy=is_copy or copied)
    return {key: _change_below(key, item, below) for key, item in value.items() if key != "$ref"}


def _change_below(key: str, value: Any, change: Callable[[Any], Any]) -> Any:
    """The value of a keyword, with each schema in it changed."""
    if key in _MAPS and isinstance(value, dict):
        return {name: change(item) for name, item in value.items()}
    if key in _LISTS and isinstance(value, list):
        return [change(item) for item in value]
    if key in _ONES and (key != "additionalProperties" or isinstance(value, dict)):
        return change(value)
    return value


def _converted(schema: Any, vendor: Vendor, *, strict: bool) -> Any:
    if not isinstance(schema, dict):
        # A schema that is true or false: a vendor takes objects alone.
        return {} if vendor == "gemini" or strict else schema
    made: Json = {}
    said: list[str] = []
    rules: list[str] = []
    below = partial(_converted, vendor=vendor, strict=strict)
    for key, value in schema.items():
        if _is_dropped(key, value, vendor, strict=strict):
            said += [f"{key}: {one_line(str(value), most=100)}"] if key in _SAID else []
            rules += [key] if key in _RULES and value else []
        elif key == "const" and vendor == "gemini":
            made["enum"] = [value]
        else:
            made[key] = _change_below(key, value, below)
    if strict and vendor == "anthropic" and isinstance(schema.get("oneOf"), list):
        made["anyOf"] = _change_below("anyOf", schema["oneOf"], below)
        rules = [rule for rule in rules if rule != "oneOf"]
    if strict:
        _close(made, schema)
    unknown = _take_unknown_required(made) if vendor == "gemini" else []
    said += [f"required too: {', '.join(one_line(name, most=60) for name in unknown[:5])}"] if unknown else []
    if rules:
        said.append(f"further rules apply: {', '.join(rules)}")
    if said:
        made["description"] = f"{made.get('description', '')} ({'; '.join(said)})".strip()
    return made


def _take_unknown_required(made: Json) -> list[str]:
    """Gemini refuses a schema that requires what is not among its properties; these names are taken off."""
    required, properties = made.get("required"), made.get("properties")
    if not isinstance(required, list):
        return []
    named = properties if isinstance(properties, dict) else {}
    unknown = [str(name) for name in required if name not in named]
    if unknown:
        made["required"] = [name for name in required if name in named]
    return unknown


def _is_dropped(key: str, value: Any, vendor: Vendor, *, strict: bool) -> bool:
    if key in _NEVER_SENT:
        return True
    if vendor == "gemini":
        return key not in _GEMINI and key != "const"
    if not strict:
        return False
    if key == "format":
        return value not in (_STRICT_FORMATS | ({"uri"} if vendor == "anthropic" else set()))
    if key == "pattern" and isinstance(value, str) and _LOOK_AROUND.search(value):
        return True
    if key == "minItems" and vendor == "anthropic":
        return value not in (0, 1)
    return key in (_STRICT_ANTHROPIC_DROPPED if vendor == "anthropic" else _STRICT_OPENAI_DROPPED)


def _close(made: Json, schema: Json) -> None:
    """Strict objects are closed and name all properties as required; what was optional may be null."""
    if made.get("type") != "object" and "properties" not in made:
        return
    properties = made.setdefault("properties", {})
    required = schema.get("required")
    needed = set(required) if isinstance(required, list) else set()
    for name, item in properties.items():
        if name not in needed:
            properties[name] = _nullable(item)
    made["required"] = list(properties)
    made["additionalProperties"] = False


def _nullable(schema: Json) -> Json:
    if allows_null(schema):
        return schema
    kind = schema.get("type")
    if isinstance(kind, str) and "const" not in schema:
        widened = {**schema, "type": [kind, "null"]}
        if isinstance(schema.get("enum"), list):
            widened["enum"] = [*schema["enum"], None]
        return widened
    return {"anyOf": [schema, {"type": "null"}]}


def can_be_strict(schema: Any) -> bool:
    """Whether strict mode can say it at all: no open objects, no recursion, nothing applied beside a type, and
    nothing required that is not a property."""
    if not isinstance(schema, dict):
        return False
    is_open = schema.get("additionalProperties") not in (None, False) or "patternProperties" in schema
    if is_open or {"$ref", "$dynamicRef", "allOf", "not", "if", "dependentSchemas"} & set(schema):
        return False
    if not {"type", "anyOf", "enum", "const"} & set(schema):
        return False
    required, properties = schema.get("required"), schema.get("properties") or {}
    if isinstance(required, list) and not all(name in properties for name in required):
        # Closed, as strict mode requires, it could not be fulfilled.
        return False
    below = [*(schema.get("properties") or {}).values(), *(schema.get("anyOf") or [])]
    below += [schema["items"]] if "items" in schema else []
    if any(map(_is_free_map, below)):
        return False
    return all(map(can_be_strict, below)) and (schema.get("type") != "array" or "items" in schema)


def _is_free_map(schema: Any) -> bool:
    """Whether it is an object with arbitrary keys: closed, as strict mode requires, it could have none."""
    if not isinstance(schema, dict) or schema.get("properties"):
        return False
    kind = schema.get("type")
    is_object = kind == "object" or (isinstance(kind, list) and "object" in kind)
    return is_object and schema.get("additionalProperties") is not False


def _fits_strict(schema: Json) -> bool:
    """Whether it is within what strict mode compiles."""
    level, depth, properties, choices, characters = [schema], 0, 0, 0, 0
    while level and depth <= _STRICT_LEVELS_MAX:
        depth += any("properties" in each for each in level)
        following = []
        for each in level:
            own = each.get("properties")
            named = own if isinstance(own, dict) else {}
            enum = each.get("enum")
            values = enum if isinstance(enum, list) else []
            properties, choices = properties + len(named), choices + len(values)
            characters += sum(map(len, named)) + sum(len(str(value)) for value in values)
            following += [*named.values(), *(each.get("anyOf") or []), each.get("items")]
        level = [each for each in following if isinstance(each, dict)]
    return (
        not level
        and depth <= _STRICT_LEVELS_MAX
        and properties <= _STRICT_PROPERTIES_MAX
        and choices <= _STRICT_CHOICES_MAX
        and characters <= _STRICT_CHARACTERS_MAX
    )


def _odd_property(schema: Any, vendor: Vendor) -> str | None:
    """A property name that the vendor refuses, at any level."""
    allowed = PROPERTY_NAMES.get(vendor)
    stack = [schema] if allowed is not None else []
    while stack:
        value = stack.pop()
        if isinstance(value, list):
            stack += value
        elif isinstance(value, dict):
            properties = value.get("properties")
            for name in properties if isinstance(properties, dict) else ():
                if allowed is not None and not allowed.fullmatch(name):
                    return str(name)
            stack += value.values()
    return None
