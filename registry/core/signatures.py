"""DSSE envelopes of this registry: what is signed of a revision, and signing it (docs/security/signatures.md)."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from datetime import UTC
from typing import Any, Final

import rfc8785

from capability_kit import tracing
from capability_kit.bundles.digest import text_digest
from capability_kit.signatures.dsse import encode_pae
from capability_kit.signatures.statements import REVISION_TYPE
from registry.common.errors import HistoryDamaged
from registry.common.installation import PROGRAM
from registry.core.signing_keys import get_signing_keys
from registry.models import Revision

# What older statements do not have.
ADDED_FIELDS: Final = frozenset({"published_by", "approved_by", "editors", "note_digest"})


def seal(payload_type: str, payload: bytes) -> str:
    """The envelope of a payload as JSON, signed with the present key. Raises `SigningKeyUnusable`."""
    keyid, signature = get_signing_keys().sign(encode_pae(payload_type, payload))
    envelope = {
        "payloadType": payload_type,
        "payload": base64.b64encode(payload).decode("ascii"),
        "signatures": [{"keyid": keyid, "sig": base64.b64encode(signature).decode("ascii")}],
    }
    return json.dumps(envelope, separators=(",", ":"))


def payload_of(envelope: str) -> bytes:
    """The payload of an envelope as it is stored here, its signature unchecked. Raises `HistoryDamaged`."""
    try:
        return base64.b64decode(json.loads(envelope)["payload"], validate=True)
    except (ValueError, KeyError, TypeError):
        raise HistoryDamaged(f"A stored envelope cannot be read. Run: {PROGRAM} manage registry verify") from None


@tracing.traced("sign revision")
def sign_revision(revision: Revision) -> str:
    """The envelope for `revision.signature`. Every other column of it is set, and its capability."""
    row = vars(revision) | {"created_at": revision.created_at.astimezone(UTC).isoformat()}
    return seal(REVISION_TYPE, rfc8785.dumps(build_statement(row, revision.capability.capability_id)))


def build_statement(row: Mapping[str, Any], capability_id: str) -> Any:
    """What is signed of a revision, of its columns as JSON values.

    A client compares id, number, digest and files with a load response; `files_digest` is over all stored texts. Who
    published, approved and edited it is the evidence of a second person.
    """
    files = row["supporting_files"] if isinstance(row["supporting_files"], dict) else {}
    return {
        "capability_id": capability_id,
        "revision": row["number"],
        "name": row["name"],
        "digest": row["digest"],
        "read_only_digest": row["read_only_digest"],
        "content_digest": row["content_digest"],
        "files_digest": row["files_digest"],
        "files": {path: text_digest(text) for path, text in files.items() if isinstance(text, str)},
        "published_at": row["created_at"],
        "published_by": row["created_by"],
        "approved_by": row["approved_by"],
        "editors": row.get("editors"),
        "note_digest": text_digest(row["note"]),
    }
