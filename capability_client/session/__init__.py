"""One conversation with the capabilities of a registry: session.py says what it does."""

from capability_client.session.async_session import AsyncSession
from capability_client.session.introduction import ConversationStart
from capability_client.session.message_export import export_messages
from capability_client.session.messages import Message, ModelCall, ModelReply, TurnRunning
from capability_client.session.operations import Operation, Tracer
from capability_client.session.options import Event, SessionOptions, Source, User
from capability_client.session.playbook_draft import draft_playbook
from capability_client.session.profiles import FileProfiles, Profiles, remember
from capability_client.session.serialization import SessionFileRefused
from capability_client.session.session import Session
from capability_client.session.turns import Turn
from capability_kit.tool_gate import (
    AnswerRequired,
    ApprovalRequired,
    ArgumentsInvalid,
    CallNotOpen,
    CallRefused,
    CallRejected,
    CallResult,
    ResultInvalid,
    RoleNotAllowed,
    SkillNotReady,
    ToolCall,
    ToolUnknown,
    ToolWithheld,
)

__all__ = [
    "AnswerRequired",
    "ApprovalRequired",
    "ArgumentsInvalid",
    "AsyncSession",
    "CallNotOpen",
    "CallRefused",
    "CallRejected",
    "CallResult",
    "ConversationStart",
    "Event",
    "FileProfiles",
    "Message",
    "ModelCall",
    "ModelReply",
    "Operation",
    "Profiles",
    "ResultInvalid",
    "RoleNotAllowed",
    "Session",
    "SessionFileRefused",
    "SessionOptions",
    "SkillNotReady",
    "Source",
    "ToolCall",
    "ToolUnknown",
    "ToolWithheld",
    "Tracer",
    "Turn",
    "TurnRunning",
    "User",
    "draft_playbook",
    "export_messages",
    "remember",
]
