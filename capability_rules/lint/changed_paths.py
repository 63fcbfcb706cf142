"""Which files of a git checkout differ from a revision, found without running anything that the checkout brings.

Git reads objects and the index, and never a file's content: filters, textconv and external diffs have nothing to run.
"""

from __future__ import annotations

import hashlib
import os
import stat
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from capability_rules.errors import SourceUnreadable

_SECONDS_MAX: Final = 60
# The repository's own configuration starts no program, and no folder that only looks like a repository is one.
_GIT: Final = (
    *("git", "--no-optional-locks", "-c", "safe.bareRepository=explicit", "-c", "core.fsmonitor=false"),
    *("-c", "core.hooksPath=/dev/null", "-c", "submodule.recurse=false"),
)
# A partial clone fetches what it lacks by programs that its configuration names.
_NO_FETCH: Final = {"GIT_ALLOW_PROTOCOL": "none", "GIT_NO_LAZY_FETCH": "1"}
_HASHES: Final = {40: hashlib.sha1, 64: hashlib.sha256}


def list_changed_paths(folders: Iterable[Path], revision: str) -> set[Path]:
    """The absolute paths below the folders that differ from where this branch left `revision`.

    The repository is that of the working directory. What is gone, not committed or not known to git is among them, and
    as a folder each submodule and each repository inside. Raises `SourceUnreadable` where there is no git, no
    repository or no such revision, and for a folder outside of the repository.
    """
    here = Path.cwd()
    places = _run(here, {}, "rev-parse", "--absolute-git-dir", "--show-toplevel").splitlines()
    git_folder, root = places[0], Path(places[1]).resolve()
    if not here.is_relative_to(root):
        raise SourceUnreadable(f"the repository of {here} keeps its files elsewhere, in {root}")
    parts = [_inside(folder, root) for folder in folders]
    place = {"GIT_DIR": git_folder, "GIT_WORK_TREE": str(root)}
    commit = _run(root, place, "rev-parse", "--verify", "--end-of-options", f"{revision}^{{commit}}").strip()
    base = _run(root, place, "merge-base", commit, "HEAD").strip()
    before = dict(map(_entry, _names(_run(root, place, "ls-tree", "-r", "-z", "--full-tree", base))))
    now = set(_names(_run(root, place, "ls-files", "--cached", "--others", "--exclude-standard", "-z")))
    found = {root / name for name in {*before, *now}}
    chosen = [path for path in found if any(path.is_relative_to(part) or part.is_relative_to(path) for part in parts)]
    return {path for path in chosen if not _is_same(path, before.get(os.fspath(path.relative_to(root))))}


def _inside(folder: Path, root: Path) -> Path:
    if not folder.is_relative_to(root):
        raise SourceUnreadable(f"{folder} is not in the repository of the working directory, {root}")
    return folder


def _names(printed: str) -> list[str]:
    return [name for name in printed.split("\0") if name]


def _entry(line: str) -> tuple[str, tuple[str, str]]:
    """The name, and the mode and the id, of a line of `ls-tree`."""
    about, _, name = line.partition("\t")
    mode, _kind, identity = about.split(" ")
    return name, (mode, identity)


def _is_same(path: Path, entry: tuple[str, str] | None) -> bool:
    """Whether the file has the bytes of the object, with LF or CRLF; never of a submodule."""
    if entry is None:
        return False
    mode, identity = entry
    try:
        found = path.lstat().st_mode
        if stat.S_ISLNK(found):
            return mode == "120000" and _blob_id(os.fsencode(path.readlink()), identity) == identity
        if not stat.S_ISREG(found) or not mode.startswith("100"):
            return False
        content = path.read_bytes()
    except OSError:
        return False
    return identity in {_blob_id(content, identity), _blob_id(content.replace(b"\r\n", b"\n"), identity)}


def _blob_id(content: bytes, like: str) -> str:
    return _HASHES[len(like)](b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def _run(folder: Path, place: Mapping[str, str], *arguments: str) -> str:
    environment = {**os.environ, **_NO_FETCH, **place}
    try:
        done = subprocess.run(
            [*_GIT, *arguments], cwd=folder, env=environment, capture_output=True, check=False, timeout=_SECONDS_MAX
        )
    except FileNotFoundError:
        raise SourceUnreadable("git is needed to find what has changed, and is not installed") from None
    except subprocess.TimeoutExpired:
        raise SourceUnreadable(f"git {arguments[0]} took longer than {_SECONDS_MAX} seconds") from None
    if done.returncode != 0:
        reason = done.stderr.decode("utf-8", "replace").strip() or "it found nothing"
        hint = "; fetch the whole history (fetch-depth: 0)" if arguments[0] == "merge-base" else ""
        raise SourceUnreadable(f"git {arguments[0]} in {folder}: {reason}{hint}")
    return done.stdout.decode("utf-8", "surrogateescape")
