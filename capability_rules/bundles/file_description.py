"""What a file is, by its bytes: its type, what may run or is hidden in it, and the text that can be read of it.

Nothing of it is run. Office documents are zips of XML, which are read within bounds; PDFs are searched for names of
actions; of everything else no text is read, and its pointer says so.
"""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Iterator
from typing import Final
from xml.parsers import expat

from capability_kit.bundles.digest import bytes_digest
from capability_rules.bundles.file_pointer import ALL_READ, NOT_READ, PLAIN_TEXT_MAX, TEXT_MAX, FilePointer
from capability_rules.bundles.text import is_binary, normalize_newlines

# Of one file: members that are looked at, and bytes that they unpack to, which is never many times its own size: a
# thousand small files must not come to gigabytes.
MEMBERS_MAX: Final = 2000
UNPACKED_MAX: Final = 4 * 1024 * 1024
UNPACKED_RATIO: Final = 20
UNPACKED_LEAST: Final = 64 * 1024
STREAMS_MAX: Final = 500
# https://www.iana.org/assignments/media-types, and the signatures of https://en.wikipedia.org/wiki/List_of_file_signatures
_SIGNATURES: Final = (
    (b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"), (b"GIF8", "image/gif"), (b"BM", "image/bmp"),
    (b"%PDF-", "application/pdf"), (b"\x1f\x8b", "application/gzip"), (b"PAR1", "application/vnd.apache.parquet"),
    (b"wOFF", "font/woff"), (b"wOF2", "font/woff2"), (b"OTTO", "font/otf"), (b"\0\x01\0\0\0", "font/ttf"),
    (b"true\0", "font/ttf"), (b"ttcf", "font/collection"), (b"OggS", "audio/ogg"), (b"ID3", "audio/mpeg"),
    (b"fLaC", "audio/flac"), (b"SQLite format 3\0", "application/vnd.sqlite3"), (b"\0asm", "application/wasm"),
    (b"II*\0", "image/tiff"), (b"MM\0*", "image/tiff"), (b"\0\0\x01\0", "image/x-icon"),
    (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"), (b"Rar!", "application/vnd.rar"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/x-ole-storage"),
    (b"\x7fELF", "application/x-elf"), (b"MZ", "application/vnd.microsoft.portable-executable"),
    (b"\xca\xfe\xba\xbe", "application/x-mach-binary"), (b"\xcf\xfa\xed\xfe", "application/x-mach-binary"),
)  # fmt: skip
_PROGRAMS: Final = ("application/x-elf", "application/vnd.microsoft.portable-executable", "application/x-mach-binary",
                    "application/wasm")  # fmt: skip
_OFFICE: Final = {
    "word": "wordprocessingml.document",
    "xl": "spreadsheetml.sheet",
    "ppt": "presentationml.presentation",
}
_PDF_SCRIPTS: Final = re.compile(rb"/(?:JavaScript|JS|Launch|SubmitForm|ImportData|RichMedia)\b")
_PDF_STREAM: Final = re.compile(rb"stream\r?\n")
_MARKUP_SCRIPTS: Final = re.compile(r"<\s*script\b|\bon[a-z]{3,30}\s*=|javascript:|<\s*foreignObject\b", re.IGNORECASE)
# The elements after which a reader sees a new line, in office documents and XHTML.
_BREAKS: Final = frozenset(["p", "br", "tr", "si", "row", "title", "h", "li", "comment"])
_UNREADABLE: Final = (
    zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, NotImplementedError, expat.ExpatError,
)  # fmt: skip
# What no text of a bundle can have.
_UNKEPT: Final = re.compile("[\0\r\ud800-\udfff\ufeff]")
# What an office document does not show to who reads it.
HIDDEN_TEXT: Final = "hidden text"
_HIDDEN: Final = frozenset(("vanish", "webHidden", "specVanish"))


def describe_file(content: bytes) -> FilePointer:
    """The pointer of these bytes; never raises, whatever they are."""
    is_text = not is_binary(content)
    media_type = _text_type(content) if is_text else _binary_type(content)
    contains: list[str] = ["program"] if media_type in _PROGRAMS or content.startswith(b"#!") else []
    text, read = "", NOT_READ
    if is_text:
        text, read = normalize_newlines(content.decode("utf-8")), ALL_READ
        contains += ["scripts"] if media_type != "text/plain" and has_scripts(text) else []
    elif content.startswith(b"PK\x03\x04"):
        media_type, found, text, read = _read_zip(content)
        contains += found
    elif media_type == "application/pdf":
        contains += _find_pdf_actions(content)
    elif media_type == "application/x-ole-storage" and "VBA".encode("utf-16-le") in content:
        contains.append("macros")
    text = _UNKEPT.sub("", text).strip()
    most = PLAIN_TEXT_MAX if is_text else TEXT_MAX
    if len(text) > most:
        text, read = text[:most].rstrip(), f"first {most} of {len(text)} characters"
    return FilePointer(bytes_digest(content), len(content), media_type, tuple(dict.fromkeys(contains)), read, text)


def has_scripts(markup: str) -> bool:
    """Whether a text in SVG or HTML has a script, a handler of an event, or an address that is one."""
    return _MARKUP_SCRIPTS.search(markup) is not None


def is_markup(text: str) -> bool:
    """Whether a text is SVG or HTML, which a browser would run scripts of."""
    return _text_type(text[:2000].encode("utf-8", "replace")) != "text/plain"


def _text_type(content: bytes) -> str:
    start = content[:2000].lower()
    if b"<svg" in start:
        return "image/svg+xml"
    return "text/html" if b"<html" in start or b"<!doctype html" in start else "text/plain"


def _binary_type(content: bytes) -> str:
    if content[:4] == b"RIFF" and content[8:12] in (b"WEBP", b"WAVE", b"AVI "):
        return {b"WEBP": "image/webp", b"WAVE": "audio/wav"}.get(content[8:12], "video/x-msvideo")
    if content[4:8] == b"ftyp":
        return "image/avif" if content[8:12] == b"avif" else "video/mp4"
    if content[257:262] == b"ustar":
        return "application/x-tar"
    found = (media_type for signature, media_type in _SIGNATURES if content.startswith(signature))
    return next(found, "application/octet-stream")


def _read_zip(content: bytes) -> tuple[str, list[str], str, str]:
    """`(type, what it contains, text, how much of it was read)`. Bounds hold before anything is unpacked."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(content)) if content.count(b"PK\x01\x02") <= MEMBERS_MAX else None
    except (zipfile.BadZipFile, ValueError, OverflowError, NotImplementedError, IndexError):
        archive = None
    if archive is None:
        return "application/zip", [], "", NOT_READ
    infos = archive.infolist()
    names = {info.filename for info in infos}
    media_type = _zip_type(names, content)
    contains = [word for word, applies in (
        ("macros", any(name.lower().rpartition("/")[2] in ("vbaproject.bin", "vbadata.xml") or "/Basic/" in f"/{name}"
                       for name in names)),
        ("embedded files", any("/embeddings/" in name or "oleObject" in name or "activeX" in name for name in names)),
        ("program", "META-INF/MANIFEST.MF" in names),
    ) if applies]  # fmt: skip
    if media_type == "application/zip":
        return media_type, contains, "", NOT_READ
    texts, hidden, is_whole = _read_markup(archive, infos, _unpacked_most(content))
    return media_type, contains + hidden, "\n\n".join(filter(None, texts)), ALL_READ if is_whole else NOT_READ


def _zip_type(names: set[str], content: bytes) -> str:
    if "[Content_Types].xml" in names:
        kind = next(
            (kind for folder, kind in _OFFICE.items() if any(name.startswith(f"{folder}/") for name in names)), ""
        )
        return f"application/vnd.openxmlformats-officedocument.{kind}" if kind else "application/zip"
    # The first member of OpenDocument and EPUB, stored as it is.
    named = re.match(rb"mimetype(application/[a-z0-9.+-]{1,90})", content[30:160])
    if "mimetype" in names and named is not None:
        return named[1].decode().removesuffix("PK")
    return "application/java-archive" if "META-INF/MANIFEST.MF" in names else "application/zip"


def _unpacked_most(content: bytes) -> int:
    return min(UNPACKED_MAX, UNPACKED_RATIO * len(content) + UNPACKED_LEAST)


def _read_markup(
    archive: zipfile.ZipFile, infos: list[zipfile.ZipInfo], left: int
) -> tuple[list[str], list[str], bool]:
    """The texts of its members in XML, what is hidden or leads elsewhere in them, and whether all of them were read."""
    texts: list[str] = []
    hidden: list[str] = []
    is_whole = True
    for info in infos:
        if not info.filename.lower().endswith((".xml", ".rels", ".xhtml", ".html", ".htm", ".opf", ".ncx")):
            continue
        try:
            markup = _read_member(archive, info, left)
        except _UNREADABLE:
            markup = None
        read = _read_xml(markup) if markup is not None else None
        if markup is None or read is None:
            is_whole = False
            continue
        text, found = read
        left -= len(markup)
        hidden += found
        if not info.filename.endswith(".rels"):
            texts.append(text)
    return texts, list(dict.fromkeys(hidden)), is_whole


def _read_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, most: int) -> bytes | None:
    """None for what is encrypted or larger, whatever the archive says of its size."""
    if info.file_size > most or info.flag_bits & 0x1:
        return None
    with archive.open(info) as member:
        markup = member.read(most + 1)
    return markup if len(markup) <= most else None


def _read_xml(markup: bytes) -> tuple[str, list[str]] | None:
    """The character data of a document, and `HIDDEN_TEXT` or `external references`; None for what is not XML or
    declares entities."""
    pieces: list[str] = []
    found: list[str] = []
    parser = expat.ParserCreate()

    def refuse(*_: object) -> None:
        raise ValueError("entities")

    def begin(name: str, attributes: dict[str, str]) -> None:
        if name.rpartition(":")[2] in _HIDDEN:
            found.append(HIDDEN_TEXT)
        if attributes.get("TargetMode") == "External" and not attributes.get("Type", "").endswith("/hyperlink"):
            found.append("external references")
        if name == "script" or attributes.get("script:language"):
            found.append("scripts")

    def end(name: str) -> None:
        if name.rpartition(":")[2] in _BREAKS:
            pieces.append("\n")

    parser.EntityDeclHandler = refuse
    parser.StartElementHandler, parser.EndElementHandler = begin, end
    parser.CharacterDataHandler = pieces.append
    try:
        parser.Parse(markup, True)  # noqa: FBT003
    except _UNREADABLE:
        return None
    lines = (line.strip() for line in "".join(pieces).split("\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip(), found


def _find_pdf_actions(content: bytes) -> list[str]:
    found = []
    for part in _pdf_parts(content):
        # A name may be written in hexadecimal: /J#61vaScript.
        plain = re.sub(rb"#([0-9A-Fa-f]{2})", lambda match: bytes([int(match[1], 16)]), part)
        found += ["scripts"] if _PDF_SCRIPTS.search(plain) else []
        found += ["embedded files"] if b"/EmbeddedFile" in plain else []
    return found


def _pdf_parts(content: bytes) -> Iterator[bytes]:
    """The file itself and its compressed streams, as far as they may be unpacked."""
    yield content
    left, view = _unpacked_most(content), memoryview(content)
    for count, match in enumerate(_PDF_STREAM.finditer(content)):
        if left <= 0 or count >= STREAMS_MAX:
            return
        try:
            part = zlib.decompressobj().decompress(view[match.end() :], left)
        except zlib.error:
            continue
        left -= len(part)
        yield part
