"""What leaves as an Agent Skill comes back with the same meaning, and says no more to agents than they may know."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from capability_kit.bundles.front_matter import split_front_matter
from capability_rules.agent_skills.exporter import export_skill_files
from capability_rules.agent_skills.front_matter_writer import text_node, write_front_matter
from capability_rules.agent_skills.importer import import_skill
from capability_rules.bundles.bundle import SkillBundle
from capability_rules.bundles.bundle_reader import SourceBundle
from capability_rules.validation import validate_bundle
from tests.bundle_files import Files, bundle, tool
from tests.cases import valid_bundle, valid_names
from tests.servers import ROOT
from tests.sweeps import check_each

EXAMPLES = {path.name: {file.name: file.read_text("utf-8") for file in path.iterdir() if file.is_file()} for path in sorted((ROOT / "examples").iterdir())}  # fmt: skip # noqa: E501


def _bundle(files: Any) -> SkillBundle:
    found = validate_bundle(files).bundle
    assert found is not None
    return found


def _again(given_bundle: SkillBundle) -> tuple[SkillBundle, list[str]]:
    files = export_skill_files(given_bundle)
    taken = import_skill(SourceBundle("path", dict(files), given_bundle.capability_id.replace("_", "-")))
    assert taken.files is not None, taken.findings
    return _bundle(taken.files), [finding.code for finding in taken.findings]


def test_a_text_with_characters_that_end_a_line_comes_back() -> None:
    """YAML takes some of what JSON leaves as it is for line breaks, and refuses others."""
    described = "One\u2028two\x85three\ufeff four\x7f"
    below = yaml.MappingNode("", [(text_node("no"), text_node("é"))])
    pairs = [(text_node("description"), text_node(described)), (text_node("metadata"), below)]
    text = write_front_matter("alpha", pairs)
    assert yaml.safe_load(text.split("---")[1]) == {"name": "alpha", "description": described, "metadata": {"no": "é"}}
    assert r"One\u2028two\u0085three\ufeff four\u007f" in text


def test_examples_come_back() -> None:
    def check(files: Files) -> None:
        before = _bundle(files)
        after, findings = _again(before)
        assert after.content_digest == before.content_digest
        assert after.capability == before.capability
        assert findings == []

    check_each([*EXAMPLES.values(), *map(valid_bundle, valid_names())], check)


@pytest.mark.parametrize(
    "text",
    [
        "---\nname: a-b\ndescription: 'One: two'\nlicense: MIT\nmetadata:\n  x: y\n---\n\n# A\n\nText.\n",
        "---\nname: a\ndescription: y\n---\n---\n\nA line first.\n\n---\n",
        "---\nname: Cold Email\ndescription: y\ntriggers: [a, b]\n---\nText without an end",
        '---\nname: a\ndescription: y\nmetadata: {"moltbot":{"emoji":"🔊","install":[{"id":"brew"}]}}\n---\nText.\n',
    ],
)
def test_skills_come_back(text: str) -> None:
    taken = import_skill(SourceBundle("path", {"SKILL.md": text}))
    before = _bundle(taken.files)
    after, findings = _again(before)
    assert after.content_digest == before.content_digest
    # The same front matter again: what there was to say of it is said again, where SKILL.md alone comes back.
    is_alone = "references/capability.json" not in export_skill_files(before)
    assert findings == ([one.code for one in taken.findings] if is_alone else [])
    assert after.files == before.files or not is_alone


def test_what_a_skill_md_says_whole_has_no_references() -> None:
    taken = import_skill(SourceBundle("path", {"SKILL.md": "---\nname: a-b\ndescription: y\nlicense: MIT\n---\n# A\n"}))
    assert list(export_skill_files(_bundle(taken.files))) == ["SKILL.md"]


def test_the_front_matter_of_skill_md_comes_back() -> None:
    files = bundle()
    files["skill.md"] = "---\ncapability_id: alpha\nowner: me\n---\n" + files["skill.md"]
    after, _ = _again(_bundle(files))
    assert after.files["skill.md"] == files["skill.md"]


def test_agents_are_given_no_utterances_and_no_front_matter() -> None:
    files = bundle(tools=[tool("alpha_list")], utterances={"should_match": ["secret words"]})
    files["skill.md"] = "---\nowner: me\n---\n" + files["skill.md"]
    given_files = export_skill_files(_bundle(files), for_agents=True)
    assert list(given_files) == ["SKILL.md", "references/capability.json", "references/tools.json"]
    assert "secret" not in "".join(given_files.values())
    assert "owner" not in "".join(given_files.values())
    assert _bundle(import_skill(SourceBundle("path", dict(given_files))).files).digest == _bundle(files).digest


def test_the_front_matter_is_what_clients_take() -> None:
    before = _bundle(bundle("alpha_two", license="MIT", compatibility="git", allowed_tools=["Read", "Grep"], metadata={"a": "1", "on": "x"}))  # fmt: skip # noqa: E501
    text = export_skill_files(before)["SKILL.md"]
    expected = {
        "name": "alpha-two",
        "description": "Everything about Alpha Two.",
        "license": "MIT",
        "compatibility": "git",
        "allowed-tools": "Read Grep",
        "metadata": {"capability_id": "alpha_two", "a": "1", "on": "x"},
    }
    assert yaml.safe_load(text.split("---\n")[1]) == expected
    assert split_front_matter(text).values == expected


TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=80)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(TEXT.filter(str.strip), st.dictionaries(TEXT, TEXT, max_size=4), TEXT)
def test_any_text_comes_back(description: str, metadata: dict[str, str], body: str) -> None:
    files = bundle(description=description, metadata=metadata, skill_profile="agent_skill")
    before = _bundle(files | {"skill.md": f"---\n---\n{body}"})
    after, findings = _again(before)
    assert after.content_digest == before.content_digest
    assert findings == []


def test_more_metadata_than_a_front_matter_holds_travels_beside_it() -> None:
    before = _bundle(bundle(metadata={"x": "y" * 20_000}))
    assert len(export_skill_files(before)["SKILL.md"]) < 2_000
    after, findings = _again(before)
    assert (after.content_digest, findings) == (before.content_digest, [])


def test_what_was_edited_in_skill_md_counts() -> None:
    before = _bundle(bundle(tools=[tool("alpha_list")], license="MIT"))
    files = export_skill_files(before)
    files["SKILL.md"] = files["SKILL.md"].replace("Everything about", "All about").replace('license: "MIT"\n', "")
    taken = import_skill(SourceBundle("path", dict(files)))
    after = _bundle(taken.files)
    assert after.capability["description"] == "All about Alpha."
    assert "license" not in after.capability
    assert after.tools == before.tools
    assert [finding.code for finding in taken.findings] == ["IMPORT_EXPORT_CHANGED"] * 2


def test_references_of_another_skill_are_only_references() -> None:
    files = {"SKILL.md": "---\nname: x\ndescription: y\n---\nT\n", "references/capability.json": json.dumps({"capability_id": "y"})}  # fmt: skip # noqa: E501
    taken = import_skill(SourceBundle("path", dict(files)))
    assert [finding.code for finding in taken.findings] == ["IMPORT_FILE_LEFT_OUT"]
    assert "y" not in json.loads((taken.files or {})["capability.json"])["capability_id"]


def test_examples_are_there() -> None:
    assert len(EXAMPLES) >= 7
    assert Path(ROOT / "examples" / "weights").is_dir()


@pytest.mark.parametrize("allowed", ["Bash(git:*) Read", "Read"])
def test_tools_of_the_host_are_a_warning_and_allowed_tools_survive(allowed: str) -> None:
    text = f"---\nname: x\ndescription: Does x.\nallowed-tools: {allowed}\n---\n# X\n\n## Tools\n\nUse `x_open` now.\n"
    taken = import_skill(SourceBundle("x", {"SKILL.md": text}))
    assert taken.files is not None
    found = [(one.code, one.severity) for one in validate_bundle(taken.files).findings]
    assert found == [("TOOL_NOT_DEFINED", "warning")]
    assert allowed in export_skill_files(_bundle(taken.files))["SKILL.md"]
