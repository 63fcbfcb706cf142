"""A small API that changes, and a capability with its tools."""

from __future__ import annotations

import json
from typing import Any

from features.tool_sources import adoption, source_store
from features.tool_sources.adoption import ToolChoice
from features.tool_sources.models import ToolSource
from features.tool_sources.tests.openapi_documents import openapi
from registry.authoring.capability_creation import CapabilitySpec
from tests.factories import OLGA

LIST, CREATE, DELETE = "GET /pets", "POST /pets", "DELETE /pets/{id}"
NAME = {"type": "string", "description": "Its name"}
KIND = {"type": "string", "description": "What it is", "enum": ["cat", "dog"]}


def document(**changes: Any) -> dict[str, Any]:
    """The API. `properties` and `required` are those of a new pet, `paths` replaces paths."""
    schema = {
        "type": "object",
        "properties": changes.get("properties", {"name": NAME, "kind": KIND}),
        "required": changes.get("required", ["name"]),
    }
    body = {"required": True, "content": {"application/json": {"schema": schema}}}
    number = {"name": "id", "in": "path", "required": True, "schema": NAME}
    paths = {
        "/pets": {
            "get": {"operationId": "listPets", "summary": "List all pets", "tags": ["pets"]},
            "post": {"operationId": "createPet", "summary": "Create a pet", "tags": ["pets"], "requestBody": body},
        },
        "/pets/{id}": {"delete": {"summary": "Remove a pet", "tags": ["removal"], "parameters": [number]}},
    }
    return openapi(paths | changes.get("paths", {}))


def content(**changes: Any) -> bytes:
    """The API as a file."""
    return json.dumps(document(**changes)).encode()


def add_source(**changes: Any) -> ToolSource:
    """The API as a source that was uploaded."""
    return source_store.add_document(content=content(**changes), by=OLGA)


def create_pets(source: ToolSource, *keys: str) -> None:
    """The draft of a capability with tools of these operations."""
    wish = CapabilitySpec("pets", "Pets", "Looks pets up and adds new ones.")
    chosen = [ToolChoice(key) for key in keys or (LIST, CREATE)]
    adoption.create_capability(source_id=source.pk, chosen=chosen, wish=wish, by=OLGA)
