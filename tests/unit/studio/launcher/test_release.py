"""`run.py release` on checkouts that may not be released: each fault is found by the check that is named for it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from studio.launcher import release as released
from studio.launcher.release import Candidate, Unready, list_commands, list_versions
from tests.git_https import commit, git
from tests.servers import ROOT

FILES = sorted({name.removeprefix("./") for name, _ in list_versions(ROOT)})


@pytest.fixture
def candidate(tmp_path: Path) -> Candidate:
    """A repository of the files that name a version, ready but for its locks."""
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    found = Candidate(tmp_path, Path("python"))
    (tmp_path / "CHANGELOG.md").write_text(f"# Changelog\n\n## {found.version} - 2026-11-30\n\n- All.\n", "utf-8")
    git(tmp_path, "init", "-q", "-b", "main")
    commit(tmp_path, {})
    return found


def _fault(check: object, candidate: Candidate) -> str:
    with pytest.raises(Unready) as caught:
        check(candidate)  # type: ignore[operator]
    return str(caught.value)


def test_a_checkout_that_is_ready_is_taken(candidate: Candidate) -> None:
    released.check_work_tree(candidate)
    released.check_versions(candidate)
    released.check_changelog(candidate)


@pytest.mark.parametrize("name", FILES)
def test_a_file_with_another_version_is_named(candidate: Candidate, name: str) -> None:
    path = candidate.root / name
    path.write_text(path.read_text("utf-8").replace(candidate.version, "9.9.9"), "utf-8")
    said = _fault(released.check_versions, candidate)
    assert "9.9.9" in said or name == "pyproject.toml"


def test_what_is_not_committed_is_not_released(candidate: Candidate) -> None:
    (candidate.root / "new.txt").write_text("x", "utf-8")
    assert "not committed" in _fault(released.check_work_tree, candidate)


def test_a_tag_that_is_there_is_not_set_again(candidate: Candidate) -> None:
    git(candidate.root, "tag", f"v{candidate.version}")
    assert "raise the version" in _fault(released.check_work_tree, candidate)


@pytest.mark.parametrize("first", ["## Unreleased", "## 9.9.9 - 2026-11-30", "## {version}", "Nothing."])
def test_the_changelog_begins_with_the_dated_version(candidate: Candidate, first: str) -> None:
    text = f"# Changelog\n\n{first.format(version=candidate.version)}\n"
    (candidate.root / "CHANGELOG.md").write_text(text, "utf-8")
    assert f"must be '{candidate.version} - " in _fault(released.check_changelog, candidate)


def test_the_commands_name_every_package_and_the_version() -> None:
    text = "\n".join(list_commands("1.2.3"))
    assert "git tag --sign v1.2.3" in text
    assert all(f"./{package}" in text for package in ("capability_kit", "capability_rules", "capability_client"))


def test_a_failed_program_says_what_it_printed(candidate: Candidate) -> None:
    assert "python -m failed" in _fault(
        released.check_documents, Candidate(candidate.root, Path(shutil.which("python3") or "python3"))
    ).replace("python3", "python")
