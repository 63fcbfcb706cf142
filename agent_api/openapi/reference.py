"""`GET docs`: the OpenAPI document as a page that needs no script (docs/contract.md 8)."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final
from urllib.parse import urlencode

from django.conf import settings
from django.contrib.auth import get_user
from django.http import HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_cache_control
from django.utils.functional import Promise, SimpleLazyObject
from django.utils.translation import gettext_lazy
from rest_framework.request import Request

from agent_api.http.endpoint import endpoint
from agent_api.openapi.document import get_served_document
from registry.core import chosen_settings

_COMPONENTS: Final = "#/components/schemas/"
# Deeper parts of a schema are named by their type alone; nothing of ours is as deep.
_DEPTH_MAX: Final = 12
_TITLES: Final[dict[str, str | Promise]] = {
    "agents": gettext_lazy("For agents"),
    "operators": gettext_lazy("For pipelines and operators"),
}
# What a call for curl has where a schema alone does not say it.
_SAMPLES: Final[dict[str, Any]] = {
    "capability_id": "weights",
    "capability_ids": ["weights"],
    "code": "SEC_URL_UNLISTED",
    "digest": "sha256:" + 64 * "0",
    "case_digest": "sha256:" + 64 * "0",
    "files": {"skill.md": "# Weight Tracking"},
    "files_digest": "sha256:" + 64 * "0",
    "message": "I just weighed 187.6 lbs",
    "path": "references/units.md",
    "place": "skill.md:12",
    "proposal_id": "00000000-0000-0000-0000-000000000001",
    "q": "weight",
    "reason": "It quotes the policy",
    "sarif": {"version": "2.1.0", "runs": []},
    "until": "2027-01-31",
}
_INSTALL_CODE: Final = "SKILL-ABCD-EFGH-JKLM"


@dataclass(frozen=True)
class SchemaField:
    """An argument, a property or an item, with what it is made of: `limits` are phrases such as `at most 64`."""

    name: str
    type: str
    is_required: bool
    description: str
    limits: tuple[str, ...]
    # A component that is described once, at the end of the page.
    component: str
    fields: tuple[SchemaField, ...]


@dataclass(frozen=True)
class Content:
    """A body or a response of one media type."""

    media_type: str
    component: str
    field: SchemaField


@dataclass(frozen=True)
class Answer:
    """One status of an operation."""

    status: str
    description: str
    contents: tuple[Content, ...]


@dataclass(frozen=True)
class DescribedOperation:
    """One method of one path."""

    name: str
    method: str
    path: str
    summary: str
    description: str
    needs_key: bool
    parameters: tuple[SchemaField, ...]
    body: tuple[Content, ...]
    answers: tuple[Answer, ...]
    errors: tuple[Answer, ...]
    # A call for curl: the address without the origin, and what stands behind it.
    address: str
    options: str


@dataclass(frozen=True)
class OperationGroup:
    """The operations of one tag."""

    tag: str
    title: str | Promise
    operations: tuple[DescribedOperation, ...]


@dataclass(frozen=True)
class Reference:
    """The whole page; `components` are those that operations name and do not describe."""

    description: str
    version: str
    groups: tuple[OperationGroup, ...]
    components: tuple[SchemaField, ...]


def build_reference(document: Mapping[str, Any]) -> Reference:
    """What the page shows of an OpenAPI 3.0 document: the operations by tag, in the order of their paths."""
    schemas = document["components"]["schemas"]
    found = [
        (operation.get("tags", ["agents"])[0], _operation(path, method, operation, schemas))
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
    ]
    tags = sorted({tag for tag, _ in found}, key=lambda tag: (tag not in _TITLES, tag))
    groups = tuple(
        OperationGroup(tag, _TITLES.get(tag, tag), tuple(operation for of, operation in found if of == tag))
        for tag in tags
    )
    named = sorted(_list_named(schemas))
    components = tuple(_field(name, schemas[name], is_required=False) for name in named)
    return Reference(document["info"]["description"], document["info"]["version"], groups, components)


def build_sample(schema: Mapping[str, Any], schemas: Mapping[str, Any], name: str = "") -> Any:
    """The smallest value that the schema takes, with words that a reader knows where there are some."""
    schema = _resolve(schema, schemas)
    if schema.get("pattern", "").startswith("^SKILL"):
        return _INSTALL_CODE
    if name in _SAMPLES:
        return _SAMPLES[name]
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type")
    if kind == "object":
        properties = schema.get("properties", {})
        return {each: build_sample(properties.get(each, {}), schemas, each) for each in schema.get("required", [])}
    if kind == "array":
        return [build_sample(schema["items"], schemas)] if schema.get("minItems") else []
    plain: dict[Any, Any] = {"integer": schema.get("minimum", 1), "number": 0.5, "boolean": True}
    return plain.get(kind, "text")


def _operation(path: str, method: str, operation: Mapping[str, Any], schemas: Mapping[str, Any]) -> DescribedOperation:
    answers = [
        Answer(status, answer["description"], _contents(answer, schemas))
        for status, answer in operation["responses"].items()
    ]
    return DescribedOperation(
        name=operation["operationId"],
        method=method.upper(),
        path=path,
        summary=operation["summary"],
        description=operation["description"],
        needs_key={} not in operation.get("security", []),
        parameters=tuple(_parameter(each) for each in operation.get("parameters", ())),
        body=_contents(operation.get("requestBody", {}), schemas),
        answers=tuple(answer for answer in answers if answer.status < "400"),
        errors=tuple(answer for answer in answers if answer.status >= "400"),
        address=_address(path, operation, schemas),
        options=_options(method, operation, schemas),
    )


def _parameter(parameter: Mapping[str, Any]) -> SchemaField:
    schema = {"description": parameter.get("description", ""), **parameter["schema"]}
    field = _field(parameter["name"], schema, is_required=parameter.get("required", False))
    limits = ("header", *field.limits) if parameter["in"] == "header" else field.limits
    return replace(field, limits=limits, component="")


def _contents(holder: Mapping[str, Any], schemas: Mapping[str, Any]) -> tuple[Content, ...]:
    found = []
    for media_type, content in holder.get("content", {}).items():
        schema = content["schema"]
        name = schema.get("$ref", "").removeprefix(_COMPONENTS)
        found.append(Content(media_type, name, _field("", _resolve(schema, schemas), is_required=False)))
    return tuple(found)


def _field(name: str, schema: Mapping[str, Any], *, is_required: bool, depth: int = 0) -> SchemaField:
    component = schema.get("$ref", "").removeprefix(_COMPONENTS)
    items = schema.get("items", {})
    component = component or items.get("$ref", "").removeprefix(_COMPONENTS)
    inner = items if schema.get("type") == "array" else schema
    fields: tuple[SchemaField, ...] = ()
    if depth < _DEPTH_MAX:
        required = inner.get("required", ())
        fields = tuple(
            _field(each, part, is_required=each in required, depth=depth + 1)
            for each, part in inner.get("properties", {}).items()
        )
        values = inner.get("additionalProperties")
        if isinstance(values, dict) and values:
            fields += (_field("*", values, is_required=False, depth=depth + 1),)
    return SchemaField(
        name, _type_words(schema), is_required, schema.get("description", ""), tuple(_limits(schema)), component, fields
    )


def _type_words(schema: Mapping[str, Any]) -> str:
    kind = str(schema.get("type", "object" if "$ref" in schema else "any value"))
    if kind == "array":
        items = schema.get("items", {})
        of = str(items.get("type", "object" if "$ref" in items or "properties" in items else "value"))
        kind = f"list of {of}s"
    if schema.get("format") == "binary":
        kind = "bytes"
    return f"{kind} or null" if schema.get("nullable") else kind


def _limits(schema: Mapping[str, Any]) -> list[str]:
    """The keywords of a schema in words; those that every number has by its type are left out."""
    found = []
    if "enum" in schema:
        found.append("one of " + ", ".join(json.dumps(value) for value in schema["enum"]))
    for least, most, unit in (
        ("minimum", "maximum", ""),
        ("minLength", "maxLength", " characters"),
        ("minItems", "maxItems", " items"),
        ("minProperties", "maxProperties", " keys"),
    ):
        low, high = schema.get(least), schema.get(most)
        high = None if isinstance(high, int) and high >= 2**53 - 1 else high
        if low and high:
            found.append(f"{low:,} to {high:,}{unit}")
        elif high is not None:
            found.append(f"at most {high:,}{unit}")
        elif low:
            found.append(f"at least {low:,}{unit}")
    if "default" in schema:
        found.append(f"default {json.dumps(schema['default'])}")
    if "pattern" in schema:
        found.append(f"pattern {schema['pattern']}")
    return found


def _resolve(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> Mapping[str, Any]:
    name = schema.get("$ref", "").removeprefix(_COMPONENTS)
    found: Mapping[str, Any] = schemas[name] if name else schema
    return found


def _list_named(value: Any) -> set[str]:
    """The components that others refer to."""
    if isinstance(value, list):
        return {name for each in value for name in _list_named(each)}
    if not isinstance(value, dict):
        return set()
    reference = value.get("$ref")
    here = {reference.removeprefix(_COMPONENTS)} if isinstance(reference, str) else set()
    return here | {name for each in value.values() for name in _list_named(each)}


def _address(path: str, operation: Mapping[str, Any], schemas: Mapping[str, Any]) -> str:
    required = [each for each in operation.get("parameters", ()) if each.get("required")]
    query = urlencode({each["name"]: build_sample(each["schema"], schemas, each["name"]) for each in required})
    return f"{path}?{query}" if query else path


def _options(method: str, operation: Mapping[str, Any], schemas: Mapping[str, Any]) -> str:
    body = operation.get("requestBody", {}).get("content", {}).get("application/json")
    if body is None:
        return "" if method == "get" else f" -X {method.upper()}"
    sample = json.dumps(build_sample(body["schema"], schemas), ensure_ascii=False)
    return f" \\\n  -H 'Content-Type: application/json' \\\n  -d {shlex.quote(sample)}"


@lru_cache(maxsize=2)
def _reference(*, is_public: bool) -> Reference:  # noqa: ARG001 (the document depends on it)
    return build_reference(get_served_document())


@endpoint("GET")
def docs(request: Request) -> HttpResponse:
    """The document as a page, in the Studio's frame for those who are signed in there."""
    page = request._request  # noqa: SLF001 (DRF keeps Django's request there)
    # DRF knows nobody here, and tells Django's request so.
    page.user = SimpleLazyObject(lambda: get_user(page))  # type: ignore[assignment]
    context = {
        "reference": _reference(is_public=chosen_settings.is_public_read()),
        "origin": settings.PUBLIC_URL or page.build_absolute_uri("/").rstrip("/"),
    }
    response = render(page, "agent_api/reference.html", context)
    patch_cache_control(response, private=True, no_cache=True)
    return response
