"""The mark in the author's own text: written where it belongs, and nothing else is touched."""

from __future__ import annotations

import json

import pytest

from capability_rules.bundles.supporting_files import paths_named_in
from capability_rules.bundles.supporting_files_key import add_supporting_files_key
from capability_rules.errors import InvalidRequest
from tests.bundle_files import bundle

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
    marked = add_supporting_files_key(text, add=["forms.md"])
    assert paths_named_in(marked) == ("forms.md",)
    before, after = json.loads(text), json.loads(marked)
    assert after["metadata"].pop("supporting_files") == "forms.md"
    assert {**after, "metadata": after["metadata"] or before.get("metadata")} == {**before, "metadata": before.get("metadata")}  # fmt: skip # noqa: E501
    more = add_supporting_files_key(marked, add=["rules/a.md", "forms.md", "rules/a.md"])
    assert paths_named_in(more) == ("forms.md", "rules/a.md")
    assert add_supporting_files_key(more, drop=["rules/a.md"]) == marked
    assert add_supporting_files_key(more, drop=["forms.md", "rules/a.md", "other.md"]) == text


def test_the_only_entry_of_an_empty_metadata() -> None:
    assert json.loads(add_supporting_files_key('{"metadata": {}}', add=["a"])) == {
        "metadata": {"supporting_files": "a"}
    }


def test_nothing_to_do_changes_nothing() -> None:
    for text in (*TEXTS, "", "{", '{"a": 1, "a": 2}'):
        assert add_supporting_files_key(text, drop=["forms.md"]) == text


@pytest.mark.parametrize("text", ["", "{", "[]", '{"metadata": []}', '{"metadata": null}', '{"a": 1, "a": 2}', "\0"])
def test_what_cannot_be_written_is_refused(text: str) -> None:
    with pytest.raises(InvalidRequest, match="fix it first"):
        add_supporting_files_key(text, add=["forms.md"])
