"""The front matter of a SKILL.md: strict for the skill.md of a bundle, lenient for what other people wrote."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from capability_client.client.local_registry import LocalSkills, read_folder
from capability_kit.bundles.front_matter import normalize_skill_text, read_front_matter, split_front_matter
from capability_kit.environment.probe import Environment
from capability_kit.environment.readiness import check_readiness
from capability_rules.agent_skills.importer import import_skill
from capability_rules.bundles.bundle_reader import SourceBundle
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
# Texts that are YAML, of every kind that skills use.
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
    '---\nname: a\n"two words": c\nd e : f\nurl: https://example.org/#a\n---\n',
]


@pytest.mark.parametrize("text", SAMPLES)
def test_texts_that_are_yaml_read_the_same_strictly_and_leniently(text: str) -> None:
    strict, lenient = split_front_matter(text), read_front_matter(text)
    assert strict.values == lenient.values == yaml.load(strict.source, Loader=yaml.BaseLoader)
    assert strict.faults == lenient.faults == ()
    assert strict.body_offset == lenient.body_offset == text.index("---\n", 4) + 4


@pytest.mark.parametrize(
    ("source", "line", "column", "message"),
    [
        ("a: *b", 2, 4, "The alias *b is not allowed"),
        ("a: !x b", 2, 4, "The tag !x is not allowed"),
        ("a: !!python/object:x {}", 2, 4, "The tag !python/object:x is not allowed"),
        ("a: b\na: c", 3, 1, "The key 'a' appears twice"),
        ("b:\n  a: b\n  a: c", 4, 3, "The key 'a' appears twice"),
        ("a: b: c", 2, 5, "Broken YAML: mapping values are not allowed here"),
        ("a: b\x07", 2, 5, "Broken YAML: the character U+0007 is not allowed"),
        ("[a]: b", 2, 1, "A key must be a plain word"),
        ("- a", 2, 1, "The front matter is not a list of keys and values"),
    ],
)
def test_a_fault_of_a_strict_reading_has_its_place(source: str, line: int, column: int, message: str) -> None:
    text = f"---\n{source}\n---\nBody\n"
    (fault,) = split_front_matter(text).faults
    before = text[: fault.offset]
    assert (before.count("\n") + 1, fault.offset - before.rfind("\n"), fault.message) == (line, column, message)


def test_a_front_matter_that_is_not_closed_names_the_line_that_is_nearly_its_end() -> None:
    for nearly in ("----", "——", " ---", "---Text"):
        (fault,) = read_front_matter(f"---\nname: a\n{nearly}\nText\n").faults
        assert fault.message == "The front matter is never closed"
        assert fault.hint.endswith(f"line 3 is {nearly.strip()!r}")
    assert "line" not in read_front_matter("---\nname: a\n").faults[0].hint[-8:]


def test_places_are_those_of_the_keys_at_every_level() -> None:
    text = "---\nname: a\nmetadata:\n  one: {two: b}\n---\n"
    places = {path: text[offset:].partition(":")[0] for path, offset in read_front_matter(text).places.items()}
    assert places == {path: path[-1] for path in places}
    assert ("metadata", "one", "two") in places


@pytest.mark.parametrize("value", ["*a", "!!python/object:x {}", "[a, *b]\n  more", "- [a", "{a: [b}\n  c"])
def test_a_value_that_is_not_yaml_leaves_the_others_as_they_are(value: str) -> None:
    found = read_front_matter(f"---\nname: a\nodd: {value}\nos: linux\n---\n")
    assert (found.values["name"], found.values["os"]) == ("a", "linux")
    assert isinstance(found.values["odd"], str)
    assert [(remark.kind, remark.path) for remark in found.remarks] == [("rescued", ("odd",))]


def test_empty_lines_before_it_are_forgiven_and_remarked_upon() -> None:
    found = read_front_matter("\n \n---\nname: a\n---\nText")
    assert (found.values, found.body_offset) == ({"name": "a"}, 19)
    assert [remark.kind for remark in found.remarks] == ["odd"]
    assert split_front_matter("\n---\nname: a\n---\n").values == {}


@pytest.mark.parametrize(
    "text", ["---\rname: a\r---\rText\r", "---\rname: a\r---\r\nText\n", "\ufeff---\rname: a\r---\rText\r"]
)
def test_a_file_whose_lines_end_with_cr_alone_is_read(text: str) -> None:
    normal = normalize_skill_text(text)
    found = read_front_matter(normal)
    assert (found.values, normal[found.body_offset :], found.remarks) == ({"name": "a"}, "Text\n", ())


def test_a_cr_inside_of_a_file_with_other_line_ends_stays() -> None:
    assert normalize_skill_text("\ufeff---\r\nname: a\n---\na\rb\r\n") == "---\nname: a\n---\na\rb\n"


def test_size_and_depth_are_limited() -> None:
    deep = "[" * 4000 + "]" * 4000
    nested = "\n".join("  " * level + "a:" for level in range(80))
    bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"{two}: &{two} [{', '.join([f'*{one}'] * 9)}]\n" for one, two in pairwise("abcdefghi")
    )
    for source in (
        deep,
        f"x: {deep}",
        nested,
        bomb,
        "a: &a [*a]",
        "x: [" + "a\n  [" * 3000,
        "x: 'a\n" + "  b\n" * 5000,
        "x: 'a\n" + "b: 'c\n" * 2500,
        "- " * 8000,
        "a " + " " * 15000 + "b",
    ):
        with costs.at_most(400):
            for read in (split_front_matter, read_front_matter):
                json.dumps(read(f"---\nname: a\n{source}\n---\n").values)
    long = read_front_matter("---\nname: a\n" + "# " + "x" * 17_000 + "\n---\nbody")
    assert (long.values, long.faults[0].message) == ({}, "The front matter is over 16 KB")


PIECES = st.sampled_from(
    ["name: x\n", "description: y\n", "metadata:\n", "  a: b\n", "a: [", "]", "{", "}", "- ", ": ", "|\n", ">-\n", "a: ",  # noqa: E501
     "&a ", "*a", "!!int ", "!t ", "'", '"', "#", " #", "\t", "\n", "  ", "\0", "\u2028", "\x85", "é", "? ", "---", "...",  # noqa: E501
     "%", "\\", "="]
)  # fmt: skip


@given(st.lists(PIECES, max_size=25).map("".join))
def test_no_text_makes_a_reading_fail_and_all_places_are_inside(source: str) -> None:
    text = normalize_skill_text(f"---\n{source}\n---\nBody")
    strict, found = split_front_matter(text), read_front_matter(text)
    assert strict.body_offset == found.body_offset
    offsets = [*found.places.values(), *(each.offset for each in (*found.faults, *strict.faults))]
    offsets += [each.offset for each in found.remarks]
    assert all(0 <= offset <= len(text) for offset in offsets)
    if strict.values and not strict.faults:
        assert found.values == strict.values


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


def test_needed_servers_and_skills_of_a_front_matter_are_taken_where_all_are_names(tmp_path: Path) -> None:
    needs = "---\nname: notes\ndescription: Notes.\ndependencies:\n  mcp_servers: [github, github]\n  skills: {}\n"
    needs += "---\nText.\n"
    bundle = _skills(tmp_path, notes=needs.format("[pet_toys]")).load("notes")
    assert bundle.capability["dependencies"] == {"mcp_servers": ["github"], "skills": ["pet_toys"]}
    (tmp_path / "notes" / "SKILL.md").write_text(needs.format("[pdf-tools]"), encoding="utf-8")
    assert LocalSkills(tmp_path).load("notes").capability["dependencies"] == {"mcp_servers": ["github"]}


@pytest.mark.parametrize(
    ("written", "expected"), [("de", "de"), ("zh-Hans", "zh-Hans"), ("go", None), ("German", None)]
)
def test_language_of_a_front_matter_is_taken_where_it_is_a_tag(
    tmp_path: Path, written: str, expected: str | None
) -> None:
    text = f"---\nname: notes\ndescription: Notes.\nlanguage: {written}\n---\nText.\n"
    assert _skills(tmp_path, notes=text).load("notes").capability.get("language") == expected


def test_a_folder_gives_dependencies_and_so_what_is_missing(tmp_path: Path) -> None:
    bundle = _skills(tmp_path, excel=EXCEL).load("excel_analyzer")
    assert bundle.capability["dependencies"] == {"python": ["openpyxl", "pandas", "matplotlib"]}
    assert bundle.capability["os"] == ["common"]
    assert bundle.capability["skill_groups"] == ["data_analysis"]
    found = check_readiness(bundle, Environment.from_dict({"os": "linux", "python": ["pandas"]}))
    assert found.status == "NEED_SETUP"
    assert [missing.name for missing in found.missing] == ["openpyxl", "matplotlib"]


def test_a_skill_that_cannot_be_used_is_named_with_the_cause(tmp_path: Path) -> None:
    texts = {
        "a": "---\nname: a\ndescription: {b: c}\n---\n",
        "c": "---\nname: [c]\ndescription: b\n---\n",
        "e": "# Text\n",
        "f": "---\nname: f\n",
        "g": "---\nname: g\n---\n",
    }
    skills = _skills(tmp_path, **texts)
    assert skills.list().entries == ()
    assert [(one.folder, one.cause) for one in skills.unreadable] == [
        ("a", "SKILL.md cannot be used. The description is not text"),
        ("c", "SKILL.md cannot be used. The front matter has a name that is not text"),
        ("e", "The front matter of SKILL.md cannot be read. It has no front matter"),
        ("f", "The front matter of SKILL.md cannot be read. The front matter is never closed"),
        ("g", "SKILL.md cannot be used. The front matter has no description"),
    ]


def test_a_folder_reads_a_skill_as_the_registry_imports_it(tmp_path: Path) -> None:
    """One reader, one mapping: what is in the capability does not depend on the door."""
    wrapped = "name: x\ndescription: Use when: a\n  b: c\nversion: 2\nmetadata: {openclaw: {emoji: t, other: [1]}}\n"
    old = "---\rName: X Y\rdescription: y\rallowed_tools: [a]\r---\rText\r"
    for name, text in {
        "x": f"---\n{wrapped}---\nText",
        "y": old,
        "мой": "---\nname: мой\ndescription: y\n---\n",
    }.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "Skill.md").write_bytes(text.encode())
        imported = import_skill(SourceBundle("", {"Skill.md": text.encode()}, name)).files or {}
        expected = json.loads(imported["capability.json"])
        expected.get("metadata", {}).pop("front_matter", None)
        found = read_folder(tmp_path / name)
        more = {"name": found.capability["name"], "intent_triggers": found.capability["intent_triggers"]}
        assert found.capability == {key: value for key, value in (expected | more).items() if value}
        assert found.skill_doc == imported["skill.md"]
