"""What every ClawHub address has in common: a key where one is sent, plain refusals, versions and slugs.

The client prints the body of a refusal as it is, so that it is a sentence and no JSON.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import orjson
from django.http import HttpResponse, HttpResponseBase
from rest_framework.parsers import BaseParser
from rest_framework.response import Response

from agent_api.http import parameters
from agent_api.http.authentication import Caller
from agent_api.http.endpoint import EndpointView, endpoint
from agent_api.http.parsers import BoundedJSONParser
from agent_api.integrations.access import ReaderContext
from capability_kit.bundles.skill_names import capability_id_of, is_ascii_skill_name, skill_name_of
from capability_rules.errors import InvalidRequest
from features.clawhub.skill_fingerprints import skill_fingerprint
from registry.common.errors import NotFound
from registry.snapshot import SnapshotEntry
from registry.snapshot.skill_artifacts import ArtifactFile
from registry.snapshot.skill_versions import SkillVersion, creation_times, list_versions_by_revision

# Whose all skills are: the registry itself. A client shows it as @studio/NAME.
OWNER: Final = "studio"
_FINDINGS_SHOWN: Final = 20
_KEPT_HEADERS: Final = ("Retry-After", "WWW-Authenticate", "Allow", "Cache-Control")
_VERSION: Final = re.compile(r"1\.0\.([1-9][0-9]{0,8})")
_NO_HANDLE: Final = re.compile(r"[^a-z0-9]+")


def clawhub_endpoint(
    *methods: str, parsers: tuple[type[BaseParser], ...] = (BoundedJSONParser,)
) -> Callable[[EndpointView], EndpointView]:
    """`endpoint`, with refusals in plain words."""

    def decorate(view: EndpointView) -> EndpointView:
        answer = endpoint(*methods, parsers=parsers)(view)

        @functools.wraps(answer)
        def plainly(*args: Any, **kwargs: Any) -> HttpResponseBase:
            response = answer(*args, **kwargs)
            is_refusal = isinstance(response, Response) and response.status_code >= 400
            return _plain(response) if is_refusal else response

        return plainly

    return decorate


def _plain(response: Any) -> HttpResponse:
    error = response.data["error"]
    lines = [str(error["message"]), *_finding_lines(error.get("findings", []))]
    plain = HttpResponse("\n".join(lines), status=response.status_code, content_type="text/plain; charset=utf-8")
    for name in _KEPT_HEADERS:
        if name in response.headers:
            plain[name] = response.headers[name]
    return plain


def _finding_lines(findings: list[Mapping[str, Any]]) -> list[str]:
    """The errors first, one per line, each with its fix."""
    ordered = sorted(findings, key=lambda finding: finding["severity"] != "error")
    lines = [_finding_line(finding) for finding in ordered[:_FINDINGS_SHOWN]]
    left = len(findings) - len(lines)
    return lines + ([f"and {left} more"] if left > 0 else [])


def _finding_line(finding: Mapping[str, Any]) -> str:
    place = finding["file"] + (f":{finding['line']}" if finding["line"] else "")
    return f"{finding['severity']} {finding['code']} {place}: {finding['message']}. {finding['hint']}".rstrip()


def build_response(body: Mapping[str, Any]) -> Response:
    """200; what is seen depends on the key, so that nothing between keeps it."""
    return Response(dict(body), headers={"Cache-Control": "no-store"})


def format_version(number: int) -> str:
    """The semantic version of a revision."""
    return f"1.0.{number}"


def parse_version(version: str) -> int | None:
    """The revision of a version; None for one that no revision can have."""
    match = _VERSION.fullmatch(version)
    return int(match[1]) if match else None


def owner_handle(caller: Caller) -> str:
    """The key's name as the protocol writes names: lower-case words joined by `-`."""
    return _NO_HANDLE.sub("-", caller.key_name.lower()).strip("-") or "key"


def to_milliseconds(moment: datetime) -> int:
    """Since 1970, as the protocol counts time."""
    return int(moment.timestamp() * 1000)


def build_owner() -> dict[str, Any]:
    """Who all skills are of."""
    return {"handle": OWNER, "displayName": "Capability Studio", "image": None}


def require_skill(visitor: ReaderContext, slug: str, given: Mapping[str, Any]) -> SnapshotEntry:
    """The skill with this slug, of the owner that `ownerHandle` names. Raises `NotFound`."""
    owner = parameters.string(given, "ownerHandle", most=200).lstrip("@").lower()
    is_ours = owner in ("", OWNER, owner_handle(visitor.caller))
    entry = visitor.entry(capability_id_of(slug)) if is_ours and is_ascii_skill_name(slug) else None
    if entry is None:
        raise NotFound(f"Skill not found: {f'@{owner}/' if owner else ''}{slug[:100]}")
    return entry


def get_slug(given: Mapping[str, Any]) -> str:
    """`slug` of a query. Raises `InvalidRequest`."""
    slug = parameters.string(given, "slug", most=200)
    if not slug:
        raise InvalidRequest("slug is missing")
    return slug


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
