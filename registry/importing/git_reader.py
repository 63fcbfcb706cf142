"""A git repository as a source: fetched without its history into a bare copy, read from its objects, never checked out.

Nothing of the repository is run or written as a file of that name: no hooks, no submodules, no filters, no links.
Every bound is applied before the bytes exist: a repository of 1 MB may unpack to gigabytes.
"""

from __future__ import annotations

import base64
import contextlib
import os
import posixpath
import re
import selectors
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import IO, Final
from urllib.parse import unquote, urlsplit

from django.conf import settings

from capability_rules.bundles.archives import ArchiveReader
from capability_rules.bundles.bundle_reader import LEADS_NOWHERE
from capability_rules.bundles.supporting_files import IGNORED_FOLDERS
from capability_rules.discovery.source_files import LEADS_OUT, SUBMODULE, SourceFiles, parents
from capability_rules.errors import SourceUnreadable
from registry.common.errors import SourceMisconfigured
from registry.common.net.guarded_client import mask_query
from registry.common.net.ip_policy import AddressNotAllowed, require_allowed, resolve

FETCH_SECONDS: Final = 60.0
READ_SECONDS: Final = 20.0
ACCESS_SECONDS: Final = 15.0
REPOSITORY_BYTES_MAX: Final = 200 * 1024 * 1024
# Of each process of git: an object that it has to hold as a whole may be as large as its sender likes.
MEMORY_BYTES_MAX: Final = 256 * 1024 * 1024
FILES_MAX: Final = 50_000
# Each is read by a process of its own.
LINKS_READ_MAX: Final = 100
# 335 bytes a file.
LISTING_BYTES_MAX: Final = 16 * 1024 * 1024
# A larger file is not read at all. Of every other, no more is read than its reader asks for.
OBJECT_BYTES_MAX: Final = 64 * 1024 * 1024
_CHUNK_BYTES: Final = 64 * 1024
# What it says of itself, in answers and errors.
_WORDS_BYTES_MAX: Final = 4000
_MEASURE_SECONDS: Final = 0.1
# The first that has http.curloptResolve (its release notes); an older one ignores the setting without a word.
OLDEST_GIT: Final = (2, 37)
_URL: Final = re.compile(r"(?P<url>https://[^@#\s]+)(?:@(?P<ref>[^#\s]+))?(?:#(?P<folder>.+))?")
_REF: Final = re.compile(r"(?!.*(?:\.\.|//|@\{|\.lock$))[A-Za-z0-9][\w./+-]{0,199}(?<![./])")
_REMOTE: Final = re.compile(r"(?:[a-z][a-z0-9+.-]*://|[\w.-]+@[\w.-]+:|file:)", re.IGNORECASE)
# A user, and a password or token, before the host: never repeated.
# What git says where a host wants another login, or none is given; hosts hide what is private behind "not found".
_REFUSED: Final = re.compile(
    r"Authentication failed|could not read Username|terminal prompts disabled|error: 40[134]|not found", re.IGNORECASE
)
_SECRET: Final = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*://)[^/?#\s]*@")
# The address of a folder or a file as a browser shows it: github.com/owner/name/tree/main/skills, .../-/tree/... at
# GitLab, .../src/branch/... at Gitea and Forgejo.
_BROWSED: Final = re.compile(
    r"(?P<url>https://[^/@#?\s]+/(?:[^/@#?\s]+/[^/@#?\s]+(?=/(?:tree|blob|src/branch)/)|[^@#?\s]+?(?=/-/(?:tree|blob)/)))"
    r"(?:/-)?/(?P<kind>tree|blob|src/branch)/(?P<ref>[^/#?\s]+)(?:/(?P<folder>[^#?\s]*))?(?:[?#].*)?"
)
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
    """Raises `SourceUnreadable` for anything but an https address in the form above, or as a browser shows a folder."""
    if _SECRET.match(source):
        shown = redact_address(source)
        words = "a name and a password or token in an address are not taken; keep them as a credential"
        raise SourceUnreadable(f"{shown}: {words}")
    browsed = _BROWSED.fullmatch(source)
    if browsed is not None:
        source = _plain_form(browsed)
    match = _URL.fullmatch(source)
    parts = urlsplit(match["url"]) if match else None
    if match is None or parts is None or not parts.hostname or parts.query:
        raise SourceUnreadable(f"{redact_address(source)}: a git source is {_FORM}, without a name and a password")
    ref, folder = match["ref"] or "", (match["folder"] or "").strip("/")
    if ref and not is_ref_name(ref):
        raise SourceUnreadable(f"{source}: '{ref}' is not a branch or tag")
    steps = folder.split("/") if folder else []
    if "\\" in folder or not folder.isprintable() or {".", "..", ""} & set(steps):
        raise SourceUnreadable(f"{source}: '{folder}' is not a folder of a repository")
    try:
        port = parts.port or 443
    except ValueError:
        raise SourceUnreadable(f"{source}: the port is not a number from 1 to 65535") from None
    return GitAddress(match["url"], parts.hostname, port, ref, folder)


def is_ref_name(name: str) -> bool:
    """Whether a branch or a tag may be called so; no option of git begins as these do."""
    return _REF.fullmatch(name) is not None


def redact_address(source: str) -> str:
    """An address without the user, password or token in it, or in its query."""
    return mask_query(_SECRET.sub(lambda match: f"{match['scheme']}…@", source, count=1))


def _plain_form(browsed: re.Match[str]) -> str:
    """The form above of the address of a folder as a browser shows it; of a file, that of its folder."""
    folder = unquote(browsed["folder"] or "").strip("/")
    is_file = browsed["kind"] == "blob" or folder.lower().endswith("/skill.md") or folder.lower() == "skill.md"
    folder = folder.rpartition("/")[0] if is_file else folder
    return f"{browsed['url']}@{unquote(browsed['ref'])}" + (f"#{folder}" if folder else "")


def _how_read(source: str) -> str:
    """What a browser's address was taken for: where a branch ends and a folder begins cannot be seen in it."""
    browsed = _BROWSED.fullmatch(source)
    if browsed is None:
        return ""
    return f". It was read as {_plain_form(browsed)}; write {_FORM} where the branch's name has a slash"


def _hint_for(folder: str) -> str:
    return "; write a space as it is, not as %20" if "%" in folder else ""


@dataclass(frozen=True, slots=True)
class Repository:
    """The files by their paths, and the commit that they are of."""

    tree: SourceFiles
    commit: str


@dataclass(frozen=True, slots=True)
class GitLogin:
    """User name and secret of Basic authentication, for one host; `name` is what messages call them."""

    name: str
    username: str
    secret: str = field(repr=False)


@contextlib.contextmanager
def open_repository(source: str, login: GitLogin | None = None) -> Iterator[Repository]:
    """A repository, or a folder in it, while the context lasts; `login` is sent to its host alone.

    Raises `SourceUnreadable` for what cannot be reached, is not open to the login, or is too large.
    """
    with prepare_copy(source, login) as (git, address):
        git.init()
        try:
            git.fetch(address.url, f"{address.ref or 'HEAD'}:refs/heads/source")
        except SourceUnreadable as error:
            raise SourceUnreadable(f"{error.message}{_how_read(source)}") from None
        yield Repository(git.files(address.folder), git.commit())


def check_access(source: str, login: GitLogin | None = None) -> None:
    """Ask the host whether the repository can be read. Raises `SourceUnreadable`."""
    with prepare_copy(source, login) as (git, address):
        git.run(["ls-remote", "--quiet", "--", address.url, "HEAD"], ACCESS_SECONDS)


@contextlib.contextmanager
def prepare_copy(
    source: str, login: GitLogin | None, *, right: str = "read"
) -> Iterator[tuple[BareCopy, GitAddress]]:  # fmt: skip
    """An empty folder to run git in, which reaches the one address that was checked, while the context lasts; `right`
    is what messages say that a credential lacks, such as "read" or "write to"."""
    address = parse_git_url(source)
    program = shutil.which("git")
    if program is None:
        raise SourceMisconfigured(f"{source}: git is not installed here")
    require_pinning_git(program, source)
    with tempfile.TemporaryDirectory(prefix="studio-git-") as place:
        yield BareCopy(program, Path(place), source, _pin(address, source), login, right), address


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
class BareCopy:
    """A folder of its own, and git in it within the bounds above."""

    program: str
    place: Path
    source: str
    pin: str
    login: GitLogin | None = None
    right: str = "read"

    def run(
        self, arguments: Sequence[str], seconds: float, bytes_max: int = _WORDS_BYTES_MAX, *, given: bytes = b""
    ) -> bytes:
        """Run git in the bare copy, within the time and the size that a repository may have, and return what it prints:
        at most `bytes_max`, after which it is ended. It reads `given`, from a file: nobody has to write and read at
        once."""
        options = [
            "http.followRedirects=false", f"http.curloptResolve={self.pin}", "http.proxy=", "core.hooksPath=/dev/null",
            "fetch.fsckObjects=true", "credential.helper=", "gc.auto=0", "maintenance.auto=false",
            # What is larger is streamed, never held as a whole; each object stays in the pack, whose size is limited.
            "core.bigFileThreshold=1m", "fetch.unpackLimit=1", "pack.threads=1",
        ]  # fmt: skip
        command = [self.program, *(part for option in options for part in ("-c", option)), *arguments]
        with _readable(given) as stdin:
            process = subprocess.Popen(
                [*_within_limits(), *command], cwd=self.place, env=self._environment(), stdin=stdin,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
            )  # fmt: skip
        output = _Output(bytes_max)
        with process:
            try:
                self._watch(process, output, seconds)
            finally:
                _end(process)
        if process.returncode and not output.is_full:
            raise SourceUnreadable(f"{self.source}: {self._failure(bytes(output.errors))}")
        return bytes(output.printed)

    def _failure(self, errors: bytes) -> str:
        if _size_bytes(self.place) >= REPOSITORY_BYTES_MAX:
            return f"the repository is over {REPOSITORY_BYTES_MAX >> 20} MiB"
        if b"ut of memory" in errors:
            return f"git needs more than {MEMORY_BYTES_MAX >> 20} MiB for it: an object of the repository is too large"
        line = _last_line(errors)
        if not _REFUSED.search(line):
            return line
        host = parse_git_url(self.source).host
        if self.login is None:
            words = "shows it to nobody without a credential, or it is not there"
            return f"{host} {words}: choose one that may {self.right} it"
        words = f"does not accept the credential '{self.login.name}' for it, or it is not there"
        return f"{host} {words}: give the token the right to {self.right} it"

    def _environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in ("PATH", "GIT_SSL_CAINFO", "SYSTEMROOT") if name in os.environ}
        return kept | {
            "GIT_ALLOW_PROTOCOL": "https", "GIT_TERMINAL_PROMPT": "0", "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull, "GIT_ASKPASS": "true", "HOME": str(self.place), "LC_ALL": "C",
            "GIT_LITERAL_PATHSPECS": "1",
        } | self._header()  # fmt: skip

    def _header(self) -> dict[str, str]:
        """By the environment, which other users of the machine do not see; for the host of this address alone."""
        if self.login is None:
            return {}
        parts = urlsplit(parse_git_url(self.source).url)
        pair = base64.b64encode(f"{self.login.username}:{self.login.secret}".encode()).decode("ascii")
        return {
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": f"http.https://{parts.netloc}/.extraHeader",
            "GIT_CONFIG_VALUE_0": f"Authorization: Basic {pair}",
        }

    def _watch(self, process: subprocess.Popen[bytes], output: _Output, seconds: float) -> None:
        """Read what git prints until it ends or has printed enough."""
        until, measured = time.monotonic() + seconds, 0.0
        with selectors.DefaultSelector() as pipes:
            for pipe, take in ((process.stdout, output.take), (process.stderr, output.take_error)):
                if pipe is not None:
                    pipes.register(pipe, selectors.EVENT_READ, take)
            while pipes.get_map() and not output.is_full:
                for key, _ in pipes.select(0.1):
                    if not key.data(os.read(key.fd, _CHUNK_BYTES)):
                        pipes.unregister(key.fileobj)
                now = time.monotonic()
                if now > until:
                    raise SourceUnreadable(f"{self.source}: git took more than {seconds:.0f} s")
                if now - measured > _MEASURE_SECONDS:
                    measured = now
                    if _size_bytes(self.place) > REPOSITORY_BYTES_MAX:
                        raise SourceUnreadable(
                            f"{self.source}: the repository is over {REPOSITORY_BYTES_MAX >> 20} MiB"
                        )
        if not output.is_full:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(max(0.0, until - time.monotonic()))

    def init(self) -> None:
        """Begin an empty repository."""
        self.run(["init", "--quiet", "--bare", "--template=", "."], READ_SECONDS)

    def fetch(self, url: str, refspec: str) -> None:
        """The newest commit of a branch or tag, without its history."""
        options = ["--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head"]
        self.run(["fetch", *options, "--", url, refspec], FETCH_SECONDS)

    def files(self, folder: str) -> SourceFiles:
        """Every regular file below the folder, and what links and submodules there are."""
        where = ["--", f"{folder}/"] if folder else []
        command = ["ls-tree", "-r", "-l", "-z", "--full-tree", "refs/heads/source", *where]
        listed = self.run(command, READ_SECONDS, LISTING_BYTES_MAX)
        if len(listed) == LISTING_BYTES_MAX:
            raise SourceUnreadable(f"{self.source}: it has too many files; name a folder in it with #folder")
        prefix = f"{folder}/" if folder else ""
        found, links = SourceFiles(), dict[str, str]()
        for line in listed.decode("utf-8", errors="replace").split("\0"):
            facts, _, name = line.partition("\t")
            if not name.startswith(prefix) or len(facts.split()) != 4:
                continue
            mode, _kind, object_id, size = facts.split()
            own = name.removeprefix(prefix)
            if mode.startswith("100"):
                found.files[own] = self._reader(object_id, int(size))
            elif mode == "160000":
                found.add_odd(own, SUBMODULE, is_file=False)
            elif mode == "120000" and not IGNORED_FOLDERS.intersection(own.split("/")):
                links[own] = object_id
        self._follow(found, links)
        if len(found.files) > FILES_MAX:
            raise SourceUnreadable(f"{self.source}: more than {FILES_MAX:,} files; name a folder in it with #folder")
        if folder and not found.files and not found.odd:
            raise SourceUnreadable(f"{self.source}: the repository has no folder '{folder}'{_hint_for(folder)}")
        return found

    def _follow(self, found: SourceFiles, links: Mapping[str, str]) -> None:
        """Have links to files read as those, and note where the others lead."""
        folders = {above for name in found.files for above in parents(name)}
        regular = dict(found.files)
        for place, (name, object_id) in enumerate(links.items()):
            if place >= LINKS_READ_MAX:
                found.add_odd(name, "it is one of too many links")
                continue
            target = self.run(["cat-file", "blob", object_id], READ_SECONDS, _WORDS_BYTES_MAX).decode(
                "utf-8", "replace"
            )
            leads = posixpath.normpath(posixpath.join(posixpath.dirname(name), target))
            if target.startswith("/") or leads == ".." or leads.startswith("../"):
                found.add_odd(name, LEADS_OUT)
            elif leads in regular:
                found.add_link(name, leads, regular[leads])
            elif leads in folders or leads == ".":
                found.links[name] = "" if leads == "." else leads
            else:
                found.add_odd(name, LEADS_NOWHERE)

    def commit(self) -> str:
        return self.run(["rev-parse", "refs/heads/source"], READ_SECONDS).decode().strip()

    def _reader(self, object_id: str, size: int) -> ArchiveReader:
        def read(most: int) -> bytes:
            if not size:
                return b""
            if size > OBJECT_BYTES_MAX:
                # Zeros stand for it: they are too large for a text, and not one.
                return bytes(most)
            return self.run(["cat-file", "blob", object_id], READ_SECONDS, min(most, size))

        return read


@dataclass
class _Output:
    """What git has printed so far, at most `bytes_max`, and the end of what it has complained of."""

    bytes_max: int
    printed: bytearray = field(default_factory=bytearray)
    errors: bytearray = field(default_factory=bytearray)

    @property
    def is_full(self) -> bool:
        return len(self.printed) >= self.bytes_max

    def take(self, chunk: bytes) -> bool:
        """Whether there may be more."""
        self.printed += chunk[: self.bytes_max - len(self.printed)]
        return bool(chunk)

    def take_error(self, chunk: bytes) -> bool:
        """As `take`."""
        self.errors += chunk
        del self.errors[:-_WORDS_BYTES_MAX]
        return bool(chunk)


@contextlib.contextmanager
def _readable(given: bytes) -> Iterator[IO[bytes] | int]:
    """What a process reads as its input."""
    if not given:
        yield subprocess.DEVNULL
        return
    with tempfile.TemporaryFile() as file:
        file.write(given)
        file.seek(0)
        yield file


def _within_limits() -> list[str]:
    """Runs the command that follows within a memory (in KiB) and a size of each file (in blocks of 512 bytes) that the
    system enforces; where a lower limit holds already, that one counts."""
    script = 'ulimit -d "$0"; ulimit -f "$1"; shift; exec "$@"'
    return ["/bin/sh", "-c", script, str(MEMORY_BYTES_MAX >> 10), str(max(1, REPOSITORY_BYTES_MAX >> 9))]


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
