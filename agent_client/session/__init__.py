"""One conversation with the capabilities of a registry: session.py says what it does."""

from agent_client.session.async_session import AsyncSession
from agent_client.session.introduction import ConversationStart
from agent_client.session.message_export import export_messages
from agent_client.session.messages import Message, ModelCall, ModelReply, TurnRunning
from agent_client.session.operations import Operation, Tracer
from agent_client.session.options import Event, SessionOptions, Source, User
from agent_client.session.playbook_draft import draft_playbook
from agent_client.session.profiles import FileProfiles, Profiles, remember
from agent_client.session.serialization import SessionFileRefused
from agent_client.session.session import Session
from agent_client.session.tool_gate import (
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
from agent_client.session.turns import Turn

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
