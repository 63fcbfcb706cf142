"""A folder of skills as a source: looked at for each question, parsed again where a file has changed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from capability_client import LocalSkills, Session, SessionOptions
from capability_client.client import local_registry
from capability_client.tests.test_session import ALL


def _write(folder: Path, name: str, text: str = "Do it.", *, age: float = 60.0) -> Path:
    path = folder / name / "SKILL.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"---\nname: {name}\ndescription: About {name}.\n---\n\n{text}\n", "utf-8")
    modified = path.stat().st_mtime - age
    os.utime(path, (modified, modified))
    return path


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The folders that were parsed."""
    found: list[str] = []
    real = local_registry.read_folder

    def read_folder(folder: Path) -> Any:
        found.append(folder.name)
        return real(folder)

    monkeypatch.setattr(local_registry, "read_folder", read_folder)
    return found


def test_a_folder_that_did_not_change_is_parsed_once(tmp_path: Path, parsed: list[str]) -> None:
    _write(tmp_path, "alpha")
    source = LocalSkills(tmp_path)
    assert source.list() == source.list()
    assert source.load("alpha").capability_id == "alpha"
    assert parsed == ["alpha"]


def test_what_changes_came_or_went_is_seen_at_once(tmp_path: Path, parsed: list[str]) -> None:
    path = _write(tmp_path, "alpha")
    source = LocalSkills(tmp_path)
    assert "Do it." in source.load("alpha").skill_doc
    _write(tmp_path, "alpha", "Do other things.")
    assert "Do other things." in source.load("alpha").skill_doc
    _write(tmp_path, "beta")
    assert [one.capability_id for one in source.list()] == ["alpha", "beta"]
    path.unlink()
    assert [one.capability_id for one in source.list()] == ["beta"]
    assert [one.folder for one in source.unreadable] == ["alpha"]


def test_a_file_that_changed_just_now_is_not_taken_as_settled(tmp_path: Path, parsed: list[str]) -> None:
    _write(tmp_path, "alpha", age=-60.0)
    source = LocalSkills(tmp_path)
    source.list()
    source.list()
    assert parsed == ["alpha", "alpha"]


def test_a_skill_that_was_uninstalled_stops_in_the_next_turn(tmp_path: Path, parsed: list[str]) -> None:
    _write(tmp_path, "alpha")
    _write(tmp_path, "beta")
    source = LocalSkills(tmp_path)
    session = Session(source, environment=ALL, options=SessionOptions(ttl_turns=99))
    session.load("alpha")
    session.load("beta")
    for _ in range(5):
        session.turn("hello")
    assert sorted(parsed) == ["alpha", "beta"], "a turn costs no parsing"
    source.uninstall("alpha")
    session.turn("hello")
    assert [each.capability_id for each in session.active] == ["beta"]
    assert "- alpha: it was taken out of use" in session.prompt().prompt
