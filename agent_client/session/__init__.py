"""One conversation with the capabilities of a registry: session.py says what it does."""

from agent_client.session.calls import (
    ApprovalRequired,
    ArgumentsInvalid,
    Call,
    CallNotOpen,
    CallRefused,
    CallResult,
    ResultInvalid,
    RoleNotAllowed,
    ToolUnknown,
)
from agent_client.session.introduction import Start
from agent_client.session.options import Event, SessionOptions, Source, User
from agent_client.session.session import Session
from agent_client.session.state import SessionFileRefused
from agent_client.session.turns import Turn

__all__ = [
    "ApprovalRequired",
    "ArgumentsInvalid",
    "Call",
    "CallNotOpen",
    "CallRefused",
    "CallResult",
    "Event",
    "ResultInvalid",
    "RoleNotAllowed",
    "Session",
    "SessionFileRefused",
    "SessionOptions",
    "Source",
    "Start",
    "ToolUnknown",
    "Turn",
    "User",
]
