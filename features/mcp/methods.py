"""Every supported method, and what each era adds to a response."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Final

from django.conf import settings

from agent_api.integrations.access import ReaderContext
from capability_kit import tracing
from features.mcp import prompts, resources, tools
from features.mcp.protocol import LEGACY, META, METHOD_NOT_FOUND, VERSIONS, McpCall, McpError

SERVER: Final = {"name": "capability-studio", "title": "Capability Studio", "version": settings.STUDIO_VERSION}
CAPABILITIES: Final[dict[str, Any]] = {
    "tools": {},
    "resources": {},
    "prompts": {},
    "extensions": {resources.EXTENSION: {"directoryRead": True}},
}
_INSTRUCTIONS: Final = (
    "A registry of capabilities. Call capability_registry_list or capability_match to find one, then "
    "capability_skill_load, and follow its skill_doc. The tools that a skill_doc names are not on this server: "
    "your host has to provide them."
)
_READS_ONLY: Final = "Nothing here changes a capability."
_WRITES: Final = {
    "feedback": "capability_feedback moves the confidence in a capability.",
    "propose": "capability_propose hands texts to a person for review; nothing here publishes them.",
}
# How long a client may keep what only changes with the program itself. What is published has no time to live: a publish
# is seen within a second, and a digest of one moment must not meet a file of another.
STATIC_TTL_MS: Final = 300_000
_CAPABILITY_ID: Final = re.compile(r"[a-z0-9_]{1,64}")
Method = Callable[[ReaderContext, McpCall], dict[str, Any]]


def handle_call(visitor: ReaderContext, call: McpCall) -> dict[str, Any]:
    """The member `result`. Raises `McpError`."""
    with _span(call) as span:
        try:
            result = _handle(visitor, call)
        except McpError as error:
            span.set("rpc.response.status_code", str(error.code))
            span.fail(str(error.code))
            raise
        if result.get("isError"):
            # The convention's word for a tool that says so itself.
            span.fail("tool_error")
            span.set("studio.error.code", result["structuredContent"]["error"]["code"])
        return result


def _span(call: McpCall) -> AbstractContextManager[tracing.TraceSpan]:
    """Named by the semantic conventions for MCP. What calls a tool and with which arguments is not noted, but for the
    capability's id. A name that is not one of ours is not noted either: anybody can send any."""
    method = call.method if call.method in _METHODS else "_OTHER"
    attributes: dict[str, tracing.Value] = {"mcp.method.name": method, "mcp.protocol.version": call.version}
    target = ""
    if method == "tools/call" and call.params.get("name") in {*tools.NAMES, *tools.list_feature_tools()}:
        target = call.params["name"]
        attributes |= {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": target}
        arguments = call.params.get("arguments")
        wanted = arguments.get("capability_id") if isinstance(arguments, dict) else None
        if isinstance(wanted, str) and _CAPABILITY_ID.fullmatch(wanted):
            attributes["studio.capability_id"] = wanted
    meta = call.params.get("_meta")
    parent = tracing.read_carrier(meta) if isinstance(meta, dict) else {}
    name = f"{method} {target}".rstrip()
    return tracing.span(name, attributes, kind="server", parent=parent, is_linked=True)


def _handle(visitor: ReaderContext, call: McpCall) -> dict[str, Any]:
    method = _METHODS.get(call.method)
    if method is None or call.method in (_LEGACY_ONLY if call.is_modern else _MODERN_ONLY):
        status = 404 if call.is_modern else 200
        raise McpError(METHOD_NOT_FOUND, f"Method not found: {call.method:.80}", status=status)
    result = method(visitor, call)
    if not call.is_modern:
        return result
    ttl = STATIC_TTL_MS if call.method in _STATIC else 0
    kept = {"ttlMs": ttl, "cacheScope": "public" if visitor.caller.is_public else "private"}
    return {"resultType": "complete", **result, **(kept if call.method in _CACHEABLE else {})}


def _initialize(visitor: ReaderContext, call: McpCall) -> dict[str, Any]:
    requested = call.params.get("protocolVersion")
    version = requested if requested in LEGACY else LEGACY[0]
    return {
        "protocolVersion": version,
        "capabilities": CAPABILITIES,
        "serverInfo": SERVER,
        "instructions": _instructions(visitor),
    }


def _instructions(visitor: ReaderContext) -> str:
    """What the server is for, and what this caller can change by it."""
    writes = [words for scope, words in _WRITES.items() if scope in visitor.caller.scopes]
    return " ".join([_INSTRUCTIONS, *(writes or [_READS_ONLY])])


def _discover(visitor: ReaderContext, call: McpCall) -> dict[str, Any]:  # noqa: ARG001
    return {
        "supportedVersions": list(VERSIONS),
        "capabilities": CAPABILITIES,
        "instructions": _instructions(visitor),
        "_meta": {f"{META}serverInfo": SERVER},
    }


_METHODS: Final[dict[str, Method]] = {
    "initialize": _initialize,
    "server/discover": _discover,
    "ping": lambda visitor, call: {},  # noqa: ARG005
    "tools/list": lambda visitor, call: tools.list_tools(visitor),  # noqa: ARG005
    "tools/call": lambda visitor, call: tools.call_tool(visitor, call.params),
    "resources/list": lambda visitor, call: resources.list_resources(visitor, call.params),
    "resources/read": lambda visitor, call: resources.read_resource(visitor, call.params),
    "resources/directory/read": lambda visitor, call: resources.read_directory(visitor, call.params),
    "resources/templates/list": lambda visitor, call: {"resourceTemplates": []},  # noqa: ARG005
    "prompts/list": lambda visitor, call: prompts.list_prompts(visitor, call.params),
    "prompts/get": lambda visitor, call: prompts.get_prompt(visitor, call.params),
    "skills/list": lambda visitor, call: resources.list_skills(visitor, call.params),
    "skills/get": lambda visitor, call: resources.get_skill(visitor, call.params),
}
_STATIC: Final = frozenset({"server/discover", "tools/list", "resources/templates/list"})
_LEGACY_ONLY: Final = frozenset({"initialize", "ping"})
_MODERN_ONLY: Final = frozenset({"server/discover"})
_CACHEABLE: Final = frozenset(_METHODS) - {"tools/call", "prompts/get", "initialize", "ping"}
