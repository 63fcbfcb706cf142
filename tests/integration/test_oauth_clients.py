"""A person without a key signs in to the running product by the official SDKs' clients, by each way of registration."""

from __future__ import annotations

import json
import os
import re
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.git_https import make_certificate
from tests.integration.oauth_person import Person
from tests.npm import install as install_npm
from tests.pypi import install as install_python
from tests.servers import ROOT, Studio, free_port, start_studio

pytestmark = [pytest.mark.rare, pytest.mark.system]
PASSWORD = "Correct-horse-battery-9"
PACKAGES = (
    "@modelcontextprotocol/conformance@0.2.0-alpha.12",
    "@modelcontextprotocol/inspector@2.12.0",
    "@modelcontextprotocol/sdk@1.32.2",
    "oidc-provider@9.13.3",
)
CALLBACK = "http://127.0.0.1/callback"


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """The address of a client's metadata, and the certificate of its host."""
    certificate, key = make_certificate(tmp_path_factory.mktemp("certificate"))

    class DocumentHost(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            client_id = f"https://127.0.0.1:{self.server.server_port}{self.path}"  # type: ignore[attr-defined]
            said = {"client_id": client_id, "client_name": "Documented", "redirect_uris": [CALLBACK]}
            said |= {"application_type": "native", "token_endpoint_auth_method": "none"}
            said["grant_types"] = ["authorization_code", "refresh_token"]
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


def _start(folder: Path, port: int, certificate: Path, **variables: str) -> Studio:
    studio = start_studio(
        folder,
        PORT=str(port),
        PUBLIC_URL=f"http://127.0.0.1:{port}",
        AGENT_API_PUBLIC_READ="off",
        IMPORT_ALLOWED_NETWORKS="127.0.0.0/8",
        SSL_CERT_FILE=str(certificate),
        **variables,
    )
    studio.manage("operator", "create", "ada", "--role", "author", "--password-stdin", text=f"{PASSWORD}\n")
    return studio


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory, document: tuple[str, Path]) -> Iterator[Studio]:
    studio = _start(tmp_path_factory.mktemp("studio"), free_port(), document[1])
    yield studio
    studio.stop()


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install_python(tmp_path_factory.mktemp("sdk") / "venv", "mcp==2.3.0")


@pytest.fixture
def asked(request: pytest.FixtureRequest) -> tuple[Studio, str]:
    """The Studio, and the origin of the authorization server that its assistants are led to: its own, or another."""
    if request.param == "elsewhere":
        elsewhere: tuple[Studio, str] = request.getfixturevalue("elsewhere")
        return elsewhere
    studio: Studio = request.getfixturevalue("studio")
    return studio, studio.url


EACH_SERVER = pytest.mark.parametrize(
    "asked", ["here", pytest.param("elsewhere", marks=pytest.mark.node)], indirect=True
)
EACH_WAY = pytest.mark.parametrize("way", ["registration", "document"])


@EACH_SERVER
@EACH_WAY
def test_the_official_python_sdk_signs_a_person_in(
    asked: tuple[Studio, str], python: Path, document: tuple[str, Path], way: str
) -> None:
    studio, server = asked
    more = [document[0]] if way == "document" else []
    command = [str(python), str(Path(__file__).parent / "oauth_python_client.py"), studio.url, "ada", PASSWORD, *more]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout)
    assert found["needed"] == ["weights"]
    assert {"capability_feedback", "capability_propose"} <= set(found["tools"])
    assert (found["again"], found["renewed"]) == (False, True)
    assert found["asked"] or server != studio.url
    assert found["scope"] == "read feedback propose"
    form = found["form"]
    assert (form["form"], form["tool"], form["approved"]) == ("sent", "weight_entry_save_batch", True)
    assert form["arguments"]["entries"][0]["weight"] == 187.6
    assert (found["client_id"] == document[0]) == (way == "document")
    assert {"connection.create", "feedback.record"} <= set(_verbs_of_ada(studio))


@pytest.fixture(scope="module")
def npm(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Node, and the folder of the packages."""
    folder = tmp_path_factory.mktemp("npm")
    return install_npm(folder, *PACKAGES), folder


def _with_a_person(
    studio: Studio,
    *command: str | Path,
    cwd: Path,
    env: dict[str, str] | None = None,
    listens: bool = False,
    leads_to: str = "",
) -> str:
    """Run a program whose first line with a link of the authorization server is for a person; what it printed. Where
    it listens, their browser comes back to it."""
    printed: list[str] = []
    options: dict[str, Any] = {"cwd": cwd, "text": True, "env": os.environ | (env or {})}
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with subprocess.Popen([*map(str, command)], **options, **pipes) as program:
        for line in program.stdout or ():
            printed.append(line)
            link = re.search(rf"{leads_to or studio.url}/\S+client_id=\S+", line)
            if link is not None:
                back = Person(studio.url, "ada", PASSWORD).allow(link[0])
                if program.stdin is not None:
                    program.stdin.write(f"{back}\n")
                    program.stdin.flush()
                if listens:
                    httpx2.get(back)
    assert program.returncode == 0, "".join(printed)[-3000:]
    return "".join(printed)


@pytest.mark.node
@EACH_SERVER
@EACH_WAY
def test_the_official_typescript_sdk_signs_a_person_in(
    asked: tuple[Studio, str], npm: tuple[Path, Path], document: tuple[str, Path], way: str
) -> None:
    (studio, server), (node, folder) = asked, npm
    script = folder / "client.mjs"
    script.write_text((Path(__file__).parent / "oauth_typescript_client.mjs").read_text("utf-8"), "utf-8")
    more = [document[0]] if way == "document" else []
    printed = _with_a_person(studio, node, script, studio.url, *more, cwd=folder, leads_to=server)
    found = json.loads(printed.splitlines()[-1])
    assert found["needed"] == ["weights"]
    assert {"capability_feedback", "capability_propose"} <= set(found["tools"])
    assert (found["clientId"] == document[0]) == (way == "document")
    assert found["renewed"]


@pytest.mark.node
def test_the_authorization_server_by_the_conformance_suite(studio: Studio, npm: tuple[Path, Path]) -> None:
    node, folder = npm
    said = {"redirect_uris": ["http://127.0.0.1:3999/callback"]}
    client_id = httpx2.post(f"{studio.url}/oauth/register", json=said).json()["client_id"]
    program = folder / "node_modules/@modelcontextprotocol/conformance/dist/index.js"
    given = ["--url", studio.url, "--client-id", client_id, "--resource", f"{studio.url}/mcp", "--port", "3999"]
    printed = _with_a_person(studio, node, program, "authorization", *given, cwd=folder, listens=True)
    assert "Total: 3 passed, 0 failed" in printed


@pytest.mark.node
@pytest.mark.parametrize("era", ["legacy", "modern"])
@EACH_WAY
def test_the_inspector_signs_a_person_in(
    studio: Studio, npm: tuple[Path, Path], document: tuple[str, Path], tmp_path: Path, way: str, era: str
) -> None:
    node, folder = npm
    program = folder / "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"
    back = ["--callback-url", f"http://127.0.0.1:{free_port()}/callback"]
    more = ["--client-metadata-url", document[0]] if way == "document" else []
    to = ["--cli", f"{studio.url}/mcp", "--transport", "http", "--protocol-era", era, "--format", "json"]
    given = [*to, *back, *more]
    call = ["--method", "tools/call", "--tool-name", "capability_match"]
    asked = ["--tool-args-json", json.dumps({"message": "I just weighed 187.6 lbs"})]
    # It asks nobody without a terminal, but where it may open a browser.
    env = {"HOME": str(tmp_path), "MCP_AUTO_OPEN_ENABLED": "true", "MCP_INSPECTOR_SECRET_STORE": "file"}
    printed = _with_a_person(studio, node, program, *given, *call, *asked, cwd=folder, env=env, listens=True)
    assert "weights" in printed
    # Its token is kept, and nobody is asked again.
    again = subprocess.run(
        [str(node), str(program), *given, "--stored-auth-only", "--method", "tools/list"],
        cwd=folder, env=os.environ | env, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert "capability_propose" in again.stdout, again.stderr


@pytest.fixture(scope="module")
def elsewhere(
    tmp_path_factory: pytest.TempPathFactory, document: tuple[str, Path], npm: tuple[Path, Path]
) -> Iterator[tuple[Studio, str]]:
    """A Studio whose assistants sign in at another authorization server, and that server's address."""
    node, folder = npm
    port, issuer = free_port(), f"http://127.0.0.1:{free_port()}"
    script = folder / "server.mjs"
    script.write_text((Path(__file__).parent / "authorization_server.mjs").read_text("utf-8"), "utf-8")
    command = [str(node), str(script), issuer.rpartition(":")[2], f"http://127.0.0.1:{port}/mcp"]
    env = os.environ | {"NODE_EXTRA_CA_CERTS": str(document[1])}
    log = tmp_path_factory.mktemp("server") / "log"
    with log.open("w") as out:
        server = subprocess.Popen(command, cwd=folder, env=env, stdout=out, stderr=out)
    deadline = time.monotonic() + 60
    while "ready" not in log.read_text("utf-8"):
        assert server.poll() is None, log.read_text("utf-8")
        assert time.monotonic() < deadline, "the authorization server did not come up"
        time.sleep(0.1)
    variables = {"OAUTH_ISSUER": issuer, "OAUTH_DOMAINS": "example.com"}
    studio = _start(tmp_path_factory.mktemp("elsewhere"), port, document[1], **variables)
    _run_program(studio, "Operator.objects.filter(username='ada').update(email='ada@example.com')")
    yield studio, issuer
    studio.stop()
    server.terminate()
    server.wait(20)


def _verbs_of_ada(studio: Studio) -> list[str]:
    found = "json.dumps(list(AuditEvent.objects.filter(actor_name='ada').values_list('verb', flat=True)))"
    verbs: list[str] = json.loads(_run_program(studio, f"import json; print({found})"))
    return verbs


def _run_program(studio: Studio, program: str) -> str:
    """With the models at hand; the last line of what it prints."""
    done = studio.manage("shell", "-c", f"from registry.models import AuditEvent, Operator; {program}")
    return done.stdout.strip().rpartition("\n")[2]
