"""What a host gives a session, and how it is checked."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, TypedDict

from capability_client.session.messages import Compactor
from capability_client.session.operations import Tracer
from capability_client.session.options import Event, SessionOptions, User
from capability_client.session.steps import Matcher
from capability_client.session.toolbox import Toolbox
from capability_kit.environment.probe import Environment


class StoredSettings(TypedDict, total=False):
    """The settings of a session that has its id already.

    `roles` are what the host program says that the user has. `environment` is this computer where it is left out.
    `on_event` is called with each event, and `trace` around each call of the source, a tool, the model or a person: its
    context manager is entered before it and left after it (operations.py). `compact` is called with the messages that
    no longer fit, the oldest turns, and returns a text in their place. `toolbox` has the functions of tools, where a
    method is given no `run`.
    """

    user: User | None
    environment: Environment | None
    roles: Iterable[str]
    options: SessionOptions | None
    on_event: Callable[[Event], None] | None
    trace: Tracer | None
    compact: Compactor | None
    toolbox: Toolbox | None


class SessionSettings(StoredSettings, total=False):
    """The settings of a session, as `StoredSettings` explains them."""

    session_id: str | None


class SessionSummary(TypedDict):
    """The session in short."""

    session_id: str
    user_id: str
    loaded_skills: list[str]
    context: dict[str, object]


@dataclass
class SessionContext:
    """What the collaborators of a session read of its host. Raises `TypeError` for an argument of another type."""

    source: Any
    user: User = field(default_factory=User)
    environment: Environment = field(default_factory=Environment.probe)
    options: SessionOptions = field(default_factory=SessionOptions)
    session_id: str = ""
    matcher: Matcher | None = None
    compact: Compactor | None = None
    toolbox: Toolbox | None = None

    @classmethod
    def of(cls, source: object, matcher: Matcher | None, settings: SessionSettings) -> SessionContext:
        """Of the settings of a session what is read here, and defaults in the place of None."""
        given = {name: value for name, value in settings.items() if name in cls.__annotations__ and value is not None}
        return cls(source, matcher=matcher, **given)  # type: ignore[arg-type]

    def __post_init__(self) -> None:
        kinds = (("user", User), ("environment", Environment), ("options", SessionOptions))
        for name, kind in (*kinds, *((("toolbox", Toolbox),) if self.toolbox is not None else ())):
            if not isinstance(getattr(self, name), kind):
                raise TypeError(f"{name} is a {kind.__name__}, not {type(getattr(self, name)).__name__}")
        if self.compact is not None and not callable(self.compact):
            raise TypeError(f"compact is a function of messages, not {type(self.compact).__name__}")
        if self.options.matches_by_triggers and self.matcher is not None:
            raise ValueError("A matcher and SessionOptions(matches_by_triggers=True) exclude each other")
        self.session_id = self.session_id or secrets.token_hex(8)
        if not self.options.matches_by_triggers:
            self.matcher = self.matcher or getattr(self.source, "match", None)
