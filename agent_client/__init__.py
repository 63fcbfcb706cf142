"""What an agent runtime imports: load bundles, keep a session, build the prompt. Knows nothing of Django.

Every name below is loaded on first use, because the server imports single modules of this package
(`agent_client.text.trigger_matching`) and must not pay for an HTTP client with them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from agent_client.bundles.bundle import Bundle
    from agent_client.bundles.forms import FormAction, FormError, form_action, form_messages
    from agent_client.bundles.playbook import PlaybookDoc, PlaybookStep
    from agent_client.client.client import AsyncRegistry, Registry
    from agent_client.client.local_registry import LocalSkills
    from agent_client.client.lockfile import LockFile
    from agent_client.client.several_sources import SeveralSources
    from agent_client.environment.probe import Environment
    from agent_client.environment.readiness import Readiness, Status, check_readiness
    from agent_client.errors import (
        CapabilityNotFound,
        CapabilityQuarantined,
        DigestMismatch,
        LockMismatch,
        RegistryError,
        RegistryForked,
        RegistryRolledBack,
        RegistryUnreachable,
        SignatureInvalid,
        SignatureMissing,
        SigningKeyUnknown,
        SkillMalformed,
        SupportingFileNotFound,
    )
    from agent_client.prompt import Prompt, render_prompt
    from agent_client.session import ApprovalRequired, AsyncSession, Session, SessionOptions, User
    from agent_client.ui.ask import Ask, ask

_HOME: Final = {
    "ApprovalRequired": "session",
    "Ask": "ui.ask",
    "AsyncRegistry": "client.client",
    "AsyncSession": "session",
    "Bundle": "bundles.bundle",
    "CapabilityNotFound": "errors",
    "CapabilityQuarantined": "errors",
    "DigestMismatch": "errors",
    "Environment": "environment.probe",
    "FormAction": "bundles.forms",
    "FormError": "bundles.forms",
    "LocalSkills": "client.local_registry",
    "LockFile": "client.lockfile",
    "LockMismatch": "errors",
    "PlaybookDoc": "bundles.playbook",
    "PlaybookStep": "bundles.playbook",
    "Prompt": "prompt",
    "Readiness": "environment.readiness",
    "Registry": "client.client",
    "RegistryError": "errors",
    "RegistryForked": "errors",
    "RegistryRolledBack": "errors",
    "RegistryUnreachable": "errors",
    "Session": "session",
    "SessionOptions": "session",
    "SeveralSources": "client.several_sources",
    "SignatureInvalid": "errors",
    "SignatureMissing": "errors",
    "SigningKeyUnknown": "errors",
    "SkillMalformed": "errors",
    "Status": "environment.readiness",
    "SupportingFileNotFound": "errors",
    "User": "session",
    "ask": "ui.ask",
    "check_readiness": "environment.readiness",
    "form_action": "bundles.forms",
    "form_messages": "bundles.forms",
    "render_prompt": "prompt",
}

__all__ = [
    "ApprovalRequired",
    "Ask",
    "AsyncRegistry",
    "AsyncSession",
    "Bundle",
    "CapabilityNotFound",
    "CapabilityQuarantined",
    "DigestMismatch",
    "Environment",
    "FormAction",
    "FormError",
    "LocalSkills",
    "LockFile",
    "LockMismatch",
    "PlaybookDoc",
    "PlaybookStep",
    "Prompt",
    "Readiness",
    "Registry",
    "RegistryError",
    "RegistryForked",
    "RegistryRolledBack",
    "RegistryUnreachable",
    "Session",
    "SessionOptions",
    "SeveralSources",
    "SignatureInvalid",
    "SignatureMissing",
    "SigningKeyUnknown",
    "SkillMalformed",
    "Status",
    "SupportingFileNotFound",
    "User",
    "ask",
    "check_readiness",
    "form_action",
    "form_messages",
    "render_prompt",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("agent_client.version").VERSION
    if name not in _HOME:
        raise AttributeError(f"module 'agent_client' has no attribute '{name}'")
    return getattr(import_module(f"agent_client.{_HOME[name]}"), name)
