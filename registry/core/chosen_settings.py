"""What admins have set on pages in place of a variable (docs/contract.md 3.6).

A variable wins. Each process holds what the snapshot's watcher polls once a second; one without a watcher, such as a
worker, asks the database when what it holds is older than `FRESH_SECONDS`.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from django.conf import settings
from django.db import DatabaseError, InterfaceError, transaction

from registry.common import caches
from registry.core.rows import update_row
from registry.core.transactions import bump_access_revision
from registry.models import RegistryState

logger = logging.getLogger(__name__)

FRESH_SECONDS: Final = 5.0
PUBLIC_READ: Final = "AGENT_API_PUBLIC_READ"


@dataclass
class _Held:
    """What this process has read last, and when."""

    values: Mapping[str, Any] = field(default_factory=dict)
    read_at: float | None = None
    is_watched: bool = False

    def is_fresh(self) -> bool:
        if self.is_watched and self.read_at is not None:
            return True
        return self.read_at is not None and time.monotonic() - self.read_at < FRESH_SECONDS


_HELD: Final = _Held()


@caches.register
def _forget() -> None:
    _HELD.values, _HELD.read_at, _HELD.is_watched = {}, None, False


def expect_watcher() -> None:
    """From now on a thread of this process reads the row once a second, and nobody else has to."""
    _HELD.is_watched = True


def hold_settings(stored: Mapping[str, Any] | None) -> None:
    """Keep what somebody has just read of the registry's state."""
    _HELD.values, _HELD.read_at = stored or {}, time.monotonic()


def read_chosen() -> Mapping[str, Any]:
    """By the name of a setting; of an unreachable database what was read last."""
    if not _HELD.is_fresh():
        try:
            hold_settings(RegistryState.objects.filter(id=1).values_list("chosen_settings", flat=True).first())
        except (DatabaseError, InterfaceError):
            logger.debug("the chosen settings could not be read", exc_info=True)
    return _HELD.values


def choose_settings(state: RegistryState, values: Mapping[str, Any]) -> None:
    """Store these beside the others, None as not chosen any more; the caller holds the lock."""
    together = {**(state.chosen_settings or {}), **values}
    update_row(state, chosen_settings={name: value for name, value in together.items() if value is not None})
    bump_access_revision(state)
    # At once for who goes on in this transaction, and again for who has read meanwhile what was before it.
    _read_again()
    transaction.on_commit(_read_again, robust=True)


def _read_again() -> None:
    _HELD.read_at = None


def is_set_by_server(name: str) -> bool:
    """Whether the variable of this name is set, which no page overrules."""
    return name in settings.SET_BY_SERVER


def get_setting(name: str) -> Any:
    """The variable's value where it is set, else what was chosen, else the variable's default."""
    default = getattr(settings, name)
    return default if is_set_by_server(name) else read_chosen().get(name, default)


def get_chosen_sender() -> str:
    """The sender of e-mails: of the variable, of the page, or of neither."""
    sender = None if is_set_by_server("EMAIL_FROM") else read_chosen().get("EMAIL_FROM")
    return str(sender or settings.DEFAULT_FROM_EMAIL)


def is_public_read() -> bool:
    """Whether agents read without a key: never where the variable is set and says no."""
    chosen = read_chosen().get(PUBLIC_READ)
    if chosen is None:
        return bool(settings.AGENT_API_PUBLIC_READ)
    return bool(chosen) and (bool(settings.AGENT_API_PUBLIC_READ) or not is_set_by_server(PUBLIC_READ))
