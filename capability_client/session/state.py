"""The state of a session, and what it reports of itself."""

from __future__ import annotations

import logging
import secrets
import threading
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, TypedDict

from capability_client.session.active_skills import ActiveSkills
from capability_client.session.hints import Hint
from capability_client.session.introduction import Introduction
from capability_client.session.invocations import SkillIndex
from capability_client.session.layout_state import LayoutState
from capability_client.session.messages import Compactor, Message
from capability_client.session.operations import Tracer, no_trace
from capability_client.session.options import EVENTS_MAX, Event, EventKind, SessionOptions, User
from capability_client.session.skill_forms import SkillForm
from capability_client.session.steps import Matcher
from capability_client.session.toolbox import Toolbox
from capability_kit.bundles.bundle import Bundle
from capability_kit.bundles.tool_export import ToolExport
from capability_kit.environment.probe import Environment
from capability_kit.environment.readiness import Readiness, check_readiness
from capability_kit.text.sanitize import strip_surrogates
from capability_kit.tool_gate import ToolCall, ToolCallGate

logger: logging.Logger = logging.getLogger("capability_client.session")


class StoredSettings(TypedDict, total=False):
    """The settings of a session that has its id already, as `SessionState` explains them."""

    user: User | None
    environment: Environment | None
    roles: Iterable[str]
    options: SessionOptions | None
    on_event: Callable[[Event], None] | None
    trace: Tracer | None
    compact: Compactor | None
    toolbox: Toolbox | None


class SessionSettings(StoredSettings, total=False):
    """The settings of a session."""

    session_id: str | None


class SessionSummary(TypedDict):
    """The session in short."""

    session_id: str
    user_id: str
    loaded_skills: list[str]
    context: dict[str, object]


class SessionState:
    """The state of one conversation. Not for several threads or tasks at once."""

    def __init__(
        self,
        source: object,
        *,
        user: User | None = None,
        environment: Environment | None = None,
        roles: Iterable[str] = (),
        options: SessionOptions | None = None,
        matcher: Matcher | None = None,
        session_id: str | None = None,
        on_event: Callable[[Event], None] | None = None,
        trace: Tracer | None = None,
        compact: Compactor | None = None,
        toolbox: Toolbox | None = None,
    ) -> None:
        """`source` is where capabilities come from, `roles` what the host program says that the user has.

        `environment` is this computer where it is left out. `matcher` replaces the source's `match`. `on_event` is
        called with each event, and `trace` around each call of the source, a tool, the model or a person: its context
        manager is entered before it and left after it (operations.py). `compact` is called with the messages that no
        longer fit, the oldest turns, and returns a text in their place. `toolbox` has the functions of tools, where a
        method is given no `run`. Raises `TypeError` for an argument of another type.
        """
        _check_types(user=(user, User), environment=(environment, Environment), options=(options, SessionOptions))
        _check_types(toolbox=(toolbox, Toolbox))
        if isinstance(roles, str):
            raise TypeError("roles is a list of texts, such as ['member'], not one text")
        if compact is not None and not callable(compact):
            raise TypeError(f"compact is a function of messages, not {type(compact).__name__}")
        self._source: Any = source
        self.user: User = user or User()
        self.environment: Environment = environment or Environment.probe()
        self.options: SessionOptions = options or SessionOptions()
        self.session_id: str = session_id or secrets.token_hex(8)
        if self.options.matches_by_triggers and matcher is not None:
            raise ValueError("A matcher and SessionOptions(matches_by_triggers=True) exclude each other")
        self.matcher: Matcher | None = (
            None if self.options.matches_by_triggers else matcher or getattr(source, "match", None)
        )
        self.on_event = on_event
        self.trace: Tracer = trace or no_trace
        self.compact = compact
        self.toolbox = toolbox
        self.gate: ToolCallGate = ToolCallGate(roles)
        # The forms that the model opened, by the id of each.
        self.forms: dict[str, SkillForm] = {}
        self.introduction: Introduction = Introduction()
        self.number: int = 0
        self.events: list[Event] = []
        self.messages: list[Message] = []
        self.disabled: set[str] = set()
        self.active: ActiveSkills = ActiveSkills(self.options)
        # What this turn used, by load, message, tool or file; and what a call of a skill that is not active reads.
        self.used: dict[str, Bundle] = {}
        self.gone: dict[str, str] = {}
        # What was taken away while it was loaded, and why; the model reads that it is not to be followed any more.
        self.withdrawn: dict[str, str] = {}
        self.bundles: dict[str, Bundle] = {}
        self.pins: dict[str, str] = {}
        # What a model has read of skills and tools, in this order, so that it need not read it again (layout.py).
        self.layout_state: LayoutState = LayoutState()
        # Those of the options, and what an answer of the matcher told.
        self.exclusive_groups: set[str] = set(self.options.exclusive_groups)
        self._hints: tuple[Hint, ...] = ()
        self._near_misses: tuple[Hint, ...] = ()
        # A runtime that makes a session for each step may keep this one, and give it to the next.
        self.index: SkillIndex = SkillIndex()
        self._listed_in_turn = -1
        self._last_export: tuple[object, ToolExport] | None = None
        self._turn_mutex = threading.Lock()
        self._running_turn: Callable[[], object] = no_turn
        self._is_tool_running = False
        # The call about which a person is asked at this moment.
        self._undecided_call_id = ""
        self._is_cancelled = False
        # Calls that were cancelled and go on in their threads.
        self._detached: set[str] = set()

    @property
    def source(self) -> object:
        """Where capabilities come from."""
        return self._source

    def refresh(self) -> None:
        """Probe the computer again, after something was installed or allowed."""
        self.environment.refresh()

    def readiness(self) -> dict[str, Readiness]:
        """Of each active skill, as the computer is now known."""
        return {each.capability_id: check_readiness(each.bundle, self.environment) for each in self.active}

    @property
    def is_introduced(self) -> bool:
        """Whether the host should remember that this user was introduced."""
        return self.user.is_known or self.introduction.state == "over"

    def profile(self) -> User:
        """The user as the host should keep them now (profiles.py): with the introduction that has taken place."""
        return replace(self.user, is_introduced=self.is_introduced)

    def state(self) -> SessionSummary:
        """The session in short: `{"session_id", "user_id", "loaded_skills", "context"}`."""
        return {
            "session_id": self.session_id,
            "user_id": self.user.user_id,
            "loaded_skills": [each.capability_id for each in self.active],
            "context": dict(self.user.context),
        }

    def _set_index(self, index: SkillIndex) -> None:
        self.index = index

    def _count_turn(self) -> None:
        self.number += 1
        self.used.clear()

    def _event_count(self) -> int:
        return self.events[-1].event_id if self.events else 0

    def _note_call(self, call: ToolCall, words: str) -> None:
        self._note("call", call.capability_id, f"{call.tool}: {words}", call_id=call.call_id)

    def _note_form(self, form: SkillForm, words: str) -> None:
        self._note("form", form.capability_id, f"{form.schema_id}: {words}", call_id=form.call_id)

    def _note(self, kind: EventKind, capability_id: str, words: str, *, call_id: str = "") -> None:
        event = Event(self.number, kind, capability_id, strip_surrogates(words), self._event_count() + 1, call_id)
        self.events.append(event)
        del self.events[:-EVENTS_MAX]
        logger.info("%s %s%s", kind, f"{capability_id}: " if capability_id else "", event.words)
        if self.on_event is not None:
            self.on_event(event)


def no_turn() -> None:
    """In the place of a turn where none is running."""


def _check_types(**given: tuple[Any, type]) -> None:
    for name, (value, wanted) in given.items():
        if value is not None and not isinstance(value, wanted):
            raise TypeError(f"{name} is a {wanted.__name__}, not {type(value).__name__}")
