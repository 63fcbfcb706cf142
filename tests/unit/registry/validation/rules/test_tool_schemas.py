"""What is said of a type that there is not."""

from __future__ import annotations

import pytest

from registry.validation import validate_bundle
from tests.factories import bundle, to_json, tool


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("int", 'Write "integer".'),
        ("List", 'Write "array".'),
        ("String", 'Write "string".'),
        ("strin", 'Write "string".'),
        ("any", "Leave the type out: then any value is allowed."),
        ("whole", "Write one of these."),
        ("", "Write one of these."),
    ],
)
def test_a_wrong_type_is_answered_with_one_that_there_is(word: str, hint: str) -> None:
    tools = [tool("alpha_list", properties={"limit": {"type": word, "description": "How many."}})]
    found = [one for one in validate_bundle(bundle() | {"tools.json": to_json(tools)}).findings if "SCHEMA" in one.code]
    assert [one.hint for one in found] == [hint]
