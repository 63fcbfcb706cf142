"""What is not the description of an API is named, with where it belongs."""

import json

import pytest

from capability_rules.errors import SourceUnreadable
from features.tool_sources.readers import read_source
from tests.factories import bundle, zip_of

_SKILL = b"---\nname: pdf-tools\ndescription: Reads PDF files.\n---\n# PDF tools\n\nUse it: well.\n"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (_SKILL, "This is a skill (SKILL.md): bring it under New capability, Upload"),
        (_SKILL.replace(b"\n", b"\r\n"), "This is a skill (SKILL.md)"),
        (b"# Notes\n\nSome: text: here\n\n- one\n", "This is Markdown"),
        (zip_of(bundle()), "This is a zip archive: unpack it"),
        (b"<!DOCTYPE html>\n<html><body>x</body></html>", "This is a web page"),
        (b"<?xml version='1.0'?><definitions/>", "This is XML"),
        (b"\x89PNG\r\n\x1a\n\0\0", "This is an image"),
        (b"%PDF-1.7\n", "This is a PDF"),
        (b"", "The document is empty"),
        (json.dumps({"info": {"_postman_id": "1", "name": "x"}, "item": []}).encode(), "This is a Postman collection"),
        (b'{"swagger": "2.0", "paths": {}}', "This is a Swagger 2.0 document"),
        (b"swagger: 2.0\npaths: {}\n", "This is a Swagger 2.0 document"),
        (b"type Query {\n  pets: [Pet]\n}\n", "This is a GraphQL schema"),
        (b'{"data": {"__schema": {"types": []}}}', "This is a GraphQL schema"),
        (b"asyncapi: 3.0.0\n", "This is an AsyncAPI document"),
        (b'{"mcpServers": {"a": {"command": "x"}}}', "This is a configuration of MCP servers"),
        (bundle()["capability.json"], "This is a capability.json"),
        (b"hello there", "This is neither an OpenAPI document nor a list of tools"),
    ],
)
def test_other_formats_are_named_with_what_to_do(content: bytes | str, words: str) -> None:
    with pytest.raises(SourceUnreadable) as caught:
        read_source(content.encode() if isinstance(content, str) else content)
    assert caught.value.message.startswith(words)
    assert "\n" not in caught.value.message


def test_broken_openapi_document_with_a_comment_is_not_taken_for_markdown() -> None:
    with pytest.raises(SourceUnreadable, match="Line 2, column 15: a colon is not expected"):
        read_source(b"# A pet shop\nopenapi: 3.1.0: x\n")


def test_openapi_document_with_comments_and_markers_is_read_all_the_same() -> None:
    text = "---\n# A pet shop\nopenapi: 3.1.0\ninfo: {title: Pets, version: '1'}\npaths:\n  /pets:\n    get:\n"
    text += "      description: |\n        # Pets\n        type Query {\n          name: it\n        }\n"
    assert [one.key for one in read_source(text.encode())] == ["GET /pets"]
    assert [one.key for one in read_source((text + "...\n").encode())] == ["GET /pets"]
