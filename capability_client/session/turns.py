"""Turns: what a message of the user leads to."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from capability_client.session.active_skills import ActiveSkill
from capability_client.session.catalog import SkillCatalog
from capability_client.session.context import SessionContext
from capability_client.session.follow_ups import is_follow_up
from capability_client.session.hints import Hint, TurnHints, find_near_misses, hints_from_match, local_hints
from capability_client.session.history import MessageHistory
from capability_client.session.introduction import ConversationStart
from capability_client.session.invocations import read_mentions
from capability_client.session.layout import RequestLayout
from capability_client.session.loader import SkillLoader
from capability_client.session.log import EventLog
from capability_client.session.operations import Operation
from capability_client.session.options import Event
from capability_client.session.running_turn import RunningTurn
from capability_client.session.steps import Steps
from capability_client.session.system_prompt import notes_of
from capability_kit.environment.readiness import check_readiness
from capability_kit.errors import RegistryError, Unavailable
from capability_kit.text.sanitize import one_line, strip_surrogates

# Hints and near misses of a message.
NAMED_MAX: Final = 5


@dataclass(frozen=True)
class Turn:
    """What one message of the user led to. `message` is without the `$name`s that were removed from it; `near_misses`
    are what it could mean besides the hints, with which they are five at most."""

    number: int
    message: str
    hints: tuple[Hint, ...]
    active: tuple[ActiveSkill, ...]
    events: tuple[Event, ...]
    near_misses: tuple[Hint, ...] = ()


@dataclass(eq=False, repr=False)
class SessionTurns:
    """What the user says, turn by turn: old skills go, named ones are loaded, and what fits is hinted."""

    _context: SessionContext
    _log: EventLog
    _running: RunningTurn
    _catalog: SkillCatalog
    _hints: TurnHints
    _loader: SkillLoader
    _layout: RequestLayout
    _history: MessageHistory

    def start(self, first_run: str | None, history: Iterable[str]) -> Steps[ConversationStart]:
        """Introduce a new user in an empty conversation, or greet a known one."""
        if first_run is None:
            yield from self._catalog.need()
        wanted = first_run or self._catalog.index.first_run
        refused = self._history.introduction.refusal(self._context.user, wanted, history)
        if refused is not None:
            return refused
        self._history.introduction.begin(wanted)
        try:
            yield from self._loader.load(wanted, explicit=True)
        except RegistryError as error:
            self._history.introduction.state = "none"
            return ConversationStart("skipped", f"The introduction could not be loaded: {error.message}")
        self._log.note("introduced", wanted, "the user is new and the conversation empty")
        return ConversationStart("introduced", "The user is new.", capability_id=wanted)

    def take(self, message: str) -> Steps[Turn]:
        """As `hear`, of a turn that has no other steps."""
        with self._running.hold():
            return (yield from self.hear(message))

    def hear(self, message: str) -> Steps[Turn]:
        """The user says something: old skills go, named ones are loaded, and what fits is hinted."""
        if not isinstance(message, str):
            raise TypeError(f"The message is a text, not {type(message).__name__}")
        message = strip_surrogates(message)
        before = self._log.last_id
        self._layout.fix()
        self._log.turn += 1
        self._loader.used.clear()
        self._history.count()
        if not self._context.options.carry:
            self._loader.drop_all("skills do not stay from one turn to the next")
        yield from self._catalog.need()
        rest, about = yield from self._invoked(message)
        self._hints.found, self._hints.near = yield from self._found_hints(about)
        self._note_nearness()
        # After matching: what the message is about is in use, and does not expire at this very moment.
        self._loader.expire()
        events = tuple(event for event in self._log.events if event.event_id > before)
        return Turn(self._log.turn, rest, self._hints.found, tuple(self._loader.active), events, self._hints.near)

    def _invoked(self, message: str) -> Steps[tuple[str, str]]:
        """Load what the user named; the message before the first name, and the message to be matched."""
        mentions = read_mentions(message, self._catalog.known())
        for written, near in mentions.misspellings:
            words = f"there is no skill ${one_line(written, most=64)}; the nearest is ${near}"
            self._log.note("not_loaded", near, words)
        named = {each.capability_id: each.arguments for each in mentions.invocations}
        if self._context.options.takes_plain_mentions:
            found = self._catalog.index.names.find(mentions.message)
            named |= {name: "" for name in found if name not in self._catalog.disabled and name not in named}
        # The first one named is the most important; it is used last, and so stands first.
        for capability_id in reversed(list(named)):
            try:
                yield from self._loader.load(capability_id, arguments=named[capability_id], explicit=True)
            except RegistryError as error:
                self._log.note("not_loaded", capability_id, error.message)
        return mentions.message, mentions.without_names

    def _found_hints(self, message: str) -> Steps[tuple[tuple[Hint, ...], tuple[Hint, ...]]]:
        """The hints, and the near misses that are named beside them."""
        matched, near = yield from self._matched(message)
        current = next(iter(self._loader.active), None)
        if current is not None and is_follow_up(message):
            self._loader.mark_used(current.bundle)
            return (), ()
        for hint in matched:
            active = self._loader.active.get(hint.capability_id)
            if active is not None and hint.capability_id not in self._catalog.disabled:
                self._loader.mark_used(active.bundle)
        found = self._usable_hints(matched)
        for hint in found[self._context.options.hints_max :]:
            words = f"at most {self._context.options.hints_max} are hinted, and others have a higher priority"
            self._log.note("left_out", hint.capability_id, words)
        kept = found[: self._context.options.hints_max]
        for hint in kept:
            led = f"because of {hint.triggers[0]!r}" if hint.triggers else "by its meaning"
            self._log.note("hinted", hint.capability_id, led)
        room = NAMED_MAX - len(kept) if self._context.options.hints_max else 0
        return tuple(kept), tuple(self._usable_hints(near)[: max(0, room)])

    def _usable_hints(self, hints: Iterable[Hint]) -> list[Hint]:
        """Those of skills that are neither active nor disabled and work here, with what speaks against them."""
        found = []
        for hint in hints:
            if hint.capability_id in self._catalog.disabled or self._loader.active.get(hint.capability_id) is not None:
                continue
            entry = self._catalog.index.entries[hint.capability_id]
            judged = check_readiness(entry, self._context.environment)
            if judged.status == "UNAVAILABLE":
                self._log.note("left_out", hint.capability_id, judged.reason)
                continue
            found.append(replace(hint, notes=notes_of(entry, judged)))
        return found

    def _note_nearness(self) -> None:
        """Remember what the conversation came near to; the list of skills begins with it."""
        for hint in (*self._hints.found, *self._hints.near):
            self._layout.state.nearness[hint.capability_id] = max(
                hint.score, self._layout.state.nearness.get(hint.capability_id, 0.0)
            )

    def _rows_asked(self) -> dict[str, int]:
        """As many rows as are named, of a matcher that can be told."""
        matcher = self._context.matcher
        try:
            takes = "top_k" in inspect.signature(matcher).parameters if matcher is not None else False
        except (TypeError, ValueError):
            takes = False
        return {"top_k": NAMED_MAX} if takes else {}

    def _matched(self, message: str) -> Steps[tuple[list[Hint], list[Hint]]]:
        if self._context.matcher is None or not message.strip():
            yield from self._catalog.check(None)
            return local_hints(message, self._catalog.index.triggers, self._catalog.index.entries), []
        try:
            answer = yield Operation("match", partial(self._context.matcher, message, **self._rows_asked()))
        except RegistryError as error:
            self._log.note("index", "", f"Matching by the registry failed, by triggers instead: {error.message}")
            if not isinstance(error, Unavailable):
                yield from self._catalog.check(None)
            return local_hints(message, self._catalog.index.triggers, self._catalog.index.entries), []
        if not isinstance(answer, Mapping) or "decision" not in answer:
            raise TypeError("A matcher returns the response of capability_match, such as registry.match does")
        groups = answer.get("exclusive_groups")
        if isinstance(groups, list):
            self._loader.exclusive_groups.update(group for group in groups if isinstance(group, str))
        yield from self._catalog.check(answer.get("registry_revision"))
        entries = self._catalog.index.entries
        return hints_from_match(answer, entries), find_near_misses(answer, entries)
