"""A conversation without a model: what each message leads to, and what a session makes of it (playground).

The decision is the one that `capability_match` gives, the session the one that agents run: what the page shows is what
an agent gets. Where a message matches, the capability is loaded, as a model would do after the hint.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import orjson

from agent_client.bundle import Bundle, Entry, Listing
from agent_client.environment import Environment
from agent_client.errors import RegistryError as ClientError
from agent_client.prompt import Prompt
from agent_client.requirements import Readiness, readiness
from agent_client.session import Session, User
from registry import snapshot
from registry.errors import CapabilityNotFound, RegistryError
from registry.snapshot.bodies import load_body

if TYPE_CHECKING:
    from registry.matching.matcher import Match, Verdict

MESSAGES_MAX: Final = 20
MESSAGE_LENGTH_MAX: Final = 2000
_SHOWN: Final = 5


@dataclass(frozen=True)
class Piece:
    """A part of the message; `trigger` names the trigger that stands there, if one does."""

    text: str
    trigger: str


@dataclass(frozen=True)
class Line:
    """A skill in use after a message."""

    capability_id: str
    turns_left: int
    characters: int


@dataclass(frozen=True)
class Step:
    """One message and what came of it. `readiness` is of the first match; `events` are in words."""

    message: str
    pieces: tuple[Piece, ...]
    verdict: Verdict
    groups: tuple[str, ...]
    readiness: Readiness | None
    active: tuple[Line, ...]
    events: tuple[str, ...]


class SnapshotSource:
    """What is published, for a session in this process."""

    def list(self) -> Listing:
        """Every capability that can be loaded."""
        held = snapshot.current()
        entries = tuple(Entry.from_answer(orjson.loads(entry.rendered)) for entry in held.entries.values())
        return Listing(entries, held.registry_revision)

    def load(self, capability_id: str, *, digest: str | None = None) -> Bundle:  # noqa: ARG002 (a page keeps no pins)
        """The newest release. Raises `CapabilityNotFound`, `SkillMalformed`."""
        entry = snapshot.current().entries.get(capability_id)
        if entry is None:
            raise CapabilityNotFound(capability_id)
        return Bundle.from_answer(orjson.loads(load_body(entry).identity))

    def reload(self, capability_id: str) -> Bundle:
        """As `load`: nothing is kept here."""
        return self.load(capability_id)


def converse(messages: Sequence[str], environment: Environment) -> tuple[list[Step], Prompt]:
    """Say these one after another; what each led to, and the prompt at the end. The same messages, the same answer."""
    session = Session(SnapshotSource(), environment=environment, user=User(is_introduced=True), session_id="playground")
    steps = [_step(session, message) for message in messages[:MESSAGES_MAX]]
    return steps, session.prompt()


def _step(session: Session, message: str) -> Step:
    from registry.matching.index import HOLDER

    index = HOLDER.get()
    verdict = index.match(message, top=_SHOWN)
    turn = session.turn(message)
    events = [_words(event) for event in turn.events]
    first = verdict.matches[0] if verdict.decision == "match" else None
    judged = None
    if first is not None:
        before = len(session.events)
        try:
            session.load(first.capability_id)
            judged = readiness(session.bundles[first.capability_id], session.environment)
        except (ClientError, RegistryError) as error:
            events.append(str(error))
        events += [_words(event) for event in session.events[before:]]
    matched = [one for one in verdict.matches if not one.is_below_threshold]
    groups = [group for one in matched for group in index.groups_of(one.capability_id)]
    return Step(
        message=message,
        pieces=tuple(_pieces(message, verdict.matches)),
        verdict=verdict,
        groups=tuple(dict.fromkeys(groups + index.match_groups(message, top=_SHOWN))),
        readiness=judged,
        active=tuple(
            Line(one.capability_id, one.turns_left(session.number), len(one.bundle.skill_doc)) for one in session.active
        ),
        events=tuple(events),
    )


def _words(event: Any) -> str:
    return f"{event.capability_id} {event.kind}: {event.words}" if event.capability_id else event.words


def _pieces(message: str, matches: Sequence[Match]) -> Iterator[Piece]:
    """The message cut where triggers stand; of two that overlap the first one shows."""
    at = 0
    for hit in sorted((hit for one in matches for hit in one.triggers), key=lambda hit: (hit.start, -hit.end)):
        if hit.start < at:
            continue
        if hit.start > at:
            yield Piece(message[at : hit.start], "")
        yield Piece(message[hit.start : hit.end], hit.trigger)
        at = hit.end
    if at < len(message):
        yield Piece(message[at:], "")
