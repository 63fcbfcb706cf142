"""Documents and MCP servers at addresses, of a server in this process."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_network
from typing import Any, ClassVar

import pytest

from capability_rules.errors import SourceUnreadable
from features.tool_sources.source_client import fetch_document, list_mcp_tools

TOOL = {"name": "find", "description": "Finds", "inputSchema": {"type": "object"}}


class Handler(BaseHTTPRequestHandler):
    """`GET /doc` has a document; `POST /mcp` answers in JSON, `/sse` as a stream, each with two pages of tools."""

    seen: ClassVar[list[tuple[str, dict[str, str]]]] = []

    def do_GET(self) -> None:
        path, _, query = self.path.partition("?")
        if path == "/inside":
            self._send(302, b"", {"Location": f"http://169.254.169.254/latest{query and '?' + query}"})
        elif self.path == "/doc":
            self._send(200, b'{"openapi": "3.1.0"}', {})
        else:
            self._send(404, b"", {})

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.seen.append((message["method"], {name.lower(): value for name, value in self.headers.items()}))
        if "id" not in message:
            self._send(202, b"", {})
            return
        answer = {"jsonrpc": "2.0", "id": message["id"], **self._result(message["method"], message["params"])}
        body = json.dumps(answer).encode()
        body = b"event: message\ndata: " + body + b"\n\n" if self.path == "/sse" else body
        self._send(200, body, {"Mcp-Session-Id": "s1"})

    def _result(self, method: str, params: Any) -> dict[str, Any]:
        if self.path.startswith("/echo"):
            return {"error": {"code": 1, "message": f"Cannot use {self.path} with {self.headers['X-Key']}"}}
        if self.path == "/refuses":
            return {"error": {"code": -32001, "message": "sign in first"}}
        if method == "initialize":
            return {"result": {"protocolVersion": "2025-03-26", "capabilities": {"tools": {}}}}
        if self.path == "/endless":
            return {"result": {"tools": [TOOL], "nextCursor": "again"}}
        if "cursor" in params:
            return {"result": {"tools": [{**TOOL, "name": "second"}]}}
        return {"result": {"tools": [TOOL], "nextCursor": "2"}}

    def _send(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_arguments: Any) -> None:
        """Nothing on the terminal."""


@pytest.fixture
def address(settings: Any) -> Iterator[str]:
    settings.IMPORT_ALLOWED_NETWORKS = (ip_network("127.0.0.0/8"),)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    Handler.seen.clear()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def test_document_is_fetched(address: str) -> None:
    assert fetch_document(f"{address}/doc") == b'{"openapi": "3.1.0"}'


def test_document_that_is_not_there_says_the_status(address: str) -> None:
    with pytest.raises(SourceUnreadable, match="status 404"):
        fetch_document(f"{address}/gone")


def test_query_of_an_address_and_the_header_are_in_no_error(address: str) -> None:
    for path in ("/gone", "/inside", "/echo"):
        with pytest.raises(SourceUnreadable) as error:
            fetch_document(f"{address}{path}?api_key=s3cret-word")
        assert "s3cret" not in error.value.message
    with pytest.raises(SourceUnreadable) as error:
        list_mcp_tools(f"{address}/echo?api_key=s3cret-word", ("X-Key", "an0ther-word"))
    assert "Cannot use" in error.value.message
    assert not {"s3cret", "an0ther"} & set(error.value.message.replace("-", " ").split())


def test_redirect_is_named_and_not_followed(address: str) -> None:
    with pytest.raises(SourceUnreadable, match=r"redirects to 'http://169\.254\.169\.254/latest'"):
        fetch_document(f"{address}/inside")


@pytest.mark.parametrize("path", ["/mcp", "/sse"])
def test_tools_of_a_server_are_listed_page_after_page(address: str, path: str) -> None:
    tools = json.loads(list_mcp_tools(f"{address}{path}", ("Authorization", "Bearer k")))["tools"]
    assert [tool["name"] for tool in tools] == ["find", "second"]
    assert [method for method, _ in Handler.seen] == [
        "initialize", "notifications/initialized", "tools/list", "tools/list",
    ]  # fmt: skip
    assert {headers["authorization"] for _, headers in Handler.seen} == {"Bearer k"}
    sessions = [headers.get("mcp-session-id") for _, headers in Handler.seen]
    assert sessions == [None, "s1", "s1", "s1"]
    assert Handler.seen[-1][1]["mcp-protocol-version"] == "2025-03-26"


def test_server_that_refuses_is_quoted(address: str) -> None:
    with pytest.raises(SourceUnreadable, match="refused: sign in first"):
        list_mcp_tools(f"{address}/refuses")


def test_server_without_an_end_is_refused(address: str) -> None:
    with pytest.raises(SourceUnreadable, match="more than 50 pages"):
        list_mcp_tools(f"{address}/endless")
