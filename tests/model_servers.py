"""A model's server on loopback, as strict as the vendor: `tests/vendors.py` behind HTTP, with faults on demand."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

import httpx2

from tests.vendors import Reply, StrictVendor, Vendor

PATHS = {"openai": "/v1/chat/completions", "anthropic": "/v1/messages"}
Fault = Literal["busy", "half", "endless", "silent", "redirect", "odd", "slow"]


@dataclass
class ModelServer:
    """`faults` are for the next requests, one each; `bodies` and `headers` are of what came."""

    url: str
    vendor: StrictVendor
    faults: list[Fault] = field(default_factory=list)
    bodies: list[Any] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)


class _Handler(BaseHTTPRequestHandler):
    found: ModelServer
    kind: Vendor

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.found.headers.append({name.lower(): value for name, value in self.headers.items()})
        self.found.bodies.append(json.loads(body))
        if self.path != PATHS[self.kind]:
            self._send(404, b"{}")
        elif self.found.faults and self.found.faults[0] != "slow":
            self._fail(self.found.faults.pop(0))
        else:
            if self.found.faults:
                # A model that reads its prompt says nothing for a while.
                self.found.faults.pop(0)
                time.sleep(1)
            answer = self.found.vendor.post(f"http://x{self.path}", json=json.loads(body), headers={}, timeout=5)
            self._send(answer.status_code, _with_usage(answer, self.kind))

    def _send(self, status: int, content: bytes, *, length: int | None = None, **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(content) if length is None else length))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(content)

    def _fail(self, fault: Fault) -> None:
        if fault == "busy":
            self._send(429, b'{"error": {"message": "slow down"}}', Retry_After="0")
        elif fault == "half":
            self._send(200, b'{"choices": [{"message": {"content": "Hel')
        elif fault == "odd":
            self._send(200, b'{"choices": "none"}')
        elif fault == "redirect":
            self._send(307, b"", Location="http://127.0.0.1:1/")
        elif fault == "endless":
            self.send_response(200)
            self.end_headers()
            self._flood()
        else:
            time.sleep(5)

    def _flood(self) -> None:
        try:
            while True:
                self.wfile.write(b" " * 65536)
        except OSError:
            self.close_connection = True

    def log_message(self, *_arguments: Any) -> None:
        pass


@contextmanager
def model_server(vendor: Vendor, reply: Callable[[Any], Reply]) -> Iterator[ModelServer]:
    """Serve until the end of the block."""
    found = ModelServer("", StrictVendor(vendor, reply))
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"found": found, "kind": vendor}))
    found.url = f"http://127.0.0.1:{server.server_address[1]}" + ("/v1" if vendor == "openai" else "")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield found
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _with_usage(answer: httpx2.Response, vendor: Vendor) -> bytes:
    document = answer.json()
    if answer.status_code == 200:
        openai, anthropic = {"prompt_tokens": 100, "completion_tokens": 7}, {"input_tokens": 100, "output_tokens": 7}
        document["usage"] = openai if vendor == "openai" else anthropic
    return json.dumps(document).encode()
