"""Questions to an assistant's user (MCP 2026-07-28): a result says what is asked, and the next call has the answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from django.core import signing

from capability_kit.json_text import as_mapping
from features.mcp.protocol import META, MODERN

_SALT: Final = "assistant_forms"
_STATE_SECONDS: Final = 3600
# Of the one request that a result has.
_KEY: Final = "ask"


@dataclass(frozen=True, slots=True)
class UserAnswer:
    """`content` is what was entered, by the names of the fields; empty where the user declined or closed it."""

    action: Literal["accept", "decline", "cancel"]
    content: Mapping[str, Any]
    state: Mapping[str, Any]


def can_ask(params: Mapping[str, Any]) -> bool:
    """Whether the client asks its user by forms: it says so with each call, and an empty word means forms."""
    meta = as_mapping(params.get("_meta"))
    asks = as_mapping(meta.get(f"{META}clientCapabilities")).get("elicitation")
    is_form = isinstance(asks, dict) and (not asks or "form" in asks)
    return meta.get(f"{META}protocolVersion") == MODERN and is_form


def ask(message: str, properties: Mapping[str, Any], state: Mapping[str, Any]) -> dict[str, Any]:
    """The result that asks; `state` comes back signed with the answer."""
    schema = {"type": "object", "properties": dict(properties)}
    params = {"mode": "form", "message": message, "requestedSchema": schema}
    return {
        "resultType": "input_required",
        "inputRequests": {_KEY: {"method": "elicitation/create", "params": params}},
        "requestState": signing.dumps(dict(state), salt=_SALT),
    }


def read_answer(params: Mapping[str, Any]) -> UserAnswer | None:
    """The answer that a call brings; None for a first call, and for one whose state is old, or not of this server."""
    given = as_mapping(as_mapping(params.get("inputResponses")).get(_KEY))
    try:
        state = signing.loads(str(params.get("requestState", "")), salt=_SALT, max_age=_STATE_SECONDS)
    except signing.BadSignature:
        return None
    action = given.get("action")
    if action not in ("accept", "decline", "cancel"):
        return None
    content = as_mapping(given.get("content")) if action == "accept" else {}
    return UserAnswer(action, content, as_mapping(state))
