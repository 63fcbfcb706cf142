"""What a session knows of the registry's list: read once, with its triggers and names made ready for looking up."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from agent_client.bundles.bundle import Listing, ListingEntry
from agent_client.errors import RegistryError, Unavailable
from agent_client.session.invocations import NameIndex
from agent_client.session.options import Source
from agent_client.text.trigger_matching import TriggerIndex


class SkillIndex:
    """The list. While the registry is away, the session goes on with what it knows."""

    def __init__(self, source: Source, note: Callable[[str], None]) -> None:
        """`note` is called with each error, in words."""
        self._source = source
        self._note = note
        self._listing: Listing | None = None
        self._entries: dict[str, ListingEntry] = {}
        self._triggers = TriggerIndex(())
        self._names = NameIndex(())

    @property
    def entries(self) -> dict[str, ListingEntry]:
        """Every capability by its id."""
        self._need()
        return self._entries

    @property
    def triggers(self) -> TriggerIndex:
        """All intent triggers."""
        self._need()
        return self._triggers

    @property
    def names(self) -> NameIndex:
        """All names."""
        self._need()
        return self._names

    @property
    def first_run(self) -> str:
        """The capability of the introduction; empty where the registry names none."""
        self._need()
        return (self._listing.first_run if self._listing else None) or ""

    @property
    def exclusive_groups(self) -> tuple[str, ...]:
        """Of each of these the registry wants one member active; none where the list cannot be had now."""
        with suppress(RegistryError):
            self._need()
        return self._listing.exclusive_groups if self._listing else ()

    def _need(self) -> None:
        if self._listing is None:
            self.refresh()

    def refresh(self) -> None:
        """Read the list again."""
        try:
            listing = self._source.list()
        except Unavailable as error:
            self._note(f"The list of capabilities could not be read: {error.message}")
            return
        if listing.is_stale:
            self._note(f"The registry is away; the list of capabilities is {listing.age_seconds:,.0f} seconds old")
        self._listing = listing
        self._entries = {entry.capability_id: entry for entry in listing.entries}
        pairs = ((entry.capability_id, trigger) for entry in listing.entries for trigger in entry.intent_triggers)
        self._triggers = TriggerIndex(pairs)
        self._names = NameIndex(listing.entries)
