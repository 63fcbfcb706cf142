"""What a process that checks and the one that asks it send each other: JSON behind four bytes of length.

The request is `{"do": OPERATION, ...}`, the end `{"result": ...}`. A check sends `{"checking": NAME, "found": [...]}`
where each of its parts begins, with what the one before it found, and `{"question": NAME, "of": ...}`, which gets an
`{"answer": ...}` at once.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import astuple, fields
from typing import Any, BinaryIO, Final

from capability_rules.bundles.bundle import SkillBundle
from capability_rules.bundles.finding import Finding

LENGTH: Final = struct.Struct(">I")
# Of a finding as a check makes it: what people have decided comes later, and elsewhere.
_FINDING_FIELDS: Final = [one.name for one in fields(Finding)].index("waiver")


def encode_message(message: Mapping[str, Any]) -> bytes:
    """The bytes of one message, its length before it; halves of characters travel as escapes."""
    body = json.dumps(message).encode()
    return LENGTH.pack(len(body)) + body


def read_message(stream: BinaryIO) -> dict[str, Any] | None:
    """The next message, None where the stream ends before it is whole."""
    head = stream.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    (length,) = LENGTH.unpack(head)
    body = stream.read(length)
    return dict(json.loads(body)) if len(body) == length else None


def pack_files(files: Mapping[str, bytes | str]) -> dict[str, Any]:
    """Texts as they are; bytes as a list of one text that has a character for each."""
    return {name: raw if isinstance(raw, str) else [raw.decode("latin-1")] for name, raw in files.items()}


def unpack_files(packed: Mapping[str, Any]) -> dict[str, bytes | str]:
    """The reverse of `pack_files`."""
    return {name: raw if isinstance(raw, str) else raw[0].encode("latin-1") for name, raw in packed.items()}


def pack_findings(findings: Sequence[Finding]) -> list[list[Any]]:
    """Each as the list of its fields."""
    return [list(astuple(finding)[:_FINDING_FIELDS]) for finding in findings]


def unpack_findings(rows: list[list[Any]]) -> list[Finding]:
    """The reverse of `pack_findings`."""
    return [Finding(*row) for row in rows]


def pack_bundle(bundle: SkillBundle | None) -> list[Any] | None:
    """The parsed parts; the files are packed beside it."""
    return None if bundle is None else [bundle.capability, bundle.skill_doc, bundle.tools, bundle.ui_schemas]


def unpack_bundle(packed: list[Any] | None, files: Mapping[str, str]) -> SkillBundle | None:
    """The reverse of `pack_bundle`."""
    return None if packed is None else SkillBundle(files, *packed)
