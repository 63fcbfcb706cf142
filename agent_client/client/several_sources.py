"""Several sources as one: what comes with the program, the user's own folder, the registry (docs/requirements.md E)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from agent_client.bundles.bundle import Bundle, Listing
from agent_client.errors import CapabilityNotFound, NotFound, RegistryError, Unavailable

T = TypeVar("T")


class SeveralSources:
    """A source for `Session`. Where two have one capability, the first in the order given has it.

    A source that is unreachable is left out of the list as long as another one answers. Messages are matched by every
    registry among them; without one, and while none answers, the session's triggers decide.
    """

    def __init__(self, *sources: Any) -> None:
        """Raises `ValueError` without a source."""
        if not sources:
            raise ValueError("Name at least one source")
        self.sources = sources
        if any(hasattr(each, "match") for each in sources):
            self.match = self._match
        if any(hasattr(each, "feedback") for each in sources):
            self.feedback = self._feedback

    def list(self) -> Listing:
        """Every capability of every source. Raises `Unavailable` where none answers."""
        listings = []
        away: Unavailable | None = None
        for source in self.sources:
            try:
                listings.append(source.list())
            except Unavailable as error:
                away = error
        if not listings:
            raise away or Unavailable("No source answers")
        entries = {entry.capability_id: entry for listing in reversed(listings) for entry in listing.entries}
        order = dict.fromkeys(entry.capability_id for listing in listings for entry in listing.entries)
        return Listing(
            tuple(entries[name] for name in order),
            max(listing.registry_revision for listing in listings),
            first_run=next((listing.first_run for listing in listings if listing.first_run), None),
            is_stale=any(listing.is_stale for listing in listings),
            age_seconds=max(listing.age_seconds for listing in listings),
            exclusive_groups=tuple(dict.fromkeys(group for each in listings for group in each.exclusive_groups)),
        )

    def load(self, capability_id: str, *, digest: str | None = None) -> Bundle:
        """From the first source that has it. Raises `CapabilityNotFound` with what all of them have."""
        found: Bundle = self._first(lambda source: source.load(capability_id, digest=digest), capability_id)
        return found

    def reload(self, capability_id: str) -> Bundle:
        """As `load`, past every cache."""
        found: Bundle = self._first(lambda source: source.reload(capability_id), capability_id)
        return found

    def file(self, bundle: Bundle, path: str) -> str:
        """From the first source that has this file of this release."""
        found: str = self._first(lambda source: source.file(bundle, path), bundle.capability_id)
        return found

    def _match(self, message: str) -> dict[str, Any]:
        """The answers of all registries as one, best first."""
        found = [source.match(message) for source in self.sources if hasattr(source, "match")]
        decisions = [answer["decision"] for answer in found]
        decision = next((each for each in ("match", "ambiguous") if each in decisions), "none")
        taken = [answer for answer in found if answer["decision"] == decision]
        rows = [row for answer in taken for row in answer["matches"]]
        return {
            "decision": decision,
            "matches": sorted(rows, key=lambda row: -row["score"]),
            "needed": list(dict.fromkeys(name for answer in taken for name in answer.get("needed", ()))),
            "exclusive_groups": [group for answer in found for group in answer.get("exclusive_groups", ())],
        }

    def _feedback(self, capability_id: str, outcome: str, **more: Any) -> dict[str, Any]:
        found: dict[str, Any] = self._first(
            lambda source: source.feedback(capability_id, outcome, **more), capability_id, having="feedback"
        )
        return found

    def _first(self, ask: Callable[[Any], T], capability_id: str, *, having: str = "load") -> T:
        refused: RegistryError | None = None
        known: dict[str, None] = {}
        for source in self.sources:
            if not hasattr(source, having):
                continue
            try:
                return ask(source)
            except (NotFound, Unavailable) as error:
                refused = refused if isinstance(refused, Unavailable) else error
                known |= dict.fromkeys(error.available_capabilities) if isinstance(error, CapabilityNotFound) else {}
        if isinstance(refused, CapabilityNotFound):
            data = {**refused.data, "available_capabilities": list(known), "available_total": len(known)}
            raise CapabilityNotFound(refused.message, data=data, capability_id=capability_id)
        raise refused or Unavailable("No source answers")
