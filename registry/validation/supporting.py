"""Supporting files: the texts that an Agent Skill keeps beside its SKILL.md, and a bundle beside its four files.

They stand in `references/`, `scripts/` and `assets/`, the folders that the Agent Skills format names, and agents fetch
them one by one. The digest of a bundle is over the four files alone, as the contract says; each of these has its own.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from agent_client.digest import text_digest

FOLDERS: Final = ("references", "scripts", "assets")
FOLDERS_SAID: Final = ", ".join(f"{folder}/" for folder in FOLDERS)
COUNT_MAX: Final = 100
PATH_MAX: Final = 200
# What an export of ours puts there (registry/agent_skills/travelling.py).
RESERVED: Final = frozenset(
    f"references/{name}" for name in ("capability.json", "tools.json", "ui_schemas.json", "skill-front-matter.yaml")
)
# One step of a path that every file system and every address takes as it is.
_STEP: Final = re.compile(
    r"[^\s/\\:*?\"<>|\x00-\x1f\x7f.](?:[^/\\:*?\"<>|\x00-\x1f\x7f]*[^\s/\\:*?\"<>|\x00-\x1f\x7f.])?"
)


def is_supporting(name: str) -> bool:
    """Whether a file of this name is one; where not, it is one of the four, or no part of a bundle."""
    return name.partition("/")[0] in FOLDERS and "/" in name


def supporting_of(files: Mapping[str, str]) -> dict[str, str]:
    """Those among the files of a bundle, by path."""
    return {name: files[name] for name in sorted(files) if is_supporting(name)}


def path_fault(name: str) -> str:
    """Why a file cannot have this path; empty where it can."""
    if len(name) > PATH_MAX:
        return f"it has more than {PATH_MAX} characters"
    if name.lower() in RESERVED:
        return "an export puts a file of its own there"
    if not all(_STEP.fullmatch(step) for step in name.split("/")):
        return (
            "a step of it is empty, begins or ends with a dot or a space, or has a character that file systems refuse"
        )
    return ""


def colliding(names: Sequence[str]) -> list[str]:
    """Names that are another one's on a file system that takes A for a."""
    folded = Counter(name.casefold() for name in names)
    return [name for name in sorted(names) if folded[name.casefold()] > 1]


def file_facts(files: Mapping[str, str]) -> list[dict[str, Any]]:
    """`path`, `digest` and `size` in bytes of each, by path."""
    return [
        {"path": path, "digest": text_digest(text), "size": len(text.encode("utf-8"))}
        for path, text in supporting_of(files).items()
    ]
