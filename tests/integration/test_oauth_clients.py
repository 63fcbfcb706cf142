"""A person without a key signs in to the running product by the official SDKs' clients, by each way of registration."""

from __future__ import annotations

import json
import os
import ssl
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.git_https import make_certificate
from tests.pypi import install as install_python
from tests.servers import ROOT, Studio, free_port, start_studio

pytestmark = [pytest.mark.rare, pytest.mark.system]
PASSWORD = "Correct-horse-battery-9"
CALLBACK = "http://127.0.0.1/callback"


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """The address of a client's metadata, and the certificate of its host."""
    certificate, key = make_certificate(tmp_path_factory.mktemp("certificate"))

    class DocumentHost(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            client_id = f"https://127.0.0.1:{self.server.server_port}{self.path}"  # type: ignore[attr-defined]
            said = {"client_id": client_id, "client_name": "Documented", "redirect_uris": [CALLBACK]}
            body = json.dumps(said).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), DocumentHost)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"https://127.0.0.1:{server.server_port}/client.json", certificate
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory, document: tuple[str, Path]) -> Iterator[Studio]:
    port = str(free_port())
    studio = start_studio(
        tmp_path_factory.mktemp("studio"),
        PORT=port,
        PUBLIC_URL=f"http://127.0.0.1:{port}",
        AGENT_API_PUBLIC_READ="off",
        IMPORT_ALLOWED_NETWORKS="127.0.0.0/8",
        SSL_CERT_FILE=str(document[1]),
    )
    studio.manage("operator", "create", "ada", "--role", "author", "--password-stdin", text=f"{PASSWORD}\n")
    yield studio
    studio.stop()


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install_python(tmp_path_factory.mktemp("sdk") / "venv", "mcp==2.3.0")


@pytest.mark.parametrize("way", ["registration", "document"])
def test_the_official_python_sdk_signs_a_person_in(
    studio: Studio, python: Path, document: tuple[str, Path], way: str
) -> None:
    more = [document[0]] if way == "document" else []
    command = [str(python), str(Path(__file__).parent / "oauth_python_client.py"), studio.url, "ada", PASSWORD, *more]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout)
    assert found["needed"] == ["weights"]
    assert {"capability_feedback", "capability_propose"} <= set(found["tools"])
    assert (found["again"], found["renewed"], found["asked"]) == (False, True, True)
    assert found["scope"] == "read feedback propose"
    assert (found["client_id"] == document[0]) == (way == "document")
    assert {"connection.create", "feedback.record"} <= set(_verbs_of_ada(studio))


def _verbs_of_ada(studio: Studio) -> list[str]:
    program = (
        "import json; from registry.models import AuditEvent; "
        "print(json.dumps(list(AuditEvent.objects.filter(actor_name='ada').values_list('verb', flat=True))))"
    )
    verbs: list[str] = json.loads(studio.manage("shell", "-c", program).stdout.splitlines()[-1])
    return verbs
