"""Skills, versions and files as ClawHub's client expects them; every time is in milliseconds since 1970."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import orjson

from agent_api.neighbours.clawhub.wire import milliseconds, version_of
from registry.agent_skills.fingerprints import fingerprint
from registry.agent_skills.names import skill_name_of
from registry.agent_skills.versions import Version, begun, versions_by_revision
from registry.snapshot import Entry
from registry.snapshot.skills import SkillFile


def item_rows(entries: Sequence[Entry]) -> list[dict[str, Any]]:
    """`{"slug", "displayName", "summary", "tags", "stats", "createdAt", "updatedAt", "latestVersion"}` of each."""
    versions = versions_by_revision([entry.revision_id for entry in entries])
    ages = begun([entry.capability_id for entry in entries])
    return [_item(entry, versions[entry.revision_id], milliseconds(ages[entry.capability_id])) for entry in entries]


def _item(entry: Entry, version: Version, created_at: int) -> dict[str, Any]:
    return {
        "slug": skill_name_of(entry.capability_id),
        "displayName": entry.name,
        "summary": orjson.loads(entry.rendered)["description"],
        "tags": {"latest": version_of(version.number)},
        "stats": {},
        "createdAt": created_at,
        "updatedAt": milliseconds(version.created_at),
        "latestVersion": version_row(version),
    }


def version_row(version: Version) -> dict[str, Any]:
    """The protocol knows one licence, which is none that we could promise."""
    return {
        "version": version_of(version.number),
        "createdAt": milliseconds(version.created_at),
        "changelog": version.note,
        "license": None,
    }


def file_rows(files: Iterable[SkillFile]) -> list[dict[str, Any]]:
    """`{"path", "size", "sha256"}` of each, the digests as plain hex."""
    return [{"path": file.path, "size": file.size, "sha256": file.digest.removeprefix("sha256:")} for file in files]


def fingerprint_of(files: Iterable[SkillFile]) -> str:
    """What the client computes over a folder with these files."""
    return fingerprint((row["path"], row["sha256"]) for row in file_rows(files))
