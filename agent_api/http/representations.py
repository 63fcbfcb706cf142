"""Rendered bytes as HTTP: content coding, conditional requests and the caching rules of docs/contract.md 4."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from django.http import HttpRequest, HttpResponse

from agent_api.http.authentication import Caller
from registry.snapshot import is_stale
from registry.snapshot.response_cache import COMPRESS_FROM_BYTES, RenderedResponse

_CODINGS: Final = ("zstd", "gzip")
_ENTITY_TAG: Final = re.compile(r'(?:W/)?"([^"]*)"')
# What servers and proxies append to tell the forms of one answer apart: -gzip, --gzip, ;br ...
_SUFFIX: Final = re.compile(r"[-;:+.].{0,30}$")


def respond(
    request: HttpRequest, caller: Caller, rendered: RenderedResponse, *, content_type: str = "application/json"
) -> HttpResponse:
    """200 in the best encoding that the client accepts, or 304 if it has the bytes already."""
    if_none_match = request.headers.get("If-None-Match", "") if request.method in ("GET", "HEAD") else ""
    known, coding = response_form(rendered, request.headers.get("Accept-Encoding", ""), if_none_match)
    if known:
        response = HttpResponse(status=304)
        del response["Content-Type"]
    else:
        response = HttpResponse(rendered.encoded(coding), content_type=content_type)
        if coding:
            response["Content-Encoding"] = coding
    response["ETag"] = entity_tag(rendered, coding)
    response["Cache-Control"] = "public, max-age=0, must-revalidate" if caller.is_public else "private, no-cache"
    response["Vary"] = "Authorization, Accept-Encoding"
    if is_stale():
        response["Warning"] = '110 - "Response is Stale"'
    return response


def response_form(rendered: RenderedResponse, accept_encoding: str, if_none_match: str) -> tuple[bool, str]:
    """Whether the client has the bytes already, and the content coding of the form that it gets."""
    known = bool(if_none_match) and is_known(if_none_match, rendered.etag)
    return known, choose_coding(accept_encoding, len(rendered.identity))


def entity_tag(rendered: RenderedResponse, coding: str) -> str:
    """A strong ETag; each form has its own."""
    return f'"{rendered.etag}-{coding}"' if coding else f'"{rendered.etag}"'


def choose_coding(accept_encoding: str, size_bytes: int) -> str:
    """`zstd` or `gzip` if the client accepts it and it saves bytes, else `` for identity."""
    return "" if size_bytes < COMPRESS_FROM_BYTES or not accept_encoding else _preferred(accept_encoding)


@lru_cache(maxsize=1024)
def _preferred(accept_encoding: str) -> str:
    qualities = _qualities(accept_encoding)
    offered = [(qualities.get(coding, qualities.get("*", 0.0)), coding) for coding in _CODINGS]
    best, coding = max(offered, key=lambda pair: pair[0])
    return coding if best > 0 and best >= qualities.get("identity", 0.0) else ""


def _qualities(accept_encoding: str) -> dict[str, float]:
    qualities: dict[str, float] = {}
    for part in accept_encoding[:1000].lower().split(","):
        name, _, parameters = part.strip().partition(";")
        quality = 1.0
        if parameters.strip().startswith("q="):
            try:
                quality = float(parameters.strip()[2:])
            except ValueError:
                quality = 0.0
        qualities[name.strip()] = quality
    return qualities


def is_known(if_none_match: str, etag: str) -> bool:
    """Whether the client names this entity tag, in any of its forms."""
    if not if_none_match:
        return False
    if if_none_match.strip() == "*":
        return True
    return any(_SUFFIX.sub("", tag) == etag for tag in _ENTITY_TAG.findall(if_none_match[:10_000]))
