"""The numbers and choices of a session, who the user is, and what is reported of each turn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from capability_client.session.own_tools import DEFAULT_OWN_TOOLS, OWN_TOOLS

# docs/requirements.md B: the lifecycle of a loaded skill.
TTL_TURNS: Final = 4
TTL_TURNS_BY_HAND: Final = 6
ACTIVE_MAX: Final = 4
CHARACTERS_MAX: Final = 16_000
HINTS_MAX: Final = 3
INTRODUCTION_MESSAGES: Final = 4
# Of the list of skills in the system prompt: how long it may get, so that sixty are in it, and each line, about: 80
# characters of English. The others are hinted when a message fits.
LISTED_CHARACTERS_MAX: Final = 5_000
LISTED_TOKENS_MAX: Final = 20
ARGUMENTS_MAX: Final = 4_000
EVENTS_MAX: Final = 500
# Of the conversation, for `steps`; the tokens are an estimate, without prompt and tools.
MESSAGES_MAX: Final = 400
TOKENS_ESTIMATE_MAX: Final = 60_000
# Replies of the model to one message of the user.
STEPS_MAX: Final = 8


Layout = Literal["system", "append"]


@dataclass(frozen=True)
class SessionOptions:
    """How a session behaves.

    `carry` False: a skill does not stay from one turn to the next unless it is named again. `exclusive_groups`: of each
    of these skill groups at most one member is active. `variables` fill `$NAME` in skills, such as FILE.
    `takes_plain_mentions` False: a skill is invoked by `$name` alone, never by its name in plain text. `own_tools`: by
    which of them the model uses the session itself (all but `capability_feedback` and
    `capability_install`). `matches_by_triggers`: the intent
    triggers of the list decide, though the source has a `match`; no message leaves for it. `messages_max` and
    `tokens_estimate_max` limit the conversation that a model reads: over either, the oldest turns are left out
    (conversation.py). `layout`: skills stand in the system text, their tools among the tools ("system"), or a skill
    that is loaded stands in the result of its load, and one tool calls all of theirs ("append"; layout.py). `redact`:
    what takes out of a text what the registry must not see; with it, and never without, a failed use is reported with
    the conversation, each text through it.
    """

    ttl_turns: int = TTL_TURNS
    ttl_turns_by_hand: int = TTL_TURNS_BY_HAND
    active_max: int = ACTIVE_MAX
    characters_max: int = CHARACTERS_MAX
    hints_max: int = HINTS_MAX
    carry: bool = True
    takes_plain_mentions: bool = True
    matches_by_triggers: bool = False
    exclusive_groups: frozenset[str] = frozenset()
    own_tools: frozenset[str] = DEFAULT_OWN_TOOLS
    steps_max: int = STEPS_MAX
    messages_max: int = MESSAGES_MAX
    tokens_estimate_max: int = TOKENS_ESTIMATE_MAX
    layout: Layout = "system"
    variables: Mapping[str, str] = field(default_factory=dict)
    preamble: str = ""
    redact: Callable[[str], str] | None = None

    def __post_init__(self) -> None:
        """Raises `ValueError` for a number that makes no sense, and for an unknown tool."""
        counts = (("active_max", 1), ("characters_max", 1), ("hints_max", 0), ("steps_max", 1))
        limits = (("ttl_turns", 0), ("ttl_turns_by_hand", 0), ("messages_max", 4), ("tokens_estimate_max", 1_000))
        for name, least in (*counts, *limits):
            if getattr(self, name) < least:
                raise ValueError(f"{name} is at least {least}, not {getattr(self, name)}")
        if self.layout not in ("system", "append"):
            raise ValueError(f"layout is 'system' or 'append', not {self.layout!r}")
        unknown = sorted(set(self.own_tools) - OWN_TOOLS)
        if unknown:
            raise ValueError(f"There is no own tool {unknown[0]!r}; there are {', '.join(sorted(OWN_TOOLS))}")


@dataclass(frozen=True)
class User:
    """Who the agent talks to. `context` is shown in the prompt; `is_introduced`: the introduction took place.

    `user_id` is the host's own; the session only keeps it.
    """

    name: str = ""
    is_introduced: bool = False
    context: Mapping[str, object] = field(default_factory=dict)
    user_id: str = ""

    @property
    def is_known(self) -> bool:
        """Known users are greeted, not introduced."""
        return bool(self.name.strip()) or self.is_introduced


EventKind = Literal[
    "loaded",
    "refreshed",
    "expired",
    "dropped",
    "not_loaded",
    "hinted",
    "introduced",
    "index",
    "left_out",
    "call",
    "feedback",
    "form",
    "messages",
]


@dataclass(frozen=True, slots=True)
class Event:
    """What happened and why, in words for a person. `event_id` counts up; `call_id` is that of a tool call."""

    turn: int
    kind: EventKind
    capability_id: str
    words: str
    event_id: int = 0
    call_id: str = ""
