"""A picture that moves, as WebP: frames that the browser encoded, put together by their container.

The container: https://developers.google.com/speed/webp/docs/riff_container
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence

_ANIMATED = 0x02
# The frame replaces the one before; nothing is blended.
_NO_BLENDING = 0x02
_IMAGES = (b"VP8 ", b"VP8L")


def encode_animation(frames: Sequence[tuple[bytes, int]], size: tuple[int, int]) -> bytes:
    """WebP files of one size, each with the milliseconds that it is shown, as one that repeats for ever."""
    head = bytes([_ANIMATED, 0, 0, 0]) + _number(size[0] - 1) + _number(size[1] - 1)
    # White behind it, and no end.
    parts = [_chunk(b"VP8X", head), _chunk(b"ANIM", b"\xff\xff\xff\xff" + struct.pack("<H", 0))]
    for picture, milliseconds in frames:
        place = _number(0) + _number(0) + _number(size[0] - 1) + _number(size[1] - 1)
        shown = place + _number(milliseconds) + bytes([_NO_BLENDING])
        image = b"".join(_chunk(name, data) for name, data in list_chunks(picture) if name in _IMAGES)
        assert image, "a frame without a picture"
        parts.append(_chunk(b"ANMF", shown + image))
    body = b"WEBP" + b"".join(parts)
    return b"RIFF" + struct.pack("<I", len(body)) + body


def list_chunks(picture: bytes) -> Iterator[tuple[bytes, bytes]]:
    """`(name, content)` of a WebP file's chunks."""
    assert picture[:4] == b"RIFF"
    assert picture[8:12] == b"WEBP"
    place = 12
    while place < len(picture):
        (length,) = struct.unpack_from("<I", picture, place + 4)
        yield picture[place : place + 4], picture[place + 8 : place + 8 + length]
        place += 8 + length + length % 2


def _chunk(name: bytes, content: bytes) -> bytes:
    return name + struct.pack("<I", len(content)) + content + b"\0" * (len(content) % 2)


def _number(value: int) -> bytes:
    """Three bytes, the lowest first."""
    return struct.pack("<I", value)[:3]
