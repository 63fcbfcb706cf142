#!/usr/bin/env python3
"""Pin images and actions by digest: `python3 deploy/pin.py [--check]`.

Rewrites `FROM`, `image:` and `container:` with the digest that the registry has for their tag today, and `uses:` with
the commit of the action's tag. Tags stay in a comment beside commits, and in the name beside digests. Needs `skopeo`
for images, `git` for actions, and the network. `--check` asks nobody: it names what is not pinned, with exit code 1.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILES = ("Dockerfile", "docker-compose.yml", "deploy/grafana/compose.yml", ".github/workflows/*.yml")
_IMAGE = re.compile(r"^(\s*(?:FROM|image:|container:)\s+)([a-z0-9./_-]+:[\w.-]+)(?=\s|$)", re.MULTILINE)
_ACTION = re.compile(r"^(\s*-?\s*uses:\s+)([\w.-]+/[\w./-]+)@([\w.-]+)(?: *#.*)?$", re.MULTILINE)
_COMMIT = re.compile(r"[0-9a-f]{40}")


def find_unpinned(text: str) -> Iterator[str]:
    """Images and actions of a file that are named by a tag."""
    for _, image in _IMAGE.findall(text):
        yield image
    for _, action, ref in _ACTION.findall(text):
        if not _COMMIT.fullmatch(ref):
            yield f"{action}@{ref}"


def pin(text: str) -> str:
    """The same file with digests and commits. Raises RuntimeError where one cannot be found."""
    text = _IMAGE.sub(lambda found: f"{found[1]}{found[2]}@{image_digest(found[2])}", text)

    def pinned(found: re.Match[str]) -> str:
        if _COMMIT.fullmatch(found[3]):
            return found[0]
        return f"{found[1]}{found[2]}@{action_commit(found[2], found[3])} # {found[3]}"

    return _ACTION.sub(pinned, text)


def image_digest(image: str) -> str:
    """`sha256:...` of the manifest list behind a tag."""
    return _output("skopeo", "inspect", "--format", "{{.Digest}}", f"docker://{image}")


def action_commit(action: str, ref: str) -> str:
    """The commit behind a tag of an action's repository."""
    repository = "/".join(action.split("/")[:2])
    lines = _output("git", "ls-remote", f"https://github.com/{repository}", f"refs/tags/{ref}", f"refs/tags/{ref}^{{}}")
    if not lines:
        raise RuntimeError(f"{repository} has no tag {ref}")
    # An annotated tag has the commit on its second line.
    return lines.splitlines()[-1].split()[0]


def _output(program: str, *arguments: str) -> str:
    if shutil.which(program) is None:
        raise RuntimeError(f"{program} is not installed")
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False, timeout=120)
    if done.returncode != 0:
        raise RuntimeError(f"{program} {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout.strip()


def main(arguments: list[str]) -> int:
    """0 done; 1 where something is not pinned or cannot be."""
    paths = [path for pattern in FILES for path in sorted(ROOT.glob(pattern))]
    if arguments == ["--check"]:
        found = [f"{path.relative_to(ROOT)}: {one}" for path in paths for one in find_unpinned(path.read_text("utf-8"))]
        print("\n".join(found) or "Everything is pinned.")
        return 1 if found else 0
    if arguments:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        pinned = {path: pin(path.read_text("utf-8")) for path in paths}
    except RuntimeError as error:
        print(f"Nothing was changed: {error}", file=sys.stderr)
        return 1
    for path, text in pinned.items():
        path.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
