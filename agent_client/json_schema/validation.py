"""Validation by untrusted JSON Schemas: offline, linear patterns, and always bounded.

A schema is measured before it is used (graph.py); one that cannot be checked safely refuses every value.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice
from typing import Any, Final

import jsonschema_rs

from agent_client.json_schema.graph import EXPANSIONS_MAX, SchemaGraph
from agent_client.json_schema.pattern_cost import CompileBudget, drop_expensive_patterns
from agent_client.text.sanitize import one_line

DEPTH_MAX: Final = 64
BYTES_MAX: Final = 1024 * 1024
_VISITS_MAX: Final = EXPANSIONS_MAX * 10
LINEAR: Final = jsonschema_rs.RegexOptions(size_limit=1 << 20, dfa_size_limit=1 << 20)
BACKTRACKING: Final = jsonschema_rs.FancyRegexOptions(backtrack_limit=10_000, size_limit=1 << 20)


class SchemaUnsafe(ValueError):
    """The schema cannot be checked: broken, endless, too complex, or it points outside of itself."""


@lru_cache(maxsize=2000)
def _compiled(text: str) -> tuple[Any, SchemaGraph]:
    schema = json.loads(text)
    graph = SchemaGraph(schema) if isinstance(schema, dict) else SchemaGraph({})
    if graph.bad_references or graph.endless() is not None or graph.is_too_complex():
        raise SchemaUnsafe("the tool's schema cannot be checked safely")
    # What costs too much to compile, or what no engine here knows, is left out, as where the tool was published.
    if '"pattern' in text:
        schema = drop_expensive_patterns(schema, CompileBudget().refuses)
    validator = _built(schema) or _built(drop_expensive_patterns(schema, lambda pattern: not compiles(pattern)))
    if validator is None:
        raise SchemaUnsafe("the tool's schema is no valid JSON Schema")
    return validator, graph


def _built(schema: Any) -> Any:
    for patterns in (LINEAR, BACKTRACKING):
        try:
            return jsonschema_rs.Draft202012Validator(schema, pattern_options=patterns, offline=True)
        except ValueError:
            continue
    return None


def compiles(pattern: str, engine: jsonschema_rs.RegexOptions | jsonschema_rs.FancyRegexOptions = BACKTRACKING) -> bool:
    """Whether an engine knows a pattern. Call it only for one whose cost is bounded."""
    try:
        jsonschema_rs.Draft202012Validator({"pattern": pattern}, pattern_options=engine, offline=True)
    except ValueError:
        return False
    return True


def find_schema_error(schema: Any, value: Any) -> str:
    """The first error of a value, in words for the model that made it; empty where it fits. Raises `SchemaUnsafe`."""
    found = find_schema_errors(schema, value, most=1)
    return found[0] if found else ""


def find_schema_errors(schema: Any, value: Any, *, most: int) -> list[str]:
    """What is wrong with a value, in words for the model that made it: at most `most`, none where it fits.

    The validator's own list of all errors can take minutes for a hostile schema. So only its first error is used, again
    and again, without the properties that had one. Raises `SchemaUnsafe`.
    """
    depth = measure_depth(value)
    if depth > DEPTH_MAX:
        return [f"it is nested more than {DEPTH_MAX} levels deep"]
    try:
        if len(json.dumps(value, allow_nan=False, ensure_ascii=False).encode()) > BYTES_MAX:
            return [f"it is larger than {BYTES_MAX:,} bytes"]
    except UnicodeEncodeError:
        return ["a string in it has half a character (a lone surrogate)"]
    except (TypeError, ValueError) as error:
        return [f"it is no JSON: {error}"]
    first = _first_error(schema, value, depth)
    if first is None:
        return []
    found = [_said(first.instance_path, first.message)]
    if most > 1:
        found += _further_errors(schema, value, depth, most)
    return list(dict.fromkeys(found))[:most]


def _first_error(schema: Any, value: Any, depth: int) -> Any:
    validator, graph = _compiled(json.dumps(schema, sort_keys=True))
    if graph.visits(depth) > _VISITS_MAX:
        raise SchemaUnsafe("the tool's schema takes too long on a value of this depth")
    return first_error(validator, value)


def first_error(validator: jsonschema_rs.Validator, value: Any) -> jsonschema_rs.ValidationError | None:
    """The first error of a value; None where it fits. A validator's list of all errors can take minutes."""
    if not validator.is_valid(value):
        try:
            validator.validate(value)
        except jsonschema_rs.ValidationError as error:
            return error
    return None


def _further_errors(schema: Any, value: Any, depth: int, most: int) -> list[str]:
    found = list(islice(_wrong_keys(schema, value, ()), most))
    relaxed, left = _without_key_rules(schema), copy.deepcopy(value)
    while len(found) < most and (error := _first_error(relaxed, left, depth)) is not None:
        path = list(error.instance_path)
        found.append(_said(path, error.message))
        while path and not isinstance(path[-1], str):
            path.pop()
        if not path:
            break
        parent = left
        for step in path[:-1]:
            parent = parent[step]
        del parent[path[-1]]
    return found


def _without_key_rules(schema: Any) -> Any:
    """Without what `_wrong_keys` says, at the same places: a property that is taken out is not missed then."""
    if not isinstance(schema, dict):
        return schema
    kept = {key: item for key, item in schema.items() if key not in ("required", "additionalProperties")}
    if isinstance(schema.get("properties"), dict):
        kept["properties"] = {key: _without_key_rules(item) for key, item in schema["properties"].items()}
    if "items" in schema:
        kept["items"] = _without_key_rules(schema["items"])
    return kept


def _wrong_keys(schema: Any, value: Any, path: tuple[Any, ...]) -> Iterator[str]:
    """The keys that are missing, and those that are not known, where the schema says so plainly."""
    if not isinstance(schema, dict):
        return
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _wrong_keys(schema.get("items"), item, (*path, index))
    elif isinstance(value, dict):
        known = schema["properties"] if isinstance(schema.get("properties"), dict) else {}
        yield from (_said(path, words) for words in _key_errors(schema, value, known))
        for key, item in value.items():
            yield from _wrong_keys(known.get(key), item, (*path, key))


def _key_errors(schema: Any, value: Any, known: Any) -> Iterator[str]:
    required = schema.get("required")
    for key in required if isinstance(required, list) else ():
        if key not in value:
            yield f'"{key}" is a required property'
    if schema.get("additionalProperties") is False and "patternProperties" not in schema:
        for key in value:
            if key not in known:
                yield f"Additional properties are not allowed ('{key}' was unexpected)"


def _said(path: Iterable[Any], message: str) -> str:
    place = "/".join(map(str, path))
    return one_line(f"{place}: {message}" if place else message, most=300)


def measure_depth(value: Any, most: int = DEPTH_MAX) -> int:
    """How many levels of lists and objects; counted no further than one past `most`."""
    level, depth = [value], 0
    while depth <= most and (level := [item for each in level for item in _below(each)]):
        depth += 1
    return depth


def _below(value: Any) -> list[Any]:
    return list(value.values()) if isinstance(value, dict) else list(value) if isinstance(value, list) else []


def without_nulls(value: Any, schema: Any) -> Any:
    """Leave out optional properties that are null: strict modes make a model write every property.

    A null stays where the property's own schema allows it.
    """
    if not isinstance(value, dict) or not isinstance(schema, dict):
        return value
    properties = schema.get("properties")
    known = properties if isinstance(properties, dict) else {}
    required = schema.get("required")
    needed = set(required) if isinstance(required, list) else set()
    kept = {}
    for key, item in value.items():
        if item is None and key in known and key not in needed and not allows_null(known[key]):
            continue
        kept[key] = _inner(item, known.get(key))
    return kept


def _inner(item: Any, schema: Any) -> Any:
    if isinstance(item, list) and isinstance(schema, dict):
        return [without_nulls(each, schema.get("items")) for each in item]
    return without_nulls(item, schema)


def allows_null(schema: Any) -> bool:
    """Whether null is among what a property's schema names."""
    if not isinstance(schema, dict):
        return schema is True
    kind = schema.get("type")
    if kind is None and not {"anyOf", "oneOf", "enum", "const", "$ref", "allOf"} & set(schema):
        return True
    branches = [*(schema.get("anyOf") or []), *(schema.get("oneOf") or [])]
    named = [kind] if isinstance(kind, str) else kind if isinstance(kind, list) else []
    return "null" in named or None in (schema.get("enum") or []) or any(map(allows_null, branches))
