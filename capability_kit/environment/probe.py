"""What is installed on the computer that the agent works on: probed, or given by hand.

Only names are checked. The value of an environment variable is never read, and nothing is imported or started.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import re
import shutil
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, Self

Kind = Literal["bins", "python", "apps", "env", "permissions", "mcp_servers", "skills"]
KINDS: Final[tuple[Kind, ...]] = ("bins", "python", "apps", "env", "permissions", "mcp_servers", "skills")
# What only the host program knows: where it does not say, nothing is missing.
TOLD_KINDS: Final[tuple[Kind, ...]] = ("mcp_servers", "skills")
SYSTEMS: Final = ("darwin", "win32", "linux")
# A name, not a path: a bundle must not find out which files there are.
_NAME: Final = re.compile(r"[^/\\\x00-\x1f]{1,200}")
_DISTRIBUTION: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,100})")


@dataclass
class Environment:
    """An environment given by hand: `os` is darwin, win32 or linux, and each set contains the available names. None for
    `mcp_servers` and `skills` is not known: nothing of them is missing then."""

    os: str = "linux"
    bins: frozenset[str] = frozenset()
    python: frozenset[str] = frozenset()
    apps: frozenset[str] = frozenset()
    env: frozenset[str] = frozenset()
    permissions: frozenset[str] = frozenset()
    mcp_servers: frozenset[str] | None = None
    skills: frozenset[str] | None = None

    @classmethod
    def from_dict(cls, values: Mapping[str, object]) -> Self:
        """Read `{"os": "linux", "bins": [...], "python": [...], ...}`; what is left out is empty, `mcp_servers` and
        `skills` that are left out are not known.

        Raises `ValueError` for anything else, with the fix in the message.
        """
        if not isinstance(values, Mapping):
            raise ValueError('environment must be an object such as {"os": "linux", "bins": ["ffmpeg"]}')  # noqa: TRY004
        unknown = sorted(set(map(str, values)) - {"os", *KINDS})
        if unknown:
            raise ValueError(f"environment has no '{unknown[0][:40]}'; it has os, {', '.join(KINDS)}")
        system = values.get("os", "linux")
        if system not in SYSTEMS:
            raise ValueError(f"environment.os must be one of {', '.join(SYSTEMS)}")
        given = [kind for kind in KINDS if kind not in TOLD_KINDS or kind in values]
        return cls(os=system, **{kind: _names(values.get(kind, []), kind) for kind in given})

    @staticmethod
    def probe(permissions: Iterable[str] = (), *, mcp_servers: Iterable[str] | None = None) -> ProbedEnvironment:
        """This computer. Permissions cannot be probed from Python, nor can MCP servers: the host program says which it
        was given, and which it is connected to."""
        servers = None if mcp_servers is None else frozenset(mcp_servers)
        return ProbedEnvironment(os=this_system(), permissions=frozenset(permissions), mcp_servers=servers)

    def has(self, kind: Kind, name: str) -> bool:
        """Whether it is there, or not known to be missing."""
        found: frozenset[str] | None = getattr(self, kind)
        return found is None or name in found

    def refresh(self) -> None:
        """Probe again; does nothing for an environment given by hand."""


@dataclass
class ProbedEnvironment(Environment):
    """This computer, each name looked up once until `refresh()`."""

    _known: dict[tuple[Kind, str], bool] = field(default_factory=dict, repr=False)

    def has(self, kind: Kind, name: str) -> bool:
        """Whether it is there, as last seen."""
        if kind == "permissions" or kind in TOLD_KINDS:
            return super().has(kind, name)
        if (kind, name) not in self._known:
            self._known[kind, name] = _NAME.fullmatch(name) is not None and _look(kind, name, self.os)
        return self._known[kind, name]

    def refresh(self) -> None:
        """Forget what was seen: something was installed since."""
        self._known.clear()
        importlib.invalidate_caches()


def this_system() -> str:
    """darwin, win32 or linux; another Unix counts as linux."""
    return sys.platform if sys.platform in ("darwin", "win32") else "linux"


def _names(value: Any, kind: str) -> frozenset[str]:
    is_list = isinstance(value, list | tuple | set | frozenset)
    if not is_list or not all(isinstance(name, str) and len(name) <= 200 for name in value) or len(value) > 1000:
        raise ValueError(f"environment.{kind} must be a list of at most 1000 names")
    return frozenset(value)


def _look(kind: Kind, name: str, system: str) -> bool:
    if kind == "bins":
        return shutil.which(name) is not None
    if kind == "python":
        return _has_package(name)
    return name in os.environ if kind == "env" else _has_app(name, system)


def _has_package(name: str) -> bool:
    """By the name that pip knows, or by the name that is imported; nothing is imported."""
    if not _DISTRIBUTION.fullmatch(name):
        return False
    with suppress(importlib.metadata.PackageNotFoundError, ValueError):
        importlib.metadata.distribution(name)
        return True
    module = name.replace("-", "_")
    if not module.isidentifier():
        return False
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False


def _has_app(name: str, system: str) -> bool:
    if system == "darwin":
        folders = [Path("/Applications"), Path("/System/Applications"), Path.home() / "Applications"]
        return any((folder / f"{name}.app").is_dir() for folder in folders)
    if system == "win32":
        return _has_windows_app(name)
    return shutil.which(name.lower().replace(" ", "-")) is not None or name.casefold() in _desktop_entries()


def _has_windows_app(name: str) -> bool:
    roots = [os.environ.get(each) for each in ("ProgramFiles", "ProgramFiles(x86)", "LOCALAPPDATA")]
    folders = [Path(root) / part for root in roots if root for part in (name, f"Programs/{name}")]
    menus = [Path(root) / "Microsoft/Windows/Start Menu/Programs" for root in _menu_roots()]
    return any(folder.is_dir() for folder in folders) or any(
        menu.is_dir() and any(link.stem.casefold() == name.casefold() for link in menu.rglob("*.lnk")) for menu in menus
    )


def _menu_roots() -> list[str]:
    return [root for root in map(os.environ.get, ("ProgramData", "APPDATA")) if root]


def _desktop_entries() -> set[str]:
    """The names of the entries in a Linux desktop's menus, case-folded."""
    shares = [Path.home() / ".local/share", Path("/usr/share"), Path("/usr/local/share")]
    shares += [Path("/var/lib/flatpak/exports/share"), Path("/var/lib/snapd/desktop")]
    found: set[str] = set()
    for share in shares:
        with suppress(OSError):
            for file in (share / "applications").glob("*.desktop"):
                found.add(file.stem.casefold())
                found.update(_display_name(file))
    return found


def _display_name(file: Path) -> set[str]:
    with suppress(OSError):
        for line in file.read_text("utf-8", errors="replace")[:20_000].splitlines():
            if line.startswith("Name="):
                return {line.removeprefix("Name=").strip().casefold()}
    return set()
