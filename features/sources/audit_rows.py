"""Rows of the audit log about a source."""

from __future__ import annotations

from typing import Any, Final

from features.sources.models import GitSource
from registry.common.actors import Actor
from registry.core import audit

_SUBJECT_LENGTH_MAX: Final = 200


def record_event(source: GitSource, verb: str, by: Actor, detail: dict[str, Any] | None = None) -> None:
    """Append one; with the number of the source, because a long address is cut. The caller holds the lock."""
    columns = {"source_id": source.pk, **(detail or {})}
    audit.record(by=by, verb=verb, subject=source.spec[:_SUBJECT_LENGTH_MAX], detail=columns)
