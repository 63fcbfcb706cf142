"""One conversation with the capabilities of a registry: session.py says what it does."""

from agent_client.session.introduction import ConversationStart
from agent_client.session.options import Event, SessionOptions, Source, User
from agent_client.session.serialization import SessionFileRefused
from agent_client.session.session import Session
from agent_client.session.tool_gate import (
    ApprovalRequired,
    ArgumentsInvalid,
    CallNotOpen,
    CallRefused,
    CallResult,
    ResultInvalid,
    RoleNotAllowed,
    ToolCall,
    ToolUnknown,
)
from agent_client.session.turn import Turn

__all__ = [
    "ApprovalRequired",
    "ArgumentsInvalid",
    "CallNotOpen",
    "CallRefused",
    "CallResult",
    "ConversationStart",
    "Event",
    "ResultInvalid",
    "RoleNotAllowed",
    "Session",
    "SessionFileRefused",
    "SessionOptions",
    "Source",
    "ToolCall",
    "ToolUnknown",
    "Turn",
    "User",
]
