"""Which files of a git checkout differ from a revision."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Final

from capability_rules.errors import SourceUnreadable

_SECONDS_MAX: Final = 60
# Nothing of the repository's own configuration may start a program.
_GIT: Final = ("git", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "--no-optional-locks")


def list_changed_paths(folder: Path, revision: str) -> list[Path]:
    """The absolute paths that differ from where this branch left `revision`, with what git does not know yet.

    What is gone is among them. Raises `SourceUnreadable` where there is no git, no repository or no such revision.
    """
    root = Path(_run(folder, "rev-parse", "--show-toplevel").rstrip("\n"))
    commit = _run(root, "rev-parse", "--verify", "--end-of-options", f"{revision}^{{commit}}").strip()
    base = _run(root, "merge-base", commit, "HEAD").strip()
    changed = _run(root, "diff", "--name-only", "--no-renames", "--no-ext-diff", "-z", base, "--")
    new = _run(root, "ls-files", "--others", "--exclude-standard", "-z")
    return [root / name for name in (changed + new).split("\0") if name]


def _run(folder: Path, *arguments: str) -> str:
    command = [*_GIT, "-C", str(folder), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, check=False, timeout=_SECONDS_MAX)
    except FileNotFoundError:
        raise SourceUnreadable("git is needed to find what has changed, and is not installed") from None
    except subprocess.TimeoutExpired:
        raise SourceUnreadable(f"git {arguments[0]} took longer than {_SECONDS_MAX} seconds") from None
    if done.returncode != 0:
        reason = done.stderr.decode("utf-8", "replace").strip() or "it found nothing"
        hint = "; fetch the whole history (fetch-depth: 0)" if arguments[0] == "merge-base" else ""
        raise SourceUnreadable(f"git {arguments[0]} in {folder}: {reason}{hint}")
    return done.stdout.decode("utf-8", "surrogateescape")
