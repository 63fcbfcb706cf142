"""The mark in the author's own text: written where it belongs, and nothing else is touched."""

from __future__ import annotations

import json

import pytest

from registry.authoring.naming_files import with_named
from registry.errors import InvalidRequest
from registry.validation.supporting import named_in
from tests.factories import bundle

PLAIN = bundle()["capability.json"]
TEXTS = [
    PLAIN,
    bundle(metadata={"owner": "me"})["capability.json"],
    bundle(metadata={"owner": "me"}, license="MIT")["capability.json"],
    '{"capability_id":"a","metadata":{"x":"y"},"name":"A"}',
    '{\n\t"capability_id": "a",\n\t"name": "A"\n}\n',
    '{ "name": "{\\"metadata\\": 1}" }',
]


@pytest.mark.parametrize("text", TEXTS)
def test_what_is_named_and_named_no_more_leaves_the_text_as_it_was(text: str) -> None:
    marked = with_named(text, add=["forms.md"])
    assert named_in(marked) == ("forms.md",)
    before, after = json.loads(text), json.loads(marked)
    assert after["metadata"].pop("supporting_files") == "forms.md"
    assert {**after, "metadata": after["metadata"] or before.get("metadata")} == {**before, "metadata": before.get("metadata")}  # fmt: skip # noqa: E501
    more = with_named(marked, add=["rules/a.md", "forms.md", "rules/a.md"])
    assert named_in(more) == ("forms.md", "rules/a.md")
    assert with_named(more, drop=["rules/a.md"]) == marked
    assert with_named(more, drop=["forms.md", "rules/a.md", "other.md"]) == text


def test_the_only_entry_of_an_empty_metadata() -> None:
    assert json.loads(with_named('{"metadata": {}}', add=["a"])) == {"metadata": {"supporting_files": "a"}}


def test_nothing_to_do_changes_nothing() -> None:
    for text in (*TEXTS, "", "{", '{"a": 1, "a": 2}'):
        assert with_named(text, drop=["forms.md"]) == text


@pytest.mark.parametrize("text", ["", "{", "[]", '{"metadata": []}', '{"metadata": null}', '{"a": 1, "a": 2}', "\0"])
def test_what_cannot_be_written_is_refused(text: str) -> None:
    with pytest.raises(InvalidRequest, match="mend it first"):
        with_named(text, add=["forms.md"])
