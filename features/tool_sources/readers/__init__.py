"""What a source offers, whatever form it is in."""

from __future__ import annotations

from capability_rules.errors import SourceUnreadable
from features.tool_sources.operation import Catalog
from features.tool_sources.readers.definitions import read_definitions
from features.tool_sources.readers.document import parse_document
from features.tool_sources.readers.openapi import is_openapi, read_openapi
from features.tool_sources.readers.other_formats import recognize_document


def read_source(content: bytes) -> Catalog:
    """The operations of an OpenAPI document, or of a list of tools in the form of a model vendor or of MCP.

    Takes time with the size: `features.tool_sources.isolation` bounds it. Raises `SourceUnreadable`.
    """
    document = parse_document(content)
    if words := recognize_document(document):
        raise SourceUnreadable(words)
    found = read_openapi(document) if is_openapi(document) else read_definitions(document)
    if found is None:
        raise SourceUnreadable(
            "This is neither an OpenAPI document nor a list of tools in the form of OpenAI, Anthropic, Gemini or MCP"
        )
    if not found.operations:
        raise SourceUnreadable("There is nothing to call in it: no operation and no tool")
    return found
