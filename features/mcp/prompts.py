"""Every capability as a prompt: what a person means by `$weights arguments`, for clients that offer it as a command."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import orjson

from agent_api.http.authentication import Caller
from agent_api.integrations.access import ReaderContext
from agent_api.v1.prompt_render import prompt_response
from capability_kit.prompt import PromptContext
from capability_rules.errors import InvalidRequest
from features.mcp.protocol import INVALID_PARAMS, McpError, get_string_param, take_page
from registry.common.errors import CapabilityNotFound, CapabilityQuarantined, SkillMalformed
from registry.snapshot import Snapshot, SnapshotEntry
from registry.snapshot.visibility import restricted_view

_ARGUMENTS: Final = [{"name": "arguments", "description": "What the capability is to do, in words.", "required": False}]


# A client of MCP gets texts from here and no tool of a skill: it calls what its own host offers, by the skill's names.
_FOR_HOST: Final = PromptContext(
    names_are_wire_names=False,
    opens_forms=False,
    tools_title="Tools that these skills use. Your host has to provide each of them, and to ask a person where an "
    "approval is named; this server runs none of them. If one is missing, say so:",
)


def render_for_host(snapshot: Snapshot, caller: Caller, values: Mapping[str, Any]) -> dict[str, Any]:
    """Like `prompt_response`, for a client that uses the tools of its host."""
    return prompt_response(snapshot, caller, values, _FOR_HOST)


def list_prompts(visitor: ReaderContext, params: Mapping[str, Any]) -> dict[str, Any]:
    """`prompts/list`: a page of what the caller may load, except what its author hides from the user's menu."""
    entries = restricted_view(visitor.snapshot, visitor.caller.principal).entries
    page, following = take_page(params, (entry for _, entry in sorted(entries.items()) if not entry.is_off_menu))
    return {"prompts": [_prompt(entry) for entry in page], **following}


def get_prompt(visitor: ReaderContext, params: Mapping[str, Any]) -> dict[str, Any]:
    """`prompts/get`: what `prompt_render` says for the one capability, as a message of the user. Raises `McpError`."""
    name = get_string_param(params, "name")
    given = params.get("arguments", {})
    if not isinstance(given, dict) or not all(isinstance(value, str | None) for value in given.values()):
        raise McpError(INVALID_PARAMS, "params.arguments must be an object of texts")
    values: dict[str, Any] = {"capability_ids": [name]}
    if given.get("arguments"):
        values["arguments"] = {name: given["arguments"]}
    try:
        text = render_for_host(visitor.snapshot, visitor.caller, values)["prompt"]
    except (CapabilityNotFound, CapabilityQuarantined, InvalidRequest, SkillMalformed) as error:
        raise McpError(INVALID_PARAMS, error.message, data={"code": error.code, **error.extra}) from None
    entry = restricted_view(visitor.snapshot, visitor.caller.principal).entries[name]
    message = {"role": "user", "content": {"type": "text", "text": text}}
    return {"description": _prompt(entry)["description"], "messages": [message]}


def _prompt(entry: SnapshotEntry) -> dict[str, Any]:
    fields = orjson.loads(entry.rendered_minimal)
    about = {"title": entry.name, "description": fields["description"]}
    return {"name": entry.capability_id, **about, "arguments": _ARGUMENTS}
