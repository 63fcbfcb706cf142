"""What a session knows of its source: what there is, and what is new."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from itertools import islice
from time import monotonic
from typing import Final

from capability_client.session.context import SessionContext
from capability_client.session.invocations import SkillIndex, complete_name
from capability_client.session.log import EventLog
from capability_client.session.operations import Operation
from capability_client.session.steps import Steps
from capability_kit.bundles.bundle import Listing, ListingEntry
from capability_kit.errors import CapabilityNotFound, RegistryError, Unavailable
from capability_kit.text.sanitize import one_line

# How long later sessions ask for changes alone. What a key may see can change without a new revision of the list.
WHOLE_LIST_SECONDS: Final = 600.0


class SkillCatalog:
    """The list of the source as this session sees it. `disabled` are those that it leaves out.

    `on_change` is called with the entries before, where a list differs from the one before it, and `on_complete` when
    the list is known to be all there is now.
    """

    def __init__(self, context: SessionContext, log: EventLog) -> None:
        self._context = context
        self._log = log
        # A runtime that makes a session for each step may keep this one, and give it to the next.
        self.index: SkillIndex = SkillIndex()
        self.disabled: set[str] = set()
        self.on_change: Callable[[dict[str, ListingEntry]], None] = lambda _before: None
        self.on_complete: Callable[[], None] = lambda: None
        self._listed_in_turn = -1

    def known(self) -> dict[str, ListingEntry]:
        """The entries that are not disabled."""
        found = self.index.entries
        return {name: found[name] for name in found if name not in self.disabled} if self.disabled else found

    def need(self) -> Steps[None]:
        """Read the list where this session has not read it."""
        if not self.index.is_read:
            self.index = SkillIndex.of(self._context.source)
            is_recent = monotonic() - self.index.whole_at < WHOLE_LIST_SECONDS
            yield from self.read(changes_alone=is_recent)

    def needed(self) -> Steps[dict[str, ListingEntry]]:
        """The entries that are not disabled, once the list was read."""
        yield from self.need()
        return self.known()

    def read(self, *, changes_alone: bool = False) -> Steps[None]:
        """Read the list. While the registry is away, the session goes on with what it knows.

        `changes_alone`: what changed since the list that is known, where the source can say that; one request.
        """
        read_list = self._context.source.list
        since = self.index.revision if changes_alone and self.index.is_complete else 0
        is_delta = since > 0 and "updated_since_revision" in inspect.signature(read_list).parameters
        need = partial(read_list, updated_since_revision=since) if is_delta else partial(read_list)
        try:
            listing = yield Operation("list", need)
            if is_delta and listing.registry_revision < since:
                # It went back to an older state, since which changes say nothing.
                is_delta, listing = False, (yield Operation("list", partial(read_list)))
        except Unavailable as error:
            if not self.index.is_read:
                # What another session read, however long ago, is not what there is.
                self.index = SkillIndex()
            self._log.note("index", "", f"The list of capabilities could not be read: {error.message}")
            return
        self._accept(listing, is_delta=is_delta)

    def _accept(self, listing: Listing, *, is_delta: bool) -> None:
        if listing.is_stale:
            words = f"The registry is away; the list of capabilities is {listing.age_seconds:,.0f} seconds old"
            self._log.note("index", "", words)
        before, was_read = self.index.entries, self.index.is_read
        (self.index.merge if is_delta else self.index.accept)(listing)
        self.index.share(self._context.source)
        self._listed_in_turn = self._log.turn
        if was_read and self.index.entries is not before:
            self.on_change(before)
        if self.index.is_complete:
            self.on_complete()

    def check(self, revision: object) -> Steps[None]:
        """Learn in this turn what was published or taken away, by one request at most.

        `revision` is what the registry said of its list in this turn, if it did: where the list is of that revision,
        nothing is asked. A source that says no revision is asked for its list in each turn.
        """
        if isinstance(revision, int) and self.index.is_complete and revision == self.index.revision:
            self.on_complete()
            return
        if not isinstance(revision, int) and self._listed_in_turn == self._log.turn:
            return
        # Of a registry that went back to an older state, changes since a later one say nothing.
        is_behind = isinstance(revision, int) and revision < self.index.revision
        try:
            yield from self.read(changes_alone=not is_behind)
        except RegistryError as error:
            self._log.note("index", "", f"The list of capabilities could not be checked: {error.message}")

    def complete(self, typed: str) -> Steps[list[ListingEntry]]:
        """The capabilities whose names may follow a typed `$`."""
        yield from self.need()
        return complete_name(typed, self.known().values())

    def not_found(self, wanted: str) -> CapabilityNotFound:
        """The error for an id that there is not, with what there is."""
        known = self.known()
        data = {
            "available_capabilities": list(known)[:100],
            "available_names": {name: each.name for name, each in islice(known.items(), 10) if each.name},
            "available_total": len(known),
        }
        shown = one_line(str(wanted), most=64)
        return CapabilityNotFound(f"No capability found for ID '{shown}'", data=data, capability_id=shown)
