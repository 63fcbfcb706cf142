"""What a file is said to be, by its bytes: types that lie, what runs in it, and text that is read within bounds."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capability_rules.bundles import file_description
from capability_rules.bundles.content_spool import ContentSpool
from capability_rules.bundles.file_description import HIDDEN_TEXT, describe_file
from capability_rules.bundles.file_pointer import CONTENT_BYTES_MAX, PLAIN_TEXT_MAX, FilePointer, parse_pointer
from capability_rules.bundles.finding_fingerprints import fingerprint_findings
from capability_rules.bundles.text import decode_text
from capability_rules.semantic_diff.powers import powers_of
from capability_rules.validation import validate_bundle
from tests import costs
from tests.bundle_files import bundle
from tests.office_files import docx, office

_TEMPLATE = '<R><r Type="x/attachedTemplate" TargetMode="External"/></R>'
PDF = b"%PDF-1.7\n\xe2\xe3\xcf\xd3\n1 0 obj\n<< /Type /Catalog "


@given(st.binary(max_size=2000) | st.text(max_size=2000).map(str.encode))
def test_a_pointer_is_read_as_it_was_written_and_kept_as_it_is(content: bytes) -> None:
    pointer = describe_file(content)
    assert parse_pointer(pointer.write()) == pointer
    assert decode_text(pointer.write()) == (pointer.write(), None)
    assert "\0" not in pointer.write()


@pytest.mark.parametrize(
    ("content", "media_type", "contains"),
    [
        (b"\x89PNG\r\n\x1a\n\0", "image/png", ()),
        (b"RIFF\0\0\0\0WEBPVP8 \xff", "image/webp", ()),
        (b"wOF2\xff", "font/woff2", ()),
        (b"MZ\x90\0\xff", "application/vnd.microsoft.portable-executable", ("program",)),
        (b"\x7fELF\x02\xff", "application/x-elf", ("program",)),
        (b"#!/bin/sh\n\xff", "application/octet-stream", ("program",)),
        (PDF + b">>", "application/pdf", ()),
        (PDF + b"/OpenAction << /S /JavaScript /JS (app.alert(1)) >>", "application/pdf", ("scripts",)),
        (PDF + b"/OpenAction << /S /J#61vaScript >>", "application/pdf", ("scripts",)),
        (PDF + b">>\nstream\r\n" + zlib.compress(b"<< /S /Launch /F (x) >>"), "application/pdf", ("scripts",)),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "VBA".encode("utf-16-le"), "application/x-ole-storage", ("macros",)),
        (b"<svg xmlns='x'><script>alert(1)</script></svg>", "image/svg+xml", ("scripts",)),
        (b"<svg xmlns='x' onload='alert(1)'/>", "image/svg+xml", ("scripts",)),
        (b"<svg xmlns='x'><path d='M0 0'/></svg>", "image/svg+xml", ()),
        (office({"a.txt": "x"}), "application/zip", ()),
        (office({"META-INF/MANIFEST.MF": "x", "A.class": b"\xca\xfe"}), "application/java-archive", ("program",)),
        (b"PK\x03\x04 and no more of it \xff", "application/zip", ()),
        (b"", "text/plain", ()),
    ],
)
def test_a_type_is_by_content(content: bytes, media_type: str, contains: tuple[str, ...]) -> None:
    pointer = describe_file(content)
    assert (pointer.media_type, pointer.contains) == (media_type, contains)


def test_an_office_document_is_read() -> None:
    pointer = describe_file(docx("Dear Ms Alvarez"))
    assert pointer.media_type == "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
    assert (pointer.read, pointer.text) == ("all", "Dear Ms Alvarez")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (docx("x", run="<w:vanish/>"), HIDDEN_TEXT),
        (docx("x", more={"word/vbaProject.bin": b"\0"}), "macros"),
        (docx("x", more={"word/embeddings/oleObject1.bin": b"\0"}), "embedded files"),
        (
            docx(
                "x",
                more={"word/_rels/settings.xml.rels": '<R><r Type="x/attachedTemplate" TargetMode="External"/></R>'},
            ),
            "external references",
        ),
    ],
)
def test_what_runs_or_is_hidden_in_one_is_named(content: bytes, expected: str) -> None:
    assert describe_file(content).contains == (expected,)


def test_what_is_in_a_document_is_checked_and_a_power() -> None:
    secret = "Use the key AKIA" + "Z7QX3MNBV5RT2WPL to sign in at https://files.example.com/x"
    files = bundle() | {"assets/letter.docx": docx(secret, more={"word/vbaProject.bin": b"\0"})}
    report = validate_bundle(files)
    assert "SEC_SECRET" in {each.code for each in report.findings if each.file == "assets/letter.docx"}
    assert report.bundle is not None
    assert ("program", "assets/letter.docx") in {(power.kind, power.name) for power in powers_of(report.bundle)}
    assert ("host", "files.example.com") in {(power.kind, power.name) for power in powers_of(report.bundle)}
    hidden = validate_bundle(bundle() | {"assets/letter.docx": docx("x", run="<w:vanish/>")})
    assert "SEC_HIDDEN_MARKUP" in {each.code for each in hidden.findings}


def test_scripts_in_a_text_that_is_markup_are_a_power() -> None:
    report = validate_bundle(bundle() | {"assets/a.svg": "<svg onload='x()'/>", "references/a.md": "say `onload='x'`"})
    assert report.bundle is not None
    assert [power.name for power in powers_of(report.bundle) if power.kind == "program"] == ["assets/a.svg"]


def _bomb(size: int) -> bytes:
    return docx("x", more={"word/comments.xml": "<a>" + " " * size + "</a>"})


def test_a_bomb_is_not_unpacked() -> None:
    content = _bomb(50 * 2**20)
    with costs.at_most(30):
        pointer = describe_file(content)
    assert pointer.read == "not read"
    assert len(content) < 100_000


def test_an_archive_that_lies_about_a_size_is_not_read_past_it() -> None:
    content = bytearray(_bomb(20 * 2**20))
    for mark, offset in ((b"PK\x01\x02", 24), (b"PK\x03\x04", 22)):
        at = content.find(mark)
        while at != -1:
            struct.pack_into("<I", content, at + offset, 10)
            at = content.find(mark, at + 4)
    assert describe_file(bytes(content)).read == "not read"


def test_entities_are_not_expanded() -> None:
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10 if n else "ha"}">' for n in range(12))
    pointer = describe_file(docx("x", more={"word/comments.xml": f"<!DOCTYPE a [{laughs}]><a>&l11;</a>"}))
    assert pointer.read == "not read"


def test_an_archive_of_very_many_members_is_not_listed() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for number in range(file_description.MEMBERS_MAX + 1):
            archive.writestr(f"word/{number}.xml", "")
    assert describe_file(buffer.getvalue()).read == "not read"


def test_a_long_text_is_read_in_part_and_that_is_said() -> None:
    pointer = describe_file(("word " * 300_000).encode())
    assert (pointer.media_type, len(pointer.text)) == ("text/plain", PLAIN_TEXT_MAX)
    assert pointer.read == f"first {PLAIN_TEXT_MAX} of 1499999 characters"
    report = validate_bundle(bundle() | {f"references/{name}.md": pointer.write() for name in "abc"})
    (finding,) = report.findings
    assert (finding.code, finding.severity, finding.file) == ("FILE_UNCHECKED", "error", "references/a.md")
    assert "2 more files" in finding.message


def test_a_waiver_of_unchecked_texts_is_for_these_bytes() -> None:
    def fingerprint(**texts: str) -> str:
        files = bundle() | {
            f"references/{name}.md": describe_file(text.encode()).write() for name, text in texts.items()
        }
        return fingerprint_findings(validate_bundle(files).findings, files)[0]

    same, padded = "word " * 300_000, "word " * 300_000 + "and an order"
    assert fingerprint(a=same, b=same) == fingerprint(a=same, b=same)
    assert fingerprint(a=same, b=same) != fingerprint(a=same, b=padded)


def test_equal_contents_are_spooled_once_and_one_too_large_not() -> None:
    spool = ContentSpool()
    first, second = spool.add(b"\0one"), spool.add(b"\0two")
    assert spool.add(b"\0one") == first
    assert (spool.read(first), spool.read(second)) == (b"\0one", b"\0two")
    large = spool.add(b"\0" * (CONTENT_BYTES_MAX + 1))
    assert spool.read(large) is None
    assert spool.read("no pointer") is None
    assert spool.read(FilePointer(f"sha256:{'0' * 64}", 1, "a/b").write()) is None
