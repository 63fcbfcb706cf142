"""Errors of YAML and JSON as sentences: the place first, then what is wrong there, and what to write."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

import yaml

# What the parsers say, by the beginning of it, and what that means to an author.
_YAML: Final = (
    ("but found another document", "a second document begins here with `---`, and one is read: keep one of them"),
    (
        "mapping values are not allowed",
        "a colon is not expected here: put the value in quotes, or correct the indentation",
    ),
    ("found character", "a value cannot begin so: indent with spaces and not tabs, and put it in quotes"),
    ("could not find expected ':'", "a key without a colon after it, or a text over several lines without quotes"),
    ("found unexpected end of stream", "a quote is opened and never closed"),
    ("found unexpected document separator", "a quote is opened and never closed before `---`"),
    ("did not find expected ',' or ']'", "a comma or the closing bracket `]` is missing"),
    ("did not find expected ',' or '}'", "a comma or the closing bracket `}` is missing"),
    ("did not find expected key", "the line fits neither the indentation before it nor a key"),
    ("did not find expected '-' indicator", "an entry of the list has to begin with `-` here"),
    ("did not find expected <document start>", "something follows the end of the document"),
    ("did not find expected node content", "a value is missing"),
    ("found undefined alias", "an alias (`*`) names what no anchor (`&`) has named"),
    ("could not determine a constructor", "a tag (`!`) that is not read: write the value without it"),
)
_JSON: Final = (
    ("Expecting property name", "a key in double quotes is expected: a comma may be one too many"),
    ("Illegal trailing comma", "a comma is one too many"),
    ("Expecting ',' delimiter", "a comma is missing, or a bracket is not closed"),
    ("Expecting ':' delimiter", "a colon is missing after the key"),
    ("Expecting value", "a value is missing, or a text has no quotes"),
    ("Extra data", "the document has ended before this: remove what follows"),
    ("Unterminated string", "a text begins here and its closing quote is missing"),
    ("Invalid control character", "a line break or tab in a text is written as \\n or \\t"),
    ("Invalid \\", "a backslash in a text is written twice"),
)


def explain_yaml_error(error: yaml.MarkedYAMLError) -> str:
    """A sentence without a period."""
    mark = error.problem_mark or error.context_mark
    said = error.problem or error.context or "it cannot be read"
    words = _find(_YAML, said) or said
    return f"{_place(mark.line + 1, mark.column + 1)}: {words}" if mark else f"This is not valid YAML: {words}"


def explain_json_error(error: json.JSONDecodeError) -> str:
    """A sentence without a period."""
    return f"{_place(error.lineno, error.colno)}: {_find(_JSON, error.msg) or error.msg}"


def _place(line: int, column: int) -> str:
    return f"Line {line}, column {column}"


def _find(known: Sequence[tuple[str, str]], said: str) -> str:
    return next((words for beginning, words in known if said.startswith(beginning)), "")
