"""What ClawHub's client reads: its account, the list of skills, and the files of a skill.

A version is a revision: `1.0.N`. The newest is the one that agents get, which after a rollback is an older one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from rest_framework.request import Request
from rest_framework.response import Response

from agent_api.http import parameters
from agent_api.http.authentication import require_scope
from agent_api.http.parameters import query
from agent_api.http.representations import respond
from agent_api.integrations.access import ReaderContext, authorize_reader, base_url
from agent_api.integrations.skill_search import LIMIT_MAX, search_skills
from capability_kit.bundles.skill_names import skill_name_of
from capability_rules.errors import InvalidRequest
from features.clawhub import protocol
from features.clawhub.protocol import build_response, clawhub_endpoint, format_version, require_skill
from features.clawhub.skill_fingerprints import revision_of_upload
from registry import snapshot
from registry.access.agent_keys import SCOPES
from registry.common.errors import NotFound, Unauthenticated
from registry.snapshot import SnapshotEntry
from registry.snapshot.skill_artifacts import ZIP, ArtifactFile, get_skill_facts, load_artifact
from registry.snapshot.skill_versions import SkillVersion, ids_newest_first, list_versions
from registry.usage import usage_counters

_PAGE: Final = 25
# How many versions a local copy is compared with; older ones count as changed by hand.
_RESOLVED_MAX: Final = 50


@clawhub_endpoint("GET")
def well_known(request: Request, token: str = "") -> Response:
    """Where the registry is, for `--site`."""
    base = base_url(request, token)
    return build_response({"apiBase": f"{base}/clawhub", "authBase": base, "minCliVersion": "0.1.0"})


@clawhub_endpoint("GET")
def whoami(request: Request, token: str = "") -> Response:  # noqa: ARG001 (a key has no share link)
    """The key, as the protocol's user. Any scope will do."""
    caller = require_scope(request, snapshot.current_snapshot(), *SCOPES)
    if caller.is_public:
        raise Unauthenticated(
            "Send a key: clawhub login --token KEY. An operator makes one in the Studio under Settings > API keys."
        )
    user = {"handle": protocol.owner_handle(caller), "displayName": caller.key_name, "image": None, "role": "user"}
    return build_response({"user": user})


@clawhub_endpoint("GET")
def search(request: Request, token: str = "") -> Response:
    """`q`, `limit` and `mode=exact`."""
    visitor = authorize_reader(request, token)
    given = query(request)
    words = str(given.get("q", ""))
    found = search_skills(visitor, words)
    if given.get("mode") == "exact":
        found = [(entry, score) for entry, score in found if words.lower() in (_slug(entry), entry.name.lower())]
    found = found[: _limit(given)]
    rows = protocol.build_items([entry for entry, _ in found])
    results = [_result(row, score) for row, (_, score) in zip(rows, found, strict=True)]
    return build_response({"results": results})


def _result(row: dict[str, Any], score: float) -> dict[str, Any]:
    shown = {key: row[key] for key in ("slug", "displayName", "summary", "updatedAt")}
    version = {"version": row["latestVersion"]["version"], "score": score}
    return shown | version | {"ownerHandle": protocol.OWNER, "owner": protocol.build_owner()}


def explore(request: Request, token: str = "") -> Response:
    """All skills, a page at a time: `limit`, `cursor`, `prefix`, and `sort`, by change or by age (`createdAt`)."""
    visitor = authorize_reader(request, token)
    given = query(request)
    prefix = parameters.string(given, "prefix", most=64).lower()
    entries = [entry for entry in _ordered(visitor, given) if _slug(entry).startswith(prefix)]
    start = parameters.integer(given, "cursor", least=0) or 0
    page = entries[start : start + _limit(given)]
    end = start + len(page)
    return build_response({"items": protocol.build_items(page), "nextCursor": str(end) if end < len(entries) else None})


def _ordered(visitor: ReaderContext, given: Any) -> list[SnapshotEntry]:
    if given.get("sort") in ("createdAt", "newest"):
        seen = {entry.capability_id: entry for entry in visitor.entries()}
        return [seen[name] for name in ids_newest_first() if name in seen]
    return sorted(visitor.entries(), key=lambda entry: (-entry.changed_at, entry.capability_id))


def _slug(entry: SnapshotEntry) -> str:
    return skill_name_of(entry.capability_id)


def _limit(given: Any) -> int:
    return parameters.integer(given, "limit", least=1, most=LIMIT_MAX) or _PAGE


@clawhub_endpoint("GET")
def skill(request: Request, slug: str, token: str = "") -> Response:
    """One skill and its newest version."""
    visitor = authorize_reader(request, token)
    (row,) = protocol.build_items([require_skill(visitor, slug, query(request))])
    newest = row.pop("latestVersion")
    return build_response({"skill": row, "latestVersion": newest, "owner": protocol.build_owner(), "moderation": None})


@clawhub_endpoint("GET")
def moderation(request: Request, slug: str, token: str = "") -> Response:
    """Nothing that is published here waits for a moderator."""
    visitor = authorize_reader(request, token)
    require_skill(visitor, slug, query(request))
    return build_response({"moderation": None})


@clawhub_endpoint("GET")
def versions(request: Request, slug: str, token: str = "") -> Response:
    """The newest first, a page at a time; a key that gets no write tools sees only the current one."""
    visitor = authorize_reader(request, token)
    given = query(request)
    entry = require_skill(visitor, slug, given)
    limit = _limit(given)
    below = parameters.integer(given, "cursor", least=1)
    only = entry.revision if _sees_newest_alone(visitor) else None
    found = list_versions(entry.capability_id, limit=limit + 1, below=below, number=only)
    cursor = str(found[limit - 1].number) if len(found) > limit else None
    return build_response({"items": [protocol.build_version(one) for one in found[:limit]], "nextCursor": cursor})


def _sees_newest_alone(visitor: ReaderContext) -> bool:
    """Return whether a reader sees only the newest revision: files of an older one may contain write tools."""
    return visitor.caller.principal.sight.read_only_tools


@clawhub_endpoint("GET")
def version(request: Request, slug: str, version: str, token: str = "") -> Response:
    """One version with its files."""
    visitor = authorize_reader(request, token)
    entry = require_skill(visitor, slug, query(request))
    found = _version(visitor, entry, version)
    row = protocol.build_version(found) | {"files": protocol.build_files(_files(visitor, entry, found.revision_id))}
    return build_response({"version": row, "skill": {"slug": slug, "displayName": entry.name}})


def _version(visitor: ReaderContext, entry: SnapshotEntry, wanted: str) -> SkillVersion:
    """The revision of a version; the newest for `` and `latest`. Raises `NotFound`."""
    number = entry.revision if wanted in ("", "latest") else protocol.parse_version(wanted)
    if number is not None and not (_sees_newest_alone(visitor) and number != entry.revision):
        found = list_versions(entry.capability_id, limit=1, number=number)
        if found:
            return found[0]
    raise NotFound(f"Version not found: {_slug(entry)}@{wanted[:100]}")


@clawhub_endpoint("GET")
def file(request: Request, slug: str, token: str = "") -> HttpResponse:
    """The bytes of one file: `path`, and `version` or `tag`."""
    visitor = authorize_reader(request, token)
    given = query(request)
    entry = require_skill(visitor, slug, given)
    path = parameters.string(given, "path", most=500)
    found = _version(visitor, entry, _wanted(given))
    one = next((each for each in _files(visitor, entry, found.revision_id) if each.path == path), None)
    if one is None:
        raise NotFound(f"File not found: {path or 'path is missing'}")
    rendered = load_artifact(visitor.snapshot, found.revision_id, path)
    kind = "application/octet-stream" if one.media_type else "text/plain; charset=utf-8"
    return respond(request, visitor.caller, rendered, content_type=kind)


def _wanted(given: Any) -> str:
    return parameters.string(given, "version", most=100) or parameters.string(given, "tag", most=100)


@clawhub_endpoint("GET")
def download(request: Request, token: str = "") -> HttpResponse:
    """The skill as a zip with SKILL.md at its root: the bytes of the discovery index's archive. Counts as a load."""
    visitor = authorize_reader(request, token)
    given = query(request)
    entry = require_skill(visitor, protocol.get_slug(given), given)
    found = _version(visitor, entry, _wanted(given))
    rendered = load_artifact(visitor.snapshot, found.revision_id, ZIP)
    caller = visitor.caller
    usage_counters.count_load(entry.capability_id, found.number, key_name=caller.key_name)
    response = respond(request, caller, rendered, content_type="application/zip")
    response["Content-Disposition"] = f'attachment; filename="{_slug(entry)}-{format_version(found.number)}.zip"'
    return response


@clawhub_endpoint("GET")
def resolve(request: Request, token: str = "") -> Response:
    """Which version a local copy is, by the `hash` over its files; and which is the newest."""
    visitor = authorize_reader(request, token)
    given = query(request)
    entry = require_skill(visitor, protocol.get_slug(given), given)
    wanted = parameters.string(given, "hash", most=64)
    if not wanted:
        raise InvalidRequest("hash is missing: SHA-256 over the files, as clawhub computes it")
    match = _match(visitor, entry, wanted)
    return build_response({
        "match": {"version": format_version(match)} if match else None,
        "latestVersion": {"version": format_version(entry.revision)},
    })  # fmt: skip


def _match(visitor: ReaderContext, entry: SnapshotEntry, wanted: str) -> int | None:
    """The newest version is asked first: that it is the one is what most clients hope for."""
    if protocol.build_fingerprint(_files(visitor, entry, entry.revision_id)) == wanted:
        return entry.revision
    if _sees_newest_alone(visitor):
        return None
    uploaded = revision_of_upload(entry.capability_id, wanted)
    if uploaded is not None:
        return uploaded
    for one in list_versions(entry.capability_id, limit=_RESOLVED_MAX):
        if protocol.build_fingerprint(_files(visitor, entry, one.revision_id)) == wanted:
            return one.number
    return None


def _files(visitor: ReaderContext, entry: SnapshotEntry, revision_id: int) -> tuple[ArtifactFile, ...]:
    """Of one revision; nothing where it cannot be handed out any more."""
    facts = get_skill_facts(visitor.snapshot, [replace(entry, revision_id=revision_id)])
    return facts[0].files if facts else ()


@csrf_exempt
def unknown(request: HttpRequest) -> HttpResponse:  # noqa: ARG001 (a view)
    """What this registry does not offer: stars, reports, transfers, plugins ..."""
    words = "This registry does not offer that; see docs/integrations.md"
    return HttpResponse(words, status=404, content_type="text/plain; charset=utf-8")
