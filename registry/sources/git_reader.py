"""A git repository as a source: fetched without its history into a bare copy, read from its objects, never checked out.

Nothing of the repository is run or written as a file of that name: no hooks, no submodules, no filters, no links.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from django.conf import settings

from registry.bundles.archives import ArchiveReader
from registry.common.errors import SourceMisconfigured, SourceUnreadable
from registry.common.net.ip_policy import AddressNotAllowed, require_allowed, resolve

FETCH_SECONDS: Final = 60.0
READ_SECONDS: Final = 20.0
REPOSITORY_BYTES_MAX: Final = 200 * 1024 * 1024
FILES_MAX: Final = 50_000
# The first that has http.curloptResolve (its release notes); an older one ignores the setting without a word.
OLDEST_GIT: Final = (2, 37)
_URL: Final = re.compile(r"(?P<url>https://[^@#\s]+)(?:@(?P<ref>[^#\s]+))?(?:#(?P<folder>.+))?")
_REF: Final = re.compile(r"(?!.*(?:\.\.|//|@\{|\.lock$))[A-Za-z0-9][\w./+-]{0,199}(?<![./])")
_REMOTE: Final = re.compile(r"(?:[a-z][a-z0-9+.-]*://|[\w.-]+@[\w.-]+:|file:)", re.IGNORECASE)
_FORM: Final = "https://host/repository[@branch-or-tag][#folder]"


@dataclass(frozen=True, slots=True)
class GitAddress:
    """What a git SOURCE names; `ref` and `folder` are empty where it leaves them out."""

    url: str
    host: str
    port: int
    ref: str
    folder: str


def is_git_url(source: str) -> bool:
    """Whether it names something elsewhere, by whatever protocol; only https is taken."""
    return _REMOTE.match(source) is not None


def folder_name(source: str) -> str:
    """The name of the folder that a git SOURCE names; of a whole repository, its own."""
    address = parse_git_url(source)
    return (address.folder or urlsplit(address.url).path.rstrip("/")).rpartition("/")[2].removesuffix(".git")


def parse_git_url(source: str) -> GitAddress:
    """Raises `SourceUnreadable` for anything but an https address in the form above."""
    match = _URL.fullmatch(source)
    parts = urlsplit(match["url"]) if match else None
    if match is None or parts is None or not parts.hostname or parts.query:
        raise SourceUnreadable(f"{source}: a git source is {_FORM}, without a name and a password")
    ref, folder = match["ref"] or "", (match["folder"] or "").strip("/")
    if ref and not _REF.fullmatch(ref):
        raise SourceUnreadable(f"{source}: '{ref}' is no branch or tag")
    steps = folder.split("/") if folder else []
    if "\\" in folder or not folder.isprintable() or {".", "..", ""} & set(steps):
        raise SourceUnreadable(f"{source}: '{folder}' is no folder of a repository")
    try:
        port = parts.port or 443
    except ValueError:
        raise SourceUnreadable(f"{source}: the port is not a number from 1 to 65535") from None
    return GitAddress(match["url"], parts.hostname, port, ref, folder)


@dataclass(frozen=True, slots=True)
class Repository:
    """The files by their paths, and the commit that they are of."""

    files: Mapping[str, ArchiveReader]
    commit: str


@contextlib.contextmanager
def open_repository(source: str) -> Iterator[Repository]:
    """A repository, or a folder in it, while the context lasts.

    Raises `SourceUnreadable` for what cannot be reached, is not public, or is too large.
    """
    address = parse_git_url(source)
    program = shutil.which("git")
    if program is None:
        raise SourceMisconfigured(f"{source}: git is not installed here")
    require_pinning_git(program, source)
    with tempfile.TemporaryDirectory(prefix="studio-git-") as place:
        git = _Git(program, Path(place), source, _pin(address, source))
        git.run(["init", "--quiet", "--bare", "--template=", "."], READ_SECONDS)
        fetch = ["fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head"]
        git.run([*fetch, "--", address.url, f"{address.ref or 'HEAD'}:refs/heads/source"], FETCH_SECONDS)
        yield Repository(git.files(address.folder), git.commit())


def require_pinning_git(program: str, source: str) -> None:
    """Raises `SourceMisconfigured` for a git that ignores `http.curloptResolve`: a name server could lead it to another
    address than the one that was checked."""
    printed = _git_version(program)
    found = re.search(r"([0-9]+)\.([0-9]+)", printed)
    if found is None or (int(found[1]), int(found[2])) < OLDEST_GIT:
        oldest = ".".join(map(str, OLDEST_GIT))
        raise SourceMisconfigured(f"{source}: needs git {oldest} or newer, found {printed.strip()[:60] or 'none'}")


@cache
def _git_version(program: str) -> str:
    done = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=10, check=False)
    return done.stdout


def _pin(address: GitAddress, source: str) -> str:
    """The name with the one address that git is to connect to: what a name server says later changes nothing."""
    if not address.host.isascii():
        # curl looks such a name up in its xn-- form, which the pin would not match.
        raise SourceMisconfigured(f"{source}: write the host name in its ASCII form (xn--...)")
    try:
        resolved = resolve(address.host, address.port, 5.0)
    except AddressNotAllowed as refusal:
        raise SourceUnreadable(f"{source}: {refusal}") from None
    try:
        found = require_allowed(
            resolved,
            networks=settings.IMPORT_ALLOWED_NETWORKS,
            host=address.host,
            setting="IMPORT_ALLOWED_NETWORKS",
        )
    except AddressNotAllowed as refusal:
        raise SourceMisconfigured(f"{source}: {refusal}") from None
    ip = f"[{found[0]}]" if found[0].version == 6 else str(found[0])
    return f"{address.host}:{address.port}:{ip}"


@dataclass(frozen=True)
class _Git:
    program: str
    place: Path
    source: str
    pin: str

    def run(self, arguments: Sequence[str], seconds: float) -> bytes:
        """Run git in the bare copy, within the time and the size that a repository may have."""
        options = [
            "http.followRedirects=false", f"http.curloptResolve={self.pin}", "http.proxy=", "core.hooksPath=/dev/null",
            "fetch.fsckObjects=true", "credential.helper=", "gc.auto=0", "maintenance.auto=false",
        ]  # fmt: skip
        command = [self.program, *(part for option in options for part in ("-c", option)), *arguments]
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            process = subprocess.Popen(
                command, cwd=self.place, env=self._environment(), stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                start_new_session=True,
            )  # fmt: skip
            try:
                self._wait(process, seconds)
            finally:
                _end(process)
            if process.returncode:
                err.seek(0)
                raise SourceUnreadable(f"{self.source}: {_last_line(err.read(4000))}")
            out.seek(0)
            return out.read()

    def _environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "GIT_SSL_CAINFO", "SYSTEMROOT") if name in os.environ}
        return kept | {
            "GIT_ALLOW_PROTOCOL": "https", "GIT_TERMINAL_PROMPT": "0", "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull, "GIT_ASKPASS": "true", "HOME": str(self.place), "LC_ALL": "C",
        }  # fmt: skip

    def _wait(self, process: subprocess.Popen[bytes], seconds: float) -> None:
        until = time.monotonic() + seconds
        while process.poll() is None:
            if time.monotonic() > until:
                raise SourceUnreadable(f"{self.source}: git took more than {seconds:.0f} s")
            if _size_bytes(self.place) > REPOSITORY_BYTES_MAX:
                raise SourceUnreadable(f"{self.source}: the repository is over {REPOSITORY_BYTES_MAX >> 20} MiB")
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0.1)

    def files(self, folder: str) -> dict[str, ArchiveReader]:
        """Every regular file below the folder; links and submodules are none."""
        listed = self.run(["ls-tree", "-r", "-z", "--full-tree", "refs/heads/source"], READ_SECONDS)
        prefix = f"{folder}/" if folder else ""
        found: dict[str, ArchiveReader] = {}
        for line in listed.decode("utf-8", errors="replace").split("\0"):
            facts, _, name = line.partition("\t")
            if facts.startswith("100") and name.startswith(prefix):
                found[name.removeprefix(prefix)] = self._reader(facts.split(" ")[2])
        if len(found) > FILES_MAX:
            raise SourceUnreadable(f"{self.source}: more than {FILES_MAX:,} files; name a folder in it with #folder")
        if folder and not found:
            raise SourceUnreadable(f"{self.source}: the repository has no folder '{folder}'")
        return found

    def commit(self) -> str:
        """What was fetched."""
        return self.run(["rev-parse", "refs/heads/source"], READ_SECONDS).decode().strip()

    def _reader(self, object_id: str) -> ArchiveReader:
        return lambda most: self.run(["cat-file", "blob", object_id], READ_SECONDS)[:most]


def _end(process: subprocess.Popen[bytes]) -> None:
    """Git and whatever it has started; harmless where all of it has ended."""
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _size_bytes(place: Path) -> int:
    total = 0
    for folder, _, names in os.walk(place):
        for name in names:
            with contextlib.suppress(OSError):
                total += (Path(folder) / name).lstat().st_size
    return total


def _last_line(output: bytes) -> str:
    lines = output.decode("utf-8", errors="replace").strip().splitlines()
    return lines[-1][:300] if lines else "git failed without a word"
