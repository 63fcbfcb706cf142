"""What comes from outside fills no memory: each reader in a process of its own, beside the same with little to read."""

from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys
import tarfile
import threading
import zipfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.git_https import git, make_certificate, served
from tests.sweeps import check_each

pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="measures memory as Linux tells it")
ROOT = Path(__file__).parents[3]
MIB = 1024 * 1024
# The hostile input unpacks to this much, and more than this the process must not need for it.
HOSTILE_BYTES, MARGIN_BYTES = 300 * MIB, 64 * MIB
SKILL = b"---\nname: one\ndescription: y\n---\nText.\n"

CHILD = """
import os, resource, sys
os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
import django
django.setup()
from ipaddress import ip_network
from django.conf import settings
from capability_rules.errors import RegistryError
from registry.common.net.registry_client import RegistryClient
from features.webhooks.webhook_client import post_event
from registry.importing import git_reader
from registry.importing.git_discovery import discover_source

settings.IMPORT_ALLOWED_NETWORKS = settings.WEBHOOK_ALLOWED_NETWORKS = (ip_network("127.0.0.0/8"),)
READERS = {
    "source": discover_source,
    "registry": lambda address: RegistryClient(address).get("/x", {}),
    "webhook": lambda address: post_event(address, body=b"", headers={}),
}
try:
    READERS[sys.argv[1]](sys.argv[2])
    said = "read"
except RegistryError as error:
    said = error.message
# What getrusage says of a process itself counts the memory of the one that started it.
status = dict(line.split(":", 1) for line in open("/proc/self/status") if ":" in line)
own = int(status["VmHWM"].split()[0])
print(f"{max(own, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss) * 1024} {said}")
"""


def _read(reader: str, what: str, **environment: str) -> tuple[int, str]:
    """The most memory that the process, or a process that it started, has needed; and what came of it."""
    command = [sys.executable, "-c", CHILD, reader, what]
    done = subprocess.run(
        command, cwd=ROOT, env=os.environ | environment, capture_output=True, text=True, check=True, timeout=300
    )
    peak, _, said = done.stdout.strip().partition(" ")
    return int(peak), said


def _repository(folder: Path, **files: int | bytes) -> None:
    """A file that has so many zeros, or these bytes."""
    git(folder, "init", "-q", "-b", "main")
    for name, content in files.items():
        place = folder / name.replace("_", ".")
        if isinstance(content, int):
            with place.open("wb") as file:
                file.truncate(content)
        else:
            place.write_bytes(content)
    git(folder, "-c", "core.bigFileThreshold=1m", "add", "-A")
    git(folder, "commit", "-q", "-m", "x")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return make_certificate(tmp_path_factory.mktemp("tls"))


@pytest.mark.slow
def test_a_repository_of_a_huge_file_takes_no_more_memory_than_a_small_one(
    tmp_path: Path, certificate: tuple[Path, Path]
) -> None:
    peaks, said = [], []
    for name, content in (("small", SKILL), ("huge", HOSTILE_BYTES)):
        (tmp_path / name).mkdir()
        _repository(tmp_path / name, SKILL_md=content)
        with served(tmp_path / name, certificate) as address:
            peak, words = _read("source", address, GIT_SSL_CAINFO=str(certificate[0]))
        peaks.append(peak)
        said.append(words)
    assert said == ["read", "read"]
    assert peaks[1] < peaks[0] + MARGIN_BYTES


def _commit_with_message(folder: Path, length: int) -> None:
    """A commit whose message has so many blanks: git holds a commit as a whole, whatever its size."""
    git(folder, "init", "-q", "-b", "main")
    (folder / "SKILL.md").write_bytes(SKILL)
    git(folder, "add", "-A")
    tree = git(folder, "write-tree").strip()
    who = "x <x@x.example> 1700000000 +0000"
    head = f"tree {tree}\nauthor {who}\ncommitter {who}\n\n"
    (folder / "commit").write_text(head + " " * length + "\n")
    commit = git(folder, "hash-object", "-t", "commit", "-w", "commit").strip()
    git(folder, "update-ref", "refs/heads/main", commit)


@pytest.mark.slow
def test_an_object_that_git_holds_as_a_whole_is_refused_by_its_memory(
    tmp_path: Path, certificate: tuple[Path, Path]
) -> None:
    _commit_with_message(tmp_path, HOSTILE_BYTES)
    with served(tmp_path, certificate) as address:
        peak, said = _read("source", address, GIT_SSL_CAINFO=str(certificate[0]))
    assert "git needs more than 256 MiB for it: an object of the repository is too large" in said
    assert peak < HOSTILE_BYTES


def test_a_tree_of_endless_paths_is_not_listed_to_its_end(tmp_path: Path, certificate: tuple[Path, Path]) -> None:
    git(tmp_path, "init", "-q", "-b", "main")
    (tmp_path / "file").write_bytes(b"x")
    kind, found = "100644 blob", git(tmp_path, "hash-object", "-w", "file").strip()
    # Ten times ten, ten deep: 10,000,000,000 paths in ten objects.
    for _ in range(10):
        rows = "".join(f"{kind} {found}\tf{number}\n" for number in range(10))
        (tmp_path / "rows").write_text(rows)
        with (tmp_path / "rows").open("rb") as given:
            done = subprocess.run(["git", "mktree"], cwd=tmp_path, stdin=given, capture_output=True, check=True)
        kind, found = "040000 tree", done.stdout.decode().strip()
    commit = git(tmp_path, "commit-tree", found, "-m", "x").strip()
    git(tmp_path, "update-ref", "refs/heads/main", commit)
    with served(tmp_path, certificate) as address:
        _, said = _read("source", address, GIT_SSL_CAINFO=str(certificate[0]))
    assert said.endswith("it has too many files; name a folder in it with #folder")


def _tar_gz(content: int) -> bytes:
    buffer = io.BytesIO()
    with gzip.open(buffer, "wb") as packed, tarfile.open(fileobj=packed, mode="w") as archive:
        info = tarfile.TarInfo("SKILL.md")
        info.size = content
        archive.addfile(info, _Zeros(content))  # type: ignore[arg-type]
    return buffer.getvalue()


class _Zeros:
    def __init__(self, count: int) -> None:
        self.left = count

    def read(self, count: int) -> bytes:
        given = min(count, self.left)
        self.left -= given
        return bytes(given)


def _zip(content: int) -> bytes:
    """One that says of its entry that it is small."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("SKILL.md", "w") as entry:
        for _ in range(content // MIB or 1):
            entry.write(bytes(min(content, MIB)))
    data = bytearray(buffer.getvalue())
    for mark, place in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        at = data.index(mark) + place
        data[at : at + 4] = min(content, 1000).to_bytes(4, "little")
    return bytes(data)


@contextmanager
def _server(count: int) -> Iterator[str]:
    """Answers each request with so many bytes."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            self.rfile.read(length)
            self.send_response(200)
            self.end_headers()
            try:
                for _ in range(0, count, MIB):
                    self.wfile.write(bytes(min(count, MIB)))
            except OSError:
                pass

        do_POST = do_GET  # noqa: N815 (the name that the server calls)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _file(name: str, make: Callable[[int], bytes]) -> Callable[[Path, int], AbstractContextManager[str]]:
    @contextmanager
    def made(folder: Path, count: int) -> Iterator[str]:
        place = folder / f"{count}-{name}"
        place.write_bytes(make(count))
        yield str(place)

    return made


# For each reader: what it is called in the child, and what it is given, that unpacks to so many bytes.
OTHERS: dict[str, tuple[str, Callable[[Path, int], AbstractContextManager[str]]]] = {
    "tar.gz": ("source", _file("a.tar.gz", _tar_gz)),
    "zip": ("source", _file("a.zip", _zip)),
    "JSON records": ("source", _file("a.json", lambda count: json.dumps([" " * count]).encode())),
    "an answer of another registry": ("registry", lambda _, count: _server(count)),
    "an answer to a webhook": ("webhook", lambda _, count: _server(count)),
}


@pytest.mark.slow
def test_no_other_reader_takes_more_memory_for_much_than_for_little(tmp_path: Path) -> None:
    def check(name: str) -> None:
        reader, make = OTHERS[name]
        peaks = []
        # Twice the margin and more: what is read as a whole is seen.
        for count in (100, HOSTILE_BYTES // 2):
            with make(tmp_path, count) as what:
                peaks.append(_read(reader, what)[0])
        assert peaks[1] < peaks[0] + MARGIN_BYTES

    check_each(sorted(OTHERS), check)
