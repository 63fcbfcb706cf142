"""Texts of a skill outside of references/, scripts/ and assets/: all of them come in, and go out as they came."""

from __future__ import annotations

import json
from typing import Any

import pytest

from capability_rules.agent_skills.exporter import export_skill_files
from capability_rules.agent_skills.importer import ImportedSkill, import_skill
from capability_rules.bundles.bundle import SkillBundle
from capability_rules.bundles.bundle_reader import SourceBundle
from capability_rules.bundles.supporting_files import COUNT_MAX, paths_named_in
from capability_rules.discovery.bundle_discovery import discover_in_files
from capability_rules.validation import BUNDLE_FILES, validate_bundle
from tests.bundle_files import Files, bundle

MIB = 1024 * 1024
SKILL = "---\nname: pdf-tools\ndescription: Work with PDF files.\n---\n\n# PDF\n\nFor forms see forms.md.\n"
BESIDE = {
    "LICENSE.txt": "MIT\n",
    "forms.md": "# Forms\n",
    "references/api.md": "# API\n",
    "templates/deep/a.md": "# A\n",
    "README": "Read me.\n",
}


def _take(files: dict[str, Any]) -> ImportedSkill:
    return import_skill(SourceBundle("path", files, ""))


def _mark(taken: ImportedSkill) -> tuple[str, ...]:
    assert taken.files is not None
    return paths_named_in(taken.files["capability.json"])


def _bundle(files: Any) -> SkillBundle:
    report = validate_bundle(files)
    assert report.bundle is not None
    assert report.ok, report.errors
    return report.bundle


def _beside(taken: ImportedSkill) -> list[str]:
    return sorted(set(taken.files or {}) - {*BUNDLE_FILES})


def test_all_texts_come_in_and_are_named() -> None:
    taken = _take({"SKILL.md": SKILL, **BESIDE})
    assert taken.findings == ()
    assert _mark(taken) == ("LICENSE.txt", "README", "forms.md", "templates/deep/a.md")
    found = _bundle(taken.files)
    assert found.supporting_files == dict(sorted(BESIDE.items()))
    assert validate_bundle(taken.files or {}).findings == ()


def test_a_skill_without_any_is_what_it_was() -> None:
    taken = _take({"SKILL.md": SKILL, "references/api.md": "x"})
    assert "metadata" not in json.loads((taken.files or {})["capability.json"])


def test_they_go_out_as_they_came_and_the_mark_stays_here() -> None:
    files = {"SKILL.md": SKILL, **BESIDE}
    given = _bundle(_take(files).files)
    out = export_skill_files(given)
    assert set(out) == set(files)
    assert {name: out[name] for name in BESIDE} == BESIDE
    assert "supporting_files" not in out["SKILL.md"]
    assert _bundle(_take(dict(out)).files).content_digest == given.content_digest
    assert export_skill_files(_bundle(_take(dict(out)).files)) == out


def test_other_metadata_goes_out_beside_it() -> None:
    text = SKILL.replace("---\n\n", "metadata:\n  owner: me\n---\n\n", 1)
    given = _bundle(_take({"SKILL.md": text, "forms.md": "x"}).files)
    out = export_skill_files(given)
    assert "owner: " in out["SKILL.md"]
    assert "supporting_files" not in out["SKILL.md"]
    assert list(out) == ["SKILL.md", "forms.md"]
    assert _bundle(_take(dict(out)).files).content_digest == given.content_digest


@pytest.mark.parametrize("names", [["forms.md", "LICENSE.txt"], ["LICENSE.txt", "forms.md", "gone.md"]])
def test_an_authors_own_mark_comes_back_to_the_letter(names: list[str]) -> None:
    files = bundle(metadata={"supporting_files": "\n".join(names)}) | {"forms.md": "x", "LICENSE.txt": "y"}
    given = _bundle(files)
    out = export_skill_files(given)
    assert "references/capability.json" in out
    again = _take(dict(out))
    assert again.findings == ()
    assert again.files == files


def test_a_file_that_somebody_put_beside_an_export_comes_along() -> None:
    files = bundle(license="MIT", utterances={"should_match": ["a b"]}) | {"references/a.md": "x"}
    out = export_skill_files(_bundle(files))
    again = _take({**out, "notes.md": "New."})
    assert _mark(again) == ("notes.md",)
    assert _bundle(again.files).capability == _bundle(files).capability | {"metadata": {"supporting_files": "notes.md"}}


def test_a_key_of_that_name_in_a_skill_md_means_something_else() -> None:
    text = SKILL.replace("---\n\n", "metadata:\n  supporting_files: /etc/passwd\n---\n\n", 1)
    taken = _take({"SKILL.md": text, "forms.md": "x"})
    assert [finding.code for finding in taken.findings] == ["IMPORT_KEY_MOVED"]
    metadata = json.loads((taken.files or {})["capability.json"])["metadata"]
    assert metadata == {
        "front_matter_supporting_files": "/etc/passwd",
        "front_matter": "metadata:\n  supporting_files: /etc/passwd\n",
        "supporting_files": "forms.md",
    }
    given = _bundle(taken.files)
    assert _bundle(_take(dict(export_skill_files(given))).files).content_digest == given.content_digest
    top = _take({"SKILL.md": SKILL.replace("---\n\n", "supporting_files: x.md\n---\n\n", 1)})
    assert json.loads((top.files or {})["capability.json"])["metadata"] == {
        "front_matter_supporting_files": "x.md",
        "front_matter": "supporting_files: x.md\n",
    }


ODD = ["../secret.md", "/etc/passwd", ".env", ".claude/settings.json", "tools.json", "Tools.json", "a:b.md",
       "sub/SKILL.md", "node_modules/x.js", "x" * 201]  # fmt: skip


@pytest.mark.parametrize("name", ODD)
def test_what_no_bundle_takes_is_left_out_and_named(name: str) -> None:
    taken = _take({"SKILL.md": SKILL, "forms.md": "x", name: "y"})
    (finding,) = taken.findings
    assert finding.code == "IMPORT_FILE_LEFT_OUT"
    assert name[:100] in finding.message
    assert _beside(taken) == ["forms.md"]
    assert validate_bundle(taken.files or {}).findings == ()


def test_pictures_and_names_that_are_one_elsewhere_are_left_out() -> None:
    files: dict[str, Any] = {"SKILL.md": SKILL, "logo.png": b"\x89PNG\xff", "Notes.md": "a", "notes.md": "b", "a": "c"}
    taken = _take(files)
    assert _beside(taken) == ["a"]
    same = "Notes.md (on some systems it is the same file as notes.md), logo.png, notes.md (on some systems"
    assert f"3 files beside SKILL.md are left out: {same}" in taken.findings[0].message


def test_more_texts_than_a_bundle_may_have_are_refused_and_none_is_left_out() -> None:
    many = {f"a{number:03}.md": "x" for number in range(COUNT_MAX)} | {"scripts/z.py": "x", "references/z.md": "x"}
    taken = _take({"SKILL.md": SKILL, **many})
    assert len(_beside(taken)) == COUNT_MAX + 1
    assert {"scripts/z.py", "references/z.md"} < set(_beside(taken))
    # Nothing is published without those whose names are last.
    assert [one.code for one in validate_bundle(taken.files or {}).errors] == ["FILES_TOO_MANY"]
    (found,) = discover_in_files({"SKILL.md": SKILL.encode(), **{k: v.encode() for k, v in many.items()}}, "x.zip")
    assert import_skill(found).files == taken.files


@pytest.mark.slow
def test_the_mark_takes_its_room_too() -> None:
    """A bundle that is full to the last byte, the names included, is taken and comes back."""
    names = [f"templates/{number:02}-{'n' * 150}.md" for number in range(20)]
    for spare in (-8, 0, 8):
        four = _take({"SKILL.md": SKILL, **dict.fromkeys(names, "x")}).files or {}
        room = 2 * MIB - sum(len(str(text).encode()) for text in four.values()) + spare
        texts = dict.fromkeys(names, "x") | {names[0]: "x" * MIB, names[1]: "x" * (room - MIB + 2)}
        taken = _take({"SKILL.md": SKILL, **texts})
        report = validate_bundle(taken.files or {})
        assert report.ok, (spare, [finding.message for finding in report.errors])
        assert (len(_beside(taken)) == len(names)) is (spare < 0)
        given = _bundle(taken.files)
        assert _bundle(_take(dict(export_skill_files(given))).files).content_digest == given.content_digest


@pytest.mark.slow
def test_a_full_bundle_of_ours_comes_back_whole() -> None:
    names = [f"{number:03}.md" for number in range(COUNT_MAX)]
    files: Files = bundle(metadata={"supporting_files": "\n".join(reversed(names))}) | dict.fromkeys(names, "x")
    left = 2 * MIB - sum(len(text.encode()) for text in files.values())
    files |= {"000.md": "x" * MIB, "001.md": "x" * (left - MIB + 2)}
    given = _bundle(files)
    again = _take(dict(export_skill_files(given)))
    assert again.findings == ()
    assert _bundle(again.files).content_digest == given.content_digest
