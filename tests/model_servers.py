"""A model's server on loopback, as strict as the vendor: `tests/vendors.py` behind HTTP, with faults on demand."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final, Literal

from tests.vendor_streams import STREAM_TYPE, anthropic_event, openai_event
from tests.vendors import Reply, StrictVendor, Vendor

PATHS = {"openai": "/v1/chat/completions", "anthropic": "/v1/messages"}
# In place of an answer, or before it.
Fault = Literal[
    "busy",
    "half",
    "odd",
    "redirect",
    "endless",
    "silent",
    "slow",
    # JSON in one piece all the same; a server that does not know the option of a stream.
    "plain",
    "no_options",
    # A stream that is closed in the middle; that ends there as if that were all; without an event; with one that is
    # not in the vendor's form.
    "cut_off",
    "cut_short",
    "empty",
    "odd_event",
    # An error in the middle, by which a vendor is busy, or refuses; words for ever, or comments.
    "busy_event",
    "error_event",
    "endless_words",
    "endless_comments",
    # Forms that a stream may have.
    "crlf",
    "cr",
    "comments",
    "byte_by_byte",
    "several_lines",
    "no_done",
]
# What these do to a whole stream.
_FORMS: Final[dict[str, Callable[[bytes], bytes]]] = {
    "crlf": lambda whole: whole.replace(b"\n", b"\r\n"),
    "cr": lambda whole: whole.replace(b"\n", b"\r"),
    "comments": lambda whole: whole.replace(b"\n\n", b"\n\n: keep-alive\n\n").replace(b"data:", b":\ndata:", 1),
    "several_lines": lambda whole: whole.replace(b"data: {", b"data: {\ndata:"),
    "no_done": lambda whole: whole.replace(b"data: [DONE]\n\n", b""),
    "byte_by_byte": lambda whole: whole,
}


@dataclass
class ModelServer:
    """`faults` are for the next requests, one each; `bodies` and `headers` are of what came.

    `before_event` is called before each event of a stream; `hung_up` is set where one was closed at the other end.
    """

    url: str
    vendor: StrictVendor
    names: tuple[str, ...] = ("small",)
    faults: list[Fault] = field(default_factory=list)
    bodies: list[Any] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    before_event: Callable[[], object] = lambda: None
    hung_up: threading.Event = field(default_factory=threading.Event)


class _Handler(BaseHTTPRequestHandler):
    # Streams are chunked: one that is cut off lacks the last chunk, and so differs from one that has ended.
    protocol_version = "HTTP/1.1"
    found: ModelServer
    kind: Vendor

    def do_GET(self) -> None:
        """Which models there are, as both vendors say it."""
        models = [{"id": name, "object": "model"} for name in self.found.names]
        self._send(200 if self.path.endswith("/models") else 404, json.dumps({"data": models}).encode())

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.found.headers.append({name.lower(): value for name, value in self.headers.items()})
        self.found.bodies.append(body)
        fault = self.found.faults.pop(0) if self.found.faults else None
        if self.path != PATHS[self.kind]:
            self._send(404, b"{}")
        elif fault == "slow":
            # A model that reads its prompt says nothing for a while.
            time.sleep(1)
            self._answer(body, None)
        elif fault in _WHOLE:
            self._fail(fault)
        else:
            self._answer(body, fault)

    def _answer(self, body: Any, fault: Fault | None) -> None:
        if fault == "no_options" and "stream_options" in body:
            self._send(400, b'{"error": {"message": "Unrecognized request argument supplied: stream_options"}}')
            return
        if fault == "plain":
            body = {name: value for name, value in body.items() if name not in ("stream", "stream_options")}
        answer = self.found.vendor.post(f"http://x{self.path}", json=body, headers={}, timeout=5)
        if answer.headers["content-type"] == STREAM_TYPE:
            self._stream(answer.content, fault)
        else:
            self._send(answer.status_code, answer.content)

    def end_headers(self) -> None:
        self.send_header("Connection", "close")
        super().end_headers()

    def _send(self, status: int, content: bytes, *, length: int | None = None, **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content) if length is None else length))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(content)

    def _fail(self, fault: Fault | None) -> None:
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
            self._write(self.wfile.write, iter(lambda: b" " * 65536, b""))
        else:
            time.sleep(5)

    def _stream(self, whole: bytes, fault: Fault | None) -> None:
        self.send_response(200)
        self.send_header("Content-Type", STREAM_TYPE)
        self.send_header("Cache-Control", "no-cache")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        if self._write(self._chunk, _with_fault(whole, fault, self.kind)) and fault != "cut_off":
            self._write(self.wfile.write, [b"0\r\n\r\n"])

    def _chunk(self, part: bytes) -> None:
        self.found.before_event()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))

    def _write(self, write: Callable[[bytes], object], parts: Iterable[bytes]) -> bool:
        """Whether the other end took all of it."""
        try:
            for part in parts:
                write(part)
        except OSError:
            self.found.hung_up.set()
            return False
        return True

    def log_message(self, *_arguments: Any) -> None:
        pass


_WHOLE: Final = ("busy", "half", "odd", "redirect", "endless", "silent")


def _events(whole: bytes) -> list[bytes]:
    return [event + b"\n\n" for event in whole.split(b"\n\n")[:-1]]


def _with_fault(whole: bytes, fault: Fault | None, vendor: Vendor) -> Iterator[bytes]:
    """The parts of a stream, with what goes wrong in its middle."""
    if fault in _FORMS:
        changed = _FORMS[fault](whole)
        yield from (bytes((byte,)) for byte in changed) if fault == "byte_by_byte" else (changed,)
        return
    events = _events(whole)
    if fault is None:
        yield from events
        return
    if fault != "empty":
        # A vendor's stream is at least head, words or a call, and end.
        yield from events[: len(events) // 2]
    yield from _middle(fault, vendor)


def _middle(fault: Fault, vendor: Vendor) -> Iterator[bytes]:
    if fault in ("cut_off", "cut_short", "empty"):
        return
    if fault == "odd_event":
        yield b'data: {"choices": [7], "type": "content_block_delta"}\n\n'
    elif fault in ("busy_event", "error_event"):
        yield _error(vendor, is_busy=fault == "busy_event")
    elif fault == "endless_comments":
        while True:
            time.sleep(0.01)
            yield b": keep-alive\n\n"
    else:
        delta = {"type": "text_delta", "text": "for ever " * 500}
        more = anthropic_event("content_block_delta", index=0, delta=delta)
        if vendor == "openai":
            more = openai_event({"choices": [{"index": 0, "delta": {"content": delta["text"]}, "finish_reason": None}]})
        yield from iter(lambda: more, b"")


def _error(vendor: Vendor, *, is_busy: bool) -> bytes:
    if vendor == "openai":
        kind = "server_error" if is_busy else "invalid_request_error"
        return openai_event({"error": {"message": "It went wrong", "type": kind, "param": None, "code": None}})
    kind = "overloaded_error" if is_busy else "invalid_request_error"
    return anthropic_event("error", error={"type": kind, "message": "It went wrong"})


@contextmanager
def model_server(vendor: Vendor, reply: Callable[[Any], Reply]) -> Iterator[ModelServer]:
    """Serve until the end of the block."""
    found = ModelServer("", StrictVendor(vendor, reply))
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"found": found, "kind": vendor}))
    found.url = f"http://127.0.0.1:{server.server_address[1]}" + ("/v1" if vendor == "openai" else "")
    thread = threading.Thread(target=server.serve_forever, args=[0.02], daemon=True)
    thread.start()
    try:
        yield found
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
