"""A front matter comes out of the registry as it went in: keys at their level, values with their types."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from capability_rules.agent_skills.exporter import export_skill_files
from capability_rules.agent_skills.importer import import_skill
from capability_rules.bundles.bundle import SkillBundle
from capability_rules.bundles.bundle_reader import SourceBundle
from capability_rules.validation import validate_bundle
from tests.bundle_files import bundle, tool
from tests.sweeps import check_each

HEAD = "name: x\ndescription: Does x.\n"
# Shapes of front matters of public skills, and what YAML 1.1 and 1.2 read differently.
SHAPES = [
    "disable-model-invocation: true\nuser-invocable: false\nargument-hint: '[date]'\nmodel: opus",
    "hooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks:\n        - {type: command, command: ./check.sh, timeout: 30}",  # noqa: E501
    "version: 1.0\nlast_updated: 2026-01-31\nat: 2026-01-31 10:00:00\nratio: .5\nnone: ~\nempty:\nflags: [yes, off, 0o7, 012]",  # noqa: E501
    'version: "1.0"\ntrue: "yes"\n1: one\n"2": two',
    'metadata: {"openclaw":{"emoji":"🔊","always":true,"os":["darwin"],"requires":{"bins":["so"],"env":["K"]},"install":[{"id":"brew"}]}}',  # noqa: E501
    "metadata:\n  author: Ann\n  version: 1.10\n  tags: [a, b]\n  nested: {deep: {deeper: [1, {x: y}]}}",
    "triggers:\n  - hello, hi\n  - who are you\npriority: 100\nmax_turns: 8\ntools: [agent, store]\nemoji: x",
    "dependencies:\n  python: [pypdf]\n  node: [left-pad]\nos: macos\ndependency_level: external\nskill_group: office",
    "allowed-tools: [Read, 'Bash(git:*)']\ncompatibility:\n  - git\n  - jq\nlicense: 2",
    "allowed-tools: Read, Write\ntools: [a]\nAllowed: x",
    "version: 2\nmetadata:\n  version: '1'\n  supporting_files: x\n  front_matter: y",
    "description_long: |\n  Two\n  lines\nfolded: >-\n  One\n  line\nquoted: 'it''s: #1'\nplain: a:b c#d\nodd: '- a'\nspace: ' a '",  # noqa: E501
    "list:\n  - - a\n    - []\n  - {}\n  -\n  - a: {b: [c]}\n    d: e",
    "unicode: 数据 — “é”\n键: 值\n'a: b': c",
]


def _taken(front_matter: str, body: str = "Text.\n", as_id: str = "") -> SkillBundle:
    taken = import_skill(SourceBundle("path", {"SKILL.md": f"---\n{front_matter}\n---\n{body}"}, "", as_id))
    found = validate_bundle(taken.files or {}).bundle
    assert found is not None, taken.findings
    return found


def _exported(given_bundle: SkillBundle) -> dict[str, Any]:
    """The front matter of the export, without what the export adds."""
    text = export_skill_files(given_bundle)["SKILL.md"]
    values: dict[str, Any] = yaml.safe_load(text.split("---\n")[1])
    values["metadata"].pop("capability_id")
    return {key: value for key, value in values.items() if key != "metadata" or value}


def _changed(given_bundle: SkillBundle, **values: Any) -> SkillBundle:
    """With other values in capability.json, as an operator writes them."""
    capability = {**given_bundle.capability, **values}
    text = json.dumps({key: value for key, value in capability.items() if value is not None})
    found = validate_bundle({**given_bundle.files, "capability.json": text}).bundle
    assert found is not None
    return found


def test_every_key_keeps_its_level_and_its_type() -> None:
    def check(shape: str) -> None:
        given_bundle = _taken(HEAD + shape)
        exported, expected = _exported(given_bundle), yaml.safe_load(HEAD + shape)
        assert exported == expected
        assert json.dumps(exported, default=repr) == json.dumps({key: exported[key] for key in exported}, default=repr)
        assert _types(exported) == _types(expected)

    check_each(SHAPES, check)


def _types(value: Any) -> Any:
    """As equality takes true for 1 and 1 for 1.0."""
    if isinstance(value, dict):
        return {key: _types(item) for key, item in value.items()}
    return [_types(item) for item in value] if isinstance(value, list) else type(value)


def test_what_is_exported_comes_back_as_the_same_bundle_with_no_file_beside_it() -> None:
    def check(shape: str) -> None:
        before = _taken(HEAD + shape)
        files = export_skill_files(before)
        assert list(files) == ["SKILL.md"]
        again = validate_bundle(import_skill(SourceBundle("path", dict(files))).files or {}).bundle
        assert again is not None
        assert again.content_digest == before.content_digest
        assert export_skill_files(again) == files

    check_each(SHAPES, check)


def test_a_skill_of_texts_alone_needs_no_layout() -> None:
    found = _taken(HEAD + "license: MIT\nallowed-tools: Read\nmetadata:\n  a: b\n  c: '1'")
    assert found.capability["metadata"] == {"a": "b", "c": "1"}


def test_values_that_were_changed_since_are_exported_at_the_level_of_the_old_ones() -> None:
    before = _taken(HEAD + SHAPES[6] + "\nversion: 1.0\nallowed: x")
    metadata = {**before.capability["metadata"], "version": "2.0", "new": "n"}
    del metadata["allowed"]
    after = _changed(
        before, intent_triggers=["bye"], priority=5, max_turns=None, allowed_tools="Read", metadata=metadata
    )
    assert _exported(after) == {
        "name": "x",
        "description": "Does x.",
        "version": "2.0",
        "triggers": ["bye"],
        "priority": 5,
        "tools": "Read",
        "emoji": "x",
        "metadata": {"new": "n"},
    }


def test_what_was_changed_deep_inside_is_left_to_capability_json() -> None:
    before = _taken(HEAD + SHAPES[4])
    after = _changed(before, dependencies={"bins": ["other"], "env": ["K"]})
    block = _exported(after)["metadata"]["openclaw"]
    assert block["requires"] == {"env": ["K"]}
    assert json.loads(export_skill_files(after)["references/capability.json"])["dependencies"]["bins"] == ["other"]
    text = {**before.capability["metadata"], "openclaw": "all new"}
    assert _exported(_changed(before, metadata=text))["metadata"] == {"openclaw": "all new"}


def test_agents_get_the_keys_and_so_does_an_export_with_tools() -> None:
    files = dict(_taken(HEAD + SHAPES[0]).files) | {"tools.json": json.dumps([tool("x_list")])}
    found = validate_bundle(files).bundle
    assert found is not None
    for for_agents in (True, False):
        text = export_skill_files(found, for_agents=for_agents)["SKILL.md"]
        assert yaml.safe_load(text.split("---\n")[1])["disable-model-invocation"] is True


def test_a_key_that_was_edited_or_taken_out_of_an_export_counts() -> None:
    files = dict(_taken(HEAD + SHAPES[0] + "\ntriggers: [hello]\npriority: 3").files)
    found = validate_bundle(files | {"tools.json": json.dumps([tool("x_list")])}).bundle
    assert found is not None
    exported = export_skill_files(found)
    text = exported["SKILL.md"].replace("disable-model-invocation: true\n", "").replace("- hello", "- bye")
    taken = import_skill(SourceBundle("path", {**exported, "SKILL.md": text.replace("model: opus", "model: haiku")}))
    again = validate_bundle(taken.files or {}).bundle
    assert again is not None
    assert again.capability["intent_triggers"] == ["bye"]
    assert again.capability["metadata"]["model"] == "haiku"
    assert "disable-model-invocation" not in again.capability["metadata"]
    assert "disable-model-invocation" not in export_skill_files(again)["SKILL.md"]
    assert {one.code for one in taken.findings} == {"IMPORT_EXPORT_CHANGED"}


@pytest.mark.parametrize("name", ["数据分析", "мой-навык"])
def test_a_name_in_other_letters_goes_out_as_it_came_and_leads_to_the_same_id(name: str) -> None:
    before = _taken(f"name: {name}\ndescription: y", as_id="tea_timer")
    files = export_skill_files(before)
    assert f"name: {name}\n" in files["SKILL.md"]
    assert list(files) == ["SKILL.md"]
    again = import_skill(SourceBundle("path", dict(files), name))
    assert again.findings == ()
    assert json.loads((again.files or {})["capability.json"]) == before.capability
    assert "name: tea-timer\n" in export_skill_files(_changed(before, name="Tea"))["SKILL.md"]


@pytest.mark.parametrize(
    "layout", ["", "[", "- a", "a: *b", "a: &a [*a]", "name: 5", "description: other", "metadata: x"]
)
def test_a_layout_that_somebody_wrote_by_hand_does_no_harm(layout: str) -> None:
    found = validate_bundle(bundle(metadata={"front_matter": layout, "a": "b"})).bundle
    assert found is not None
    exported = _exported(found)
    assert (exported["name"], exported["description"]) == ("alpha", "Everything about Alpha.")
    assert exported["metadata"]["a"] == "b"
    again = validate_bundle(import_skill(SourceBundle("path", dict(export_skill_files(found)))).files or {}).bundle
    assert again is not None
    assert again.content_digest == found.content_digest


SCALARS = st.one_of(
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12),
    st.integers(-5, 2000),
    st.booleans(),
    st.none(),
    st.floats(allow_nan=False, width=32),
    st.dates(),
)
KEYS = st.text("abxyz-_ :#'é", min_size=1, max_size=6)
VALUES = st.recursive(
    SCALARS, lambda below: st.lists(below, max_size=3) | st.dictionaries(KEYS, below, max_size=3), max_leaves=6
)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(
    st.dictionaries(KEYS.filter(lambda key: key.strip() == key), VALUES, max_size=4),
    st.dictionaries(KEYS, VALUES, max_size=3),
    st.booleans(),
)
def test_any_front_matter_goes_out_as_it_came(first: dict[str, Any], metadata: dict[str, Any], flow: bool) -> None:
    values = {"name": "x", "description": "Does x.", **first, **({"metadata": metadata} if metadata else {})}
    text = yaml.safe_dump(values, allow_unicode=True, default_flow_style=flow or None, sort_keys=False)
    found = _taken(text)
    exported, expected = _exported(found), yaml.safe_load(text)
    for key in exported:
        assert _plain(exported[key]) == _plain(expected.get(key)), key
    assert set(expected) - set(exported) <= {"metadata"}


def _plain(value: Any) -> Any:
    """First-level texts lose the white space around them."""
    return value.strip() if isinstance(value, str) else value
