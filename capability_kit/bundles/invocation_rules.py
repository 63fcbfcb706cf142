"""Who may start a skill: its author can close it to the model, or keep it off the user's menu (docs/contract.md 1.1).

`disable-model-invocation: true` and `user-invocable: false` of a SKILL.md are texts in `metadata` of capability.json.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

MODEL_KEY: Final = "disable-model-invocation"
USER_KEY: Final = "user-invocable"
# What YAML 1.1 and 1.2 read as truth values, in any case.
_TRUE: Final = frozenset({"true", "yes", "on"})
_FALSE: Final = frozenset({"false", "no", "off"})


def is_closed_to_model(capability: Mapping[str, Any]) -> bool:
    """Whether a capability.json says that no model starts the skill unless the user named it."""
    return _word(capability, MODEL_KEY) in _TRUE


def is_off_menu(capability: Mapping[str, Any]) -> bool:
    """Whether a capability.json says that the skill is not offered to users by its name."""
    return _word(capability, USER_KEY) in _FALSE


def list_invocation_facts(capability: Mapping[str, Any]) -> dict[str, bool]:
    """What the list says of it: `disable_model_invocation` (true) and `user_invocable` (false), each where it is so."""
    closed = {"disable_model_invocation": True} if is_closed_to_model(capability) else {}
    return closed | ({"user_invocable": False} if is_off_menu(capability) else {})


def describe_effect(key: str, value: str) -> str:
    """What a key of the metadata with this value does, as an import says it; empty where it does nothing."""
    facts = list_invocation_facts({"metadata": {key: value}})
    if "disable_model_invocation" in facts:
        return f"'{key}': models use this skill only where the user names it; no message leads to it"
    return f"'{key}': the skill is not offered to users by its name" if facts else ""


def _word(capability: Mapping[str, Any], key: str) -> str:
    metadata = capability.get("metadata")
    value = metadata.get(key) if isinstance(metadata, Mapping) else None
    return value.strip().lower() if isinstance(value, str) else ""
