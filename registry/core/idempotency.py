"""A write that its caller may repeat is done once (docs/contract.md 4, `Idempotency-Key`).

The response is stored in the write's transaction: a crash leaves both or neither. Of two calls at the same time the
second waits for the first, and then has its response.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from django.db import connection, transaction
from django.utils import timezone

from registry.common.actors import Actor
from registry.common.errors import IdempotencyKeyReused
from registry.core.jobs.queue import CommitAction, Lease
from registry.models import IdempotencyRecord

KIND: Final = "repeats.prune"
RETENTION: Final = timedelta(hours=24)


@dataclass
class IdempotentCall:
    """`known` is the response of the first call, None where this is the first; then `keep` is the one to store."""

    known: str | None
    keep: str | None = None


@contextmanager
def idempotent_call(*, by: Actor, key: str, fingerprint: str) -> Iterator[IdempotentCall]:
    """The transaction in which the write is done and its response stored.

    Nothing is kept where `keep` is left None or the block raises: a write that was refused has changed nothing, and is
    tried again. Raises `IdempotencyKeyReused` where the key was used for another call.
    """
    with transaction.atomic():
        _wait_for_others(f"{by}\0{key}")
        row = IdempotencyRecord.objects.filter(caller=str(by), idempotency_key=key).first()
        if row is not None and row.at < timezone.now() - RETENTION:
            row.delete()
            row = None
        if row is not None and row.fingerprint != fingerprint:
            raise IdempotencyKeyReused(
                "This Idempotency-Key was used for another call in the last 24 hours; take a new one for a new write"
            )
        call = IdempotentCall(row.response if row is not None else None)
        yield call
        if row is None and call.keep is not None:
            IdempotencyRecord.objects.create(
                caller=str(by), idempotency_key=key, fingerprint=fingerprint, response=call.keep
            )


def _wait_for_others(name: str) -> None:
    """On SQLite the transaction itself is exclusive. The registry's lock is left to the write: a call that validates
    under a key blocks no one else."""
    if connection.vendor == "postgresql":
        number = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big", signed=True)
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [number])


def prune_records(lease: Lease) -> CommitAction:  # noqa: ARG001 (the handler of a job without a payload)
    """The handler: deletes responses that are past their time."""
    return IdempotencyRecord.objects.filter(at__lt=timezone.now() - RETENTION).delete
