"""The OpenAPI document, and `GET schema`, which serves it."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final

import orjson
import yaml
from django.http import HttpResponse
from drf_spectacular.generators import SchemaGenerator
from rest_framework.request import Request

from agent_api.http import parameters
from agent_api.http.endpoint import endpoint
from agent_api.openapi.annotations import PUBLIC_READS
from agent_api.openapi.components import build_components
from registry.core import chosen_settings

_KEY: Final[list[dict[str, list[str]]]] = [{"agentKey": []}]


@lru_cache(maxsize=1)
def build_document() -> dict[str, Any]:
    """The document, generated once a process."""
    generator = SchemaGenerator(urlconf="agent_api.urls")  # type: ignore[no-untyped-call]
    document: dict[str, Any] = generator.get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    return document


def get_served_document() -> dict[str, Any]:
    """The document as this registry keeps it: where reads need no key, it says so of them."""
    document = build_document()
    if not chosen_settings.is_public_read():
        return document
    paths = {
        path: {method: _with_public_read(operation) for method, operation in operations.items()}
        for path, operations in document["paths"].items()
    }
    return document | {"paths": paths}


def _with_public_read(operation: dict[str, Any]) -> dict[str, Any]:
    return operation | ({"security": [*_KEY, {}]} if operation["operationId"] in PUBLIC_READS else {})


def keep_described(endpoints: list[Any], **_: Any) -> list[Any]:
    """A pre-processing hook of drf-spectacular: only what describes itself is in the document."""
    return [row for row in endpoints if getattr(row[-1].cls, "is_described", False)]


def add_components(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """A post-processing hook of drf-spectacular: the bodies come from `schemas/`."""
    result["components"] = {
        "schemas": dict(sorted(build_components().items())),
        "securitySchemes": {
            "agentKey": {
                "type": "http",
                "scheme": "bearer",
                "description": "manage.py agent_key create NAME prints a key.",
            }
        },
    }
    result["info"]["license"] = {"name": "Apache-2.0", "url": "https://www.apache.org/licenses/LICENSE-2.0"}
    # The host that serves the document.
    result["servers"] = [{"url": "/"}]
    result["security"] = _KEY
    for operations in result["paths"].values():
        operations |= {method: _with_summary(operation) for method, operation in operations.items()}
        for operation in operations.values():
            operation.pop("security", None)
            if "requestBody" in operation:
                operation["requestBody"]["required"] = True
    return result


def _with_summary(operation: dict[str, Any]) -> dict[str, Any]:
    """What lists of operations show: the first clause of the description."""
    first = re.split(r"[.:;] |\.$", operation["description"], maxsplit=1)[0]
    return {"operationId": operation["operationId"], "summary": first} | operation


def render_yaml(document: dict[str, Any] | None = None) -> str:
    """The committed form: agent_api/openapi.yaml; or another document so."""
    return yaml.safe_dump(document or build_document(), sort_keys=False, allow_unicode=True, width=120)


@lru_cache(maxsize=4)
def _rendered(*, is_json: bool, is_public: bool) -> bytes:  # noqa: ARG001 (the document depends on it)
    """The document that is served, rendered once a process: its YAML takes 90 ms of CPU, which anyone may ask for."""
    document = get_served_document()
    return orjson.dumps(document) if is_json else render_yaml(document).encode()


# No operations of the document: OpenAPI Generator warns of a method named `schema`, a reserved word of its own.
@endpoint("GET")
def schema(request: Request) -> HttpResponse:
    """The OpenAPI document as YAML, or as JSON with `?format=json`; readable without a key."""
    asked = parameters.choice(parameters.query(request), "format", ("json", "yaml"))
    is_json = asked == "json"
    media_type = "application/vnd.oai.openapi+json" if is_json else "application/vnd.oai.openapi"
    response = HttpResponse(
        _rendered(is_json=is_json, is_public=chosen_settings.is_public_read()), content_type=media_type
    )
    response["Cache-Control"] = "public, max-age=60"
    response["Access-Control-Allow-Origin"] = "*"
    return response
