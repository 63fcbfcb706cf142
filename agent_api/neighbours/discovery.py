"""Agent Skills discovery, version 0.2.0: an index of digests, and the artifacts that it names.

An artifact's address names its revision, so that an index of one process and an artifact of another always agree.
"""

from __future__ import annotations

from typing import Any, Final

import orjson
from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request

from agent_api.endpoint import endpoint
from agent_api.neighbours.doors import Visit, visit
from agent_api.representations import respond
from registry import snapshot
from registry.agent_skills.names import capability_id_of
from registry.errors import NotFound
from registry.snapshot import Entry
from registry.snapshot.bodies import Rendered
from registry.snapshot.pins import pinned_revision
from registry.snapshot.skills import ZIP, SkillFacts, load_artifact, skill_facts
from registry.usage import tallies

SCHEMA: Final = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"
_MEDIA_TYPES: Final = {"SKILL.md": "text/markdown; charset=utf-8", ZIP: "application/zip"}


@extend_schema(exclude=True)
@endpoint("GET")
def skills_index(request: Request, token: str = "") -> HttpResponse:
    """`{"$schema", "skills": [{"name", "type", "description", "url", "digest"}]}`, ordered by capability_id."""
    visitor = visit(request, snapshot.current(), token)
    return respond(request, visitor.caller, _index(visitor))


def _index(visitor: Visit) -> Rendered:
    key = ("skills index", visitor.skill_group, visitor.caller.principal.sight)
    kept: Rendered | None = visitor.snapshot.answers.get(key)
    if kept is None:
        rows = [_row(facts) for facts in skill_facts(visitor.snapshot, visitor.entries())]
        kept = visitor.snapshot.answers[key] = Rendered(orjson.dumps({"$schema": SCHEMA, "skills": rows}))
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


@extend_schema(exclude=True)
@endpoint("GET")
def skill_artifact(request: Request, name: str, revision: str, file: str, token: str = "") -> HttpResponse:
    """SKILL.md of a revision, or the zip of the whole skill; nothing of what is retired."""
    visitor = visit(request, snapshot.current(), token)
    entry = visitor.entry(capability_id_of(name))
    if entry is None:
        raise NotFound(f"No skill '{name}' is published here")
    artifact = "SKILL.md" if file == "SKILL.md" else ZIP
    rendered = load_artifact(visitor.snapshot, _revision_id(entry, int(revision)), artifact)
    tallies.count_load(entry.capability_id, int(revision), key_name=visitor.caller.key_name)
    return respond(request, visitor.caller, rendered, content_type=_MEDIA_TYPES[artifact])


def _revision_id(entry: Entry, number: int) -> int:
    if number == entry.revision:
        return entry.revision_id
    found = pinned_revision(entry.capability_id, number=number)
    if found is None:
        raise NotFound(f"'{entry.capability_id}' has no revision {number}")
    return found.revision_id
