"""Sources of tools over HTTP, for keys with the scope `publish` (docs/contract.md 5)."""

from __future__ import annotations

from typing import Any, Final

from rest_framework.request import Request
from rest_framework.response import Response

from agent_api.http import parameters
from agent_api.http.authentication import Caller
from agent_api.http.parsers import BoundedJSONParser
from agent_api.openapi.annotations import (
    CAPABILITY_ID,
    CONFLICT,
    NOT_FOUND,
    operator_read,
    operator_write,
    query_parameter,
)
from capability_rules.errors import InvalidRequest
from features.tool_sources import adoption, payloads, source_store, watch
from features.tool_sources.adoption import ToolChoice
from features.tool_sources.drafting import TOOLS_MAX
from features.tool_sources.models import ToolSource
from features.tool_sources.readers.limits import BYTES_MAX
from features.tool_sources.tool_documents import FORMATS, build_document
from registry.authoring.capability_creation import CapabilitySpec
from registry.common.actors import Actor
from registry.core import queries

NO_SOURCE: Final = {404: ("Error", "An unknown source, or an unknown capability (NOT_FOUND, CAPABILITY_NOT_FOUND).")}
_EXPORT_PARAMETERS: Final = (
    query_parameter("capability_id", "Which capability.", kind=CAPABILITY_ID, required=True),
    query_parameter("format", "mcp (the default) or openapi.", enum=list(FORMATS)),
)


class DocumentParser(BoundedJSONParser):
    """A document as a string of JSON, in which each quote has a backslash."""

    bytes_max = 2 * BYTES_MAX


@operator_write(parsers=(DocumentParser,), answer="ToolSource", body="ToolSourceRequest")
def tool_source_read(request: Request, caller: Caller) -> Response:
    """Read the operations of an API, an MCP server or a list of tools: what can be chosen by tool_source_import."""
    values = parameters.json_object(request)
    source = _add(values, caller.actor)
    return Response(payloads.describe_source(source))


def _add(values: dict[str, Any], by: Actor) -> ToolSource:
    url = parameters.string(values, "url", most=1000)
    if url and parameters.flag(values, "mcp"):
        name = parameters.string(values, "header_name", most=100)
        value = parameters.string(values, "header_value", most=2000)
        credential = parameters.string(values, "credential", most=70)
        header = {"header_name": name, "header_value": value, "credential": credential}
        return source_store.add_mcp_server(url=url, by=by, **header)
    if url:
        return source_store.add_address(url=url, by=by)
    document = _document(values)
    if document is None:
        raise InvalidRequest("document or url is missing: where the tools are described")
    return source_store.add_document(content=document, by=by)


def _document(values: dict[str, Any]) -> bytes | None:
    text = parameters.string(values, "document", most=BYTES_MAX)
    return text.encode("utf-8", "replace") if text else None


@operator_write(answer="DraftSaved", body="ToolSourceImportRequest", also=NO_SOURCE | CONFLICT)
def tool_source_import(request: Request, caller: Caller) -> Response:
    """Take operations of a source as tools into the draft of a capability, or of a new one."""
    values = parameters.json_object(request)
    capability_id = parameters.capability_id(values)
    given: dict[str, Any] = {"source_id": _source_id(values), "chosen": _choices(values), "by": caller.actor}
    wish = _wish(values, capability_id)
    if wish is None:
        saved = adoption.add_tools(capability_id=capability_id, **given)
    else:
        saved = adoption.create_capability(wish=wish, **given)
    findings = [finding.as_dict() for finding in saved.report.findings]
    return Response({"draft_version": saved.version, "findings": findings})


def _source_id(values: dict[str, Any]) -> int:
    source_id = parameters.integer(values, "source_id", least=1)
    if source_id is None:
        raise InvalidRequest("source_id is missing: tool_source_read returns it")
    return source_id


def _choices(values: dict[str, Any]) -> list[ToolChoice]:
    listed = values.get("operations")
    if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
        raise InvalidRequest('operations must be an array such as [{"key": "GET /pets"}]')
    return [
        ToolChoice(
            parameters.string(one, "key", most=600),
            parameters.string(one, "name", most=64),
            has_form=parameters.flag(one, "form"),
        )
        for one in listed[: TOOLS_MAX + 1]
    ]


def _wish(values: dict[str, Any], capability_id: str) -> CapabilitySpec | None:
    given = values.get("create")
    if given is None:
        return None
    triggers = given.get("triggers", []) if isinstance(given, dict) else None
    if not isinstance(given, dict) or not isinstance(triggers, list):
        raise InvalidRequest('create must be an object such as {"name": "Pets", "description": "Looks pets up."}')
    name, text = (parameters.string(given, key, most=most) for key, most in (("name", 80), ("description", 1024)))
    if not name.strip() or not text.strip():
        raise InvalidRequest("create needs a name and a description")
    phrases = tuple(one[:80] for one in triggers[:50] if isinstance(one, str) and one.strip())
    return CapabilitySpec(capability_id, name, text, triggers=phrases)


@operator_write(parsers=(DocumentParser,), answer="ToolSourceChanges", body="ToolSourceCheckRequest", also=NO_SOURCE)
def tool_source_check(request: Request, caller: Caller) -> Response:
    """Read a source again, and say which tools differ from it now."""
    values = parameters.json_object(request)
    source_id = _source_id(values)
    changed = watch.check_source(source_id=source_id, by=caller.actor, content=_document(values))
    return Response(payloads.describe_changes(source_id, changed))


@operator_read("GET", answer="ToolsDocument", parameters=_EXPORT_PARAMETERS, also=NOT_FOUND | CONFLICT)
def tools_export(request: Request) -> Response:
    """The published tools of a capability, as an MCP server lists them or as an OpenAPI document."""
    given = parameters.query(request)
    chosen = parameters.choice(given, "format", FORMATS)
    capability = queries.get_capability(parameters.capability_id(given))
    bundle = queries.load_checked_bundle(queries.read_files(capability))
    return Response(build_document(bundle, "openapi" if chosen == "openapi" else "mcp"))
