"""What has changed in a checkout that a stranger wrote: every change is found, and nothing of theirs is run."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from capability_rules.errors import SourceUnreadable
from capability_rules.lint.changed_paths import list_changed_paths
from tests.git_https import commit, git


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory: a repository with two files in `bundles/`, unchanged since `main`."""
    return _repository(tmp_path / "repository", monkeypatch)


def _repository(folder: Path, monkeypatch: pytest.MonkeyPatch, *options: str) -> Path:
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main", *options)
    commit(folder, {"bundles/a/one.md": "One.\n", "bundles/a/two.md": "Two.\n"})
    git(folder, "checkout", "-q", "-b", "change")
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A program that leaves `tmp_path/ran` behind."""
    path = tmp_path / "program"
    path.write_text(f'#!/bin/sh\ntouch "{tmp_path}/ran"\ncat\n', "utf-8")
    path.chmod(0o755)
    return path


def _touch(checkout: Path) -> None:
    """Make git look at the content of a file, which has not changed, again."""
    os.utime(checkout / "bundles/a/one.md", (1, 1))


def _changed(folder: Path, root: Path) -> list[str]:
    return sorted(str(path.relative_to(root)) for path in list_changed_paths([folder], "main"))


def _attributes(checkout: Path, line: str) -> None:
    (checkout / "bundles/.gitattributes").write_text(f"*.md {line}\n", "utf-8")


def _clean_filter(checkout: Path, program: Path) -> None:
    _attributes(checkout, "filter=x")
    git(checkout, "config", "filter.x.clean", str(program))


def _process_filter(checkout: Path, program: Path) -> None:
    _attributes(checkout, "filter=x")
    git(checkout, "config", "filter.x.process", str(program))


def _textconv(checkout: Path, program: Path) -> None:
    _attributes(checkout, "diff=x")
    git(checkout, "config", "diff.x.textconv", str(program))
    git(checkout, "config", "diff.x.command", str(program))


def _fsmonitor(checkout: Path, program: Path) -> None:
    git(checkout, "config", "core.fsmonitor", str(program))


@pytest.mark.parametrize("prepare", [_clean_filter, _process_filter, _textconv, _fsmonitor])
def test_no_program_that_the_configuration_names_is_run(
    checkout: Path, program: Path, prepare: Callable[[Path, Path], None]
) -> None:
    prepare(checkout, program)
    _touch(checkout)
    assert set(_changed(checkout, checkout)) <= {"bundles/.gitattributes"}
    (checkout / "bundles/a/one.md").write_text("Other.\n", "utf-8")
    assert "bundles/a/one.md" in _changed(checkout, checkout)
    assert not (program.parent / "ran").exists()


def _embed(checkout: Path, program: Path, git_folder: str) -> Path:
    """A folder that is a repository of its own, with a filter, as a pull request or an archive brings it."""
    inner = checkout / "bundles" / "b"
    inner.mkdir()
    git(inner, "init", "-q", "-b", "main")
    commit(inner, {"skill.md": "Skill.\n", ".gitattributes": "* filter=x\n"})
    git(inner, "config", "filter.x.clean", str(program))
    git(inner, "config", "core.worktree", str(inner))
    os.utime(inner / "skill.md", (1, 1))
    if git_folder != ".git":
        for part in (inner / ".git").iterdir():
            shutil.move(part, inner / part.name)
        (inner / ".git").rmdir()
        git(checkout, "add", "-A")
        git(checkout, "commit", "-q", "-m", "change")
    return inner


def test_a_bare_repository_that_a_change_brings_is_files_and_runs_nothing(checkout: Path, program: Path) -> None:
    inner = _embed(checkout, program, ".")
    names = _changed(inner, checkout)
    assert {"bundles/b/skill.md", "bundles/b/HEAD", "bundles/b/config"} <= set(names)
    assert not (program.parent / "ran").exists()


def test_a_repository_inside_has_changed_as_a_whole_and_runs_nothing(checkout: Path, program: Path) -> None:
    inner = _embed(checkout, program, ".git")
    assert _changed(inner, checkout) == ["bundles/b"]
    assert not (program.parent / "ran").exists()


def test_a_bare_repository_as_the_working_directory_is_refused(
    checkout: Path, program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = _embed(checkout, program, ".")
    monkeypatch.chdir(inner)
    with pytest.raises(SourceUnreadable, match=r"safe\.bareRepository"):
        list_changed_paths([inner], "main")
    assert not (program.parent / "ran").exists()


def test_a_submodule_has_changed_as_a_whole_and_runs_nothing(
    checkout: Path, program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = _repository(tmp_path / "other", monkeypatch)
    monkeypatch.chdir(checkout)
    git(checkout, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other), "bundles/s")
    git(checkout, "commit", "-q", "-m", "submodule")
    git(checkout, "branch", "-f", "main")
    inner = checkout / "bundles/s"
    _clean_filter(inner, program)
    _touch(inner)
    assert _changed(inner, checkout) == ["bundles/s"]
    assert not (program.parent / "ran").exists()


def test_a_repository_whose_files_are_elsewhere_is_refused(checkout: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    git(checkout, "config", "core.worktree", str(tmp_path / "elsewhere"))
    with pytest.raises(SourceUnreadable, match="elsewhere"):
        list_changed_paths([checkout], "main")


def test_a_folder_outside_of_the_repository_is_refused(checkout: Path, tmp_path: Path) -> None:
    with pytest.raises(SourceUnreadable, match="not in the repository of the working directory"):
        list_changed_paths([tmp_path], "main")


def test_line_ends_of_the_system_and_links_are_no_change(checkout: Path) -> None:
    (checkout / "bundles/a/link.md").symlink_to("one.md")
    commit(checkout, {})
    git(checkout, "branch", "-f", "main")
    (checkout / "bundles/a/one.md").write_bytes(b"One.\r\n")
    assert _changed(checkout, checkout) == []
    (checkout / "bundles/a/link.md").unlink()
    (checkout / "bundles/a/link.md").symlink_to("two.md")
    assert _changed(checkout, checkout) == ["bundles/a/link.md"]


def test_ids_of_sha_256_are_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = _repository(tmp_path / "repository", monkeypatch, "--object-format=sha256")
    assert _changed(folder, folder) == []
    (folder / "bundles/a/two.md").write_text("Other.\n", "utf-8")
    assert _changed(folder, folder) == ["bundles/a/two.md"]
