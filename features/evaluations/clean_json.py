"""What a model wrote, as every database keeps it."""

from __future__ import annotations

from typing import Any

from capability_kit.json_text import map_texts
from capability_kit.text.sanitize import strip_surrogates


def clean_json(value: Any) -> Any:
    """The same without NUL, which PostgreSQL does not have, and without halves of characters, which UTF-8 does not."""
    return map_texts(value, _clean, _clean)


def _clean(text: str) -> str:
    return strip_surrogates(text).replace("\0", "")
