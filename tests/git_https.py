"""A git repository behind https on loopback, as tests of git sources need it."""

from __future__ import annotations

import base64
import os
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest


def git(folder: Path, *arguments: str) -> str:
    """Run git there; what it printed."""
    environment = os.environ | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    for role in ("AUTHOR", "COMMITTER"):
        environment |= {f"GIT_{role}_NAME": "x", f"GIT_{role}_EMAIL": "x@x.example"}
    done = subprocess.run(["git", *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=True)
    return done.stdout


def commit(folder: Path, files: dict[str, str]) -> None:
    """Write these files and commit all that is there."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "x")


class Backend(BaseHTTPRequestHandler):
    """`git http-backend` as a CGI program."""

    root = ""
    # `NAME:SECRET` of Basic authentication; empty where none is asked for.
    login = ""
    # Where every request is led on to; empty for nowhere.
    leads_to = ""
    # The headers `Authorization` that came, in their order.
    heard: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def _refused(self) -> bool:
        given = self.headers.get("Authorization", "")
        self.heard.append(given)
        expected = f"Basic {base64.b64encode(self.login.encode()).decode()}"
        if self.leads_to:
            self.send_response(302)
            self.send_header("Location", f"{self.leads_to}{self.path}")
        elif self.login and given != expected:
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="git"')
        else:
            return False
        self.send_header("Content-Length", "0")
        self.end_headers()
        return True

    def _answer(self) -> None:
        if self._refused():
            return
        path, _, query = self.path.partition("?")
        environment = {
            "PATH": os.environ["PATH"], "GIT_PROJECT_ROOT": self.root, "GIT_HTTP_EXPORT_ALL": "1", "PATH_INFO": path,
            "QUERY_STRING": query, "REQUEST_METHOD": self.command, "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*",
        }  # fmt: skip
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        done = subprocess.run(["git", "http-backend"], input=body, env=environment, capture_output=True, check=True)
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
        self.send_response(int(headers.pop("Status", "200")[:3]))
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        pass


def make_certificate(folder: Path) -> tuple[Path, Path]:
    """A certificate for 127.0.0.1, and its key. Skips where there is no openssl."""
    cert, key = folder / "cert.pem", folder / "key.pem"
    command = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
        "-keyout",
    ]
    command += [str(key), "-out", str(cert), "-days", "2", "-subj", "/CN=x"]
    command += ["-addext", "subjectAltName=IP:127.0.0.1"]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except FileNotFoundError:
        pytest.skip("needs openssl: apt install openssl")
    return cert, key


@contextmanager
def served(
    repository: Path,
    certificate: tuple[Path, Path],
    *,
    login: str = "",
    leads_to: str = "",
    heard: list[str] | None = None,
) -> Iterator[str]:
    """The address of the repository, while the context lasts; `login`, `leads_to` and `heard` are as `Backend` has
    them."""
    given = {"login": login, "leads_to": leads_to, "heard": heard if heard is not None else []}
    handler = type("Handler", (Backend,), {"root": str(repository.parent), **given})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"https://127.0.0.1:{server.server_port}/{repository.name}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
