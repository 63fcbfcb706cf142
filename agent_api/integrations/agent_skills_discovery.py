"""Agent Skills discovery, version 0.2.0: an index of digests, and the artifacts that it names.

An artifact's address names its revision, so that an index of one process and an artifact of another always agree.
"""

from __future__ import annotations

from typing import Any, Final

import orjson
from django.http import HttpResponse
from rest_framework.request import Request

from agent_api.http.endpoint import endpoint
from agent_api.http.representations import respond
from agent_api.integrations.access import ReaderContext, authorize_reader
from capability_kit.bundles.skill_names import capability_id_of
from registry.common.errors import NotFound
from registry.snapshot import SnapshotEntry
from registry.snapshot.pinned_revisions import find_pinned_revision
from registry.snapshot.response_cache import RenderedResponse
from registry.snapshot.skill_artifacts import ZIP, SkillFacts, get_skill_facts, load_artifact
from registry.usage import usage_counters

SCHEMA: Final = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"
_MEDIA_TYPES: Final = {"SKILL.md": "text/markdown; charset=utf-8", ZIP: "application/zip"}


@endpoint("GET")
def skills_index(request: Request, token: str = "") -> HttpResponse:
    """`{"$schema", "skills": [{"name", "type", "description", "url", "digest"}]}`, ordered by capability_id."""
    visitor = authorize_reader(request, token)
    return respond(request, visitor.caller, _index(visitor))


def _index(visitor: ReaderContext) -> RenderedResponse:
    key = ("skills index", visitor.caller.principal.sight)
    kept: RenderedResponse | None = visitor.snapshot.answers.get(key)
    if kept is None:
        rows = [_row(facts) for facts in get_skill_facts(visitor.snapshot, visitor.entries())]
        kept = visitor.snapshot.answers[key] = RenderedResponse(orjson.dumps({"$schema": SCHEMA, "skills": rows}))
    return kept


def _row(facts: SkillFacts) -> dict[str, Any]:
    is_archive = facts.artifact == ZIP
    return {
        "name": facts.name,
        "type": "archive" if is_archive else "skill-md",
        "description": facts.description,
        "url": f"{facts.name}/{facts.revision}/{f'{facts.name}.zip' if is_archive else 'SKILL.md'}",
        "digest": facts.digest,
    }


@endpoint("GET")
def skill_artifact(request: Request, name: str, revision: str, file: str, token: str = "") -> HttpResponse:
    """SKILL.md of a revision, or the zip of the whole skill; nothing of what is retired."""
    visitor = authorize_reader(request, token)
    entry = visitor.entry(capability_id_of(name))
    if entry is None:
        raise NotFound(f"No skill '{name}' is published here")
    artifact = "SKILL.md" if file == "SKILL.md" else ZIP
    rendered = load_artifact(visitor.snapshot, _revision_id(entry, int(revision)), artifact)
    usage_counters.count_load(entry.capability_id, int(revision), key_name=visitor.caller.key_name)
    return respond(request, visitor.caller, rendered, content_type=_MEDIA_TYPES[artifact])


def _revision_id(entry: SnapshotEntry, number: int) -> int:
    if number == entry.revision:
        return entry.revision_id
    found = find_pinned_revision(entry.capability_id, number=number)
    if found is None:
        raise NotFound(f"'{entry.capability_id}' has no revision {number}")
    return found.revision_id
