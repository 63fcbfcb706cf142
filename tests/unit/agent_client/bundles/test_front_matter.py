"""The front matter of a SKILL.md, read without a YAML library: the same values as the registry's YAML."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_client.bundles.front_matter import LEVELS_MAX, split_front_matter
from agent_client.client.local_registry import LocalSkills
from agent_client.environment.probe import Environment
from agent_client.environment.readiness import check_readiness
from registry.agent_skills.loss_report import LossReport
from registry.agent_skills.skill_parser import parse_skill
from tests import costs

INTRODUCTION = """\
---
name: introduction
description: First meeting — make them feel seen, set them up for success
version: "0.1.4"
priority: 100          # Highest — runs before other skills
max_turns: 8           # Auto-expires after 8 turns of inactivity
triggers:
  - hello, hi, hey, start, help me get started
  - who are you, what can you do, introduce yourself
tools:
  - agent              # ask widgets + memory storage
  - store              # skill installs from NeboLoop catalog
metadata:
  nebo:
    emoji: "👋"
---
# Introduction
"""
EXCEL = """\
---
name: excel-analyzer
description: Analyze Excel files, generate charts and insights
backend: tool
os: common
dependency_level: lightweight
dependencies:
  python: [openpyxl, pandas, matplotlib]
skill_group: data_analysis
---

# Excel Analyzer
"""
SAMPLES = [
    INTRODUCTION,
    EXCEL,
    "---\nname: a\ndescription: >-\n  one\n  two\n\n  three\n    kept\n  four\nos: [darwin, 'linux']\n---\nbody",
    "---\nname: a\ndescription: |\n  one\n\n   two\nlicense: MIT # the file\n---\n",
    "---\nname: a\ndescription: plain text\n  that goes on\n\n  below\n---\n",
    '---\nname: a\ndescription: "a \\"quoted\\" text\\n\\u00e9\n  and more"\n---\n',
    "---\nname: a\ndescription: 'it''s'\nkeys: {a: 1, b: [x, \"y, z\"], c: }\n---\n",
    '---\nname: a\ndescription: b\nmetadata: {\n  "openclaw": {\n    "requires": { "bins": ["git"], },\n  },\n}\n---\n',
    "---\nname: a\ndescription: b\ninstall:\n- kind: brew\n  bins:\n  - jq\n-   - x\n    - y\nempty:\n---\n",
    "---\nname: a\ndescription: Use when: it breaks\nallowed-tools: Bash(git:*), Read\n---\n",
    '---\nname: a\ndescription: "quoted" and more\nargument-hint: [one] [two]\n---\n',
    '---\nname: a\nname: b\n"two words": c\nd e : f\nurl: https://example.org/#a\n---\n',
]


@pytest.mark.parametrize("text", SAMPLES)
def test_the_values_are_those_of_the_registrys_yaml(text: str) -> None:
    parsed = parse_skill(text, LossReport("SKILL.md"))
    assert parsed is not None
    assert split_front_matter(text) == (parsed.values, parsed.body)


@pytest.mark.parametrize("value", ["&a b", "*a", "!!python/object:x {}", "[a, *b]\n  more", "- [a", "{a: [b}\n  c"])
def test_what_is_not_understood_is_left_out_and_the_rest_stays(value: str) -> None:
    values, _ = split_front_matter(f"---\nname: a\nodd: {value}\nos: linux\n---\n")
    assert values["name"] == "a"
    assert values["os"] == "linux"
    assert not isinstance(values.get("odd"), dict | list)


def test_size_and_depth_are_limited() -> None:
    deep = "[" * 4000 + "]" * 4000
    nested = "\n".join("  " * level + "a:" for level in range(LEVELS_MAX + 20))
    for source in (
        deep,
        f"x: {deep}",
        nested,
        "x: [" + "a\n  [" * 3000,
        "x: 'a\n" + "  b\n" * 5000,
        "a " + " " * 15000 + "b",
    ):
        with costs.at_most(200):
            split_front_matter(f"---\nname: a\n{source}\n---\n")
    assert split_front_matter("---\nname: a\n" + "# " + "x" * 17_000 + "\n---\nbody")[0] == {}


def _skills(folder: Path, **texts: str) -> LocalSkills:
    for name, text in texts.items():
        (folder / name).mkdir()
        (folder / name / "SKILL.md").write_text(text, encoding="utf-8")
    return LocalSkills(folder)


def test_a_folder_gives_triggers_priority_and_turns(tmp_path: Path) -> None:
    (entry,) = _skills(tmp_path, introduction=INTRODUCTION).list().entries
    assert entry.intent_triggers[:2] == ("hello", "hi")
    assert "introduce yourself" in entry.intent_triggers
    assert entry.priority == 100
    capability = LocalSkills(tmp_path).load("introduction").capability
    assert (capability["priority"], capability["max_turns"]) == (100, 8)
    assert capability["allowed_tools"] == ["agent", "store"]
    assert capability["emoji"] == "👋"


def test_a_folder_gives_dependencies_and_so_what_is_missing(tmp_path: Path) -> None:
    bundle = _skills(tmp_path, excel=EXCEL).load("excel_analyzer")
    assert bundle.capability["dependencies"] == {"python": ["openpyxl", "pandas", "matplotlib"]}
    assert bundle.capability["os"] == ["common"]
    assert bundle.capability["skill_groups"] == ["data_analysis"]
    found = check_readiness(bundle, Environment.from_dict({"os": "linux", "python": ["pandas"]}))
    assert found.status == "NEED_SETUP"
    assert [missing.name for missing in found.missing] == ["openpyxl", "matplotlib"]


def test_a_description_that_is_no_text_is_named(tmp_path: Path) -> None:
    skills = _skills(tmp_path, a="---\nname: a\ndescription: [b]\n---\n", c="---\nname: [c]\ndescription: b\n---\n")
    assert skills.list().entries == ()
    assert [one.folder for one in skills.unreadable] == ["a", "c"]
