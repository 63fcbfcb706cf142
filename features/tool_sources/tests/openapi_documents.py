"""OpenAPI documents for tests, as small as can be."""

from __future__ import annotations

from typing import Any

from features.tool_sources.operation import ApiOperation
from features.tool_sources.readers.openapi import read_openapi

Json = dict[str, Any]


def openapi(paths: Json, *, version: str = "3.1.0", **components: Any) -> Json:
    """A document with these paths."""
    info = {"title": "Pets", "version": "1"}
    return {"openapi": version, "info": info, "paths": paths, "components": components}


def posting(schema: Any, version: str = "3.1.0", /, **schemas: Any) -> Json:
    """A document with one POST whose body has this schema."""
    body = {"required": True, "content": {"application/json": {"schema": schema}}}
    return openapi(
        {"/pets": {"post": {"operationId": "createPet", "requestBody": body}}}, version=version, schemas=schemas
    )


def first_operation(document: Json) -> ApiOperation:
    """The first operation of a document."""
    return read_openapi(document).operations[0]
