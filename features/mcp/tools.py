"""The agent API's reads as tools, feedback and proposals; responses and errors are the API's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import orjson
from django.utils.module_loading import import_string

from agent_api.http.argument_forms import normalize_arguments
from agent_api.http.authentication import Caller
from agent_api.http.errors import error_envelope
from agent_api.http.parameters import body_schema
from agent_api.integrations.access import ReaderContext
from agent_api.v1 import match_and_search
from agent_api.v1.match_and_search import MESSAGE_MAX, QUERY_MAX, TOP_FOUND_MAX, TOP_MATCHES_MAX
from agent_api.v1.prompt_render import IDS_MAX
from agent_api.v1.registry_list import LIMIT_MAX, OS, list_response, parse_query
from agent_api.v1.skill_load import load_response
from agent_api.v1.writes import build_feedback_response, build_propose_response
from capability_rules.errors import InvalidRequest, RegistryError
from features.mcp.prompts import render_for_host
from features.mcp.protocol import INVALID_PARAMS, McpError, get_string_param
from registry.access.agent_keys import Scope
from registry.common import rate_limits
from registry.common.errors import Forbidden
from registry.feature import installed_features
from registry.snapshot import STORE, Snapshot
from registry.usage.confidence import OUTCOMES
from registry.usage.outcome_reports import REASON_LENGTH_MAX

_GROUP: Final = {"type": "string", "description": "Only capabilities of this skill group."}
_OS: Final = {"type": "string", "enum": list(OS), "description": "Only what works there; common is included."}


def _schema(required: list[str], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _tool(name: str, title: str, description: str, schema: dict[str, Any], *, is_read: bool = True) -> dict[str, Any]:
    hints = {"readOnlyHint": is_read, "idempotentHint": is_read, "destructiveHint": False, "openWorldHint": False}
    return {"name": name, "title": title, "description": description, "inputSchema": schema, "annotations": hints}


TOOLS: Final = (
    _tool(
        "capability_registry_list", "List capabilities",
        "List every capability that can be loaded, with the phrases that lead to it. Read this first.",
        _schema(
            [], group=_GROUP, os=_OS,
            fields={"type": "string", "enum": ["minimal"], "description": "minimal: id, name, description, triggers."},
            limit={"type": "integer", "minimum": 1, "maximum": LIMIT_MAX, "description": "Entries a page."},
            cursor={"type": "string", "description": "next_cursor of the page before."},
        ),
    ),
    _tool(
        "capability_skill_load", "Load a capability",
        "Load one capability by its capability_id: its instructions, its forms, and the contracts of its tools, which "
        "your host has to provide: this server runs none of them.",
        _schema(
            ["capability_id"],
            capability_id={"type": "string", "description": "Which capability, as the list names it."},
            digest={"type": "string", "description": "Pin the release with this digest."},
            revision={"type": "integer", "minimum": 1, "description": "Pin this revision."},
        ),
    ),
    _tool(
        "capability_skill_reload", "Load the newest release",
        "Load one capability past every cache. Only if the user or an operator asks for it.",
        _schema(
            ["capability_id"],
            capability_id={"type": "string", "description": "Which capability, as the list names it."},
        ),
    ),
    _tool(
        "prompt_render", "Write a prompt",
        "Write the prompt for some capabilities, the most important first: their instructions, and the names of the "
        "tools that your host has to provide.",
        _schema(
            ["capability_ids"],
            capability_ids={
                "type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": IDS_MAX,
                "description": "Which capabilities, the most important first.",
            },
            environment={"type": "object", "description": "What is there: os, bins, python, apps, env, permissions."},
            arguments={"type": "object", "description": "What the user wants of each, by capability_id."},
        ),
    ),
    _tool(
        "capability_match", "Match a message",
        "Say what a user's message asks for: match, ambiguous or none, with reasons. Load every capability in needed.",
        _schema(
            ["message"], group=_GROUP, os=_OS,
            message={"type": "string", "description": f"What the user said, 1 to {MESSAGE_MAX:,} characters."},
            top_k={"type": "integer", "minimum": 1, "maximum": TOP_MATCHES_MAX, "description": "Matches at most."},
        ),
    ),
    _tool(
        "capability_search", "Search capabilities",
        "Find capabilities for some words, by meaning and by keyword.",
        _schema(
            ["q"], group=_GROUP,
            q={"type": "string", "description": f"What is looked for, 1 to {QUERY_MAX:,} characters."},
            top_k={"type": "integer", "minimum": 1, "maximum": TOP_FOUND_MAX, "description": "Results at most."},
        ),
    ),
    _tool(
        "capability_feedback", "Tell how it went",
        "Tell how one use of a capability ended; a playbook's confidence moves with it. Needs the scope feedback.",
        _schema(
            ["capability_id", "outcome"],
            capability_id={"type": "string", "description": "Which capability was used."},
            outcome={"type": "string", "enum": list(OUTCOMES), "description": "confirmed: the user said so."},
            revision={"type": "integer", "minimum": 1, "description": "The revision that was loaded."},
            reason={"type": "string", "maxLength": REASON_LENGTH_MAX, "description": "Why, in a sentence."},
        ),
        is_read=False,
    ),
    _tool(
        "capability_propose", "Propose a capability",
        "Hand a bundle in for review; an operator decides whether it is published. Needs the scope propose.",
        _schema(
            ["files"],
            files={
                "type": "object", "additionalProperties": {"type": "string"},
                "description": "The texts by name: capability.json, skill.md, tools.json, ui_schemas.json.",
            },
            note={"type": "string", "description": "What it is for, for the operator."},
        ),
        is_read=False,
    ),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class FeatureTool:
    """A read-only tool of a feature: what `tools/list` says of it, and `(visitor, arguments, params)` to the whole
    result of a call."""

    described: dict[str, Any]
    run: Callable[[ReaderContext, dict[str, Any], Mapping[str, Any]], dict[str, Any]]


@cache
def list_feature_tools() -> dict[str, FeatureTool]:
    """Those of the installed features, by name."""
    paths = (feature.mcp_tools for feature in installed_features() if feature.mcp_tools)
    return {name: one for path in paths for name, one in import_string(path).items()}


# Tools that write, and the scope that each needs; a caller without it is not shown the tool.
_SCOPES: Final[dict[str, Scope]] = {"capability_feedback": "feedback", "capability_propose": "propose"}
# In `_meta` of a call: a host that shows its model both forms would pay for each.
_RESULT_FORM: Final = "capability-studio/result"
NAMES: Final = frozenset(tool["name"] for tool in TOOLS)
_SCHEMAS: Final[dict[str, dict[str, Any]]] = {tool["name"]: tool["inputSchema"] for tool in TOOLS}
# A host sees less of these than the schema of the request says.
_FORMS: Final = _SCHEMAS | {"prompt_render": body_schema("PromptRenderRequest")}


def list_tools(visitor: ReaderContext) -> dict[str, Any]:
    """`tools/list`: the tools that the caller may use."""
    own = [tool for tool in TOOLS if _SCOPES.get(tool["name"], "read") in visitor.caller.scopes]
    return {"tools": [*own, *(tool.described for tool in list_feature_tools().values())]}


def call_tool(visitor: ReaderContext, params: Mapping[str, Any]) -> dict[str, Any]:
    """The result of `tools/call`: what the agent API answers as text, or as structured content where the call asks for
    that. A refusal, which is short, is both.

    Raises `McpError` for an unknown tool.
    """
    name = get_string_param(params, "name")
    given = params.get("arguments", {})
    of_feature = list_feature_tools().get(name)
    if name not in _RUN and of_feature is None:
        raise McpError(INVALID_PARAMS, f"Unknown tool: {name:.80}")
    if not isinstance(given, dict):
        raise McpError(INVALID_PARAMS, "params.arguments must be an object")
    try:
        if of_feature is not None:
            schema = of_feature.described["inputSchema"]
            arguments = normalize_arguments(given, schema)
            _refuse_unknown(name, arguments, schema)
            return of_feature.run(visitor, arguments, params)
        _require_scope(visitor, name)
        arguments = normalize_arguments(given, _FORMS[name])
        _refuse_unknown(name, arguments, _SCHEMAS[name])
        with visitor.caller.writing(_SCOPES.get(name, "read")):
            value = _RUN[name](visitor.snapshot, visitor.caller, arguments)
    except RegistryError as error:
        refusal = error_envelope(error.code, error.message, **error.extra)
        return {"content": _as_text(refusal), "structuredContent": refusal, "isError": True}
    meta = params.get("_meta")
    if isinstance(meta, dict) and meta.get(_RESULT_FORM) == "structured":
        return {"content": [], "structuredContent": value, "isError": False}
    return text_result(value)


def text_result(value: Any) -> dict[str, Any]:
    """The result of a call, as text alone."""
    return {"content": _as_text(value), "isError": False}


def _require_scope(visitor: ReaderContext, name: str) -> None:
    scope = _SCOPES.get(name)
    if scope is None:
        return
    if scope not in visitor.caller.scopes:
        raise Forbidden(f"{name} needs a key with the scope '{scope}'")
    rate_limits.consume("write", visitor.caller.key_name)


def _refuse_unknown(name: str, arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> None:
    """The schemas are closed: a misspelled argument must not be passed over in silence."""
    properties = schema["properties"]
    unknown = sorted(set(arguments) - set(properties))
    if unknown:
        known = ", ".join(sorted(properties))
        raise InvalidRequest(f"{name} has no argument '{unknown[0]:.80}'; it has {known}")


def _as_text(value: Any) -> list[dict[str, str]]:
    return [{"type": "text", "text": orjson.dumps(value).decode("utf-8")}]


def _list(held: Snapshot, caller: Caller, values: dict[str, Any]) -> Any:
    return orjson.loads(list_response(held, parse_query(values), caller.principal).identity)


def _load(held: Snapshot, caller: Caller, values: dict[str, Any]) -> Any:
    return orjson.loads(load_response(held, caller, values).identity)


def _reload(_held: Snapshot, caller: Caller, values: dict[str, Any]) -> Any:
    rate_limits.consume("uncached", caller.limit_subject)
    return orjson.loads(load_response(STORE.refresh(), caller, values, fresh=True).identity)


def _propose(_held: Snapshot, caller: Caller, values: dict[str, Any]) -> Any:
    return build_propose_response(caller, values)


_RUN: Final[dict[str, Callable[[Snapshot, Caller, dict[str, Any]], Any]]] = {
    "capability_registry_list": _list,
    "capability_skill_load": _load,
    "capability_skill_reload": _reload,
    "prompt_render": render_for_host,
    "capability_match": match_and_search.match_response,
    "capability_search": match_and_search.search_response,
    "capability_feedback": build_feedback_response,
    "capability_propose": _propose,
}
