"""Arguments and results checked by a tool's JSON Schema, with errors in words for the model that made them.

Everything happens in place, in a time that is known beforehand (evaluator.py).
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property, lru_cache
from itertools import islice
from typing import Any, Final

from capability_kit.json_schema.evaluator import (
    EvaluationTooLong,
    SchemaEvaluator,
    SchemaUnsafe,
    compiles,
)
from capability_kit.json_schema.graph import SchemaGraph
from capability_kit.json_schema.measure import STEPS_MAX
from capability_kit.json_schema.pattern_cost import CompileBudget, PatternText, read_pattern
from capability_kit.text.sanitize import one_line

DEPTH_MAX: Final = 64
BYTES_MAX: Final = 1024 * 1024
# A pattern that costs no more can be run on a text of any length.
_QUICK_PATTERN_COST: Final = 50


class _ToolSchema:
    """One schema of a tool, read once."""

    def __init__(self, schema: Any) -> None:
        self._graph = SchemaGraph(schema if isinstance(schema, dict) else {} if schema is True else {"enum": []})
        budget = CompileBudget()
        # What costs too much to compile, or what no engine here knows, is left out, as where the tool was published.
        self._evaluator = self._without(lambda pattern: budget.refuses(pattern) or not compiles(pattern))

    def _without(self, is_unwanted: Callable[[str], bool]) -> SchemaEvaluator:
        return SchemaEvaluator(self._graph, is_unwanted=lru_cache(maxsize=None)(is_unwanted))

    @cached_property
    def _for_long_texts(self) -> SchemaEvaluator:
        return self._without(lambda pattern: not is_quick(read_pattern(pattern)))

    def find_error(self, value: Any, *, steps_max: int = STEPS_MAX) -> Any:
        """The validator's first error; None where the value fits. Raises `SchemaUnsafe`."""
        try:
            return self._evaluator.find_error(self._graph.root, value, steps_max=steps_max)
        except EvaluationTooLong:
            return self._for_long_texts.find_error(self._graph.root, value, steps_max=steps_max)


def is_quick(pattern: PatternText) -> bool:
    """Whether a pattern can be run on a text of any length."""
    return not (pattern.fault or pattern.needs) and pattern.cost <= _QUICK_PATTERN_COST


@lru_cache(maxsize=2000)
def _read_schema(text: str) -> _ToolSchema:
    return _ToolSchema(json.loads(text))


def find_schema_error(schema: Any, value: Any) -> str:
    """The first error of a value, in words for the model that made it; empty where it fits. Raises `SchemaUnsafe`."""
    found = find_schema_errors(schema, value, most=1)
    return found[0] if found else ""


def find_schema_errors(schema: Any, value: Any, *, most: int) -> list[str]:
    """What is wrong with a value, in words for the model that made it: at most `most`, none where it fits.

    The validator's own list of all errors can take minutes for a hostile schema. So only its first error is used, again
    and again, without the properties that had one. Raises `SchemaUnsafe`.
    """
    if measure_depth(value) > DEPTH_MAX:
        return [f"it is nested more than {DEPTH_MAX} levels deep"]
    try:
        if len(json.dumps(value, allow_nan=False, ensure_ascii=False).encode()) > BYTES_MAX:
            return [f"it is larger than {BYTES_MAX:,} bytes"]
    except UnicodeEncodeError:
        return ["a string in it has half a character (a lone surrogate)"]
    except (TypeError, ValueError) as error:
        return [f"it is not JSON: {error}"]
    first = _first_error(schema, value)
    if first is None:
        return []
    found = [_said(first.instance_path, first.message)]
    if most > 1:
        found += _further_errors(schema, value, most)
    return list(dict.fromkeys(found))[:most]


def _first_error(schema: Any, value: Any, *, steps_max: int = STEPS_MAX) -> Any:
    return _read_schema(json.dumps(schema, sort_keys=True)).find_error(value, steps_max=steps_max)


def _further_errors(schema: Any, value: Any, most: int) -> list[str]:
    """As many as can be had in the time that one could take."""
    found = list(islice(_wrong_keys(schema, value, ()), most))
    relaxed, left = _without_key_rules(schema), copy.deepcopy(value)
    while len(found) < most:
        try:
            error = _first_error(relaxed, left, steps_max=STEPS_MAX // most)
        except SchemaUnsafe:
            break
        if error is None:
            break
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
