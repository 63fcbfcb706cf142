"""What docker-compose.yml, the Dockerfile and .dockerignore say, read as Docker reads them."""

from __future__ import annotations

import fnmatch
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.servers import ROOT

COMPOSE = ROOT / "docker-compose.yml"
_VARIABLE = re.compile(r"\$\$|\$\{(?P<name>\w+)(?::(?P<kind>[-?])(?P<text>[^}]*))?\}")


def compose_file() -> dict[str, Any]:
    """As it is written, anchors and merges resolved."""
    document: dict[str, Any] = yaml.safe_load(COMPOSE.read_text("utf-8"))
    return document


def variables() -> dict[str, str | None]:
    """Each variable of docker-compose.yml with its default; None where it is required."""
    found: dict[str, str | None] = {}
    # A comment mentions none.
    for match in _VARIABLE.finditer(COMPOSE.read_text("utf-8")):
        if match["name"]:
            found[match["name"]] = match["text"] if match["kind"] == "-" else None
    return found


def interpolated(value: Any, env: Mapping[str, str]) -> Any:
    """`value` with its variables filled in. Raises KeyError where a required one is missing."""
    if isinstance(value, str):
        return _VARIABLE.sub(lambda match: _filled(match, env), value)
    if isinstance(value, list):
        return [interpolated(item, env) for item in value]
    if isinstance(value, dict):
        return {key: interpolated(item, env) for key, item in value.items()}
    return value


def _filled(match: re.Match[str], env: Mapping[str, str]) -> str:
    if match["name"] is None:
        return "$"
    if match["kind"] == "-":
        return env.get(match["name"]) or match["text"]
    return env[match["name"]]


@dataclass(frozen=True)
class Instruction:
    """One line of a Dockerfile, continued lines joined."""

    name: str
    text: str

    @property
    def words(self) -> list[str]:
        """The exec form's list, or the words as a shell takes them."""
        if self.text.startswith("["):
            exec_form: list[str] = yaml.safe_load(self.text)
            return exec_form
        return shlex.split(self.text)


def dockerfile() -> list[Instruction]:
    text = "\n".join(line for line in (ROOT / "Dockerfile").read_text("utf-8").splitlines() if line[:1] != "#")
    lines = re.sub(r"\\\n\s*", "", text).splitlines()
    return [Instruction(*line.strip().split(" ", 1)) for line in lines if line.strip()]


def last(name: str) -> Instruction:
    """The one that holds in the image."""
    return [instruction for instruction in dockerfile() if instruction.name == name][-1]


def image_environment() -> dict[str, str]:
    """ENV of the last stage."""
    words = [word.partition("=") for word in last("ENV").words]
    return {name: value for name, _, value in words}


def build_context() -> Iterator[str]:
    """Every file of a clone that .dockerignore lets through."""
    # What is not committed yet counts too, so that a test may fail before the commit.
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    names = set(listed.stdout.split("\0")) if listed.returncode == 0 else _files_of_a_download()
    yield from sorted(name for name in names if name and (ROOT / name).is_file() and not is_ignored(name))


def _files_of_a_download() -> set[str]:
    return {path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*") if path.is_file()}


def is_ignored(name: str) -> bool:
    """Whether .dockerignore leaves it out: it, or a folder above it. (There is no `!` among its lines.)"""
    lines = [line for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines() if line and line[0] != "#"]
    parts = name.split("/")
    heads = ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]
    return any(_matches(head, line) for head in heads for line in lines)


def _matches(name: str, pattern: str) -> bool:
    if pattern.startswith("**/"):
        return fnmatch.fnmatch(name.rpartition("/")[2], pattern[3:])
    return name.count("/") == pattern.count("/") and fnmatch.fnmatch(name, pattern)


def copy_build_context(target: Path) -> None:
    for name in build_context():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, target / name)
