"""What a person says to a call that waits: yes, with what they changed, and for how long."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime


@dataclass(frozen=True, slots=True)
class Approval:
    """A person's yes. `by` names them.

    `arguments` are the call's, as the person has changed them. From `expires_at` on (with a time zone) it is void: what
    has not begun by then asks again. `for_session`: until then, or for as long as the session has this release of the
    skill, each further call of the same tool runs without asking, whatever its arguments.
    """

    by: str = ""
    arguments: Mapping[str, object] | None = None
    expires_at: datetime | None = None
    for_session: bool = False

    def __post_init__(self) -> None:
        """Raises `ValueError` for a time without a zone."""
        if self.expires_at is not None and self.expires_at.tzinfo is None:
            raise ValueError("expires_at has a time zone, such as datetime.now(UTC) + timedelta(minutes=5)")

    @property
    def until(self) -> str:
        """`expires_at` as text, in UTC; empty where it does not expire."""
        return self.expires_at.astimezone(UTC).isoformat() if self.expires_at is not None else ""


@dataclass(frozen=True, slots=True)
class Grant:
    """An approval for the rest of a session, of one tool in one release of its skill. `until` as `Approval.until`."""

    capability_id: str
    digest: str
    tool: str
    by: str
    until: str = ""


def check_until(until: str) -> None:
    """Raises `ValueError` or `TypeError` for a text that is not a time with a zone."""
    is_over(until, datetime.now(UTC))


def is_over(until: str, now: datetime) -> bool:
    """Whether an approval until then is void now."""
    return bool(until) and datetime.fromisoformat(until) <= now
