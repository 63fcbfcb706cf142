"""Messages, versions and refusals of the protocol.

Two eras share one address. The older begins with `initialize`; each later call may name its version in a header. The
newer has no handshake: every request names its version, its method and its target in headers and in `params._meta`.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final

from registry.snapshot import SnapshotEntry

MODERN: Final = "2026-07-28"
LEGACY: Final = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
VERSIONS: Final = (MODERN, *LEGACY)
META: Final = "io.modelcontextprotocol/"
# What a client of these sends may be several messages at once; without a header it is the newer one of them.
_WITH_BATCHES: Final = LEGACY[2:]
BATCH_MAX: Final = 50
PAGE: Final = 100

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
HEADER_MISMATCH: Final = -32020
VERSION_UNSUPPORTED: Final = -32022
# What `Mcp-Name` repeats of the parameters, by method.
_NAMED: Final = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


class McpError(Exception):
    """A JSON-RPC error with the HTTP status that goes with it."""

    def __init__(self, code: int, message: str, *, status: int = 200, data: Any = None) -> None:
        super().__init__(message)
        self.code, self.message, self.status, self.data = code, message, status, data

    def as_dict(self) -> dict[str, Any]:
        """The member `error` of a response."""
        more = {} if self.data is None else {"data": self.data}
        return {"code": self.code, "message": self.message, **more}


@dataclass(frozen=True, slots=True)
class McpCall:
    """One request; `id` is None for a notification, which never gets a response."""

    id: Any
    method: str
    params: dict[str, Any] = field(default_factory=dict)
    version: str = LEGACY[2]

    @property
    def is_modern(self) -> bool:
        return self.version == MODERN


def read_batch(body: list[Any], headers: Mapping[str, str]) -> list[Any]:
    """The messages of a batch, which the revisions until 2025-03-26 have. Raises `McpError`."""
    version = headers.get("MCP-Protocol-Version", "").strip()
    if version and version not in _WITH_BATCHES:
        words = f"The body must be one JSON-RPC 2.0 request: {version:.40} has no batches"
        raise McpError(INVALID_REQUEST, words, status=400)
    if not 1 <= len(body) <= BATCH_MAX:
        raise McpError(INVALID_REQUEST, f"A batch has 1 to {BATCH_MAX} messages", status=400)
    if any(isinstance(one, dict) and one.get("method") == "initialize" for one in body):
        raise McpError(INVALID_REQUEST, "initialize is a message of its own, outside of a batch", status=400)
    return body


def read_call(body: Any, headers: Mapping[str, str]) -> McpCall:
    """The request in a body, validated against its headers. Raises `McpError`."""
    if not isinstance(body, dict) or body.get("jsonrpc") != "2.0" or not isinstance(body.get("method"), str):
        raise McpError(INVALID_REQUEST, "The body must be a JSON-RPC 2.0 request", status=400)
    request_id = body.get("id")
    if isinstance(request_id, bool) or not isinstance(request_id, str | int | float | None):
        raise McpError(INVALID_REQUEST, "id must be a string or a number", status=400)
    # Null is the same as leaving it out: the parameters, and each of them.
    given = {} if body.get("params") is None else body["params"]
    if not isinstance(given, dict):
        raise McpError(INVALID_PARAMS, "params must be an object", status=400)
    params = {name: value for name, value in given.items() if value is not None}
    version = _version(body["method"], params, headers)
    call = McpCall(request_id, body["method"], params, version)
    if call.is_modern and "id" in body:
        _check_headers(call, headers)
    return call


def _version(method: str, params: Mapping[str, Any], headers: Mapping[str, str]) -> str:
    in_header = headers.get("MCP-Protocol-Version", "").strip()
    if method == "initialize" and in_header != MODERN:
        # What it asks for stands in its parameters, and an unknown version is answered with ours.
        return LEGACY[0]
    meta = params.get("_meta")
    in_body = meta.get(f"{META}protocolVersion") if isinstance(meta, dict) else None
    if in_body and in_header != in_body:
        raise McpError(HEADER_MISMATCH, "MCP-Protocol-Version and _meta name different versions", status=400)
    if in_header and in_header not in VERSIONS:
        data = {"supported": list(VERSIONS), "requested": in_header}
        raise McpError(VERSION_UNSUPPORTED, f"Unsupported protocol version: {in_header:.40}", status=400, data=data)
    if in_header == MODERN and not in_body:
        raise McpError(INVALID_PARAMS, f"params._meta lacks '{META}protocolVersion'", status=400)
    return in_header or LEGACY[2]


def _check_headers(call: McpCall, headers: Mapping[str, str]) -> None:
    meta = call.params.get("_meta")
    if not isinstance(meta, dict) or not isinstance(meta.get(f"{META}clientCapabilities"), dict):
        raise McpError(INVALID_PARAMS, f"params._meta lacks '{META}clientCapabilities'", status=400)
    if headers.get("Mcp-Method", "").strip() != call.method:
        raise McpError(HEADER_MISMATCH, "The header Mcp-Method is not the method of the body", status=400)
    named = _NAMED.get(call.method)
    if named is not None and _decoded(headers.get("Mcp-Name", "").strip()) != call.params.get(named):
        raise McpError(HEADER_MISMATCH, f"The header Mcp-Name is not the '{named}' of the body", status=400)


def _decoded(value: str) -> str:
    """A header's decoded value; characters that a header cannot contain are encoded as `=?base64?...?=`."""
    if not (value.startswith("=?base64?") and value.endswith("?=")):
        return value
    try:
        return base64.b64decode(value[9:-2], validate=True).decode("utf-8")
    except (binascii.Error, UnicodeDecodeError):
        raise McpError(HEADER_MISMATCH, "The header Mcp-Name is not base64", status=400) from None


def take_page(
    params: Mapping[str, Any], entries: Iterable[SnapshotEntry]
) -> tuple[list[SnapshotEntry], dict[str, Any]]:
    """A page of entries that are ordered by id, and the member `nextCursor` where there is more: the id that the page
    ends with. Raises `McpError`."""
    after = params.get("cursor", "")
    if not isinstance(after, str) or len(after) > 64:
        raise McpError(INVALID_PARAMS, "The cursor is not one of ours; begin again without it")
    taken = list(islice((entry for entry in entries if entry.capability_id > after), PAGE + 1))
    following = {"nextCursor": taken[PAGE - 1].capability_id} if len(taken) > PAGE else {}
    return taken[:PAGE], following


def get_string_param(params: Mapping[str, Any], name: str) -> str:
    """A required text. Raises `McpError`."""
    value = params.get(name)
    if not isinstance(value, str) or not value:
        raise McpError(INVALID_PARAMS, f"params.{name} must be a string")
    return value
