"""Several sources as one: what comes with the program, the user's own folder, the registry (docs/requirements.md E)."""

from __future__ import annotations

import asyncio
import hashlib
import inspect
from collections.abc import Callable, Generator, Iterable, Mapping
from functools import partial
from typing import Any, TypeVar, cast

from capability_client.client.local_registry import LocalSkills
from capability_client.client.sources import AsyncSource, Source
from capability_kit.bundles.bundle import Bundle, Listing, ListingEntry, list_open_triggers
from capability_kit.errors import CapabilityNotFound, NotFound, RegistryError, Unavailable
from capability_kit.text.trigger_matching import TriggerHit, TriggerIndex

T = TypeVar("T")
Json = dict[str, Any]
# Yields a call of a source, is sent what it returned, and returns a T.
_Steps = Generator[partial[Any], Any, T]
# What a source can do besides listing and loading; several can do what one of them can.
_OPTIONAL = ("match", "search", "file", "content", "feedback", "install")


class SeveralSources:
    """A source for a session. Where two have one capability, the first in the order given has it.

    A source that is unreachable is left out as long as another one responds. A message is matched by every registry
    among them, and by the triggers of those that cannot match, such as `LocalSkills`; while no registry responds, the
    session's triggers decide. With an `AsyncRegistry` among them every method returns a coroutine: that is a source for
    `AsyncSession`.
    """

    def __init__(self, *sources: Source | AsyncSource) -> None:
        """Raises `ValueError` without a source, `TypeError` for what is not one."""
        if not sources:
            raise ValueError("Name at least one source")
        for each in sources:
            if not all(callable(getattr(each, name, None)) for name in ("list", "load", "reload")):
                raise TypeError(
                    f"Each source is a Registry, an AsyncRegistry or LocalSkills, not {type(each).__name__}"
                )
        self._sources: tuple[Any, ...] = sources
        self.is_async: bool = any(inspect.iscoroutinefunction(each.list) for each in sources)
        self._indexes: dict[int, tuple[tuple[ListingEntry, ...], TriggerIndex]] = {}
        for name in _OPTIONAL:
            if any(_can(each, name) for each in sources):
                steps = getattr(self, f"_steps_of_{name}", partial(self._steps_of_first, name))
                setattr(self, name, partial(self._ask, steps))

    def list(self) -> Listing:
        """Every capability of every source. Raises `Unavailable` where none responds.

        Its `registry_revision` moves with that of any source, and says nothing else.
        """
        return cast("Listing", self._ask(self._steps_of_list))

    def load(self, capability_id: str, *, digest: str | None = None) -> Bundle:
        """From the first source that has it. Raises `CapabilityNotFound` with what all of them have."""
        return cast("Bundle", self._ask(self._steps_of_first, "load", capability_id, digest=digest))

    def reload(self, capability_id: str) -> Bundle:
        """As `load`, past every cache."""
        return cast("Bundle", self._ask(self._steps_of_first, "reload", capability_id))

    def _ask(self, steps: Callable[..., _Steps[Any]], *given: Any, **more: Any) -> Any:
        """The result of the steps, or the coroutine of it."""
        found = steps(*given, **more)
        return _run_later(found) if self.is_async else _run(found)

    def _steps_of_list(self) -> _Steps[Listing]:
        listings: list[Listing | None] = []
        away: Unavailable | None = None
        for source in self._sources:
            try:
                listings.append((yield partial(source.list)))
            except Unavailable as error:
                away = error
                listings.append(None)
        found = [listing for listing in listings if listing is not None]
        if not found:
            raise away or Unavailable("No source answers")
        entries = {entry.capability_id: entry for listing in reversed(found) for entry in listing.entries}
        order = dict.fromkeys(entry.capability_id for listing in found for entry in listing.entries)
        return Listing(
            tuple(entries[name] for name in order),
            _marker(self._part(source, each) for source, each in zip(self._sources, listings, strict=True)),
            first_run=next((listing.first_run for listing in found if listing.first_run), None),
            is_stale=any(listing.is_stale for listing in found),
            age_seconds=max(listing.age_seconds for listing in found),
            exclusive_groups=tuple(dict.fromkeys(group for each in found for group in each.exclusive_groups)),
            is_partial=away is not None,
        )

    def _part(self, source: Any, listing: Listing | None) -> object:
        """By what a source says that its list is another one: the revision, or what is in it."""
        if listing is None:
            return None
        return listing.registry_revision if _can(source, "match") else _digest(listing)

    def _steps_of_match(self, message: str) -> _Steps[Json]:
        """What all registries answer as one, best first, and what triggers of the others lead to."""
        answers: list[Json] = []
        rows: list[Json] = []
        parts: list[object] = []
        refused: RegistryError | None = None
        for source in self._sources:
            try:
                if _can(source, "match"):
                    answers.append((yield partial(source.match, message)))
                    parts.append(answers[-1].get("registry_revision"))
                else:
                    listing: Listing = yield partial(source.list)
                    rows += self._rows_by_triggers(message, source, listing)
                    parts.append(_digest(listing))
            except RegistryError as error:
                refused = error
                parts.append(None)
        if not answers:
            raise refused or Unavailable("No source answers")
        return _joined(answers, rows) | {"registry_revision": _marker(parts)}

    def _rows_by_triggers(self, message: str, source: Any, listing: Listing) -> Iterable[Json]:
        known = self._indexes.get(id(source))
        if known is None or known[0] is not listing.entries:
            index = TriggerIndex(list_open_triggers(listing.entries))
            known = self._indexes[id(source)] = listing.entries, index
        hits: dict[str, list[TriggerHit]] = {}
        for hit in known[1].find(message):
            hits.setdefault(hit.owner, []).append(hit)
        return [_row(capability_id, own) for capability_id, own in hits.items()]

    def _steps_of_search(self, q: str, **more: Any) -> _Steps[Json]:
        """What every source that can search has found, best first; of one id what the first source says."""
        found: list[Json] = []
        refused: RegistryError | None = None
        for source in self._sources:
            if not _can(source, "search"):
                continue
            try:
                found.append((yield partial(source.search, q, **more)))
            except RegistryError as error:
                refused = error
        if not found:
            raise refused or Unavailable("No source answers")
        rows: Json = {}
        for row in (row for answer in found for row in _rows(answer, "results")):
            rows.setdefault(str(row.get("capability_id")), row)
        best = sorted(rows.values(), key=_score, reverse=True)
        return {"results": best[: more.get("top_k") or len(best)], "ranking": found[0].get("ranking", "")}

    def _steps_of_first(self, name: str, *given: Any, **more: Any) -> _Steps[Any]:
        """What the first source says that has the capability, the file of this release, or the install code."""
        refused: RegistryError | None = None
        known: dict[str, None] = {}
        for source in self._sources:
            if not _can(source, name):
                continue
            try:
                return (yield partial(getattr(source, name), *given, **more))
            except (NotFound, Unavailable) as error:
                refused = refused if isinstance(refused, Unavailable) else error
                known |= dict.fromkeys(error.available_capabilities) if isinstance(error, CapabilityNotFound) else {}
        if isinstance(refused, CapabilityNotFound):
            data = {**refused.data, "available_capabilities": list(known), "available_total": len(known)}
            # Each of these begins with the capability, or with its bundle.
            asked = given[0] if given else more.get("capability_id", more.get("bundle"))
            asked_id = asked.capability_id if isinstance(asked, Bundle) else str(asked)
            raise CapabilityNotFound(refused.message, data=data, capability_id=asked_id)
        raise refused or Unavailable("No source answers")


def _can(source: Any, name: str) -> bool:
    """`LocalSkills.install` is another verb: it writes a bundle, and takes no code."""
    return hasattr(source, name) and not (name == "install" and isinstance(source, LocalSkills))


def _row(capability_id: str, hits: Iterable[TriggerHit]) -> Json:
    """A row of a match, by triggers alone. Weak ones count half."""
    named = [{"trigger": hit.trigger, "start": hit.start, "end": hit.end} for hit in hits]
    score = max(0.5 if hit.is_weak else 1.0 for hit in hits)
    return {"capability_id": capability_id, "score": score, "matched_triggers": named, "below_threshold": False}


def _joined(answers: Iterable[Mapping[str, Any]], rows: Iterable[Json]) -> Json:
    """One answer of several: those with the clearest decision, and the rows of triggers beside them."""
    found, more = list(answers), list(rows)
    decisions = [answer.get("decision") for answer in found]
    decision = next((each for each in ("match", "ambiguous") if each in decisions), "none")
    taken = [answer for answer in found if answer.get("decision") == decision] if decision != "none" or not more else []
    needed = [name for answer in taken for name in _texts(answer, "needed")]
    needed += [row["capability_id"] for row in more if row["score"] == 1.0]
    matches = [*more, *(row for answer in taken for row in _rows(answer, "matches"))]
    return {
        "decision": "match" if more else decision,
        "matches": sorted(matches, key=_score, reverse=True),
        "needed": list(dict.fromkeys(needed)),
        "exclusive_groups": [group for answer in found for group in _texts(answer, "exclusive_groups")],
    }


def _rows(answer: Mapping[str, Any], name: str) -> list[Json]:
    """Of a registry that may send anything."""
    found = answer.get(name)
    return [row for row in found if isinstance(row, dict)] if isinstance(found, list) else []


def _texts(answer: Mapping[str, Any], name: str) -> list[str]:
    found = answer.get(name)
    return [each for each in found if isinstance(each, str)] if isinstance(found, list) else []


def _score(row: Json) -> float:
    found = row.get("score")
    return float(found) if isinstance(found, int | float) and 0 <= found <= 1 else 0.0


def _digest(listing: Listing) -> str:
    named = sorted((entry.capability_id, entry.digest, entry.status) for entry in listing.entries)
    return hashlib.sha256(repr(named).encode()).hexdigest()


def _marker(parts: Iterable[object]) -> int:
    """A number that is another one where any part is."""
    return int(hashlib.sha256(repr(list(parts)).encode()).hexdigest()[:12], 16)


def _run(steps: _Steps[T]) -> T:
    send: Callable[[], Any] = partial(next, steps)
    while True:
        try:
            call = send()
        except StopIteration as done:
            found: T = done.value
            return found
        try:
            outcome = call()
        except Exception as error:  # noqa: BLE001 - the steps decide what it means
            send = partial(steps.throw, error)
        else:
            send = partial(steps.send, outcome)


async def _run_later(steps: _Steps[T]) -> T:
    """As `_run`. What is not a coroutine function, such as reading a folder, runs in a thread."""
    send: Callable[[], Any] = partial(next, steps)
    while True:
        try:
            call = send()
        except StopIteration as done:
            found: T = done.value
            return found
        try:
            outcome = await (call() if inspect.iscoroutinefunction(call) else asyncio.to_thread(call))
        except Exception as error:  # noqa: BLE001 - the steps decide what it means
            send = partial(steps.throw, error)
        else:
            send = partial(steps.send, outcome)
