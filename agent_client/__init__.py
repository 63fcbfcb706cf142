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
    from agent_client.client.requester import Limits
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

# The names by the module that they come from; all others are errors.
_NAMES: Final = {
    "bundles.bundle": ("Bundle",),
    "bundles.forms": ("FormAction", "FormError", "form_action", "form_messages"),
    "bundles.playbook": ("PlaybookDoc", "PlaybookStep"),
    "client.client": ("AsyncRegistry", "Registry"),
    "client.local_registry": ("LocalSkills",),
    "client.lockfile": ("LockFile",),
    "client.requester": ("Limits",),
    "client.several_sources": ("SeveralSources",),
    "environment.probe": ("Environment",),
    "environment.readiness": ("Readiness", "Status", "check_readiness"),
    "prompt": ("Prompt", "render_prompt"),
    "session": ("ApprovalRequired", "AsyncSession", "Session", "SessionOptions", "User"),
    "ui.ask": ("Ask", "ask"),
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
    "Limits",
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
    if name not in __all__:
        raise AttributeError(f"module 'agent_client' has no attribute '{name}'")
    home = next((module for module, names in _NAMES.items() if name in names), "errors")
    return getattr(import_module(f"agent_client.{home}"), name)
