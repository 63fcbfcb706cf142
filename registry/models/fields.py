"""Columns that many tables have. Part of `registry.models`."""

from __future__ import annotations

from typing import Any

from django.db.models import CharField


def optional_text(max_length: int, **options: Any) -> CharField[str, str]:
    """A text that is empty where there is none."""
    return CharField(max_length=max_length, blank=True, default="", **options)
