"""Samples for what a form begins without: an empty field is not judged, what is entered is."""

from __future__ import annotations

from typing import Any

import pytest

from capability_rules.validation.a2ui.samples import with_samples

DATE = {"type": "string", "format": "date"}
ENTRY = {"type": "object", "properties": {"on": DATE, "n": {"type": "number", "minimum": 3}}}


@pytest.mark.parametrize(
    ("schema", "value", "filled"),
    [
        ({"type": "string"}, "", "example"),
        ({"type": "string", "maxLength": 3}, "", "exa"),
        ({"type": "string", "minLength": 9}, "", "exampleex"),
        ({"type": "string", "examples": ["x"]}, "", "x"),
        (DATE, "", "2026-01-15"),
        ({"type": "string", "format": "date-time"}, "", "2026-01-15T09:00:00"),
        ({"type": "integer", "minimum": 2}, "", "2"),
        ({"type": "string", "enum": ["a", "b"]}, [], ["a"]),
        ({"type": "array", "items": {"type": "string", "enum": ["a"]}}, [], ["a"]),
        ({"type": "array", "items": ENTRY}, [{"on": "", "n": "7"}], [{"on": "2026-01-15", "n": "7"}]),
        (ENTRY, {"on": "2025-02-02", "n": "", "other": ""}, {"on": "2025-02-02", "n": "3", "other": "example"}),
        ({"type": "integer"}, "text", "text"),
        (None, "", "example"),
        ({"type": "boolean"}, False, False),
    ],
)
def test_only_what_is_empty_is_filled(schema: Any, value: Any, filled: Any) -> None:
    assert with_samples(schema, value) == filled
