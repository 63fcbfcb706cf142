"""What matching knows of a capability."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from capability_rules.bundles.profile import LIST_MAX, TEXT_MAX, profile_from_json, profile_from_text
from capability_rules.schema_loader import read_schema


def _limits(schema: Any, key: str) -> Iterator[int]:
    if isinstance(schema, dict):
        yield from [schema[key]] if isinstance(schema.get(key), int) else []
        for inner in schema.values():
            yield from _limits(inner, key)


def test_all_that_can_be_published_is_kept() -> None:
    schema = read_schema("capability")
    assert max(_limits(schema, "maxItems")) <= LIST_MAX
    properties = schema["properties"]
    read = (properties["name"], properties["description"], properties["playbook"]["properties"]["problem"])
    assert max(each["maxLength"] for each in read) <= TEXT_MAX
    assert schema["$defs"]["sentences"]["items"]["maxLength"] <= TEXT_MAX


def test_a_draft_that_is_too_long_is_cut() -> None:
    words = [f"word{number}" for number in range(60_000)]
    capability = {
        "name": "n" * 9_999,
        "intent_triggers": [3, "", *words],
        "utterances": {"should_match": ["s" * 9_999]},
    }
    found = profile_from_json(capability)
    assert (len(found.name), len(found.triggers), len(found.sentences[0])) == (4000, 198, 4000)


def test_what_is_missing_or_wrong_is_left_empty() -> None:
    for text in ("", "[", "[]", "{}", json.dumps({"utterances": [], "playbook": "x", "intent_triggers": {}})):
        found = profile_from_text(text)
        assert (found.name, found.triggers, found.sentences, found.os) == ("", (), (), ("common",))
