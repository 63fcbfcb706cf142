"""Values of a front matter, all texts, lists and maps of texts, as the values that capability.json wants."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from capability_kit.text.languages import is_known_language

_WHOLE_NUMBER: Final = re.compile(r"0|[1-9][0-9]{0,15}")
_GROUP: Final = re.compile(r"[a-z0-9]+(?:_[a-z0-9]+)*")
_SERVER: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]*")
_LANGUAGE_TAG: Final = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,4}")
_OS: Final = {
    "common": "common", "all": "common", "any": "common",
    "darwin": "darwin", "macos": "darwin", "mac": "darwin", "osx": "darwin",
    "win32": "win32", "windows": "win32",
    "linux": "linux",
}  # fmt: skip
_LEVELS: Final = ("builtin", "lightweight", "external", "cloud_api")


def to_string(value: Any) -> str:
    """A string as it is, everything else as compact JSON, from which it can be read again."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def parse_strings(value: Any) -> list[str] | None:
    """A list of strings, also of one; None for anything else, and where a string is empty."""
    found = [value] if isinstance(value, str) else value
    if not isinstance(found, list) or not found or not all(isinstance(item, str) and item.strip() for item in found):
        return None
    return found


def parse_integer(value: Any) -> int | None:
    """A number from 0 that every client reads exactly."""
    if not isinstance(value, str) or not _WHOLE_NUMBER.fullmatch(value) or int(value) > 2**53 - 1:
        return None
    return int(value)


def parse_systems(value: Any) -> list[str] | None:
    """Operating systems in our words; None where one is unknown."""
    named = [_OS.get(item.strip().lower(), "") for item in parse_strings(value) or ()]
    return list(dict.fromkeys(named)) if named and all(named) else None


def parse_level(value: Any) -> str | None:
    """A level of `dependencies`; None for another word."""
    return value if isinstance(value, str) and value in _LEVELS else None


def parse_names(value: Any) -> list[str] | None:
    """Names of programs, packages or applications, as `dependencies` takes them."""
    found = parse_strings(value)
    return found if found and len(found) <= 100 and all(len(name) <= 200 for name in found) else None


def parse_env_names(value: Any) -> list[str] | None:
    """Names of environment variables; an entry with a value is none."""
    found = parse_names(value)
    return found if found and not any("=" in name for name in found) else None


def parse_server_names(value: Any) -> list[str] | None:
    """Names of MCP servers, each once."""
    found = parse_names(value)
    return list(dict.fromkeys(found)) if found and all(map(_SERVER.fullmatch, found)) else None


def parse_skill_ids(value: Any) -> list[str] | None:
    """capability_ids of other skills, each once."""
    found = parse_names(value)
    fits = found and all(_GROUP.fullmatch(name) and len(name) <= 64 for name in found)
    return list(dict.fromkeys(found)) if found and fits else None


def parse_language(value: Any) -> str | None:
    """A BCP 47 tag of a language that is stemmed, or written without spaces: not `go`, a language for programs."""
    is_tag = isinstance(value, str) and _LANGUAGE_TAG.fullmatch(value.strip()) is not None
    return str(value).strip() if is_tag and is_known_language(str(value).strip()) else None


def parse_groups(value: Any) -> list[str] | None:
    """Ids of skill groups."""
    found = parse_strings(value)
    return found if found and all(_GROUP.fullmatch(name) and len(name) <= 64 for name in found) else None


def parse_emoji(value: Any) -> str | None:
    """An emoji of at most 16 characters; None for anything else."""
    return value if isinstance(value, str) and 0 < len(value) <= 16 else None


def parse_phrases(value: Any) -> list[str] | None:
    """Intent triggers: split at commas, each once; None where one of them would be invalid in capability.json."""
    found: dict[str, str] = {}
    for line in parse_strings(value) or ():
        for phrase in filter(None, map(str.strip, line.split(","))):
            found.setdefault(phrase.casefold(), phrase)
    fits = 0 < len(found) <= 50 and all(len(phrase) <= 80 for phrase in found.values())
    return list(found.values()) if fits else None
