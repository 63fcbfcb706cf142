"""The first layer: is each document shaped as `schemas/` says?

The schemas are the only place where shapes are written. A fast validator (jsonschema-rs) gives the verdict; only where
it says no does the slower `jsonschema` list every reason, which becomes findings in words.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import islice
from typing import Any, Final

import jsonschema_rs
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend

from capability_kit.json_schema.evaluator import first_error
from capability_rules.bundles.problem import FileName, Path, RawFinding, collect_findings
from capability_rules.schema_loader import read_schema

# Each costs some 50 microseconds here.
FINDINGS_MAX = 2000
# The slow layer reads no further than this into one list: a file of a million entries has shown its error by then.
ITEMS_READ_MAX = 2000


def _pattern(_validator: Any, pattern: str, instance: Any, _schema: Any) -> Iterator[ValidationError]:
    # Python's $ also matches before a last line break; ECMA's, which JSON Schema means, does not.
    if isinstance(instance, str) and not re.search(re.sub(r"\$$", r"\\Z", pattern), instance):
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


_Validator: Any = extend(Draft202012Validator, {"pattern": _pattern})  # type: ignore[no-untyped-call]


@cache
def _fast(name: str, definition: str) -> jsonschema_rs.Validator:
    return jsonschema_rs.Draft202012Validator(_schema(name, definition), offline=True)


@cache
def _slow(name: str, definition: str) -> Any:
    return _Validator(_schema(name, definition))


def _schema(name: str, definition: str) -> dict[str, Any]:
    document = read_schema(name)
    if not definition:
        return document
    return {**document["$defs"][definition], "$defs": document["$defs"]}


def check_shape(file: FileName, value: Any, *, schema: str, definition: str = "", at: Path = ()) -> list[RawFinding]:
    """Validate `value` against a schema, or one of its `$defs`; an unknown key is a warning with the nearest one."""
    problems: list[RawFinding] = []
    if not _fast(schema, definition).is_valid(value):
        errors = _slow(schema, definition).iter_errors(shorten_lists(value, ITEMS_READ_MAX))
        problems += collect_findings(_explained(file, at, errors), most=FINDINGS_MAX)
        # The error is beyond what the slow layer reads.
        problems = problems or _first_fault(file, value, _fast(schema, definition), at)
    unknown = _unknown_keys(file, value, _schema(schema, definition), at)
    return problems + collect_findings(unknown, most=FINDINGS_MAX)


def _first_fault(file: FileName, value: Any, validator: jsonschema_rs.Validator, at: Path) -> list[RawFinding]:
    error = first_error(validator, value)
    if error is None:
        return []
    path = (*at, *error.instance_path)
    return [RawFinding("FIELD_INVALID", file, path, f"{_field_name(path)}: {error.message[:200]}")]


def shorten_lists(value: Any, most: int) -> Any:
    """The value with the first `most` entries of each list and of each object."""
    if isinstance(value, list):
        return [shorten_lists(item, most) for item in value[:most]]
    if isinstance(value, dict):
        return {key: shorten_lists(item, most) for key, item in islice(value.items(), most)}
    return value


def _explained(file: FileName, at: Path, errors: Iterable[Any]) -> Iterator[RawFinding]:
    """Each problem once: there is an error for each missing key, and each lists them all."""
    seen: set[RawFinding] = set()
    without: set[Path] = set()
    for error in errors:
        if error.validator == "required":
            path = tuple(error.absolute_path)
            if path in without:
                continue
            without.add(path)
        for problem in _explain(file, at, error):
            if problem not in seen:
                seen.add(problem)
                yield problem


def _explain(file: FileName, at: Path, error: Any) -> Iterable[RawFinding]:
    path = (*at, *error.absolute_path)
    field = _field_name(path)
    hint = _description(error)
    if "propertyNames" in error.absolute_schema_path:
        # Not the value but its key is refused; the error names the object alone.
        key = str(error.instance)
        yield RawFinding("FIELD_INVALID", file, (*path, key), f"{field}: {_describe(error)}", hint, at_key=True)
        return
    if error.validator == "required":
        for key in error.validator_value:
            if key not in error.instance:
                known = error.schema.get("properties", {}).get(key, {}) if isinstance(error.schema, dict) else {}
                hint = known.get("description", "")
                yield RawFinding("FIELD_MISSING", file, path, f"Missing required field '{key}'", hint, subject=key)
        return
    yield RawFinding("FIELD_INVALID", file, path, f"{field}: {_describe(error)}", hint)


def _field_name(path: Path) -> str:
    names = [f"[{step}]" if isinstance(step, int) else f".{step}" for step in path]
    return "".join(names).lstrip(".") or "The document"


def _description(error: Any) -> str:
    schema = error.schema
    return str(schema.get("description", "")) if isinstance(schema, dict) else ""


_TYPE_WORDS = {
    "string": "a text",
    "array": "a list",
    "object": "an object",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
}


def type_word(value: Any) -> str:
    """What a JSON value is, in words: `a text`, `a list`, `null` ..."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    names = {str: "a text", list: "a list", dict: "an object", int: "a number", float: "a number"}
    return names.get(type(value), type(value).__name__)


def _describe(error: Any) -> str:
    """What was expected and what came."""
    value, expected = error.instance, error.validator_value
    if error.validator in ("minLength", "pattern") and isinstance(value, str) and not value.strip():
        return "is empty"
    if error.validator == "type":
        wanted = [expected] if isinstance(expected, str) else expected
        return f"expected {' or '.join(_TYPE_WORDS[word] for word in wanted)}, found {type_word(value)}"
    if error.validator == "uniqueItems" and isinstance(value, list):
        twice = next((one for at, one in enumerate(value) if one in value[:at]), None)
        return f"{_short_repr(twice)} is there twice"
    template = _TEMPLATES.get(error.validator)
    if template is None:
        return str(error.message)[:200]
    length = len(value) if isinstance(value, str | list | dict) else value
    listed = ", ".join(map(str, expected)) if isinstance(expected, list) else _short_repr(expected)
    return template.format(value=_short_repr(value), length=length, expected=expected, listed=listed)


_TEMPLATES = {
    "enum": "expected one of {listed}, found {value}",
    "const": "expected {listed}, found {value}",
    "maxLength": "{length} characters, at most {expected} are allowed",
    "minLength": "{length} characters, at least {expected} are needed",
    "pattern": "{value} does not have the form {expected}",
    "maxItems": "{length} entries, at most {expected} are allowed",
    "minItems": "{length} entries, at least {expected} are needed",
    "minProperties": "{length} keys, at least {expected} are needed",
    "minimum": "{value} is below {expected}",
    "maximum": "{value} is above {expected}",
}


def _short_repr(value: Any) -> str:
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= 60 else text[:59] + "…"


def _unknown_keys(file: FileName, value: Any, schema: dict[str, Any], at: Path) -> Iterator[RawFinding]:
    """Keys that the schema does not name, in every object whose keys it names; objects of free keys are passed over."""
    properties = schema.get("properties")
    if not isinstance(value, dict) or not isinstance(properties, dict):
        return
    for key, item in value.items():
        if key not in properties:
            # A key of another meaning may have some letters in common; a misspelled one has most.
            close, message = closest_match(key, properties, cutoff=0.75), f"Unknown key '{key}'"
            hint = _hint(close, sorted(properties))
            yield RawFinding("FIELD_UNKNOWN", file, (*at, key), message, hint, at_key=True, subject=close)
        elif isinstance(properties[key], dict) and properties[key].get("additionalProperties") is None:
            yield from _unknown_keys(file, item, properties[key], (*at, key))


def suggest(word: str, known: Iterable[str]) -> str:
    """A hint with the nearest known word, or the known words where none is near."""
    words = sorted(known)
    return _hint(closest_match(word, words), words)


def _hint(close: str, words: list[str]) -> str:
    if close:
        return f"Did you mean '{close}'?"
    return f"Known here: {', '.join(words[:20])}." if words else ""


_COMPARED_LENGTH_MAX: Final = 100
# In pairs of letters: some 0.3 s.
_COMPARISONS_MAX: Final = 4_000_000


def closest_match(word: str, known: Iterable[str], *, cutoff: float = 0.6) -> str:
    """The nearest known word, of which at least the share `cutoff` of letters is the same; empty where none is."""
    close = difflib.get_close_matches(word[:_COMPARED_LENGTH_MAX], sorted(known), n=1, cutoff=cutoff)
    return close[0] if close else ""


class SpellingSuggester:
    """`nearest` for many words and the same known ones, at a bounded cost: the last words may get the list alone."""

    def __init__(self, known: Iterable[str]) -> None:
        self._known = sorted(known)
        self._short = [word for word in self._known if len(word) <= _COMPARED_LENGTH_MAX]
        self._letters = sum(map(len, self._short))
        self._left = _COMPARISONS_MAX

    def hint(self, word: str) -> str:
        """The nearest known word, or the known words where none is near."""
        self._left -= self._letters * min(len(word), _COMPARED_LENGTH_MAX)
        return suggest(word, self._short) if self._left >= 0 else _hint("", self._known)
