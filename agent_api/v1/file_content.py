"""`capability_file_content`: the bytes of one supporting file, whole or a part (docs/contract.md 4)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import orjson
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase

from agent_api.http.authentication import Caller
from agent_api.http.representations import is_known
from agent_api.v1.skill_load import file_response
from registry.core.file_contents import read_range
from registry.snapshot import Snapshot

# One range; what asks for several gets the whole, as RFC 9110 14.2 allows.
_RANGE: Final = re.compile(r"bytes=(\d{0,15})-(\d{0,15})")
# Whatever the file is, no browser shows it as a page of this registry.
_HEADERS: Final = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Accept-Ranges": "bytes",
    "Vary": "Authorization",
}


def content_response(
    request: HttpRequest, snapshot: Snapshot, caller: Caller, values: Mapping[str, Any]
) -> HttpResponseBase:
    """The bytes of the file of `{"capability_id", "path", "digest"?, "revision"?}`; 206 for a range, 304 for bytes that
    the client has. Raises what `file_response` raises."""
    told = orjson.loads(file_response(snapshot, caller, values).identity)
    etag, size, name = told["digest"].removeprefix("sha256:"), told["size"], told["path"].rpartition("/")[2]
    response: HttpResponseBase
    if is_known(request.headers.get("If-None-Match", ""), etag):
        response = HttpResponse(status=304)
        del response["Content-Type"]
    else:
        # A part of other bytes than those that the client has would not fit.
        asked = request.headers.get("Range", "")
        is_same = request.headers.get("If-Range", f'"{etag}"') == f'"{etag}"'
        response = _answer(told, _parse_range(asked, size) if is_same else None)
        response["Content-Disposition"] = f'attachment; filename="{name}"'
    for key, value in _HEADERS.items():
        response[key] = value
    response["ETag"] = f'"{etag}"'
    response["Cache-Control"] = "public, max-age=0, must-revalidate" if caller.is_public else "private, no-cache"
    return response


def _answer(told: Mapping[str, Any], asked: tuple[int, int] | None) -> HttpResponseBase:
    size = told["size"]
    start, end = asked or (0, size)
    response = StreamingHttpResponse(
        _parts(told, start, end),
        status=206 if asked else 200,
        content_type=told.get("type", "text/plain; charset=utf-8"),
        headers={"Content-Length": str(end - start)},
    )
    if asked:
        response["Content-Range"] = f"bytes {start}-{end - 1}/{size}"
    return response


def _parts(told: Mapping[str, Any], start: int, end: int) -> Iterator[bytes]:
    if "text" in told:
        return iter([told["text"].encode("utf-8")[start:end]])
    return read_range(told["digest"], start, end)


def _parse_range(asked: str, size: int) -> tuple[int, int] | None:
    """From where to before where; None for the whole, which is what a range means that cannot be read, or that begins
    behind the end: RFC 9110 14.2 lets a server pass over any."""
    match = _RANGE.fullmatch(asked.strip()) if len(asked) < 100 else None
    if match is None or match[0] == "bytes=-":
        return None
    first = int(match[1]) if match[1] else max(0, size - int(match[2]))
    end = min(int(match[2]) + 1, size) if match[1] and match[2] else size
    return (first, end) if first < end else None
