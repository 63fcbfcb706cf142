"""Reads zips and tars; limits apply to every entry before the first byte of content (docs/contract.md 5)."""

from __future__ import annotations

import gzip
import io
import stat
import tarfile
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import IO, Final

from capability_kit.text.files import UnnamedFile
from capability_rules.bundles.supporting_files import IGNORED_FOLDERS
from capability_rules.errors import SourceUnreadable

ENTRIES_MAX: Final = 2000
ENTRY_BYTES_MAX: Final = 10 * 1024 * 1024
ARCHIVE_BYTES_MAX: Final = 64 * 1024 * 1024
RATIO_MAX: Final = 100
# Each folder of a path is checked separately: a name of 60,000 characters can have 30,000 of them.
NAME_LENGTH_MAX: Final = 1000
NAME_STEPS_MAX: Final = 64
# A tar has a header and padding for each entry, and may have long names; beyond this it is a bomb.
_TAR_BYTES_MAX: Final = ARCHIVE_BYTES_MAX + ENTRIES_MAX * 4096
_GZIP: Final = b"\x1f\x8b"
_CENTRAL_ENTRY: Final = b"PK\x01\x02"
_PART_BYTES: Final = 1024 * 1024
_ODD_ARCHIVE: Final = (
    zipfile.BadZipFile, tarfile.TarError, zlib.error, EOFError, NotImplementedError, ValueError, OverflowError,
    RecursionError,
)  # fmt: skip

# Reads at most that many bytes of one entry.
ArchiveReader = Callable[[int], bytes]
# Bytes, or an open file that can be read at any place.
FileData = bytes | IO[bytes]


@dataclass(frozen=True, slots=True)
class _ArchiveEntry:
    """What the rules look at, of an entry of either kind."""

    name: str
    is_folder: bool
    is_plain: bool
    size: int
    odd: str | None = None


def read_members(data: FileData, path: str) -> dict[str, ArchiveReader]:
    """Every regular file of a zip, a tar or a tar.gz by its name.

    Raises `SourceUnreadable` that names the entry; so does a reader whose entry is damaged.
    """
    file = _opened(data)
    start = _read_at(file, 0, 512)
    is_tar = start[:2] == _GZIP or start[257:262] == b"ustar"
    return tar_members(file, path) if is_tar else zip_members(file, path)


def _opened(data: FileData) -> IO[bytes]:
    return io.BytesIO(data) if isinstance(data, bytes) else data


def size_of(data: FileData) -> int:
    """In bytes."""
    return len(data) if isinstance(data, bytes) else data.seek(0, io.SEEK_END)


def reader_of(data: FileData) -> ArchiveReader:
    """Reads it from its start."""
    file = _opened(data)
    return lambda most: _read_at(file, 0, most)


def _read_at(file: IO[bytes], start: int, size: int) -> bytes:
    file.seek(start)
    return file.read(size)


def zip_members(data: FileData, path: str) -> dict[str, ArchiveReader]:
    """As `read_members`, for a zip alone."""
    file = _opened(data)
    _refuse_many_entries(file, path)
    try:
        archive = zipfile.ZipFile(file)
        infos = archive.infolist()
        infos = [info for info in infos if not _is_passed_over(_zip_entry(info))]
        _check_entries([_zip_entry(info) for info in infos], path)
    except _ODD_ARCHIVE as error:
        raise SourceUnreadable(f"{path}: not a readable zip ({error})") from None
    return {info.filename: _zip_reader(archive, info, path) for info in infos if not _is_zip_folder(info)}


def _zip_reader(archive: zipfile.ZipFile, info: zipfile.ZipInfo, path: str) -> ArchiveReader:
    def read(most: int) -> bytes:
        try:
            with archive.open(info) as handle:
                return handle.read(most)
        except _ODD_ARCHIVE as error:
            raise SourceUnreadable(f"{path}: not a readable zip ({error})") from None

    return read


def _refuse_many_entries(file: IO[bytes], path: str) -> None:
    """Count before anything is read: a million empty entries fit into 64 MiB, and each becomes an object."""
    total = size_of(file)
    # The end of a zip: its record of 22 bytes, and a comment.
    first = max(0, total - 22 - 65_535)
    tail = _read_at(file, first, total - first)
    end = tail.rfind(b"PK\x05\x06")
    if end == -1:
        return
    size = int.from_bytes(tail[end + 12 : end + 16], "little")
    count, left, position, before = 0, min(size, first + end), max(0, first + end - size), b""
    while left > 0 and count <= ENTRIES_MAX:
        part = before + _read_at(file, position, min(left, _PART_BYTES))
        count += part.count(_CENTRAL_ENTRY)
        # An entry's mark that two parts share is counted with the second.
        before = part[-3:]
        position, left = position + _PART_BYTES, left - _PART_BYTES
    _refuse_count(count, path)


def _refuse_count(entries: int, path: str) -> None:
    if entries > ENTRIES_MAX:
        raise SourceUnreadable(f"{path}: {entries:,} entries; at most {ENTRIES_MAX:,} are allowed")


def _zip_entry(info: zipfile.ZipInfo) -> _ArchiveEntry:
    mode = info.external_attr >> 16
    is_plain = mode == 0 or stat.S_IFMT(mode) in (0, stat.S_IFREG, stat.S_IFDIR)
    rules = (
        (bool(info.flag_bits & 0x1), "it is encrypted"),
        (info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED), "its compression is not supported"),
        (info.file_size > RATIO_MAX * max(info.compress_size, 1), f"it unpacks to over {RATIO_MAX} times its size"),
    )
    odd = next((reason for applies, reason in rules if applies), None)
    return _ArchiveEntry(info.orig_filename, _is_zip_folder(info), is_plain, info.file_size, odd)


def _is_zip_folder(info: zipfile.ZipInfo) -> bool:
    """As `ZipInfo.is_dir`, which raises IndexError for a name of nothing before Python 3.12."""
    return info.filename.endswith("/")


def tar_members(data: FileData, path: str) -> dict[str, ArchiveReader]:
    """As `read_members`, for a tar or a tar.gz alone."""
    try:
        return _tar_members(_opened(data), path)
    except _ODD_ARCHIVE as error:
        raise SourceUnreadable(f"{path}: not a readable tar ({error})") from None


def _tar_members(file: IO[bytes], path: str) -> dict[str, ArchiveReader]:
    plain = _unpacked(file, path) if _read_at(file, 0, 2) == _GZIP else file
    plain.seek(0)
    found: list[tuple[_ArchiveEntry, tarfile.TarInfo]] = []
    archive = tarfile.TarFile(fileobj=plain)
    while (info := archive.next()) is not None:
        entry = _tar_entry(info)
        if entry is not None and not _is_passed_over(entry):
            found.append((entry, info))
        _refuse_count(len(found), path)
    _check_entries([entry for entry, _ in found], path)
    total = sum(entry.size for entry, _ in found)
    if total > RATIO_MAX * size_of(file):
        raise SourceUnreadable(f"{path}: it unpacks to over {RATIO_MAX} times its size")
    return {entry.name: _tar_reader(archive, info) for entry, info in found if not entry.is_folder}


def _unpacked(file: IO[bytes], path: str) -> IO[bytes]:
    """The tar inside of a gzip, read up to the limit of a tar, into a file without a name."""
    stream = zlib.decompressobj(wbits=31)
    plain = UnnamedFile()
    file.seek(0)
    while not stream.eof and (part := stream.unconsumed_tail or file.read(_PART_BYTES)):
        plain.write(stream.decompress(part, _PART_BYTES))
        if plain.tell() > _TAR_BYTES_MAX:
            raise SourceUnreadable(f"{path}: more than {ARCHIVE_BYTES_MAX >> 20} MiB when unpacked")
    plain.write(b"" if stream.eof else stream.flush())
    if not stream.eof or stream.unused_data or file.read(1):
        raise SourceUnreadable(f"{path}: the gzip is cut off, or something follows it")
    return plain


def _tar_entry(info: tarfile.TarInfo) -> _ArchiveEntry | None:
    """None for the folder `.` itself; `./` before a name is how tar writes a folder's own content."""
    name = info.name.removeprefix("./")
    if info.isdir() and name in ("", "."):
        return None
    is_plain = info.isdir() or (info.isreg() and not info.issparse())
    return _ArchiveEntry(f"{name}/" if info.isdir() else name, info.isdir(), is_plain, info.size)


def _tar_reader(archive: tarfile.TarFile, info: tarfile.TarInfo) -> ArchiveReader:
    def read(most: int) -> bytes:
        handle = archive.extractfile(info)
        return handle.read(most) if handle is not None else b""

    return read


def _is_passed_over(entry: _ArchiveEntry) -> bool:
    """A link in a folder that every import passes over: package managers make them there."""
    return not entry.is_plain and any(step in IGNORED_FOLDERS for step in entry.name.split("/"))


def _check_entries(entries: Iterable[_ArchiveEntry], path: str) -> None:
    """All rules against all entries."""
    found = list(entries)
    _refuse_count(len(found), path)
    if sum(entry.size for entry in found) > ARCHIVE_BYTES_MAX:
        raise SourceUnreadable(f"{path}: more than {ARCHIVE_BYTES_MAX >> 20} MiB when unpacked")
    taken: dict[str, str] = {}
    for entry in found:
        reason = _refusal(entry) or _collision(entry.name, taken)
        if reason is not None:
            raise SourceUnreadable(f"{path}: the entry {entry.name[:100]!r} is refused: {reason}")


def _collision(name: str, taken: dict[str, str]) -> str | None:
    """Names that a file system may treat as equal: by case, by Unicode form, a file and a folder.

    `taken` maps each folded name so far to its spelling, a folder's with a slash at the end.
    """
    steps = name.rstrip("/").split("/")
    spellings = ["/".join(steps[:depth]) + "/" for depth in range(1, len(steps))]
    spellings.append(name)
    for spelling in spellings:
        folded = unicodedata.normalize("NFC", spelling).casefold().rstrip("/")
        known = taken.get(folded)
        if known is not None and (known != spelling or not spelling.endswith("/")):
            return "another entry has this name"
        taken[folded] = spelling
    return None


def _refusal(entry: _ArchiveEntry) -> str | None:
    name = entry.name
    parts = name.split("/")
    rules = (
        (name.startswith("/") or (len(name) > 1 and name[1] == ":"), "its path is absolute"),
        (".." in parts or "." in parts, "its path leaves the archive"),
        ("\\" in name, "its path has a backslash"),
        ("\0" in name or not name.strip("/") or "" in parts[:-1], "its path is invalid"),
        (len(name) > NAME_LENGTH_MAX or len(parts) > NAME_STEPS_MAX, "its path is too long"),
        (not entry.is_plain, "it is a link or a device"),
        (entry.odd is not None, entry.odd),
        (entry.size > ENTRY_BYTES_MAX, f"it is over {ENTRY_BYTES_MAX >> 20} MiB"),
    )
    return next((reason for applies, reason in rules if applies), None)


def write_zip(files: Mapping[str, bytes], *, compress: bool = True) -> bytes:
    """As `write_zip_into`, in memory."""
    buffer = io.BytesIO()
    write_zip_into(buffer, files.items(), compress=compress)
    return buffer.getvalue()


def write_zip_into(target: IO[bytes], files: Iterable[tuple[str, bytes]], *, compress: bool = True) -> None:
    """The files by name in this order, one in memory at a time, the same bytes for the same content.

    Compressed bytes may differ with another version of zlib; without `compress` nothing can.
    """
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files:
            info = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
            info.external_attr = (stat.S_IFREG | 0o644) << 16
            # What made it is written too, and differs from system to system.
            info.create_system = 3
            archive.writestr(info, content)


def write_tar_gz(files: Mapping[str, bytes]) -> bytes:
    """As `write_tar_gz_into`, in memory."""
    buffer = io.BytesIO()
    write_tar_gz_into(buffer, files.items())
    return buffer.getvalue()


def write_tar_gz_into(target: IO[bytes], files: Iterable[tuple[str, bytes]]) -> None:
    """As `write_zip_into`, as ustar in gzip: no times, no owners."""
    with (
        gzip.GzipFile(filename="", mode="wb", fileobj=target, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive,
    ):
        for name, content in files:
            info = tarfile.TarInfo(name)
            info.size, info.mode = len(content), 0o644
            archive.addfile(info, io.BytesIO(content))
