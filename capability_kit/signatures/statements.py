"""What a registry signs: that a revision has these digests, and how far its history has come."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from capability_kit.bundles.bundle import DIGEST, Bundle
from capability_kit.errors import SignatureInvalid
from capability_kit.signatures.dsse import PublicKey, open_envelope

REVISION_TYPE: Final = "application/vnd.capability-studio.revision+json"
CHECKPOINT_TYPE: Final = "application/vnd.capability-studio.checkpoint+json"
# What the first row of a chain follows.
GENESIS: Final = "0" * 64


def check_bundle(bundle: Bundle, envelope: Any, *, trusted: Iterable[PublicKey]) -> None:
    """Check that a trusted key signed this very release: its id, number, content and supporting files.

    A key that gets no write tools receives a bundle with the digest of what is left: that digest is signed too.
    Raises `SignatureMissing`, `SigningKeyUnknown` or `SignatureInvalid`.
    """
    signed = open_envelope(envelope, payload_type=REVISION_TYPE, trusted=trusted)
    expected: dict[str, Any] = {"capability_id": bundle.capability_id, "revision": bundle.revision}
    expected["read_only_digest" if bundle.withheld_tools else "digest"] = bundle.digest
    expected["files"] = {file.path: file.digest for file in bundle.files}
    for name, value in expected.items():
        if signed.get(name) != value:
            raise SignatureInvalid(
                f"'{bundle.capability_id}' revision {bundle.revision} has the {name} {_short(value)}, and "
                f"{_short(signed.get(name))} was signed"
            )


def _short(value: Any) -> str:
    return str(value)[:100]


@dataclass(frozen=True, slots=True)
class CheckpointFacts:
    """How far a history has come. `hash` names this one: the hex SHA-256 of its payload.

    Of the audit log the number of rows, the id and the hash of the last one; of the releases their number, the last
    registry revision of one, and the hash over all of them; `previous` is the hash of the checkpoint before.
    """

    number: int
    registry_revision: int
    audit_rows: int
    audit_id: int
    audit_hash: str
    releases: int
    release_id: int
    releases_hash: str
    previous: str
    created_at: str
    hash: str = ""

    def payload(self) -> dict[str, Any]:
        """The fields that are signed: all but the hash, which is of them."""
        values = asdict(self)
        del values["hash"]
        return values

    def follows(self, before: CheckpointFacts) -> bool:
        """Whether it is the very next one of the same history."""
        return self.number == before.number + 1 and self.previous == before.hash

    def shrinks(self, before: CheckpointFacts) -> str:
        """What is less than it was, in words; empty where everything has grown or stayed."""
        for name in ("registry_revision", "audit_rows", "releases"):
            was, now = getattr(before, name), getattr(self, name)
            if now < was:
                return f"{name} is {now} after {was}"
        return ""


_NUMBERS: Final = ("number", "registry_revision", "audit_rows", "audit_id", "releases", "release_id")
_HASHES: Final = ("audit_hash", "releases_hash", "previous")


def read_checkpoint(envelope: Any, *, trusted: Iterable[PublicKey]) -> CheckpointFacts:
    """A signed checkpoint. Raises `SignatureMissing`, `SigningKeyUnknown` or `SignatureInvalid`."""
    signed = open_envelope(envelope, payload_type=CHECKPOINT_TYPE, trusted=trusted)
    digest = hashlib.sha256(base64.b64decode(envelope["payload"])).hexdigest()
    return parse_checkpoint(signed, digest)


def parse_checkpoint(values: Mapping[str, Any], digest: str) -> CheckpointFacts:
    """The facts of a payload whose hex SHA-256 is `digest`. Raises `SignatureInvalid` for another shape."""
    numbers = {name: values.get(name) for name in _NUMBERS}
    hashes = {name: values.get(name) for name in (*_HASHES, "created_at")}
    is_good = all(isinstance(value, int) and not isinstance(value, bool) for value in numbers.values())
    is_good = is_good and all(isinstance(value, str) for value in hashes.values())
    if not is_good or not all(DIGEST.fullmatch(f"sha256:{hashes[name]}") for name in _HASHES):
        raise SignatureInvalid("A checkpoint has another form than expected")
    return CheckpointFacts(**numbers, **hashes, hash=digest)  # type: ignore[arg-type]
