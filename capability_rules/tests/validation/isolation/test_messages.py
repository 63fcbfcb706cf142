"""What travels between a process that checks and the one that asks it."""

from __future__ import annotations

import io

from capability_rules.validation import validate_bundle
from capability_rules.validation.isolation.messages import (
    encode_message,
    pack_bundle,
    pack_files,
    pack_findings,
    read_message,
    unpack_bundle,
    unpack_files,
    unpack_findings,
)
from tests.bundle_files import bundle


def test_message_is_read_whole_or_not_at_all() -> None:
    stream = io.BytesIO(encode_message({"a": "\ud800 ü"}))
    assert read_message(stream) == {"a": "\ud800 ü"}
    assert read_message(stream) is None
    assert read_message(io.BytesIO(b"\0\0\0\x09abc")) is None
    assert read_message(io.BytesIO(b"\0\0")) is None


def test_files_come_back_as_they_were() -> None:
    files: dict[str, bytes | str] = {"skill.md": "# A\ud800", "tools.json": b"\xff\x00\xfe[]", "capability.json": ""}
    assert unpack_files(pack_files(files)) == files


def test_findings_and_bundle_come_back_as_they_were() -> None:
    report = validate_bundle(bundle() | {"extra.txt": "x"})
    assert report.bundle is not None
    again = unpack_findings(pack_findings(report.findings))
    assert [(one, one.subject) for one in again] == [(one, one.subject) for one in report.findings]
    assert unpack_bundle(pack_bundle(report.bundle), report.files) == report.bundle
    assert unpack_bundle(pack_bundle(None), report.files) is None
