"""What is played: what is live, the drafts or a revision in its place, or a registry without the capability."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from typing import Any, Final

import orjson

from capability_client.evaluation.model_port import VendorModel
from capability_client.evaluation.running import Observation, run_case
from capability_client.session.options import SessionOptions
from capability_kit.bundles.bundle import Bundle, Listing, ListingEntry
from capability_kit.errors import CapabilityNotFound
from capability_kit.evaluation_cases import EvaluationCase
from capability_rules.errors import InvalidRequest
from registry.common import caches, errors
from registry.common.errors import RevisionNotFound
from registry.core.rows import get_row
from registry.matching.index import PUBLISHED_INDEX, KeptWork, MatchIndex, build
from registry.models import Release
from registry.snapshot import Snapshot, current_snapshot
from registry.snapshot.response_cache import get_load_response
from registry.snapshot.snapshot import build_entry, read_drafts

_HINTS_LOOKED_AT: Final = 5
_NAMED_MAX: Final = 20
_INDEX_SECONDS: Final = 2.0
# The list of the newest snapshot that was asked for, made once: of thousands it takes as long as all the rest.
_listed: tuple[object, tuple[ListingEntry, ...]] | None = None


@dataclass(frozen=True)
class SideSource:
    """What there is, for a session in this process; refusals are those that a session reads."""

    snapshot: Snapshot

    def list(self) -> Listing:
        """Every capability that can be loaded."""
        global _listed
        kept = _listed
        if kept is None or kept[0] is not self.snapshot.entries:
            entries = tuple(
                ListingEntry.from_answer(orjson.loads(entry.rendered)) for entry in self.snapshot.entries.values()
            )
            kept = _listed = (self.snapshot.entries, entries)
        return Listing(kept[1], self.snapshot.registry_revision)

    def load(self, capability_id: str, *, digest: str | None = None) -> Bundle:  # noqa: ARG002 (a page keeps no pins)
        """The newest release, or the draft in its place.

        Raises `SkillMalformed`, and `CapabilityNotFound` of the client with what there is instead.
        """
        entry = self.snapshot.entries.get(capability_id)
        if entry is None:
            known = list(self.snapshot.entries)
            data = {"available_capabilities": known[:_NAMED_MAX], "available_total": len(known)}
            message = errors.CapabilityNotFound(capability_id).message
            raise CapabilityNotFound(message, data=data, capability_id=capability_id)
        return Bundle.from_answer(orjson.loads(get_load_response(entry).identity))

    def reload(self, capability_id: str) -> Bundle:
        """As `load`: nothing is kept here."""
        return self.load(capability_id)


@dataclass(frozen=True)
class PlayedSide:
    """A registry as one side has it; `digest` is that of the capability there, empty where it is left out."""

    source: SideSource
    index: MatchIndex
    digest: str
    left_out: str = ""

    def match(self, message: str) -> dict[str, Any]:
        """As `capability_match` answers, as far as a session reads it."""
        verdict = self.index.match(message, top=_HINTS_LOOKED_AT)
        rows = [
            {
                "capability_id": one.capability_id,
                "score": one.score,
                "matched_triggers": [{"trigger": hit.trigger} for hit in one.triggers],
                "below_threshold": one.is_below_threshold,
            }
            for one in verdict.matches
            if one.capability_id != self.left_out
        ]
        needed = [name for name in verdict.needed if name != self.left_out]
        decision = verdict.decision if any(not row["below_threshold"] for row in rows) or needed else "none"
        return {"decision": decision, "matches": rows, "needed": needed}


def parse_side(side: str) -> tuple[str, int | None]:
    """`("live", None)`, or `("revision", 3)` for `revision-3`. Raises `InvalidRequest`."""
    kind, _sign, number = side.partition("-")
    if kind == "revision" and number.isascii() and number.isdecimal() and len(number) < 10:
        return kind, int(number)
    if side not in ("live", "draft", "without", "silent"):
        raise InvalidRequest("Choose what is played: live, draft, without the capability, silent, or revision-N")
    return side, None


def read_side(capability_id: str, side: str) -> PlayedSide:
    """Raises `RegistryUnavailable` where nothing was ever read, `InvalidRequest`, `RevisionNotFound`."""
    kind, number = parse_side(side)
    if number is not None:
        return _read_revision(capability_id, number)
    return _read_current(capability_id, kind)


# By what is played, drafts or a revision, the last index: each case of a run is a job, which would build it again.
_built: Final[dict[str, tuple[object, MatchIndex]]] = {}
_kept = KeptWork()
_lock: Final = threading.Lock()


def _build_index(kind: str, kept_work: KeptWork, snapshot: Snapshot, *played: object) -> MatchIndex:
    key = (snapshot.registry_revision, snapshot.access_revision, snapshot.epoch, played)
    with _lock:
        kept = _built.get(kind)
        if kept is None or kept[0] != key or kept[1].is_waiting:
            # Of the one before nothing is taken: what a case finds does not depend on the cases played before it.
            index = build(None, snapshot, seconds=_INDEX_SECONDS, kept=kept_work, previews=kind == "draft")
            kept = _built[kind] = (key, index)
        return kept[1]


@caches.register
def clear_cache() -> None:
    """Begin again, as in a new process."""
    global _kept
    with _lock:
        _built.clear()
        _kept = KeptWork()


def _read_revision(capability_id: str, number: int) -> PlayedSide:
    """As if this revision were live."""
    releases = Release.objects.filter(capability__capability_id=capability_id, revision__number=number)
    missing = RevisionNotFound(f"'{capability_id}' has no revision {number}")
    release = get_row(releases.select_related("capability", "revision").order_by("-registry_revision"), missing)
    entry = replace(build_entry(release), status="published", replaced_by=None)
    snapshot = current_snapshot()
    snapshot = replace(snapshot, entries={**snapshot.entries, capability_id: entry})
    index = _build_index("revision", KeptWork(), snapshot, capability_id, number)
    return PlayedSide(SideSource(snapshot), index, entry.digest)


def _read_current(capability_id: str, side: str) -> PlayedSide:
    snapshot = current_snapshot()
    if side in ("draft", "silent"):
        # Drafts that pass replace what is published, whether any key previews them or not.
        drafts = read_drafts()
        snapshot = replace(snapshot, drafts=drafts, entries={**snapshot.entries, **drafts})
        versions = sorted((name, entry.draft, entry.digest) for name, entry in drafts.items())
        index = _build_index("draft", _kept, snapshot, *versions)
    else:
        index = PUBLISHED_INDEX.get()
    if side == "without":
        entries = {name: entry for name, entry in snapshot.entries.items() if name != capability_id}
        return PlayedSide(SideSource(replace(snapshot, entries=entries)), index, "", capability_id)
    entry = snapshot.entries.get(capability_id)
    return PlayedSide(SideSource(snapshot), index, entry.digest if entry is not None else "")


def play_side(case: EvaluationCase, side: PlayedSide, model: VendorModel) -> Observation:
    """Play a case with a session as agents have it."""
    options = SessionOptions(exclusive_groups=side.index.exclusive)
    return run_case(case, side.source, model, matcher=side.match, options=options)
