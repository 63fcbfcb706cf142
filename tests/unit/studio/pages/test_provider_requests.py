"""An identity provider that answers without an end, or compressed, fills no memory."""

from __future__ import annotations

import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
import requests

from studio.pages.provider_requests import RESPONSE_BYTES_MAX
from studio.pages.sign_in_adapters import IdentityProviderAdapter


@contextmanager
def _provider(body: bytes, **headers: str) -> Iterator[tuple[str, list[int]]]:
    """A provider with this answer: its address, and how many bytes of each answer it could send."""
    sent: list[int] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            sent.append(0)
            self.send_response(200)
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.end_headers()
            try:
                for at in range(0, len(body), 65_536):
                    sent[-1] += self.wfile.write(body[at : at + 65_536])
            except OSError:
                pass

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/", sent
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _get(address: str) -> requests.Response:
    with IdentityProviderAdapter().get_requests_session() as session:
        found: requests.Response = session.get(address)
        return found


def test_an_answer_is_read() -> None:
    with _provider(b'{"issuer": "x"}', Content_Length="15") as (address, _):
        assert _get(address).json() == {"issuer": "x"}
    with _provider(b"") as (address, _):
        assert _get(address).content == b""


def test_a_longer_answer_is_refused_and_not_read_to_its_end() -> None:
    body = bytes(64 * RESPONSE_BYTES_MAX)
    with (
        _provider(body) as (address, sent),
        pytest.raises(requests.RequestException, match="more than 1,048,576 bytes"),
    ):
        _get(address)
    assert sent[0] < len(body)


def test_a_compressed_answer_is_refused() -> None:
    packed = zlib.compress(bytes(64 * RESPONSE_BYTES_MAX))
    with (
        _provider(packed, Content_Encoding="deflate") as (address, _),
        pytest.raises(requests.RequestException, match="is compressed"),
    ):
        _get(address)
