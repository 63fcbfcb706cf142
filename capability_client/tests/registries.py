"""Registries on a real socket for the client's tests: one that answers from a table, and one that plays foul."""

from __future__ import annotations

import json
import socket
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from capability_kit.bundles.bundle import Bundle
from capability_kit.bundles.digest import bundle_digest
from tests.servers import ROOT

Json = dict[str, Any]
_ENDED: deque[socket.socket] = deque()


@dataclass
class Asked:
    """A request as the server saw it. Header names in lower case."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: Any


@dataclass
class Given:
    """An answer: a JSON document, or raw bytes."""

    status: int = 200
    document: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    raw: bytes | None = None


@dataclass
class FakeRegistry:
    """`answers` maps an operation to what it answers: a Given, a list of them in turn, or a function of the request."""

    url: str
    answers: dict[str, Any] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)

    def answer(self, request: Asked) -> Given:
        found = self.answers.get(request.path.rpartition("/")[2])
        if isinstance(found, list):
            found = found.pop(0) if len(found) > 1 else found[0]
        if callable(found):
            found = found(request)
        return found if isinstance(found, Given) else Given(404, {"error": {"code": "NOT_FOUND", "message": "Nothing"}})


@contextmanager
def fake_registry(**answers: Any) -> Iterator[FakeRegistry]:
    """A registry on a free port of this machine. When it has ended, its port refuses connections."""
    fake = FakeRegistry("", answers)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            raw = self.rfile.read(length)
            parts = urlsplit(self.path)
            headers = {name.lower(): value for name, value in self.headers.items()}
            body = json.loads(raw) if raw else None
            request = Asked(self.command, parts.path, dict(parse_qsl(parts.query)), headers, body)
            fake.asked.append(request)
            given = fake.answer(request)
            content = given.raw if given.raw is not None else json.dumps(given.document).encode()
            self.send_response(given.status)
            for name, value in {"Content-Type": "application/json", **given.headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if given.status != 304:
                self.wfile.write(content)

        do_GET = do_POST = _answer  # noqa: N815 (their names are the base class's)

        def log_message(self, *args: Any) -> None:
            pass

    class Quiet(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *args: Any) -> None:
            pass

    server = Quiet(("127.0.0.1", 0), Handler)
    fake.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield fake
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
        _keep_closed(server.server_port)


def _keep_closed(port: int) -> None:
    """Tests of outages go on asking it, and the server of another test would answer them on a port that is free."""
    holder = socket.socket()
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    holder.bind(("127.0.0.1", port))
    _ENDED.append(holder)
    if len(_ENDED) > 50:
        _ENDED.popleft().close()


@contextmanager
def foul_registry(play: Callable[[socket.socket], None]) -> Iterator[str]:
    """A server that reads a request and then does as it pleases with the connection."""
    listener = socket.create_server(("127.0.0.1", 0))
    stopped = threading.Event()

    def serve() -> None:
        while not stopped.is_set():
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=_play, args=(connection,), daemon=True).start()

    def _play(connection: socket.socket) -> None:
        with connection:
            try:
                connection.recv(65536)
                play(connection)
            except OSError:
                pass

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        stopped.set()
        # accept() is woken by a connection, not by closing.
        socket.create_connection(listener.getsockname()).close()
        listener.close()
        thread.join()


def load_answer(capability_id: str = "weights", **changed: Any) -> Json:
    """A bundle as the registry answers it, its digest right. Keys of capability.json by `capability`."""
    capability = {
        "capability_id": capability_id,
        "name": capability_id.replace("_", " ").title(),
        "description": f"Everything about {capability_id}.",
        **changed.pop("capability", {}),
    }
    parts: Json = {
        "skill_doc": f"# {capability['name']}\n\nAnswer in one sentence.\n",
        "tools": [],
        "ui_schemas": [],
        "capability": capability,
    }
    parts |= {key: changed.pop(key) for key in tuple(parts) if key in changed}
    answer = {
        "capability_id": capability_id,
        "version": "latest",
        "revision": 1,
        "digest": bundle_digest(**parts),
        "status": "published",
        "replaced_by": None,
        **parts,
    }
    return answer | changed


def bundle(capability_id: str = "weights", **changed: Any) -> Bundle:
    """The same, read."""
    return Bundle.from_answer(load_answer(capability_id, **changed))


def example(name: str) -> Bundle:
    """One of the examples, as the registry would answer it."""
    folder = ROOT / "examples" / name
    capability = json.loads((folder / "capability.json").read_text("utf-8"))
    capability.pop("utterances", None)
    read = {
        part: json.loads((folder / f"{part}.json").read_text("utf-8")) if (folder / f"{part}.json").exists() else []
        for part in ("tools", "ui_schemas")
    }
    skill_doc = (folder / "skill.md").read_text("utf-8")
    return Bundle.from_answer(load_answer(name, skill_doc=skill_doc, **read) | _digested(capability, skill_doc, read))


def _digested(capability: Json, skill_doc: str, read: Json) -> Json:
    return {"capability": capability, "digest": bundle_digest(capability=capability, skill_doc=skill_doc, **read)}


def examples() -> list[Bundle]:
    """All of them."""
    return [example(folder.name) for folder in sorted((ROOT / "examples").iterdir())]


def entry(capability_id: str, **more: Any) -> Json:
    """One line of the list."""
    return {
        "capability_id": capability_id,
        "name": capability_id.replace("_", " ").title(),
        "description": f"Everything about {capability_id}.",
        "intent_triggers": [capability_id],
        **more,
    }


def listing(*ids: str, cursor: str | None = None, revision: int = 1) -> Json:
    """One page of the list."""
    return {"capabilities": [entry(each) for each in ids], "registry_revision": revision, "next_cursor": cursor}
