"""A branch of a repository elsewhere: what it is at, commits on top of it, and a push that never overwrites.

Commits are the same bytes for the same steps and the same parent, so that a push whose answer was lost is known again
by its id. Each is signed with the registry's key in the form that `git verify-commit` reads
(SSHSIG, PROTOCOL.sshsig of OpenSSH; gitformat-signature).
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import re
import struct
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from capability_kit.signatures.dsse import PublicKey
from registry.core.signing_keys import get_signing_keys
from registry.importing.git_reader import ACCESS_SECONDS, READ_SECONDS, BareCopy, GitLogin, prepare_copy

_PUSH_SECONDS: Final = 120.0
_NAMESPACE: Final = b"git"
_HASH: Final = b"sha512"
_KIND: Final = b"ssh-ed25519"
_NOT_IN_A_NAME: Final = re.compile(r"[<>\x00-\x1f\x7f]+")


@dataclass(frozen=True, slots=True)
class Step:
    """One commit: what it writes and deletes, who did it when (seconds since 1970), and its message."""

    author: str
    at: int
    message: str
    write: Mapping[str, bytes]
    delete: Sequence[str]


@dataclass(frozen=True, slots=True)
class RemoteBranch:
    """A branch; `host` is of this registry, for the addresses in commits."""

    git: BareCopy
    url: str
    name: str
    host: str

    def read_head(self) -> str:
        """The id of its commit; empty where there is no such branch. Raises `SourceUnreadable`."""
        asked = ["ls-remote", "--quiet", "--", self.url, f"refs/heads/{self.name}"]
        return self.git.run(asked, ACCESS_SECONDS).decode("ascii", "replace").partition("\t")[0].strip()

    def list_paths(self, head: str) -> set[str]:
        """All files that the branch has at this commit. Raises `SourceUnreadable`."""
        if not head:
            return set()
        self._fetch()
        listed = self.git.run(["ls-tree", "-r", "-z", "--name-only", "--full-tree", head], READ_SECONDS, 16 << 20)
        return set(listed.decode("utf-8", "replace").split("\0")) - {""}

    def commit(self, steps: Sequence[Step], head: str) -> str:
        """The last of the commits, on top of `head`, which the branch is at; `head` where they change nothing."""
        if head:
            self._fetch()
        for step in steps:
            head = self._commit(step, head)
        return head

    def push(self, commit: str) -> None:
        """Have the branch be at the commit, where that has all that it has now. Raises `SourceUnreadable`."""
        self.git.run(["push", "--quiet", "--", self.url, f"{commit}:refs/heads/{self.name}"], _PUSH_SECONDS)

    def _fetch(self) -> None:
        self.git.fetch(self.url, f"+refs/heads/{self.name}:refs/heads/found")

    def _commit(self, step: Step, parent: str) -> str:
        # git fast-import writes the trees; it signs nothing, so that the commit itself is written here.
        self.git.run(
            ["fast-import", "--quiet", "--force", "--date-format=raw"], READ_SECONDS, given=_stream(step, parent)
        )
        tree = self._resolve("refs/heads/step^{tree}")
        if parent and tree == self._resolve(f"{parent}^{{tree}}"):
            return parent
        return self.git.run(
            ["hash-object", "-t", "commit", "-w", "--stdin"], READ_SECONDS, given=self._text(step, tree, parent)
        ).decode("ascii").strip()  # fmt: skip

    def _resolve(self, name: str) -> str:
        return self.git.run(["rev-parse", "--verify", name], READ_SECONDS).decode("ascii").strip()

    def _text(self, step: Step, tree: str, parent: str) -> bytes:
        moment = f"{step.at} +0000"
        author = " ".join(_NOT_IN_A_NAME.sub(" ", step.author).split()).strip(" .,:;\"'") or "Capability Studio"
        lines = [f"tree {tree}", *([f"parent {parent}"] if parent else [])]
        lines += [f"author {author} <noreply@{self.host}> {moment}"]
        lines += [f"committer Capability Studio <noreply@{self.host}> {moment}"]
        body = "\n" + step.message.replace("\0", "").strip() + "\n"
        head = "\n".join(lines) + "\n"
        signature = sign(f"{head}{body}".encode()).replace("\n", "\n ")
        return f"{head}gpgsig {signature}\n{body}".encode()


@contextlib.contextmanager
def open_branch(url: str, name: str, login: GitLogin, host: str) -> Iterator[RemoteBranch]:
    """The branch, while the context lasts. Raises `SourceUnreadable` for an address that must not be reached."""
    with prepare_copy(url, login, right="write to") as (git, address):
        git.init()
        yield RemoteBranch(git, address.url, name, host)


def _stream(step: Step, parent: str) -> bytes:
    """What `git fast-import` reads."""
    parts = [b"commit refs/heads/step\ncommitter x <x> 0 +0000\ndata 0\n"]
    if parent:
        parts.append(f"from {parent}\n".encode())
    parts += [b"D %s\n" % _quoted(path) for path in step.delete]
    for path, content in step.write.items():
        parts += [b"M 100644 inline %s\ndata %d\n" % (_quoted(path), len(content)), content, b"\n"]
    return b"".join(parts)


def _quoted(path: str) -> bytes:
    inner = path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{inner}"'.encode()


def blob_id(content: bytes) -> str:
    """As git names the content of a file."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def sign(message: bytes) -> str:
    """The armored signature of a commit's text. Raises `SigningKeyUnusable`."""
    keys = get_signing_keys()
    digest = hashlib.sha512(message).digest()
    _keyid, signature = keys.sign(b"SSHSIG" + b"".join(map(_field, (_NAMESPACE, b"", _HASH, digest))))
    signed = _field(_KIND) + _field(signature)
    parts = b"".join(map(_field, (_public(keys.public[0]), _NAMESPACE, b"", _HASH, signed)))
    armored = base64.b64encode(b"SSHSIG" + struct.pack(">I", 1) + parts).decode("ascii")
    lines = textwrap.wrap(armored, 70)
    return "\n".join(["-----BEGIN SSH SIGNATURE-----", *lines, "-----END SSH SIGNATURE-----"])


def list_allowed_signers(host: str) -> list[str]:
    """The lines of git's `gpg.ssh.allowedSignersFile`, for the keys that sign and have signed here."""
    keys = get_signing_keys().public
    return [f'noreply@{host} namespaces="git" {_KIND.decode()} {_base64(_public(key))}' for key in keys]


def _public(key: PublicKey) -> bytes:
    return _field(_KIND) + _field(key.raw)


def _field(value: bytes) -> bytes:
    return struct.pack(">I", len(value)) + value


def _base64(value: bytes) -> str:
    return base64.b64encode(value).decode("ascii")
