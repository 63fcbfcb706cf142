"""What a session knows of its source: what there is, what is new, and what was taken away."""

from __future__ import annotations

import inspect
from functools import partial
from itertools import islice
from time import monotonic
from typing import Final

from capability_client.session.invocations import SkillIndex, canonical_name, complete_name
from capability_client.session.operations import Operation
from capability_client.session.state import SessionState
from capability_client.session.steps import Steps
from capability_kit.bundles.bundle import Listing, ListingEntry
from capability_kit.errors import CapabilityNotFound, RegistryError, Unavailable
from capability_kit.text.sanitize import one_line

WITHDRAWN: Final = "it was taken out of use (quarantined, retired or hidden)"
# How long later sessions ask for changes alone. What a key may see can change without a new revision of the list.
WHOLE_LIST_SECONDS: Final = 600.0
# Of those that a prompt names.
WITHDRAWN_MAX: Final = 20


class SessionCatalog(SessionState):
    """The list of the source as this session sees it."""

    def _known_entries(self) -> dict[str, ListingEntry]:
        found = self.index.entries
        return {name: found[name] for name in found if name not in self.disabled} if self.disabled else found

    def _need_list(self) -> Steps[None]:
        if not self.index.is_read:
            self._set_index(SkillIndex.of(self._source))
            is_recent = monotonic() - self.index.whole_at < WHOLE_LIST_SECONDS
            yield from self._read_list(changes_alone=is_recent)

    def _read_list(self, *, changes_alone: bool = False) -> Steps[None]:
        """While the registry is away, the session goes on with what it knows.

        `changes_alone`: what changed since the list that is known, where the source can say that; one request.
        """
        since = self.index.revision if changes_alone and self.index.is_complete else 0
        is_delta = since > 0 and "updated_since_revision" in inspect.signature(self._source.list).parameters
        need = partial(self._source.list, updated_since_revision=since) if is_delta else partial(self._source.list)
        try:
            listing = yield Operation("list", need)
            if is_delta and listing.registry_revision < since:
                # It went back to an older state, since which changes say nothing.
                is_delta, listing = False, (yield Operation("list", partial(self._source.list)))
        except Unavailable as error:
            if not self.index.is_read:
                # What another session read, however long ago, is not what there is.
                self._set_index(SkillIndex())
            self._note("index", "", f"The list of capabilities could not be read: {error.message}")
            return
        self._accept_list(listing, is_delta=is_delta)

    def _accept_list(self, listing: Listing, *, is_delta: bool) -> None:
        if listing.is_stale:
            words = f"The registry is away; the list of capabilities is {listing.age_seconds:,.0f} seconds old"
            self._note("index", "", words)
        before, was_read = self.index.entries, self.index.is_read
        (self.index.merge if is_delta else self.index.accept)(listing)
        self.index.share(self._source)
        self._listed_in_turn = self.number
        if was_read and self.index.entries is not before:
            self._note_changes(before, self.index.entries)
        if self.index.is_complete:
            self._withdraw_absent()

    def _check_list(self, revision: object) -> Steps[None]:
        """Learn in this turn what was published or taken away, by one request at most.

        `revision` is what the registry said of its list in this turn, if it did: where the list is of that revision,
        nothing is asked. A source that says no revision is asked for its list in each turn.
        """
        if isinstance(revision, int) and self.index.is_complete and revision == self.index.revision:
            self._withdraw_absent()
            return
        if not isinstance(revision, int) and self._listed_in_turn == self.number:
            return
        # Of a registry that went back to an older state, changes since a later one say nothing.
        is_behind = isinstance(revision, int) and revision < self.index.revision
        try:
            yield from self._read_list(changes_alone=not is_behind)
        except RegistryError as error:
            self._note("index", "", f"The list of capabilities could not be checked: {error.message}")

    def _withdraw_absent(self) -> None:
        """Give up what is loaded and not in the list, which is as it is now."""
        for name in sorted(self.bundles):
            if name not in self.index.entries:
                self._withdraw(name, WITHDRAWN)

    def _withdraw(self, name: str, why: str) -> None:
        """Leave nothing of a skill in the session: no copy, no pin, no hint; its calls that wait are rejected."""
        was_known = self.bundles.pop(name, None) is not None
        self.pins.pop(name, None)
        self.used.pop(name, None)
        self._drop_hint(name)
        self.layout_state.forget(name)
        self.active.drop(name)
        if was_known:
            self.withdrawn[name] = one_line(why)
            while len(self.withdrawn) > WITHDRAWN_MAX:
                self.withdrawn.pop(next(iter(self.withdrawn)))
            self._note("dropped", name, why)
        self._shut_forms(name, f"{name} was taken out of use")
        for call in self.gate.reject_all_of(name):
            self._note_call(call, "rejected: its skill was taken out of use")

    def _shut_forms(self, name: str, why: str) -> None:
        """Close the open forms of a skill: nobody can send them any more."""
        for form in self.forms.values():
            if form.capability_id == name and form.state == "open":
                form.state, form.problem, form.outcome, form.turn = "closed", why, f"closed: {why}", self.number
                self._note_form(form, form.outcome)

    def _note_changes(self, before: dict[str, ListingEntry], now: dict[str, ListingEntry]) -> None:
        """What came, what went and what is deprecated since; what went is not offered any more."""
        for name in sorted(set(now) - set(before)):
            self._note("index", name, "it is new")
        for name in sorted(set(before) - set(now)):
            self._note("index", name, "it is no longer there")
            self._drop_hint(name)
        for name in sorted(set(self.bundles) & set(before) & set(now)):
            if now[name].digest != before[name].digest:
                self._note("index", name, "a newer release is there; this session keeps its own until it is reloaded")
            if now[name].status == "deprecated" != before[name].status:
                instead = one_line(now[name].replaced_by or "", most=64)
                self._note("index", name, "it is deprecated now" + (f"; use {instead} instead" if instead else ""))

    def enable(self, capability_id: str) -> None:
        """Enable a disabled capability."""
        self.disabled.discard(canonical_name(capability_id))

    def disable(self, capability_id: str) -> None:
        """Leave a capability out of this session: no hint, no load, and out of the prompt at once."""
        name = canonical_name(capability_id)
        self.disabled.add(name)
        self._drop_hint(name)
        self._drop(name, "it was disabled")
        self._shut_forms(name, f"{name} was disabled")
        self.layout_state.forget(name)

    def _drop_hint(self, name: str) -> None:
        self._hints = tuple(hint for hint in self._hints if hint.capability_id != name)
        self._near_misses = tuple(hint for hint in self._near_misses if hint.capability_id != name)

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
        known = self._known_entries()
        data = {
            "available_capabilities": list(known)[:100],
            "available_names": {name: each.name for name, each in islice(known.items(), 10) if each.name},
            "available_total": len(known),
        }
        shown = one_line(str(wanted), most=64)
        return CapabilityNotFound(f"No capability found for ID '{shown}'", data=data, capability_id=shown)
