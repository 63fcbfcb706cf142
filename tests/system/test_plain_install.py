"""What `python3 run.py` makes, and nothing more: each import is there, and the product reaches other hosts.

Everything else in this suite runs in a larger environment, with packages that users do not have.
"""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
import time
import tomllib
import urllib.request
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from tests.git_https import make_certificate
from tests.receivers import Receiver, say
from tests.servers import ROOT, Studio, start_studio
from tests.system.checkouts import Run, Tree, children_of, copy_tree

pytestmark = [pytest.mark.slow, pytest.mark.system]
LOOPBACK = "127.0.0.0/8"
DOCUMENT = json.dumps(
    {
        "openapi": "3.1.0",
        "info": {"title": "Pets", "version": "1"},
        "servers": [{"url": "https://pets.example.com"}],
        "paths": {
            "/pets": {
                "get": {"operationId": "list_pets", "summary": "List pets", "responses": {"200": {"description": "ok"}}}
            }
        },
    }
).encode()


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tree]:
    """A copy in which `run.py` has made the environment."""
    tree = copy_tree(tmp_path_factory.mktemp("plain") / "studio")
    yield tree
    tree.stop_all()


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return make_certificate(tmp_path_factory.mktemp("tls"))


@pytest.fixture(scope="module")
def run(plain: Tree, certificate: tuple[Path, Path]) -> Run:
    """The product with its worker."""
    run = plain.start(**_settings(certificate))
    run.await_answer()
    return run


def _settings(certificate: tuple[Path, Path]) -> dict[str, str]:
    """It may reach hosts of this machine, and trusts their certificate."""
    return {
        "WEBHOOK_ALLOWED_NETWORKS": LOOPBACK,
        "IMPORT_ALLOWED_NETWORKS": LOOPBACK,
        "SSL_CERT_FILE": str(certificate[0]),
    }


def _manage(plain: Tree, certificate: tuple[Path, Path], *arguments: str, text: str | None = None) -> str:
    done = subprocess.run(
        ["python3", "run.py", "manage", *arguments],
        cwd=plain.root,
        env={**plain.env, **_settings(certificate)},
        input=text,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _post_match(run: Run) -> None:
    body = json.dumps({"message": "I just weighed 187.6 lbs"}).encode()
    headers = {"Content-Type": "application/json"}
    asked = urllib.request.Request(f"{run.url}/api/v1/capability_match", body, headers)
    with urllib.request.urlopen(asked, timeout=60) as answer:
        assert json.loads(answer.read())["decision"] == "match"


PROGRAMS = ("studio.gateway", "granian", "worker", "capability_rules.validation.isolation.process")


def _thread_counts(run: Run) -> dict[str, int]:
    """How many threads the process of each program has that has most of them."""
    found: dict[str, int] = {}
    for pid in children_of(run.process.pid):
        with contextlib.suppress(OSError):
            words = Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ").split()
            threads = len(list(Path(f"/proc/{pid}/task").iterdir()))
            for program in set(PROGRAMS) & set(words):
                found[program] = max(found.get(program, 0), threads)
    return found


def _extras_not_installed() -> set[str]:
    """Names of modules of the extras that `requirements.lock` leaves out."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    named = {_name(requirement) for extra in ("oidc", "otel", "pictures") for requirement in extras[extra]}
    return {
        module
        for module, distributions in packages_distributions().items()
        if named & {_name(found) for found in distributions}
    }


def _name(requirement: str) -> str:
    return re.split(r"[^A-Za-z0-9._-]", requirement, maxsplit=1)[0].lower().replace("_", "-")


def test_every_import_of_the_product_is_in_a_plain_install(plain: Tree, run: Run) -> None:
    """Those at the top of a module, and those inside a function, which only a request would meet."""
    program = ROOT / "tests" / "system" / "import_program.py"
    env = {**plain.env, "DJANGO_SETTINGS_MODULE": "studio.settings", "PYTHONPATH": str(plain.root)}
    done = subprocess.run(
        [str(plain.root / ".venv/bin/python"), str(program), str(plain.root)],
        cwd=plain.root,
        env=env,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    optional = _extras_not_installed()
    missing = json.loads(done.stdout.splitlines()[-1])
    faults = [(place, name) for place, name in missing if name.partition(".")[0] not in optional]
    assert not faults, faults


@pytest.mark.rare
def test_a_variable_from_outside_changes_no_number_of_threads(plain: Tree, run: Run, tmp_path: Path) -> None:
    """OpenBLAS reads it when numpy is loaded; on a machine with one core there is nothing to see."""
    given = plain.start(DATA_DIR=str(tmp_path), OPENBLAS_NUM_THREADS="1")
    given.await_answer()
    try:
        for one in (run, given):
            _post_match(one)
        deadline = time.monotonic() + 60
        # Threads of the product itself come and go with what it does.
        while (counts := _thread_counts(run)) != (expected := _thread_counts(given)):
            assert time.monotonic() < deadline, (counts, expected)
            time.sleep(0.2)
        assert counts.keys() == set(PROGRAMS)
    finally:
        given.stop()


def test_a_webhook_is_sent(plain: Tree, run: Run, certificate: tuple[Path, Path]) -> None:
    receiver = Receiver(certificate=certificate)
    try:
        address = f"https://127.0.0.1:{receiver.port}/hook"
        _manage(plain, certificate, "webhook", "create", "chat", "--url", address)
        _manage(plain, certificate, "webhook", "test", "chat")
    finally:
        receiver.stop()
    assert [json.loads(request.body)["type"] for request in receiver.requests]


def test_a_document_is_read_by_its_address(plain: Tree, run: Run, certificate: tuple[Path, Path]) -> None:
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(DOCUMENT)}\r\n\r\n"
    host = Receiver(reply=say(head.encode() + DOCUMENT), certificate=certificate)
    try:
        address = f"https://127.0.0.1:{host.port}/openapi.json"
        printed = _manage(plain, certificate, "tool_source", "read", address)
    finally:
        host.stop()
    assert "list_pets" in printed


@pytest.fixture
def upstream(tmp_path: Path) -> Iterator[Studio]:
    studio = start_studio(tmp_path)
    yield studio
    studio.stop()


def test_another_registry_is_followed(plain: Tree, run: Run, certificate: tuple[Path, Path], upstream: Studio) -> None:
    key = upstream.manage("agent_key", "create", "mirror", "--scopes", "read").stdout
    _manage(plain, certificate, "git_source", "add", upstream.url, "--registry", "--key-stdin", text=key)
    synced = json.loads(_manage(plain, certificate, "git_source", "sync", "1", "--format", "json"))
    assert synced["taken"] or synced["unchanged"]
