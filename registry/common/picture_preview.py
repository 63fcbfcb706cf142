"""Draws a preview of a picture where bundles are checked: in a process that is ended where it takes too long.

By Pillow, where it is installed (`pip install capability-studio[pictures]`).
"""

from __future__ import annotations

import importlib.util
import io
from typing import Any, Final

from capability_rules.validation.isolation.pool import CheckEnded, current_pool

TYPES: Final = ("image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp")
_FORMATS: Final = ("PNG", "JPEG", "GIF", "WEBP", "BMP")
PIXELS_MAX: Final = 30_000_000
SIDE_MAX: Final = 640
_SECONDS_MAX: Final = 5
_OPERATION: Final = "registry.common.picture_preview:answer_request"


def can_draw(media_type: str) -> bool:
    """Whether there may be a preview of a file of this type."""
    return media_type in TYPES and importlib.util.find_spec("PIL") is not None


def draw_preview(content: bytes) -> bytes | None:
    """A PNG of at most `SIDE_MAX` pixels a side without any metadata; None where the picture cannot be drawn.

    Raises `ChecksBusy` where there is no time for it now.
    """
    pool = current_pool()
    request = {"do": _OPERATION, "content": content.decode("latin-1"), "cpu_seconds": _SECONDS_MAX}
    try:
        answer = pool.run(request) if pool is not None else answer_request(request, None)
    except CheckEnded:
        return None
    drawn = answer["png"].encode("latin-1")
    return drawn or None


def answer_request(request: dict[str, Any], _channel: object) -> dict[str, Any]:
    """In the process: `{"png"}`, empty where Pillow refuses the picture or it has too many pixels."""
    from PIL import Image

    drawn = io.BytesIO()
    try:
        with Image.open(io.BytesIO(request["content"].encode("latin-1")), formats=_FORMATS) as picture:
            if picture.width * picture.height <= PIXELS_MAX:
                picture.draft("RGB", (SIDE_MAX, SIDE_MAX))
                picture.thumbnail((SIDE_MAX, SIDE_MAX))
                plain = picture.convert("RGBA")
                plain.info.clear()
                plain.save(drawn, "PNG")
    except Exception:  # noqa: BLE001 (a decoder may raise anything for bytes of strangers)
        return {"png": ""}
    return {"png": drawn.getvalue().decode("latin-1")}
