"""What every ClawHub address has in common: a key where one is sent, plain refusals, versions and slugs.

The client prints the body of a refusal as it is, so that it is a sentence and no JSON.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final

from django.http import HttpResponse, HttpResponseBase
from rest_framework.parsers import BaseParser
from rest_framework.response import Response

from agent_api.http import parameters
from agent_api.http.authentication import Caller
from agent_api.http.endpoint import EndpointView, endpoint
from agent_api.http.parsers import BoundedJSONParser
from agent_api.integrations.access import ReaderContext
from registry.agent_skills.names import capability_id_of, is_skill_name
from registry.common.errors import InvalidRequest, NotFound
from registry.snapshot import SnapshotEntry

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


def find_entry(visitor: ReaderContext, slug: str, given: Mapping[str, Any]) -> SnapshotEntry:
    """The skill with this slug, of the owner that `ownerHandle` names. Raises `NotFound`."""
    owner = parameters.string(given, "ownerHandle", most=200).lstrip("@").lower()
    is_ours = owner in ("", OWNER, owner_handle(visitor.caller))
    entry = visitor.entry(capability_id_of(slug)) if is_ours and is_skill_name(slug) else None
    if entry is None:
        raise NotFound(f"Skill not found: {f'@{owner}/' if owner else ''}{slug[:100]}")
    return entry


def get_slug(given: Mapping[str, Any]) -> str:
    """`slug` of a query. Raises `InvalidRequest`."""
    slug = parameters.string(given, "slug", most=200)
    if not slug:
        raise InvalidRequest("slug is missing")
    return slug
