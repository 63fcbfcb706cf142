"""What ClawHub's client reads: who it is, what there is, and the files of a skill.

A version is a revision: `1.0.N`. The newest is the one that agents are given, which after a rollback is an older one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from django.http import HttpResponse
from rest_framework.request import Request
from rest_framework.response import Response

from agent_api import parameters
from agent_api.authentication import require_scope
from agent_api.neighbours.clawhub.rows import file_rows, fingerprint_of, item_rows, version_row
from agent_api.neighbours.clawhub.wire import (
    OWNER,
    answer,
    clawhub,
    entry_of,
    handle_of,
    number_of,
    owner_row,
    slug_in,
    version_of,
)  # fmt: skip
from agent_api.neighbours.doors import Visit, base_url, visit
from agent_api.neighbours.finding import LIMIT_MAX, find
from agent_api.parameters import query
from agent_api.representations import respond
from registry import snapshot
from registry.access.keys import SCOPES
from registry.agent_skills.fingerprints import number_uploaded_as
from registry.agent_skills.names import skill_name_of
from registry.agent_skills.versions import Version, by_age, versions_of
from registry.errors import InvalidRequest, NotFound, Unauthenticated
from registry.snapshot import Entry
from registry.snapshot.skills import ZIP, SkillFile, load_artifact, skill_facts
from registry.usage import tallies

_PAGE: Final = 25
# How many versions a local copy is held against; older ones count as changed by hand.
_RESOLVED_MAX: Final = 50


@clawhub("GET")
def well_known(request: Request, token: str = "") -> Response:
    """Where the registry is, for `--site`."""
    base = base_url(request, token)
    return answer({"apiBase": f"{base}/clawhub", "authBase": base, "minCliVersion": "0.1.0"})


@clawhub("GET")
def whoami(request: Request, token: str = "") -> Response:  # noqa: ARG001 (a key has no share link)
    """The key, as the protocol's user. Any scope will do."""
    caller = require_scope(request, snapshot.current(), *SCOPES)
    if caller.is_public:
        raise Unauthenticated("Send a key: clawhub login --token KEY. An operator makes one in the Studio under Keys.")
    user = {"handle": handle_of(caller), "displayName": caller.key_name, "image": None, "role": "user"}
    return answer({"user": user})


@clawhub("GET")
def search(request: Request, token: str = "") -> Response:
    """`q`, `limit` and `mode=exact`."""
    visitor = visit(request, snapshot.current(), token)
    given = query(request)
    words = str(given.get("q", ""))
    found = find(visitor, words, remote=str(request.META.get("REMOTE_ADDR")))
    if given.get("mode") == "exact":
        found = [(entry, score) for entry, score in found if words.lower() in (_slug(entry), entry.name.lower())]
    found = found[: _limit(given)]
    rows = item_rows([entry for entry, _ in found])
    results = [_result(row, score) for row, (_, score) in zip(rows, found, strict=True)]
    return answer({"results": results})


def _result(row: dict[str, Any], score: float) -> dict[str, Any]:
    shown = {key: row[key] for key in ("slug", "displayName", "summary", "updatedAt")}
    version = {"version": row["latestVersion"]["version"], "score": score}
    return shown | version | {"ownerHandle": OWNER, "owner": owner_row()}


def explore(request: Request, token: str = "") -> Response:
    """All skills, a page at a time: `limit`, `cursor`, `prefix`, and `sort`, by change or by age (`createdAt`)."""
    visitor = visit(request, snapshot.current(), token)
    given = query(request)
    prefix = parameters.text(given, "prefix", most=64).lower()
    entries = [entry for entry in _ordered(visitor, given) if _slug(entry).startswith(prefix)]
    start = parameters.whole_number(given, "cursor", least=0) or 0
    page = entries[start : start + _limit(given)]
    end = start + len(page)
    return answer({"items": item_rows(page), "nextCursor": str(end) if end < len(entries) else None})


def _ordered(visitor: Visit, given: Any) -> list[Entry]:
    if given.get("sort") in ("createdAt", "newest"):
        seen = {entry.capability_id: entry for entry in visitor.entries()}
        return [seen[name] for name in by_age() if name in seen]
    return sorted(visitor.entries(), key=lambda entry: (-entry.changed_at, entry.capability_id))


def _slug(entry: Entry) -> str:
    return skill_name_of(entry.capability_id)


def _limit(given: Any) -> int:
    return parameters.whole_number(given, "limit", least=1, most=LIMIT_MAX) or _PAGE


@clawhub("GET")
def skill(request: Request, slug: str, token: str = "") -> Response:
    """One skill and its newest version."""
    visitor = visit(request, snapshot.current(), token)
    (row,) = item_rows([entry_of(visitor, slug, query(request))])
    newest = row.pop("latestVersion")
    return answer({"skill": row, "latestVersion": newest, "owner": owner_row(), "moderation": None})


@clawhub("GET")
def moderation(request: Request, slug: str, token: str = "") -> Response:
    """Nothing that is published here waits for a moderator."""
    visitor = visit(request, snapshot.current(), token)
    entry_of(visitor, slug, query(request))
    return answer({"moderation": None})


@clawhub("GET")
def versions(request: Request, slug: str, token: str = "") -> Response:
    """The newest first, a page at a time; a key that is given no write tools is told of the present one alone."""
    visitor = visit(request, snapshot.current(), token)
    given = query(request)
    entry = entry_of(visitor, slug, given)
    limit = _limit(given)
    below = parameters.whole_number(given, "cursor", least=1)
    only = entry.revision if _sees_newest_alone(visitor) else None
    found = versions_of(entry.capability_id, limit=limit + 1, below=below, number=only)
    cursor = str(found[limit - 1].number) if len(found) > limit else None
    return answer({"items": [version_row(one) for one in found[:limit]], "nextCursor": cursor})


def _sees_newest_alone(visitor: Visit) -> bool:
    """Write tools may stand in an older revision, and a file withholds none."""
    return visitor.caller.principal.sight.read_only_tools


@clawhub("GET")
def version(request: Request, slug: str, version: str, token: str = "") -> Response:
    """One version with its files."""
    visitor = visit(request, snapshot.current(), token)
    entry = entry_of(visitor, slug, query(request))
    found = _version(visitor, entry, version)
    row = version_row(found) | {"files": file_rows(_files(visitor, entry, found.revision_id))}
    return answer({"version": row, "skill": {"slug": slug, "displayName": entry.name}})


def _version(visitor: Visit, entry: Entry, wanted: str) -> Version:
    """The revision of a version; the newest for `` and `latest`. Raises `NotFound`."""
    number = entry.revision if wanted in ("", "latest") else number_of(wanted)
    if number is not None and not (_sees_newest_alone(visitor) and number != entry.revision):
        found = versions_of(entry.capability_id, limit=1, number=number)
        if found:
            return found[0]
    raise NotFound(f"Version not found: {_slug(entry)}@{wanted[:100]}")


@clawhub("GET")
def file(request: Request, slug: str, token: str = "") -> HttpResponse:
    """The bytes of one file: `path`, and `version` or `tag`."""
    visitor = visit(request, snapshot.current(), token)
    given = query(request)
    entry = entry_of(visitor, slug, given)
    path = parameters.text(given, "path", most=500)
    found = _version(visitor, entry, _wanted(given))
    if path not in {file.path for file in _files(visitor, entry, found.revision_id)}:
        raise NotFound(f"File not found: {path or 'path is missing'}")
    rendered = load_artifact(visitor.snapshot, found.revision_id, path)
    return respond(request, visitor.caller, rendered, content_type="text/plain; charset=utf-8")


def _wanted(given: Any) -> str:
    return parameters.text(given, "version", most=100) or parameters.text(given, "tag", most=100)


@clawhub("GET")
def download(request: Request, token: str = "") -> HttpResponse:
    """The skill as a zip with SKILL.md at its root: the bytes of the discovery index's archive. Counts as a load."""
    visitor = visit(request, snapshot.current(), token)
    given = query(request)
    entry = entry_of(visitor, slug_in(given), given)
    found = _version(visitor, entry, _wanted(given))
    rendered = load_artifact(visitor.snapshot, found.revision_id, ZIP)
    caller = visitor.caller
    tallies.count_load(entry.capability_id, found.number, key_name=caller.key_name)
    response = respond(request, caller, rendered, content_type="application/zip")
    response["Content-Disposition"] = f'attachment; filename="{_slug(entry)}-{version_of(found.number)}.zip"'
    return response


@clawhub("GET")
def resolve(request: Request, token: str = "") -> Response:
    """Which version a local copy is, by the `hash` over its files; and which is the newest."""
    visitor = visit(request, snapshot.current(), token)
    given = query(request)
    entry = entry_of(visitor, slug_in(given), given)
    wanted = parameters.text(given, "hash", most=64)
    if not wanted:
        raise InvalidRequest("hash is missing: SHA-256 over the files, as clawhub computes it")
    match = _match(visitor, entry, wanted)
    return answer({
        "match": {"version": version_of(match)} if match else None,
        "latestVersion": {"version": version_of(entry.revision)},
    })  # fmt: skip


def _match(visitor: Visit, entry: Entry, wanted: str) -> int | None:
    """The newest version is asked first: that it is the one is what most clients hope for."""
    if fingerprint_of(_files(visitor, entry, entry.revision_id)) == wanted:
        return entry.revision
    if _sees_newest_alone(visitor):
        return None
    uploaded = number_uploaded_as(entry.capability_id, wanted)
    if uploaded is not None:
        return uploaded
    for one in versions_of(entry.capability_id, limit=_RESOLVED_MAX):
        if fingerprint_of(_files(visitor, entry, one.revision_id)) == wanted:
            return one.number
    return None


def _files(visitor: Visit, entry: Entry, revision_id: int) -> tuple[SkillFile, ...]:
    """Of one revision; nothing where it cannot be handed out any more."""
    facts = skill_facts(visitor.snapshot, [replace(entry, revision_id=revision_id)])
    return facts[0].files if facts else ()
