"""What a session knows of its source: what there is, what is new, what is gone."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from functools import partial

from agent_client.bundles.bundle import ListingEntry
from agent_client.errors import CapabilityNotFound, CapabilityQuarantined, RegistryError, Unavailable
from agent_client.session.invocations import canonical_name, complete_name
from agent_client.session.operations import Operation
from agent_client.session.state import SessionState
from agent_client.session.steps import Steps
from agent_client.text.sanitize import one_line

logger = logging.getLogger("agent_client.session")


class SessionCatalog(SessionState):
    """The list of the source as this session sees it."""

    def _known_entries(self) -> dict[str, ListingEntry]:
        found = self._index.entries
        return {name: found[name] for name in found if name not in self.disabled} if self.disabled else found

    def _need_list(self) -> Steps[None]:
        if not self._index.is_read:
            yield from self._read_list()

    def _read_list(self) -> Steps[None]:
        """While the registry is away, the session goes on with what it knows."""
        try:
            listing = yield Operation("list", partial(self.source.list))
        except Unavailable as error:
            self._note("index", "", f"The list of capabilities could not be read: {error.message}")
            return
        if listing.is_stale:
            words = f"The registry is away; the list of capabilities is {listing.age_seconds:,.0f} seconds old"
            self._note("index", "", words)
        listed = {entry.capability_id for entry in listing.entries}
        if self._index.is_read:
            self._note_changes(listed)
        self._index.accept(listing)
        if not listing.is_stale:
            yield from self._recheck(name for name in sorted(self.bundles) if name not in listed)

    def _recheck(self, names: Iterable[str]) -> Steps[None]:
        """Ask about what is loaded and no longer listed: a quarantined skill is dropped, any other stays."""
        for name in names:
            try:
                yield Operation("load", partial(self.source.load, name, digest=self.pins.get(name)), name)
            except CapabilityQuarantined as error:
                self._give_up(name, error)
            except RegistryError:
                logger.debug("%s is not listed any more", name, exc_info=True)

    def _give_up(self, name: str, error: CapabilityQuarantined) -> None:
        """Leave nothing of a quarantined skill in the session; calls of its tools that wait are rejected."""
        self.bundles.pop(name, None)
        self.pins.pop(name, None)
        self._hints = tuple(hint for hint in self._hints if hint.capability_id != name)
        self.gate.reject_all_of(name)
        self._drop(name, error.message)

    def _note_changes(self, ids: set[str]) -> None:
        """What came and what went since the list was read before; what went is not offered any more."""
        known = set(self._index.entries)
        for name in sorted(ids - known):
            self._note("index", name, "it is new")
        for name in sorted(known - ids):
            self._note("index", name, "it is no longer there")
            self._hints = tuple(hint for hint in self._hints if hint.capability_id != name)

    def enable(self, capability_id: str) -> None:
        """Enable a disabled capability."""
        self.disabled.discard(canonical_name(capability_id))

    def disable(self, capability_id: str) -> None:
        """Leave a capability out of this session: no hint, no load, and out of the prompt at once."""
        name = canonical_name(capability_id)
        self.disabled.add(name)
        self._hints = tuple(hint for hint in self._hints if hint.capability_id != name)
        self._drop(name, "it was disabled")

    def _drop(self, name: str, why: str) -> bool:
        """Deactivate a skill. False where it is not active."""
        dropped = self.active.drop(name) is not None
        if dropped:
            self._note_dropped(name, why)
        return dropped

    def _note_dropped(self, name: str, why: str) -> None:
        self.gone[name] = f"{name} is no longer active ({one_line(why)}); load it again"
        self._note("dropped", name, why)

    def _autocompleted(self, typed: str) -> Steps[list[ListingEntry]]:
        yield from self._need_list()
        return complete_name(typed, self._known_entries().values())

    def _not_found(self, wanted: str) -> CapabilityNotFound:
        names = list(self._known_entries())
        data = {"available_capabilities": names[:100], "available_total": len(names)}
        shown = one_line(str(wanted), most=64)
        return CapabilityNotFound(f"No capability found for ID '{shown}'", data=data, capability_id=shown)
