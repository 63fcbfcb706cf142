"""The bytes of files that are kept by their digests, on their way from a source to where they are stored."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from capability_kit.text.files import UnnamedFile
from capability_rules.bundles.file_description import describe_file
from capability_rules.bundles.file_pointer import CONTENT_BYTES_MAX
from capability_rules.errors import SourceUnreadable

# Of one source, whatever number of bundles it has.
SPOOL_BYTES_MAX: Final = 256 * 1024 * 1024


@dataclass(eq=False)
class ContentSpool:
    """On disk, in one file without a name that is gone with the last reader; equal contents once."""

    # By the pointer that was made here: a text of the source that only looks like one finds nothing.
    _places: dict[str, tuple[int, int]] = field(default_factory=dict)
    _file: UnnamedFile = field(default_factory=UnnamedFile)
    _size: int = 0

    def add(self, content: bytes) -> str:
        """Keep the bytes; the pointer to them. One that is too large is not kept: its pointer says its size, which the
        checks refuse. Raises `SourceUnreadable` for a source with too many."""
        pointer = describe_file(content)
        text = pointer.write()
        if text not in self._places and pointer.size <= CONTENT_BYTES_MAX:
            if self._size + pointer.size > SPOOL_BYTES_MAX:
                most = SPOOL_BYTES_MAX >> 20
                raise SourceUnreadable(f"The files have more than {most} MiB together; import some of the folders")
            self._file.seek(self._size)
            self._file.write(content)
            self._places[text] = (self._size, pointer.size)
            self._size += pointer.size
        return text

    def read(self, text: str) -> bytes | None:
        """The bytes that a text stands for; None for any other text."""
        place = self._places.get(text)
        if place is None:
            return None
        self._file.seek(place[0])
        return self._file.read(place[1])
