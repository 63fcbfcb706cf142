"""What an agent runtime imports: load bundles, keep a session, build the prompt. Knows nothing of Django.

Every name below is loaded on first use, because the server imports single modules of this package
(`agent_client.triggers`) and must not pay for an HTTP client with them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from agent_client.asking import Ask, ask
    from agent_client.bundle import Bundle
    from agent_client.environment import Environment
    from agent_client.errors import (
        CapabilityNotFound,
        DigestMismatch,
        LockMismatch,
        RegistryError,
        RegistryUnreachable,
        SkillMalformed,
        SupportingFileNotFound,
    )
    from agent_client.forms import FormAction, FormError, form_action, form_messages
    from agent_client.local import LocalSkills
    from agent_client.lockfile import LockFile
    from agent_client.playbook_doc import PlaybookDoc, Step
    from agent_client.prompt import Prompt, render_prompt
    from agent_client.registry import AsyncRegistry, Registry
    from agent_client.requirements import Readiness, Status, readiness
    from agent_client.session import ApprovalRequired, Session, SessionOptions, User

_HOME: Final = {
    "ApprovalRequired": "session",
    "Ask": "asking",
    "AsyncRegistry": "registry",
    "Bundle": "bundle",
    "CapabilityNotFound": "errors",
    "DigestMismatch": "errors",
    "Environment": "environment",
    "FormAction": "forms",
    "FormError": "forms",
    "LocalSkills": "local",
    "LockFile": "lockfile",
    "LockMismatch": "errors",
    "PlaybookDoc": "playbook_doc",
    "Prompt": "prompt",
    "Readiness": "requirements",
    "Registry": "registry",
    "RegistryError": "errors",
    "RegistryUnreachable": "errors",
    "Session": "session",
    "SessionOptions": "session",
    "SkillMalformed": "errors",
    "Status": "requirements",
    "Step": "playbook_doc",
    "SupportingFileNotFound": "errors",
    "User": "session",
    "ask": "asking",
    "form_action": "forms",
    "form_messages": "forms",
    "readiness": "requirements",
    "render_prompt": "prompt",
}

__all__ = [
    "ApprovalRequired",
    "Ask",
    "AsyncRegistry",
    "Bundle",
    "CapabilityNotFound",
    "DigestMismatch",
    "Environment",
    "FormAction",
    "FormError",
    "LocalSkills",
    "LockFile",
    "LockMismatch",
    "PlaybookDoc",
    "Prompt",
    "Readiness",
    "Registry",
    "RegistryError",
    "RegistryUnreachable",
    "Session",
    "SessionOptions",
    "SkillMalformed",
    "Status",
    "Step",
    "SupportingFileNotFound",
    "User",
    "ask",
    "form_action",
    "form_messages",
    "readiness",
    "render_prompt",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'agent_client' has no attribute '{name}'")
    return getattr(import_module(f"agent_client.{_HOME[name]}"), name)
