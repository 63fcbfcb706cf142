"""Can a capability work here, and if not, what is missing and how is that fixed? (docs/requirements.md C)"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from capability_kit.bundles.bundle import Bundle, ListingEntry
from capability_kit.environment.probe import KINDS, Environment, Kind
from capability_kit.text.sanitize import one_line

Status = Literal["READY", "NEED_SETUP", "NEED_AUTH", "UNAVAILABLE"]
_SETUP: Final = frozenset({"bins", "python", "apps", "mcp_servers", "skills"})
_SYSTEM_NAMES: Final = {"darwin": "macOS", "win32": "Windows", "linux": "Linux"}
_WHAT: Final[dict[Kind, str]] = {
    "bins": "program",
    "python": "Python package",
    "apps": "app",
    "env": "environment variable",
    "permissions": "permission",
    "mcp_servers": "MCP server",
    "skills": "skill",
}
_FIXES: Final[dict[Kind, str]] = {
    "bins": "install {name} so that it is found on the search path ({installer})",
    "python": "python -m pip install {name}",
    "apps": "install the app {name}",
    "env": "set the environment variable {name} for the agent, and start it again",
    "permissions": "give the agent the permission {name} ({settings})",
    "mcp_servers": "connect the agent to the MCP server {name}",
    "skills": "give the agent the skill {name}",
}
_INSTALLERS: Final = {"darwin": "such as with brew", "win32": "such as with winget", "linux": "such as with apt or dnf"}
_SETTINGS: Final = {
    "darwin": "System Settings, Privacy & Security",
    "win32": "Settings, Privacy & security",
    "linux": "in the host program",
}


@dataclass(frozen=True, slots=True)
class Missing:
    """One thing that is missing, and how to fix that."""

    kind: Kind
    name: str
    fix: str

    @property
    def what(self) -> str:
        """Such as `Python package openpyxl`."""
        return f"{_WHAT[self.kind]} {self.name}"


@dataclass(frozen=True, slots=True)
class Readiness:
    """The status, all that is missing, and the dependency level on this system."""

    status: Status
    missing: tuple[Missing, ...] = ()
    level: str = "builtin"
    reason: str = ""

    @property
    def is_ready(self) -> bool:
        """Whether it can be used now."""
        return self.status == "READY"

    def user_message(self) -> str:
        """What to do about it, on one line; empty where it is ready."""
        if self.status == "UNAVAILABLE":
            return self.reason
        fixes = "; ".join(f"{item.what}: {item.fix}" for item in self.missing)
        return f"Missing {fixes}." if fixes else ""

    def as_dict(self) -> dict[str, object]:
        """`{"status", "level", "missing": [{"kind", "name", "fix"}], "reason"}`."""
        missing = [{"kind": item.kind, "name": item.name, "fix": item.fix} for item in self.missing]
        return {"status": self.status, "level": self.level, "missing": missing, "reason": self.reason}


def check_readiness(capability: Bundle | ListingEntry | Mapping[str, object], environment: Environment) -> Readiness:
    """Judge a bundle, its capability.json, or an entry of the list.

    Wrong system: UNAVAILABLE. A program, Python package, app, MCP server or skill is missing: NEED_SETUP, also where a
    key is missing beside it, since setting up comes first. A key (environment variable) or permission is missing:
    NEED_AUTH.
    """
    if isinstance(capability, Bundle):
        capability = capability.capability
    if isinstance(capability, ListingEntry):
        keys = ("os", "dependencies", "dependency_level")
        capability = {key: getattr(capability, key) for key in keys}
    values = dict(capability)
    level = dependency_level(values.get("dependency_level", "builtin"), environment.os)
    systems = list_names(values.get("os")) or ["common"]
    if "common" not in systems and environment.os not in systems:
        here = _SYSTEM_NAMES.get(environment.os, environment.os)
        there = ", ".join(_SYSTEM_NAMES.get(each, one_line(each, most=20)) for each in systems[:4])
        return Readiness("UNAVAILABLE", (), level, f"Works on {there}, not on {here}.")
    named = _named(values)
    missing = tuple(
        _missing(kind, name, environment.os)
        for kind in (KINDS if named else ())
        for name in list_names(named.get(kind))
        if not environment.has(kind, name)
    )
    if not missing:
        return Readiness("READY", (), level)
    needs_setup = any(item.kind in _SETUP for item in missing)
    return Readiness("NEED_SETUP" if needs_setup else "NEED_AUTH", missing, level)


def dependency_level(level: Any, system: str) -> str:
    """The dependency level on a system; a map names it by os, with `common` for the others."""
    if isinstance(level, dict):
        level = level.get(system, level.get("common", "builtin"))
    return level if isinstance(level, str) else "builtin"


def describe_needs(capability: Mapping[str, object]) -> str:
    """The MCP servers and skills that it names, such as `MCP servers: github; skills: toys, cages`; empty without."""
    named = _named(capability)
    needed = (("MCP servers", "mcp_servers"), ("skills", "skills"))
    found = ((words, [one_line(name, most=80) for name in list_names(named.get(key))]) for words, key in needed)
    return "; ".join(f"{words}: {', '.join(names)}" for words, names in found if names)


def _named(capability: Mapping[str, object]) -> dict[str, Any]:
    dependencies = capability.get("dependencies")
    return dependencies if isinstance(dependencies, dict) else {}


def list_names(value: Any) -> list[str]:
    """The texts of a list of an author, at most 100."""
    found = [value] if isinstance(value, str) else list(value) if isinstance(value, list | tuple) else []
    return [item for item in found if isinstance(item, str)][:100]


def _missing(kind: Kind, name: str, system: str) -> Missing:
    shown = one_line(name, most=80)
    words = {"name": shown, "installer": _INSTALLERS.get(system, ""), "settings": _SETTINGS.get(system, "")}
    return Missing(kind, shown, _FIXES[kind].format(**words))
