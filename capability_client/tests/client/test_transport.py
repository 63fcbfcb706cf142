"""The transport under the limits of a call: what it sends, and through a proxy."""

from __future__ import annotations

import base64
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from capability_client.client.messages import Request, Response
from capability_client.client.transport import AsyncWire, SyncWire
from tests.event_loop import run_async


class _Proxy(BaseHTTPRequestHandler):
    """Answers what it was asked, in place of forwarding it."""

    def do_GET(self) -> None:
        body = f"{self.path} {self.headers['Host']} {self.headers.get('Proxy-Authorization', '')}".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def proxy() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Proxy)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


CALL = Request("GET", "http://registry.example/api/v1/x?q=a%20b", {}, None, 5.0, 1000)
ANSWER = "http://registry.example/api/v1/x?q=a%20b registry.example "


@pytest.mark.parametrize("login", ["", "ada:secret@"])
def test_a_call_goes_through_the_proxy_that_was_named(proxy: str, login: str) -> None:
    wire = SyncWire(proxy=f"http://{login}{proxy}")
    found = [wire.send(CALL), wire.send(CALL)]
    wire.close()
    signed = f"Basic {base64.b64encode(b'ada:secret').decode()}" if login else ""
    assert [one.body.decode() for one in found if isinstance(one, Response)] == [ANSWER + signed] * 2


def test_an_asynchronous_call_goes_through_the_proxy_that_was_named(proxy: str) -> None:
    async def send() -> Response | object:
        wire = AsyncWire(proxy=f"http://{proxy}")
        found = await wire.send(CALL)
        await wire.close()
        return found

    found = run_async(send())
    assert isinstance(found, Response)
    assert found.body.decode() == ANSWER
