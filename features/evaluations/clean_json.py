"""What a model wrote, as every database keeps it."""

from __future__ import annotations

from typing import Any

from capability_kit.text.sanitize import strip_surrogates


def clean_json(value: Any) -> Any:
    """The same without NUL, which PostgreSQL does not have, and without halves of characters, which UTF-8 does not."""
    if isinstance(value, str):
        return strip_surrogates(value).replace("\0", "")
    if isinstance(value, dict):
        return {clean_json(str(name)): clean_json(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [clean_json(each) for each in value]
    return value
