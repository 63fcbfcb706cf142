"""Bytes of supporting files: brought, held by capabilities, read in parts, and forgotten when nothing names them.

A bundle has a pointer to each (`capability_rules.bundles.file_pointer`). Who writes texts may write any pointer, so
one is taken only where the capability has had the file, or where the same person or key has brought its bytes within a
day: a digest alone, seen elsewhere, leads to nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Final

from django.db.models import Sum
from django.utils import timezone

from capability_rules.bundles.content_spool import ContentSpool
from capability_rules.bundles.file_description import describe_file
from capability_rules.bundles.file_pointer import CONTENT_BYTES_MAX, FilePointer, is_pointer, parse_pointer
from capability_rules.errors import InvalidRequest
from registry.common.actors import Actor
from registry.common.errors import SkillMalformed, TooManyUploads, UploadTooLarge
from registry.core.jobs.queue import CommitAction, Lease
from registry.core.storage import require_database
from registry.core.transactions import write_transaction
from registry.models import Capability, Draft, DraftVersion, FileChunk, FileContent, FileHold, Proposal, Revision

KIND: Final = "file_contents.prune"
CHUNK_BYTES: Final = 256 * 1024
# How long bytes wait for a draft that names them, and how many each person or key may have waiting.
WAITING_TIME: Final = timedelta(days=1)
WAITING_BYTES_MAX: Final = 256 * 1024 * 1024
# Drafts and their versions are kept that long; a file is looked for in them before it is forgotten.
_UNLOOKED: Final = timedelta(days=30)


def store_content(content: bytes, by: Actor) -> str:
    """Keep the bytes of one file; the pointer to them, which `by` may name within a day.

    Raises `UploadTooLarge`, and `TooManyUploads` where `by` has brought too much that nothing has.
    """
    if len(content) > CONTENT_BYTES_MAX:
        raise UploadTooLarge(f"A supporting file has at most {CONTENT_BYTES_MAX >> 20} MiB")
    pointer = describe_file(content)
    _store(content, pointer, by)
    return pointer.write()


def _store(content: bytes, pointer: FilePointer, by: Actor) -> None:
    text = pointer.write()
    with write_transaction():
        waiting = FileHold.objects.filter(capability__isnull=True, brought_by=str(by), at__gte=_oldest_waiting())
        if (waiting.aggregate(sum=Sum("content__size"))["sum"] or 0) + len(content) > WAITING_BYTES_MAX:
            words = f"at most {WAITING_BYTES_MAX >> 20} MiB of files wait for a draft at a time, for a day"
            raise TooManyUploads(f"'{by.name}' has sent too many files that no draft has: {words}")
        row, is_new = FileContent.objects.get_or_create(
            digest=pointer.digest, defaults={"size": pointer.size, "pointer": text}
        )
        if is_new:
            for number, start in enumerate(range(0, len(content), CHUNK_BYTES)):
                FileChunk.objects.create(content=row, number=number, data=content[start : start + CHUNK_BYTES])
        elif row.pointer != text:
            # A later version of the product reads more of the same bytes.
            FileContent.objects.filter(pk=row.pk).update(pointer=text)
        FileHold.objects.update_or_create(
            content=row, capability=None, brought_by=str(by), defaults={"at": timezone.now()}
        )


def bring(contents: ContentSpool | None, files: Mapping[str, bytes | str], by: Actor) -> None:
    """Store what the pointers among these files stand for, of what a source brought along: each was described as it was
    read. Raises `TooManyUploads`."""
    for text in files.values() if contents is not None else ():
        content = contents.read(text) if contents is not None and isinstance(text, str) else None
        pointer = parse_pointer(text) if content is not None and isinstance(text, str) else None
        if content is not None and pointer is not None:
            _store(content, pointer, by)


def hold_files(capability: Capability, files: Mapping[str, str], by: Actor) -> None:
    """Have the capability hold every file that its texts point to; the caller is in the transaction that stores them.

    Raises `InvalidRequest` that names the first pointer which is not the registry's own, or whose bytes neither the
    capability has had nor `by` has brought.
    """
    named = _list_pointers(files)
    if not named:
        return
    digests = {pointer.digest for _, pointer in named}
    held = dict(
        FileHold.objects.filter(capability=capability, content__digest__in=digests).values_list(
            "content__digest", "content__pointer"
        )
    )
    waiting = FileHold.objects.filter(capability__isnull=True, brought_by=str(by), at__gte=_oldest_waiting())
    waiting = waiting.filter(content__digest__in=digests - set(held)).select_related("content")
    brought = {hold.content.digest: hold.content for hold in waiting}
    earlier: set[str] | None = None
    for path, pointer in named:
        row = brought.get(pointer.digest)
        expected = row.pointer if row is not None else held.get(pointer.digest)
        if expected is not None and expected != files[path]:
            # Described by an earlier version of the product, where the capability has it so already.
            earlier = _stored_texts(capability) if earlier is None else earlier
            expected = files[path] if files[path] in earlier else None
        if expected is None:
            words = f"{path[:200]} names the content {pointer.digest}, which this capability does not have"
            raise InvalidRequest(f"{words}: send the file itself")
    for row in brought.values():
        FileHold.objects.get_or_create(content=row, capability=capability)


def _list_pointers(files: Mapping[str, str]) -> list[tuple[str, FilePointer]]:
    """The paths of pointers; a text that only begins as one is none of ours, and refused as its first line says."""
    found = []
    for path, text in files.items():
        if is_pointer(text):
            pointer = parse_pointer(text)
            if pointer is None:
                raise InvalidRequest(f"{path[:200]} begins as what stands for another file: change its first line")
            found.append((path, pointer))
    return found


def _stored_texts(capability: Capability) -> set[str]:
    rows = [*capability.drafts.all(), *filter(None, [capability.published_revision])]
    return {text for row in rows for text in row.files.values()}


def lend_files(source: Capability, files: Mapping[str, str], by: Actor) -> None:
    """As if `by` had brought these files of a capability: for a draft like it."""
    digests = [pointer.digest for _, pointer in _list_pointers(files)]
    for hold in FileHold.objects.filter(capability=source, content__digest__in=digests):
        FileHold.objects.update_or_create(
            content_id=hold.content_id, capability=None, brought_by=str(by), defaults={"at": timezone.now()}
        )


def list_held_digests(capability_id: str) -> frozenset[str]:
    """The digests of all files that a capability has, or had within 30 days."""
    held = FileHold.objects.filter(capability__capability_id=capability_id)
    return frozenset(held.values_list("content__digest", flat=True))


@require_database()
def read_range(digest: str, start: int = 0, end: int | None = None) -> Iterator[bytes]:
    """The bytes from `start` to before `end`, in parts. Raises `SkillMalformed` where some are missing."""
    content = FileContent.objects.filter(digest=digest).first()
    if content is None:
        raise SkillMalformed(f"The content {digest} is not in the registry any more")
    return _parts(content, start, content.size if end is None else min(end, content.size))


def _parts(content: FileContent, start: int, end: int) -> Iterator[bytes]:
    for number in range(start // CHUNK_BYTES, -(-end // CHUNK_BYTES)):
        row = FileChunk.objects.filter(content=content, number=number).values_list("data", flat=True).first()
        if row is None:
            raise SkillMalformed(f"A part of the content {content.digest} is missing")
        first = number * CHUNK_BYTES
        yield bytes(row)[max(start - first, 0) : end - first]


class FileBytes(Mapping[str, bytes]):
    """The files of a bundle or a skill as they are given out: of a pointer the bytes, read when they are asked for."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self._files = files

    def __getitem__(self, path: str) -> bytes:
        """Raises `SkillMalformed` for bytes that are missing."""
        text = self._files[path]
        pointer = parse_pointer(text)
        return b"".join(read_range(pointer.digest)) if pointer is not None else text.encode("utf-8")

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)

    def size(self) -> int:
        """Of all of them, in bytes, without reading what is kept by its digest."""
        pointers = ((text, parse_pointer(text)) for text in self._files.values())
        return sum(pointer.size if pointer is not None else len(text.encode()) for text, pointer in pointers)


def prune_contents(lease: Lease) -> CommitAction:  # noqa: ARG001 (the handler of a job without a payload)
    """The handler: forgets bytes that no draft named within a day, and those that no text names any more."""
    return _prune


def _prune() -> None:
    FileHold.objects.filter(capability__isnull=True, at__lt=_oldest_waiting()).delete()
    old = FileHold.objects.filter(capability__isnull=False, at__lt=timezone.now() - _UNLOOKED)
    for hold in old.select_related("content").iterator(chunk_size=100):
        if any(hold.content.digest in text for text in _texts_of(hold.capability_id)):
            FileHold.objects.filter(pk=hold.pk).update(at=timezone.now())
        else:
            hold.delete()
    FileContent.objects.filter(holds__isnull=True).delete()


def _texts_of(capability_id: int | None) -> Iterable[str]:
    """Every supporting text that the capability has or has had."""
    for model in (Draft, Revision, Proposal):
        for texts in (
            model.objects.filter(capability=capability_id).values_list("supporting_files", flat=True).iterator()
        ):
            yield from (text for text in texts.values() if isinstance(text, str))
    for version in DraftVersion.objects.filter(capability=capability_id).iterator():
        yield from version.files.values()


def _oldest_waiting() -> datetime:
    return timezone.now() - WAITING_TIME
