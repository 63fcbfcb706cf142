"""Schemas of OpenAPI and of tool lists as JSON Schema 2020-12, without a word that a validator would refuse.

OpenAPI 3.0 has a dialect of its own (`nullable`, a boolean `exclusiveMinimum`, `example`), and real documents have
invalid types, patterns and limits. What is taken is checked keyword by keyword; the rest is left out and reported.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, Literal

from capability_kit.json_schema.evaluator import LINEAR, compiles
from capability_kit.json_schema.pattern_cost import read_pattern
from capability_rules.errors import SourceUnreadable
from features.tool_sources.descriptions import CONTROL_TOKEN, clean_text
from features.tool_sources.operation import Definitions, Json, Loss
from features.tool_sources.readers.all_of import merge_all_of
from features.tool_sources.readers.limits import LEVELS_MAX
from features.tool_sources.readers.references import ReferenceLost, ReferenceTable

Direction = Literal["sent", "received"]
TYPES: Final = ("string", "number", "integer", "boolean", "array", "object", "null")
_DESCRIPTION_MAX: Final = 400
# Of a discriminator, named in a description.
_VALUES_MAX: Final = 20
_INTEGER_MAX: Final = 2**53 - 1
_PATTERN_LENGTH_MAX: Final = 500
# Says nothing of what may be sent, and nobody misses it.
_SILENT: Final = frozenset(
    {"title", "example", "examples", "xml", "externalDocs", "deprecated", "readOnly", "writeOnly", "discriminator"}
    | {"$schema", "$id", "$comment", "$defs", "definitions", "nullable", "collectionFormat", "contentMediaType"}
    | {"contentEncoding", "contentSchema", "$anchor", "$ref", "allOf", "anyOf", "oneOf", "required", "properties"}
    | {"additionalItems"}
)
_NOT_OF_A_NAME: Final = re.compile(r"[^A-Za-z0-9_.-]+")


def _is_size(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _INTEGER_MAX


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= _INTEGER_MAX


def _is_type(value: Any) -> bool:
    names = value if isinstance(value, list) and value else [value]
    return all(name in TYPES for name in names if isinstance(name, str)) and all(isinstance(n, str) for n in names)


def _is_pattern(value: Any) -> bool:
    if not isinstance(value, str) or len(value) > _PATTERN_LENGTH_MAX:
        return False
    read = read_pattern(value)
    return not read.needs and compiles(value, LINEAR)


def is_data(value: Any) -> bool:
    """Whether it is a value that JSON can hold exactly."""
    if isinstance(value, list):
        return all(map(is_data, value))
    if isinstance(value, dict):
        return all(map(is_data, value.values()))
    return not isinstance(value, int | float) or isinstance(value, bool) or abs(value) <= _INTEGER_MAX


_CHECKED: Final[Mapping[str, Callable[[Any], bool]]] = {
    "type": _is_type,
    "enum": lambda value: isinstance(value, list) and bool(value) and is_data(value),
    "const": is_data,
    "default": lambda value: is_data(value) and not (isinstance(value, str) and CONTROL_TOKEN.search(value)),
    "format": lambda value: isinstance(value, str) and len(value) <= 40,
    "pattern": _is_pattern,
    "multipleOf": lambda value: _is_number(value) and value > 0,
    "uniqueItems": lambda value: isinstance(value, bool),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _is_number),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"), _is_size),
}
_ONES: Final = ("items", "additionalProperties", "propertyNames", "contains", "not", "if", "then", "else")
_BOOLEANS_TOO: Final = frozenset(_ONES) - {"items"}


class SchemaConverter:
    """Converts the schemas of one document, for what is sent or for what is received.

    `definitions` fills with what they refer to, each once. What is lost is noted for the schema that is being made.
    """

    def __init__(self, references: ReferenceTable, direction: Direction) -> None:
        self.definitions = Definitions()
        self._references = references
        self._hidden = "readOnly" if direction == "sent" else "writeOnly"
        self._names: dict[str, str] = {}
        self._waiting: dict[str, Any] = {}
        self._open: set[str] = set()
        self._losses: list[set[Loss]] = [set()]

    def convert_root(self, schema: Any) -> tuple[Json, frozenset[Loss]]:
        """A schema, and what it lost itself; its definitions have their own. Raises `SourceUnreadable`."""
        self._losses.append(set())
        made = self._convert(schema, 0)
        losses = frozenset(self._losses.pop())
        while self._waiting:
            self._finish(next(iter(self._waiting)))
        return made, losses

    def target(self, schema: Json) -> Json:
        """The definition that a lone reference means, else the schema itself."""
        seen: set[str] = set()
        while set(schema) <= {"$ref", "description"} and "$ref" in schema and schema["$ref"] not in seen:
            seen.add(schema["$ref"])
            schema = self.definitions.schemas.get(schema["$ref"].removeprefix("#/$defs/"), {})
        return schema

    def _lose(self, message: str) -> None:
        self._losses[-1].add(Loss("IMPORT_SCHEMA_LOST", message))

    def _rewrite(self, message: str) -> None:
        self._losses[-1].add(Loss("IMPORT_SCHEMA_REWRITTEN", message))

    def _convert(self, schema: Any, level: int) -> Json:
        if level > LEVELS_MAX:
            raise SourceUnreadable(f"A schema has more than {LEVELS_MAX} schemas within each other")
        if not isinstance(schema, dict):
            return {"not": {}} if schema is False else {}
        made = self._plain(schema, level)
        if isinstance(schema.get("$ref"), str):
            made = self._refer(schema["$ref"], made)
        for key in ("anyOf", "oneOf"):
            if isinstance(schema.get(key), list) and schema[key]:
                made |= self._choice(key, schema, made, level)
        if isinstance(schema.get("allOf"), list) and schema["allOf"]:
            made = self._merge(made, [self._convert(one, level + 1) for one in schema["allOf"]])
        return _nullable(made) if schema.get("nullable") is True else made

    def _plain(self, schema: Json, level: int) -> Json:
        made: Json = {}
        for key, value in schema.items():
            if key in _CHECKED:
                self._take_checked(made, key, value)
            elif key == "items" and isinstance(value, list):
                made |= self._older_tuple(value, schema.get("additionalItems"), level)
            elif key in _ONES:
                is_bare = isinstance(value, bool) and key in _BOOLEANS_TOO
                made[key] = value if is_bare else self._convert(value, level + 1)
            elif key == "prefixItems" and isinstance(value, list) and value:
                made[key] = [self._convert(one, level + 1) for one in value]
            elif key == "patternProperties" and isinstance(value, dict) and all(map(_is_pattern, value)):
                made[key] = {pattern: self._convert(one, level + 1) for pattern, one in value.items()}
            elif key not in _SILENT and not key.startswith("x-") and key != "description":
                self._lose(f"`{key[:40]}` is left out")
        self._bound(made, schema)
        self._lose_kinds(schema)
        made |= self._properties(schema, level)
        if made.get("type") == "array" and "items" not in made:
            made["items"] = {}
        description = clean_text(schema.get("description"), most=_DESCRIPTION_MAX)
        return {"description": description, **made} if description else made

    def _older_tuple(self, places: list[Any], rest: Any, level: int) -> Json:
        """A tuple as drafts before 2020-12 write it."""
        made: Json = {"prefixItems": [self._convert(one, level + 1) for one in places]} if places else {}
        return made | ({"items": self._convert(rest, level + 1)} if isinstance(rest, dict | bool) else {})

    def _lose_kinds(self, schema: Json) -> None:
        """Values that name other schemas, where no choice lists these."""
        told = _told_apart(schema)
        if ":" in told and not any(isinstance(schema.get(key), list) for key in ("oneOf", "anyOf")):
            self._lose(f"What names its kinds is left out: {told}")

    def _take_checked(self, made: Json, key: str, value: Any) -> None:
        if key == "type" and isinstance(value, str):
            value = {"file": "string", "date": "string", "float": "number", "int": "integer"}.get(value, value)
        if _CHECKED[key](value):
            made[key] = value
        elif not (key.startswith("exclusive") and isinstance(value, bool)) and value not in ("any", None):
            self._lose(f"`{key}` is left out: {_short(value)} is not one that can be checked")

    def _bound(self, made: Json, schema: Json) -> None:
        """OpenAPI 3.0 writes an exclusive limit as a flag beside the limit."""
        for limit in ("minimum", "maximum"):
            exclusive = f"exclusive{limit.capitalize()}"
            if schema.get(exclusive) is True and limit in made:
                made[exclusive] = made.pop(limit)

    def _properties(self, schema: Json, level: int) -> Json:
        """`properties` without those of the other direction, and `required` limited to names that exist."""
        given = schema.get("properties")
        required = schema.get("required")
        names = [name for name in required if isinstance(name, str)] if isinstance(required, list) else []
        if not isinstance(given, dict):
            return {"required": list(dict.fromkeys(names))} if names else {}
        hidden = {name for name, item in given.items() if isinstance(item, dict) and item.get(self._hidden) is True}
        kept = {name: self._convert(item, level + 1) for name, item in given.items() if name not in hidden}
        needed = [name for name in dict.fromkeys(names) if name not in hidden]
        kept |= {name: {} for name in needed if name not in kept}
        return {"properties": kept} | ({"required": needed} if needed else {})

    def _choice(self, key: str, schema: Json, made: Json, level: int) -> Json:
        """The forms of a choice. A description says what they are called, and which property tells them apart."""
        forms = [self._convert(one, level + 1) for one in schema[key]]
        names = [_called(one) for one in schema[key]]
        told = _told_apart(schema)
        is_named = key == "oneOf" and all(names) and len(names) > 1
        if not is_named and not told:
            return {key: forms}
        words = f"One of: {', '.join(names[:12])}" if is_named else "One of several"
        words += f", {told}." if told else "."
        described = f"{made.get('description', '')} {words}".strip()
        self._rewrite(f"`{key}` is explained in a description")
        return {key: forms, "description": clean_text(described, most=_DESCRIPTION_MAX + 1000)}

    def _merge(self, own: Json, parts: list[Json]) -> Json:
        if len(parts) == 1 and "$ref" in parts[0] and "$ref" not in own:
            return {**parts[0], **own}
        unfolded = [self._unfolded(one) for one in parts]
        if not any("$ref" in one for one in (own, *unfolded)):
            merged = merge_all_of([one for one in (own, *unfolded) if one])
            if merged is not None:
                return merged
        self._rewrite("`allOf` stays: its parts do not fit into one schema")
        return own | {"allOf": parts}

    def _unfolded(self, schema: Json, seen: frozenset[str] = frozenset()) -> Json:
        """What a reference means, to be merged; the reference itself where it leads back here."""
        name = schema.get("$ref", "").removeprefix("#/$defs/")
        if not name or name in seen or name in self._open:
            return schema
        target = self._unfolded(self._finish(name), seen | {name})
        self._losses[-1] |= self.definitions.losses[name]
        return target | {key: value for key, value in schema.items() if key != "$ref"}

    def _refer(self, reference: str, beside: Json) -> Json:
        try:
            name = self._define(reference)
        except ReferenceLost as error:
            self._lose(f"{error}; any value is taken there")
            return beside
        return {"$ref": f"#/$defs/{name}"} | beside

    def _define(self, reference: str) -> str:
        """The name of a definition, which is made later. Raises `ReferenceLost`."""
        if reference not in self._names:
            target = self._references.find(reference)
            name = self._names[reference] = self._free_name(reference)
            self._waiting[name] = target
        return self._names[reference]

    def _finish(self, name: str) -> Json:
        """Make a definition now. Raises `SourceUnreadable` where it takes more than `LEVELS_MAX` others for that."""
        if name in self._waiting:
            if len(self._open) >= LEVELS_MAX:
                raise SourceUnreadable(f"More than {LEVELS_MAX} references lead to each other, at {name[:60]!r}")
            self._open.add(name)
            self._losses.append(set())
            self.definitions.schemas[name] = self._convert(self._waiting.pop(name), 0)
            self.definitions.losses[name] = self._losses.pop()
            self._open.remove(name)
        return self.definitions.schemas[name]

    def _free_name(self, reference: str) -> str:
        wished = _NOT_OF_A_NAME.sub("_", reference.rpartition("/")[2])[:60].strip("_.-") or "schema"
        taken = set(self._names.values())
        numbers = (f"{wished}_{number}" for number in range(2, len(taken) + 3))
        return wished if wished not in taken else next(name for name in numbers if name not in taken)


def _nullable(schema: Json) -> Json:
    kind = schema.get("type")
    if isinstance(kind, str) and kind != "null":
        widened = {**schema, "type": [kind, "null"]}
        if "enum" in schema and None not in schema["enum"]:
            widened["enum"] = [*schema["enum"], None]
        return widened
    if kind is not None or not schema:
        return schema
    described = {"description": schema["description"]} if "description" in schema else {}
    inner = {key: value for key, value in schema.items() if key != "description"}
    return described | ({"anyOf": [inner, {"type": "null"}]} if inner else {})


def _called(schema: Any) -> str:
    """The name of a form of a choice: that of its definition, or its title."""
    if not isinstance(schema, dict):
        return ""
    reference = schema.get("$ref")
    if isinstance(reference, str):
        return clean_text(reference.rpartition("/")[2], most=60)
    return clean_text(schema.get("title"), most=60)


def _told_apart(schema: Json) -> str:
    """Which property distinguishes the forms of a schema, and which value names which; empty where nothing says."""
    given = schema.get("discriminator")
    name = given.get("propertyName") if isinstance(given, dict) else None
    if not isinstance(given, dict) or not isinstance(name, str):
        return ""
    mapping = given.get("mapping")
    values = [
        f"`{clean_text(value, most=60)}` is {clean_text(str(target).rpartition('/')[2], most=60)}"
        for value, target in (mapping.items() if isinstance(mapping, dict) else ())
    ]
    more = f" and {len(values) - _VALUES_MAX} more" if len(values) > _VALUES_MAX else ""
    words = f"told apart by `{clean_text(name, most=60)}`"
    return words + (f": {', '.join(values[:_VALUES_MAX])}{more}" if values else "")


def _short(value: Any) -> str:
    text = str(value)
    return repr(text if len(text) <= 40 else text[:39] + "…")
