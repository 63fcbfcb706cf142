"""What an agent runtime imports: load bundles, keep a session, build the prompt. Knows nothing of Django.

Every name below is loaded on first use: who needs a session alone does not pay for an HTTP client with it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from capability_client.client.client import AsyncRegistry, Registry
    from capability_client.client.local_registry import LocalSkills
    from capability_client.client.lockfile import LockFile
    from capability_client.client.requester import Limits
    from capability_client.client.several_sources import SeveralSources
    from capability_client.session import ApprovalRequired, AsyncSession, FormRequired, Session, SessionOptions, User
    from capability_kit.bundles.bundle import Bundle
    from capability_kit.bundles.forms import FormAction, FormError, form_action, form_messages
    from capability_kit.bundles.playbook import PlaybookDoc, PlaybookStep
    from capability_kit.environment.probe import Environment
    from capability_kit.environment.readiness import Readiness, Status, check_readiness
    from capability_kit.errors import (
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
    from capability_kit.prompt import Prompt, render_prompt
    from capability_kit.ui.ask import Ask, ask

# The names by the module that they come from; all others are errors.
_NAMES: Final = {
    "capability_kit.bundles.bundle": ("Bundle",),
    "capability_kit.bundles.forms": ("FormAction", "FormError", "form_action", "form_messages"),
    "capability_kit.bundles.playbook": ("PlaybookDoc", "PlaybookStep"),
    "capability_client.client.client": ("AsyncRegistry", "Registry"),
    "capability_client.client.local_registry": ("LocalSkills",),
    "capability_client.client.lockfile": ("LockFile",),
    "capability_client.client.requester": ("Limits",),
    "capability_client.client.several_sources": ("SeveralSources",),
    "capability_kit.environment.probe": ("Environment",),
    "capability_kit.environment.readiness": ("Readiness", "Status", "check_readiness"),
    "capability_kit.prompt": ("Prompt", "render_prompt"),
    "capability_client.session": (
        *("ApprovalRequired", "FormRequired"),
        *("AsyncSession", "Session", "SessionOptions", "User"),
    ),
    "capability_kit.ui.ask": ("Ask", "ask"),
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
    "FormRequired",
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
        return import_module("capability_client.version").VERSION
    if name not in __all__:
        raise AttributeError(f"module 'capability_client' has no attribute '{name}'")
    home = next((module for module, names in _NAMES.items() if name in names), "capability_kit.errors")
    return getattr(import_module(home), name)
