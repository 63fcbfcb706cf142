"""The way back: a capability's tools as a tool list of MCP, and as an OpenAPI document."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal

from capability_kit.bundles.tool_export import export_tools
from capability_kit.json_schema.graph import copy_changed
from capability_kit.json_schema.portable import make_portable
from capability_rules.bundles.bundle import SkillBundle

DocumentFormat = Literal["mcp", "openapi"]
FORMATS: Final[tuple[DocumentFormat, ...]] = ("mcp", "openapi")
_PREFIX: Final = "#/$defs/"


def build_document(bundle: SkillBundle, form: DocumentFormat) -> dict[str, Any]:
    """`{"tools": [...]}` as a server answers `tools/list`, or an OpenAPI 3.1 document."""
    if form == "mcp":
        return {"tools": export_tools({tool["name"]: tool for tool in bundle.tools}, "mcp").tools}
    return _openapi(bundle.capability, bundle.tools)


def _openapi(capability: Mapping[str, Any], tools: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Each tool as `POST /NAME` with its arguments as the body; `x-policy` says whether it only reads.

    Definitions become components of the document, since a `$ref` counts from its root.
    """
    schemas: dict[str, Any] = {}
    paths = {f"/{tool['name']}": {"post": _operation(tool, schemas)} for tool in tools}
    info = {
        "title": str(capability.get("name") or capability.get("capability_id")),
        "description": str(capability.get("description", "")),
        "version": "1",
    }
    document: dict[str, Any] = {"openapi": "3.1.0", "info": info, "paths": paths}
    return document | ({"components": {"schemas": schemas}} if schemas else {})


def _operation(tool: Mapping[str, Any], schemas: dict[str, Any]) -> dict[str, Any]:
    name = str(tool["name"])
    body = {"application/json": {"schema": _moved(tool["args_schema"], f"{name}_arguments", schemas)}}
    answer: dict[str, Any] = {"description": "Done."}
    if isinstance(tool.get("result_schema"), dict):
        answer["content"] = {"application/json": {"schema": _moved(tool["result_schema"], f"{name}_result", schemas)}}
    return {
        "operationId": name,
        "description": tool["description"],
        "x-policy": tool["policy"],
        "requestBody": {"required": True, "content": body},
        "responses": {"200": answer},
    }


def _moved(schema: Mapping[str, Any], prefix: str, schemas: dict[str, Any]) -> dict[str, Any]:
    """The schema with its definitions among `schemas`, under names of its own."""
    portable = make_portable(dict(schema))

    def lead_to_component(one: dict[str, Any]) -> None:
        target = one.get("$ref")
        if isinstance(target, str) and target.startswith(_PREFIX):
            one["$ref"] = f"#/components/schemas/{prefix}_{target.removeprefix(_PREFIX)}"

    made = copy_changed(portable, lead_to_component)
    for name, definition in made.pop("$defs", {}).items():
        schemas[f"{prefix}_{name}"] = definition
    return made
