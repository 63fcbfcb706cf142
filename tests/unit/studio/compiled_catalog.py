"""A compiled catalog (.mo) of a language, without GNU gettext."""

from __future__ import annotations

import struct
from collections.abc import Mapping


def compiled_catalog(messages: Mapping[str, str]) -> bytes:
    """What `compilemessages` makes of these (GNU gettext manual: "The Format of GNU MO Files")."""
    rows = [(b"", b"Content-Type: text/plain; charset=UTF-8\n")]
    rows += sorted((key.encode(), value.encode()) for key, value in messages.items())
    count, texts, tables = len(rows), b"", ([], [])  # type: tuple[int, bytes, tuple[list[int], list[int]]]
    start = 28 + 16 * count
    for column in (0, 1):
        for row in rows:
            tables[column].extend((len(row[column]), start + len(texts)))
            texts += row[column] + b"\0"
    header = struct.pack("<7I", 0x950412DE, 0, count, 28, 28 + 8 * count, 0, 0)
    return header + struct.pack(f"<{4 * count}I", *tables[0], *tables[1]) + texts
