"""One conversation with the capabilities of a registry: session.py says what it does."""

from capability_client.client.sources import AsyncSource, Source
from capability_client.session.async_session import AsyncModel, AsyncSession
from capability_client.session.introduction import ConversationStart
from capability_client.session.layout import PromptParts
from capability_client.session.message_export import export_messages
from capability_client.session.messages import Delta, Message, ModelCall, ModelReply, TurnCancelled, TurnRunning
from capability_client.session.operations import Operation, Tracer
from capability_client.session.options import Event, SessionOptions, User
from capability_client.session.playbook_draft import draft_playbook
from capability_client.session.profiles import FileProfiles, Profiles, remember
from capability_client.session.serialization import SessionFileRefused
from capability_client.session.session import Model, Session
from capability_client.session.skill_forms import FormEventInvalid, FormRequired, FormUnknown, SkillForm
from capability_client.session.steps import (
    Approver,
    Asker,
    AsyncApprover,
    AsyncPresenter,
    Executor,
    FormEvent,
    Presenter,
)
from capability_client.session.stores import FileSessions, MemorySessions, SessionLocked, SessionStore
from capability_client.session.toolbox import Toolbox, ToolsNotImplemented
from capability_client.session.turns import Turn
from capability_kit.approvals import Approval
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
    "Approval",
    "ApprovalRequired",
    "Approver",
    "ArgumentsInvalid",
    "Asker",
    "AsyncApprover",
    "AsyncModel",
    "AsyncPresenter",
    "AsyncSession",
    "AsyncSource",
    "CallNotOpen",
    "CallRefused",
    "CallRejected",
    "CallResult",
    "ConversationStart",
    "Delta",
    "Event",
    "Executor",
    "FileProfiles",
    "FileSessions",
    "FormEvent",
    "FormEventInvalid",
    "FormRequired",
    "FormUnknown",
    "MemorySessions",
    "Message",
    "Model",
    "ModelCall",
    "ModelReply",
    "Operation",
    "Presenter",
    "Profiles",
    "PromptParts",
    "ResultInvalid",
    "RoleNotAllowed",
    "Session",
    "SessionFileRefused",
    "SessionLocked",
    "SessionOptions",
    "SessionStore",
    "SkillForm",
    "SkillNotReady",
    "Source",
    "ToolCall",
    "ToolUnknown",
    "ToolWithheld",
    "Toolbox",
    "ToolsNotImplemented",
    "Tracer",
    "Turn",
    "TurnCancelled",
    "TurnRunning",
    "User",
    "draft_playbook",
    "export_messages",
    "remember",
]
