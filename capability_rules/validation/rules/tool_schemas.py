"""Is an author's JSON Schema sound and safe to use? (docs/contract.md 1.3: `args_schema` and `result_schema`)

Everything here is evaluated by jsonschema-rs, offline and with a linear regex engine, and only after the graph of the
schema was measured. `jsonschema` would fetch references and can be kept busy for a minute by one pattern.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Any, Final

import jsonschema_rs

from capability_kit.json_schema.evaluator import first_error
from capability_kit.json_schema.graph import EXPANSIONS_MAX, Node, SchemaGraph
from capability_kit.json_schema.measure import find_endless, is_too_complex
from capability_rules.bundles.problem import EXAMINED_MAX, FileName, Path, RawFinding, collect_findings
from capability_rules.validation.rules.json_schema import closest_match
from capability_rules.validation.rules.tool_patterns import Patterns

VALUES_READ_MAX: Final = 5_000
# With one of these, properties may be said elsewhere than in `properties`.
_DECLARING: Final = frozenset(
    {"$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "not", "if", "dependentSchemas", "patternProperties"}
)
_COMPARED_MAX: Final = 200
TOOLS: Final[FileName] = "tools.json"
DIALECTS: Final = (
    "https://json-schema.org/draft/2020-12/schema",
    "https://json-schema.org/draft/2019-09/schema",
    "http://json-schema.org/draft-07/schema",
    "http://json-schema.org/draft-06/schema",
    "http://json-schema.org/draft-04/schema",
)


@cache
def _metaschema() -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator({"$ref": DIALECTS[0]}, offline=True)


def check_schema(schema: Any, path: Path, patterns: Patterns) -> tuple[list[RawFinding], SchemaGraph | None]:
    """All errors of one schema, and its graph where it is sound enough to be used further.

    Raises `DeadlineExceeded` where the deadline of `patterns` is over.
    """
    if not isinstance(schema, dict):
        return [], None
    graph = SchemaGraph(schema)
    patterns.deadline.check()
    problems = list(_check_dialect(schema, path))
    if graph.is_overfull:
        # It is not read to its end, and nothing is to be gained by what else is wrong with it.
        return [*problems, _too_complex(path)], None
    problems += collect_findings(_check_metaschema(schema, path))
    patterns.deadline.check()
    problems += collect_findings(_check_references(graph, path))
    problems += patterns.check(graph, path)
    problems += _check_size(graph, path)
    patterns.deadline.check()
    broken = any(problem.code != "TOOL_PATTERN_NOT_CHECKED" for problem in problems)
    return problems, None if broken else graph


def _invalid(path: Path, message: str, hint: str) -> RawFinding:
    return RawFinding("TOOL_SCHEMA_INVALID", TOOLS, path, message, hint)


def _check_dialect(schema: dict[str, Any], path: Path) -> Iterator[RawFinding]:
    dialect = schema.get("$schema")
    plain = str(dialect).rstrip("#").replace("https://json-schema.org/draft-0", "http://json-schema.org/draft-0")
    if isinstance(dialect, str) and plain not in DIALECTS:
        message = f"The dialect {dialect[:100]!r} is not supported"
        yield _invalid((*path, "$schema"), message, f"Leave $schema out, or write {DIALECTS[0]}.")


def _check_metaschema(schema: dict[str, Any], path: Path) -> Iterator[RawFinding]:
    if _metaschema().is_valid(schema):
        return
    seen: set[Path] = set()
    for error in _metaschema_errors(schema):
        place = tuple(error.instance_path)
        if place not in seen:
            seen.add(place)
            where = "/".join(map(str, place)) or "the schema"
            yield _invalid((*path, *place), f"{where}: {_fault(error)}", _hint(schema, place))


def _metaschema_errors(schema: dict[str, Any]) -> list[jsonschema_rs.ValidationError]:
    """A few thousand: all errors are made before the first is reported, so that a large schema is not read whole."""
    errors = _metaschema().iter_errors(_shortened(schema, _Left(VALUES_READ_MAX)))
    found = list(islice(errors, EXAMINED_MAX + 1))
    if not found and (error := first_error(_metaschema(), schema)):
        found.append(error)
    return found


@dataclass
class _Left:
    values: int


def _shortened(value: Any, left: _Left) -> Any:
    """The first values, in the author's order. No list becomes empty: the metaschema refuses some that are."""
    left.values -= 1
    if isinstance(value, dict):
        return {key: _shortened(item, left) for key, item in value.items() if left.values > 0}
    if isinstance(value, list):
        return [_shortened(item, left) for index, item in enumerate(value) if index == 0 or left.values > 0]
    return value


def _fault(error: jsonschema_rs.ValidationError) -> str:
    """The validator's message, but for the most common error."""
    place = list(error.instance_path)
    if "type" in place[-2:] and isinstance(error.instance, str):
        return f"{error.instance[:40]!r} is not a type; there are {', '.join(TYPES)}"
    return shortened_names(error.message)


def shortened_names(message: str) -> str:
    """A validator's message, which may contain a whole value."""
    return message if len(message) <= 200 else message[:199] + "…"


TYPES: Final = ("string", "number", "integer", "boolean", "array", "object", "null")
_TYPE_NAMES: Final = {
    "dict": "object", "map": "object", "float": "number", "double": "number", "int": "integer", "long": "integer",
    "str": "string", "text": "string", "bool": "boolean", "list": "array", "tuple": "array", "none": "null",
    "any": "", "date": "string",
}  # fmt: skip


def _hint(schema: dict[str, Any], place: Path) -> str:
    value = _value_at(schema, place)
    if place and place[-1] == "type" and isinstance(value, str):
        return _type_hint(value.lower())
    if isinstance(value, str) and place and place[-1] == "required":
        return "required is a list of property names, beside properties."
    return _older_form_hint(place, value) or "See JSON Schema draft 2020-12."


def _older_form_hint(place: Path, value: Any) -> str:
    """How 2020-12 writes what older drafts wrote otherwise; empty for anything else."""
    keyword = place[-1] if place else ""
    if keyword == "items" and isinstance(value, list):
        return 'A list of schemas is "prefixItems" in 2020-12, and "additionalItems" is "items" then.'
    if keyword in ("exclusiveMinimum", "exclusiveMaximum") and isinstance(value, bool):
        limit = str(keyword).removeprefix("exclusive").lower()
        return f'In 2020-12 it is the limit itself: "{keyword}": 5 in the place of "{limit}": 5.'
    if keyword == "required" and isinstance(value, bool):
        return 'In 2020-12 the object has a list of names: "required": ["name"].'
    if keyword == "$id" and isinstance(value, str) and value.startswith("#"):
        return f'In 2020-12 the name of a place is "$anchor": "{value[1:60]}".'
    if keyword in ("definitions", "$defs") or (keyword == "dependencies" and not isinstance(value, dict)):
        return 'It is an object: "$defs": {"name": {...}}.'
    return ""


def check_slips(graph: SchemaGraph, path: Path) -> Iterator[RawFinding]:
    """Warn of what is valid and surely not meant: a required name that is not a property, an enum without values."""
    for node in graph.nodes:
        if node.schema.get("enum") == []:
            message = "enum has no values, so that no value is accepted"
            place = (*path, *node.path, "enum")
            yield RawFinding("TOOL_ENUM_EMPTY", TOOLS, place, message, "List the values, or leave enum out.")
        yield from _check_required(node, path)


def _check_required(node: Node, path: Path) -> Iterator[RawFinding]:
    """Where the object alone says which properties there are."""
    required, properties = node.schema.get("required"), node.schema.get("properties")
    if not isinstance(required, list) or not isinstance(properties, dict) or set(node.schema) & _DECLARING:
        return
    for index, name in enumerate(required):
        if isinstance(name, str) and name not in properties:
            message = f"'{name[:64]}' is required and is not among the properties"
            close = closest_match(name, properties) if len(properties) <= _COMPARED_MAX else ""
            hint = f"Did you mean '{close}'?" if close else "Add it to properties, or take it off required."
            yield RawFinding("TOOL_REQUIRED_UNKNOWN", TOOLS, (*path, *node.path, "required", index), message, hint)


def _type_hint(word: str) -> str:
    name = _TYPE_NAMES.get(word, word if word in TYPES else closest_match(word, TYPES) or None)
    if name is None:
        return "Write one of these."
    return f'Write "{name}".' if name else "Leave the type out: then any value is allowed."


def _check_references(graph: SchemaGraph, path: Path) -> Iterator[RawFinding]:
    for bad in graph.bad_references:
        reference = bad.reference
        place = (*path, *reference.path)
        if bad.external:
            message = f"{reference.keyword} leads out of the document: {reference.target[:100]!r}"
            hint = "Copy the schema into $defs and refer to it as #/$defs/NAME. Nothing is ever fetched."
            yield RawFinding("REF_EXTERNAL", TOOLS, place, message, hint)
        else:
            message = f"{reference.keyword} points at nothing: {reference.target[:100]!r}"
            yield _invalid(place, message, "Define it under $defs, or correct the path.")
    for name_path in graph.ambiguous_names:
        name = str(_value_at(graph.root.schema, name_path))[:100]
        message = f"{name_path[-1]} {name!r} is written twice: which of the two a reference means is not certain"
        yield _invalid((*path, *name_path), message, "Give one of the two another name.")


def _value_at(schema: Any, path: Path) -> Any:
    for step in path:
        schema = schema[step]
    return schema


def _check_size(graph: SchemaGraph, path: Path) -> Iterator[RawFinding]:
    endless = find_endless(graph)
    if endless is not None:
        message = "The schema refers back to itself on the same value: checking it would never end"
        yield _invalid((*path, *endless.path), message, "Refer to it from properties or items only.")
    elif is_too_complex(graph):
        yield _too_complex(path)


def _too_complex(path: Path) -> RawFinding:
    message = f"The references and combinators unfold to more than {EXPANSIONS_MAX:,} schemas"
    hint = "Use fewer levels of shared definitions, and enum in the place of many branches of one value."
    return RawFinding("TOOL_SCHEMA_TOO_COMPLEX", TOOLS, path, message, hint)
