"""What is not JSON is nothing, whatever is wrong with it."""

from __future__ import annotations

from typing import Any

import pytest

from capability_kit.json_text import parse_json


@pytest.mark.parametrize(
    ("text", "value"),
    [('{"a": [1]}', {"a": [1]}), ("[]", []), ("", None), (None, None), ("{", None), ("[" * 100_000, None)],
)
def test_a_text_is_read_or_nothing_is(text: str | None, value: Any) -> None:
    assert parse_json(text) == value
