"""Skills, versions and files as ClawHub's client expects them; every time is in milliseconds since 1970."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import orjson

from agent_api.integrations.clawhub.protocol import format_version, to_milliseconds
from registry.agent_skills.names import skill_name_of
from registry.snapshot import SnapshotEntry
from registry.snapshot.skill_artifacts import ArtifactFile
from registry.snapshot.skill_versions import SkillVersion, creation_times, list_versions_by_revision
from registry.sources.skill_fingerprints import skill_fingerprint


def build_items(entries: Sequence[SnapshotEntry]) -> list[dict[str, Any]]:
    """`{"slug", "displayName", "summary", "tags", "stats", "createdAt", "updatedAt", "latestVersion"}` of each."""
    versions = list_versions_by_revision([entry.revision_id for entry in entries])
    ages = creation_times([entry.capability_id for entry in entries])
    return [_item(entry, versions[entry.revision_id], to_milliseconds(ages[entry.capability_id])) for entry in entries]


def _item(entry: SnapshotEntry, version: SkillVersion, created_at: int) -> dict[str, Any]:
    return {
        "slug": skill_name_of(entry.capability_id),
        "displayName": entry.name,
        "summary": orjson.loads(entry.rendered)["description"],
        "tags": {"latest": format_version(version.number)},
        "stats": {},
        "createdAt": created_at,
        "updatedAt": to_milliseconds(version.created_at),
        "latestVersion": build_version(version),
    }


def build_version(version: SkillVersion) -> dict[str, Any]:
    """The protocol knows one license, which is not one that we could promise."""
    return {
        "version": format_version(version.number),
        "createdAt": to_milliseconds(version.created_at),
        "changelog": version.note,
        "license": None,
    }


def build_files(files: Iterable[ArtifactFile]) -> list[dict[str, Any]]:
    """`{"path", "size", "sha256"}` of each, the digests as plain hex."""
    return [{"path": file.path, "size": file.size, "sha256": file.digest.removeprefix("sha256:")} for file in files]


def build_fingerprint(files: Iterable[ArtifactFile]) -> str:
    """What the client computes over a folder with these files."""
    return skill_fingerprint((row["path"], row["sha256"]) for row in build_files(files))
