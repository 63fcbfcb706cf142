"""The way on which people accept, decline and end: a reason, the right to change the capability, an audit row."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from capability_rules.errors import InvalidRequest
from registry.access.teams import require_edit_permission
from registry.common.actors import Actor
from registry.core import audit
from registry.core.transactions import write_transaction

REASON_MAX: Final = 1000


def check_reason(reason: str, missing: str = "Say why it is fine: a few words are needed (reason)") -> str:
    """The reason without blanks around it. Raises `InvalidRequest` where it is too long, and with `missing` without."""
    reason = reason.strip()
    if not reason:
        raise InvalidRequest(missing)
    if len(reason) > REASON_MAX or "\0" in reason:
        raise InvalidRequest(f"The reason has at most {REASON_MAX:,} characters")
    return reason


@contextmanager
def acceptance_write(capability_id: str, by: Actor, verb: str) -> Iterator[dict[str, Any]]:
    """The transaction of a verb, which ends with its audit row: the caller fills in the detail. Raises `Forbidden`."""
    detail: dict[str, Any] = {}
    with write_transaction():
        require_edit_permission(capability_id, by)
        yield detail
        audit.record(by=by, verb=verb, subject=capability_id, detail=detail)
