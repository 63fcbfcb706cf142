"""What people bring that is not the description of an API: each kind is named, with where it belongs."""

from __future__ import annotations

import re
from typing import Any, Final

_UPLOAD: Final = "bring it under New capability, Upload"
_CONVERT: Final = "convert it to OpenAPI 3 first"
# The first bytes of files that are not texts.
_BEGINNINGS: Final = (
    ((b"PK\x03\x04", b"PK\x05\x06"), "a zip archive", f"unpack it; if it holds skills or bundles, {_UPLOAD}"),
    ((b"\x1f\x8b",), "a compressed archive", "unpack it, and bring the OpenAPI document"),
    ((b"%PDF-",), "a PDF", "bring the OpenAPI document that it was made from"),
    ((b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"RIFF"), "an image", "bring the OpenAPI document as text"),
)
_HTML: Final = re.compile(r"\s*(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE | re.DOTALL)
_GRAPHQL: Final = re.compile(
    r"^(?:extend\s+)?(?:(?:type|interface|input|enum)\s+\w+[^:\n]{0,200}|schema\s*)\{\s*$", re.MULTILINE
)
_FRONT_MATTER: Final = re.compile(r"---[ \t]*\n(?P<matter>.{0,20000}?)\n---[ \t]*(?:\n|$)", re.DOTALL)
_SKILL_KEY: Final = re.compile(r"^(?:name|description)[ \t]*:", re.MULTILINE)
_API_KEY: Final = re.compile(r"^(?:openapi|info|paths|components)[ \t]*:", re.MULTILINE)
_HEADING: Final = re.compile(r"^#{1,3} \S", re.MULTILINE)


def recognize_bytes(content: bytes) -> str:
    """What a file is, and what to do with it, as a sentence without a period; empty for a text."""
    found = (one for one in _BEGINNINGS if content.startswith(one[0]))
    return next((_sentence(what, then) for _, what, then in found), "")


def recognize_text(text: str) -> str:
    """As `recognize_bytes`, of a text that says by its form that it is neither JSON nor YAML; empty for any other."""
    start = text.lstrip()
    if _HTML.match(start[:2000]):
        return _sentence("a web page", "bring the address of the OpenAPI document that the page shows, or the document")
    if start.startswith("<"):
        return _sentence("XML, such as WSDL", _CONVERT)
    if start.startswith("#%RAML"):
        return _sentence("RAML", _CONVERT)
    matter = _FRONT_MATTER.match(start)
    if matter and _SKILL_KEY.search(matter["matter"]) and start[matter.end() :].strip():
        return _sentence("a skill (SKILL.md)", _UPLOAD)
    return _sentence("a GraphQL schema", _CONVERT) if _GRAPHQL.search(text) else ""


def recognize_markdown(text: str) -> str:
    """As `recognize_bytes`, of a text that could not be read as YAML, in which a comment looks like a heading."""
    if _API_KEY.search(text) or not _HEADING.search(text):
        return ""
    return _sentence("Markdown", f"if it is a skill, {_UPLOAD}; else bring the OpenAPI document")


def recognize_document(document: Any) -> str:
    """As `recognize_bytes`, of a value that was read."""
    if not isinstance(document, dict):
        return ""
    info, data = document.get("info"), document.get("data")
    if isinstance(info, dict) and ("_postman_id" in info or "getpostman.com" in str(info.get("schema"))):
        return _sentence("a Postman collection", f"{_CONVERT}, which Postman can do itself")
    if str(document.get("swagger", "")).startswith("2"):
        return _sentence("a Swagger 2.0 document, the form before OpenAPI 3", _CONVERT)
    if "asyncapi" in document:
        return _sentence("an AsyncAPI document, which describes messages", "bring the OpenAPI document of the API")
    if "__schema" in document or (isinstance(data, dict) and "__schema" in data):
        return _sentence("a GraphQL schema", _CONVERT)
    if "mcpServers" in document:
        return _sentence("a configuration of MCP servers", "give the address of one, and tick This is an MCP server")
    return _sentence("a capability.json", f"{_UPLOAD}, with its folder") if "capability_id" in document else ""


def _sentence(what: str, then: str) -> str:
    return f"This is {what}: {then}"
