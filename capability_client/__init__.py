"""What an agent runtime imports: load bundles, keep a session, build the prompt. Knows nothing of Django.

Every name below is loaded on first use: who needs a session alone does not pay for an HTTP client with it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from capability_client.client.answers import (
        FeedbackAnswer,
        InstallAnswer,
        MatchAnswer,
        ProposalAnswer,
        ProposeAnswer,
        SearchAnswer,
    )
    from capability_client.client.client import (
        AsyncRegistry,
        Registry,
    )
    from capability_client.client.local_registry import (
        LocalSkills,
    )
    from capability_client.client.lockfile import (
        LockFile,
    )
    from capability_client.client.requester import (
        Limits,
    )
    from capability_client.client.several_sources import (
        SeveralSources,
    )
    from capability_client.session import (
        AnswerRequired,
        Approval,
        ApprovalRequired,
        Approver,
        ArgumentsInvalid,
        Asker,
        AsyncApprover,
        AsyncModel,
        AsyncPresenter,
        AsyncSession,
        AsyncSource,
        CallNotOpen,
        CallRefused,
        CallRejected,
        CallResult,
        ConversationStart,
        Delta,
        Event,
        Executor,
        FileProfiles,
        FileSessions,
        FormEvent,
        FormEventInvalid,
        FormRequired,
        FormUnknown,
        MemorySessions,
        Message,
        Model,
        ModelCall,
        ModelReply,
        Operation,
        Presenter,
        Profiles,
        PromptParts,
        ResultInvalid,
        RoleNotAllowed,
        Session,
        SessionFileRefused,
        SessionLocked,
        SessionOptions,
        SessionStore,
        SkillForm,
        SkillNotReady,
        Source,
        Toolbox,
        ToolCall,
        ToolsNotImplemented,
        ToolUnknown,
        ToolWithheld,
        Tracer,
        Turn,
        TurnCancelled,
        TurnRunning,
        User,
        draft_playbook,
        export_messages,
        remember,
    )
    from capability_client.version import VERSION as __version__  # noqa: N811
    from capability_kit.bundles.bundle import (
        Bundle,
        Listing,
        ListingEntry,
        SupportingFile,
        ToolContract,
        ToolPolicy,
    )
    from capability_kit.bundles.forms import (
        FormAction,
        FormError,
        form_action,
        form_messages,
    )
    from capability_kit.bundles.playbook import (
        PlaybookDoc,
        PlaybookStep,
    )
    from capability_kit.environment.probe import (
        Environment,
    )
    from capability_kit.environment.readiness import (
        Readiness,
        Status,
        check_readiness,
    )
    from capability_kit.errors import (
        AnswerTooLarge,
        CapabilityNotFound,
        CapabilityQuarantined,
        DigestMismatch,
        Forbidden,
        IdempotencyKeyReused,
        InstallCodeNotFound,
        InvalidRequest,
        LockMismatch,
        ModelInvocationDisabled,
        NotFound,
        PayloadTooLarge,
        RateLimited,
        RedirectRefused,
        RegistryError,
        RegistryForked,
        RegistryRolledBack,
        RegistryUnavailable,
        RegistryUnreachable,
        ResponseRejected,
        RevisionNotFound,
        SignatureInvalid,
        SignatureMissing,
        SigningKeyUnknown,
        SkillMalformed,
        SupportingFileNotFound,
        SupportingFileNotText,
        Unauthenticated,
        Unavailable,
        UnsupportedMediaType,
    )
    from capability_kit.prompt import (
        Prompt,
        render_prompt,
    )
    from capability_kit.ui.ask import (
        Ask,
        AskForm,
        ReplyNotUnderstood,
        ask,
    )

# The names by the module that they come from. All others are errors, or come from `capability_client.session`.
_NAMES: Final = {
    "capability_client.client.answers": (
        "FeedbackAnswer",
        "InstallAnswer",
        "MatchAnswer",
        "ProposalAnswer",
        "ProposeAnswer",
        "SearchAnswer",
    ),
    "capability_client.client.client": ("AsyncRegistry", "Registry"),
    "capability_client.client.local_registry": ("LocalSkills",),
    "capability_client.client.lockfile": ("LockFile",),
    "capability_client.client.requester": ("Limits",),
    "capability_client.client.several_sources": ("SeveralSources",),
    "capability_kit.bundles.bundle": (
        "Bundle",
        "Listing",
        "ListingEntry",
        "SupportingFile",
        "ToolContract",
        "ToolPolicy",
    ),
    "capability_kit.bundles.forms": ("FormAction", "FormError", "form_action", "form_messages"),
    "capability_kit.bundles.playbook": ("PlaybookDoc", "PlaybookStep"),
    "capability_kit.environment.probe": ("Environment",),
    "capability_kit.environment.readiness": ("Readiness", "Status", "check_readiness"),
    "capability_kit.prompt": ("Prompt", "render_prompt"),
    "capability_kit.ui.ask": ("Ask", "AskForm", "ReplyNotUnderstood", "ask"),
}

__all__ = [
    "AnswerRequired",
    "AnswerTooLarge",
    "Approval",
    "ApprovalRequired",
    "Approver",
    "ArgumentsInvalid",
    "Ask",
    "AskForm",
    "Asker",
    "AsyncApprover",
    "AsyncModel",
    "AsyncPresenter",
    "AsyncRegistry",
    "AsyncSession",
    "AsyncSource",
    "Bundle",
    "CallNotOpen",
    "CallRefused",
    "CallRejected",
    "CallResult",
    "CapabilityNotFound",
    "CapabilityQuarantined",
    "ConversationStart",
    "Delta",
    "DigestMismatch",
    "Environment",
    "Event",
    "Executor",
    "FeedbackAnswer",
    "FileProfiles",
    "FileSessions",
    "Forbidden",
    "FormAction",
    "FormError",
    "FormEvent",
    "FormEventInvalid",
    "FormRequired",
    "FormUnknown",
    "IdempotencyKeyReused",
    "InstallAnswer",
    "InstallCodeNotFound",
    "InvalidRequest",
    "Limits",
    "Listing",
    "ListingEntry",
    "LocalSkills",
    "LockFile",
    "LockMismatch",
    "MatchAnswer",
    "MemorySessions",
    "Message",
    "Model",
    "ModelCall",
    "ModelInvocationDisabled",
    "ModelReply",
    "NotFound",
    "Operation",
    "PayloadTooLarge",
    "PlaybookDoc",
    "PlaybookStep",
    "Presenter",
    "Profiles",
    "Prompt",
    "PromptParts",
    "ProposalAnswer",
    "ProposeAnswer",
    "RateLimited",
    "Readiness",
    "RedirectRefused",
    "Registry",
    "RegistryError",
    "RegistryForked",
    "RegistryRolledBack",
    "RegistryUnavailable",
    "RegistryUnreachable",
    "ReplyNotUnderstood",
    "ResponseRejected",
    "ResultInvalid",
    "RevisionNotFound",
    "RoleNotAllowed",
    "SearchAnswer",
    "Session",
    "SessionFileRefused",
    "SessionLocked",
    "SessionOptions",
    "SessionStore",
    "SeveralSources",
    "SignatureInvalid",
    "SignatureMissing",
    "SigningKeyUnknown",
    "SkillForm",
    "SkillMalformed",
    "SkillNotReady",
    "Source",
    "Status",
    "SupportingFile",
    "SupportingFileNotFound",
    "SupportingFileNotText",
    "ToolCall",
    "ToolContract",
    "ToolPolicy",
    "ToolUnknown",
    "ToolWithheld",
    "Toolbox",
    "ToolsNotImplemented",
    "Tracer",
    "Turn",
    "TurnCancelled",
    "TurnRunning",
    "Unauthenticated",
    "Unavailable",
    "UnsupportedMediaType",
    "User",
    "__version__",
    "ask",
    "check_readiness",
    "draft_playbook",
    "export_messages",
    "form_action",
    "form_messages",
    "remember",
    "render_prompt",
]


if not TYPE_CHECKING:

    def __dir__() -> list[str]:
        return sorted(__all__)

    def __getattr__(name: str) -> object:
        if name == "__version__":
            return import_module("capability_client.version").VERSION
        if name not in __all__:
            raise AttributeError(f"module 'capability_client' has no attribute '{name}'")
        home = next((module for module, names in _NAMES.items() if name in names), "capability_kit.errors")
        found = import_module(home)
        return getattr(found if hasattr(found, name) else import_module("capability_client.session"), name)
