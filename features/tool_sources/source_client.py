"""Reads documents and MCP servers at addresses that somebody has named, through the guarded client."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlsplit

from capability_client.evaluation.key_mask import KeyMask
from capability_kit.json_text import parse_json
from capability_rules.errors import SourceUnreadable
from features.tool_sources.readers.limits import BYTES_MAX, OPERATIONS_MAX
from registry.common.net.guarded_client import GuardedRequest, allowed_addresses, mask_query, parse_address
from registry.common.net.ip_policy import AddressNotAllowed

URL_LENGTH_MAX: Final = 1000
RESPONSE_SECONDS: Final = 30.0
USER_AGENT: Final = "Capability-Studio-Tools/1"
MCP_VERSION: Final = "2025-06-18"
_SETTING: Final = "IMPORT_ALLOWED_NETWORKS"
_FORM: Final = "An address is https://host/path, without a name and a password"
_PAGES_MAX: Final = 50


def check_url(url: str) -> str:
    """The address as it is stored. Raises `SourceUnreadable` for another form; where it leads is checked at each
    request."""
    parsed = parse_address(url, length_max=URL_LENGTH_MAX)
    if parsed is None or parsed.userinfo:
        raise SourceUnreadable(_FORM)
    return str(parsed.copy_with(fragment=None))


@contextmanager
def _without_secrets(url: str, header: tuple[str, str] | None = None) -> Iterator[None]:
    """Take the values of the query and of the header out of errors, also where the host repeats them."""
    try:
        yield
    except SourceUnreadable as error:
        text = mask_query(error.message)
        for value in (header[1] if header else "", *re.split("[&=]", urlsplit(url).query)):
            text = KeyMask(value).in_text(text)
        raise SourceUnreadable(text) from None


def fetch_document(url: str) -> bytes:
    """What is at the address. Raises `SourceUnreadable` with the reason; no redirect is followed."""
    accept = "application/json, application/yaml, application/vnd.oai.openapi, text/plain, */*;q=0.1"
    with _without_secrets(url):
        return _Peer(url).request("GET", {"Accept": accept})


def list_mcp_tools(url: str, header: tuple[str, str] | None = None) -> bytes:
    """The tools of an MCP server (Streamable HTTP), as the JSON of a `tools/list` result with all its pages.

    Raises `SourceUnreadable`.
    """
    with _without_secrets(url, header):
        session = _McpSession(_Peer(url, dict([header]) if header else {}))
        session.begin()
        return json.dumps({"tools": list(session.list_tools())}).encode()


@dataclass
class _Peer:
    """A host that is asked: its name is resolved once, and every request goes to that very address."""

    url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    answered: dict[str, str] = field(default_factory=dict)
    until: float = field(default_factory=lambda: time.monotonic() + RESPONSE_SECONDS)

    def request(self, method: str, headers: Mapping[str, str], body: bytes = b"") -> bytes:
        """The body of a successful response. Raises `SourceUnreadable`."""
        try:
            addresses = allowed_addresses(self.url, _SETTING, self.until - time.monotonic())
        except AddressNotAllowed as error:
            raise SourceUnreadable(str(error)) from None
        sent = {"User-Agent": USER_AGENT, **headers, **self.headers}
        request = GuardedRequest(method, self.url, sent, BYTES_MAX + 1, body)
        request.send_or_explain(addresses, RESPONSE_SECONDS, until=self.until, place=self.url)
        self.answered = request.answered
        return self._checked(request)

    def _checked(self, request: GuardedRequest) -> bytes:
        status = request.status or 0
        if 300 <= status < 400:
            to = request.answered.get("location", "")[:200]
            raise SourceUnreadable(f"{self.url} redirects to {to!r}: name that address if you trust it")
        if not 200 <= status < 300:
            raise SourceUnreadable(f"{self.url} answered with status {status}")
        if len(request.received) > BYTES_MAX:
            raise SourceUnreadable(f"{self.url} has more than {BYTES_MAX:,} bytes")
        return bytes(request.received)


class _McpSession:
    """Requests of one session, of which each answer is JSON or a stream of events with JSON."""

    def __init__(self, peer: _Peer) -> None:
        self._peer = peer
        self._number = 0
        self._session: dict[str, str] = {}

    def begin(self) -> None:
        """Agree on the version, and say that this is done."""
        client = {"name": "capability-studio", "version": "1"}
        params = {"protocolVersion": MCP_VERSION, "capabilities": {}, "clientInfo": client}
        result = self._call("initialize", params)
        version = result.get("protocolVersion")
        self._session = {"MCP-Protocol-Version": version if isinstance(version, str) else MCP_VERSION}
        if session := self._peer.answered.get("mcp-session-id"):
            self._session["Mcp-Session-Id"] = session
        self._post({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def list_tools(self) -> Iterator[Any]:
        """Every tool, page after page. Raises `SourceUnreadable` where there is no end of them."""
        params: dict[str, Any] = {}
        count = 0
        for _ in range(_PAGES_MAX):
            result = self._call("tools/list", params)
            tools = result.get("tools")
            if not isinstance(tools, list):
                raise SourceUnreadable(f"{self._peer.url} has no list of tools")
            count += len(tools)
            if count > OPERATIONS_MAX:
                break
            yield from tools
            if not result.get("nextCursor"):
                return
            params = {"cursor": result["nextCursor"]}
        raise SourceUnreadable(
            f"{self._peer.url} has more than {OPERATIONS_MAX:,} tools, or more than {_PAGES_MAX} pages"
        )

    def _call(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self._number += 1
        body = self._post({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        for message in _messages(body):
            if message.get("id") == self._number:
                return self._result_of(message)
        raise SourceUnreadable(f"{self._peer.url} does not answer {method} as an MCP server does")

    def _result_of(self, message: dict[str, Any]) -> dict[str, Any]:
        error = message.get("error")
        if isinstance(error, dict):
            raise SourceUnreadable(f"{self._peer.url} refused: {str(error.get('message'))[:200]}")
        result = message.get("result")
        return result if isinstance(result, dict) else {}

    def _post(self, message: dict[str, Any]) -> bytes:
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        return self._peer.request("POST", headers | self._session, json.dumps(message).encode())


def _messages(body: bytes) -> Iterator[dict[str, Any]]:
    """The JSON objects of an answer: the body, or the data of each event of a stream."""
    text = body.decode("utf-8", "replace").replace("\r\n", "\n")
    value = parse_json(text)
    found = value if isinstance(value, list) else [value]
    if value is None:
        events = text.split("\n\n")
        lines = ([line[5:].strip() for line in event.split("\n") if line.startswith("data:")] for event in events)
        found = [parse_json("\n".join(one)) for one in lines]
    yield from (one for one in found if isinstance(one, dict))
