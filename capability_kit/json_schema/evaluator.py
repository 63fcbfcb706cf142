"""Values judged by the subschemas of one document: offline, with bounded patterns, and only where it ends soon.

jsonschema-rs judges. It gets documents of our own (rewriter.py), and only values whose work was counted (measure.py).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

import jsonschema_rs

from capability_kit.json_schema.graph import Node, SchemaGraph
from capability_kit.json_schema.measure import STEPS_MAX, count_steps, find_endless, is_too_complex
from capability_kit.json_schema.pattern_cost import PatternText, read_pattern
from capability_kit.json_schema.rewriter import SchemaRewriter, TooManyForms

LINEAR: Final = jsonschema_rs.RegexOptions(size_limit=1 << 20, dfa_size_limit=1 << 20)
BACKTRACKING: Final = jsonschema_rs.FancyRegexOptions(backtrack_limit=10_000, size_limit=1 << 20)
# Validators that are kept, and how long a schema may be for that: large ones take much memory.
_KEPT_MAX: Final = 200
_KEPT_CHARACTERS_MAX: Final = 20_000
# An engine that backtracks reads the rest of a text again at each of its characters.
_BACKTRACKED_MAX: Final = 10_000


class SchemaUnsafe(ValueError):
    """The schema cannot be checked: broken, endless, too complex, or it points outside of itself."""


class EvaluationTooLong(SchemaUnsafe):
    """The schema would take too long on this value; on a smaller one, or without its patterns, it may not."""


class SchemaEvaluator:
    """Judges values by the subschemas of one document. `is_unwanted` names patterns that are left out.

    Raises `SchemaUnsafe` where a reference has no single meaning inside the document, or unfolding it does not end.
    """

    def __init__(self, graph: SchemaGraph, *, is_unwanted: Callable[[str], bool] = lambda _: False) -> None:
        if not graph.is_resolved or find_endless(graph) is not None or is_too_complex(graph):
            raise SchemaUnsafe("the schema cannot be checked safely")
        self._is_unwanted = is_unwanted
        self._rewriter = SchemaRewriter(graph, is_unwanted=is_unwanted)
        self._kept: dict[str, jsonschema_rs.Validator] = {}
        self._latest: tuple[Node, jsonschema_rs.Validator] | None = None

    def find_error(self, node: Node, value: Any, *, steps_max: int = STEPS_MAX) -> jsonschema_rs.ValidationError | None:
        """The first error of a value; None where it fits.

        Raises `EvaluationTooLong` where it could take more steps, and `SchemaUnsafe` where the subschema is not a valid
        schema.
        """
        steps = count_steps(node, value, self._pattern_steps)
        if steps is None or steps > steps_max:
            raise EvaluationTooLong("the schema takes too long on this value")
        if self._latest is None or self._latest[0] is not node:
            self._latest = (node, self._validator(node))
        return first_error(self._latest[1], value)

    def _pattern_steps(self, pattern: str, text: str) -> int:
        if self._is_unwanted(pattern):
            return 0
        read = _read(pattern)
        again = min(len(text), _BACKTRACKED_MAX) if read.needs else 1
        return (read.cost + again) * len(text)

    def _validator(self, node: Node) -> jsonschema_rs.Validator:
        try:
            document = self._rewriter.document(node)
            text = json.dumps(document, sort_keys=True)
        except (TooManyForms, RecursionError):
            raise SchemaUnsafe("the schema cannot be checked safely") from None
        # Properties are often alike but for their words: one validator serves them all.
        if text in self._kept:
            return self._kept[text]
        validator = _compile(document)
        if validator is None:
            raise SchemaUnsafe("the schema is not a valid JSON Schema")
        if len(text) <= _KEPT_CHARACTERS_MAX and len(self._kept) < _KEPT_MAX:
            self._kept[text] = validator
        return validator


@lru_cache(maxsize=4096)
def _read(pattern: str) -> PatternText:
    return read_pattern(pattern)


def _compile(schema: Any) -> jsonschema_rs.Validator | None:
    for patterns in (LINEAR, BACKTRACKING):
        try:
            return jsonschema_rs.Draft202012Validator(schema, pattern_options=patterns, offline=True)
        except ValueError:
            continue
    return None


@lru_cache(maxsize=4096)
def compiles(pattern: str, engine: jsonschema_rs.RegexOptions | jsonschema_rs.FancyRegexOptions = BACKTRACKING) -> bool:
    """Whether an engine knows a pattern. Call it only for one whose cost is bounded."""
    try:
        jsonschema_rs.Draft202012Validator({"pattern": pattern}, pattern_options=engine, offline=True)
    except ValueError:
        return False
    return True


def first_error(validator: jsonschema_rs.Validator, value: Any) -> jsonschema_rs.ValidationError | None:
    """The first error of a value; None where it fits. A validator's list of all errors can take minutes."""
    if not validator.is_valid(value):
        try:
            validator.validate(value)
        except jsonschema_rs.ValidationError as error:
            return error
    return None
