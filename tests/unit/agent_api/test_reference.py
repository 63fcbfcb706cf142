"""The API reference: everything that the OpenAPI document says, on a page without scripts of its own."""

from __future__ import annotations

import html
import json
import re
import shlex
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from agent_api.openapi.document import build_document
from agent_api.openapi.reference import DescribedOperation, SchemaField, build_reference
from tests.sweeps import check_each

pytestmark = pytest.mark.django_db

_DOCUMENT = "urn:openapi"


def _operations() -> list[DescribedOperation]:
    return [operation for group in build_reference(build_document()).groups for operation in group.operations]


def _described(name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(
        operation
        for operations in build_document()["paths"].values()
        for operation in operations.values()
        if operation["operationId"] == name
    )
    return found


def _is_valid(value: Any, schema: dict[str, Any]) -> bool:
    """Whether an OpenAPI 3.0 schema takes it: one of 2020-12 but for `nullable`, which makes it stricter here."""
    resource = Resource.from_contents(build_document(), default_specification=DRAFT202012)
    text = json.dumps(schema).replace('"#/', f'"{_DOCUMENT}#/')
    return Draft202012Validator(json.loads(text), registry=Registry().with_resource(_DOCUMENT, resource)).is_valid(
        value
    )


def _names(fields: tuple[SchemaField, ...]) -> set[str]:
    return {field.name for field in fields} | {name for field in fields for name in _names(field.fields)}


@pytest.mark.usefixtures("closed")
def test_the_page_needs_no_key_no_script_and_no_other_host(api: Any) -> None:
    response = api.get("docs")
    assert response.status_code == 200
    assert response["Cache-Control"] == "private, no-cache"
    page = response.content.decode()
    assert re.findall(r'(?:src|href)="([^"]+)"', page)
    assert not re.findall(r'(?:src|href)="(?:https?:)?//', page)
    assert "<script>" not in page
    assert "agent_api/" not in "".join(re.findall(r'src="([^"]+)"', page))


def test_it_has_every_operation_with_its_arguments_statuses_and_descriptions(api: Any) -> None:
    page = html.unescape(api.get("docs").content.decode())
    found = {operation.name: operation for operation in _operations()}
    described = [one for operations in build_document()["paths"].values() for one in operations.values()]
    assert set(found) == {one["operationId"] for one in described}

    def check(name: str) -> None:
        article = page[page.index(f'id="{name}"') :].partition("</article>")[0]
        operation, one = found[name], _described(name)
        assert one["description"] in article
        assert {field.name for field in operation.parameters} == {each["name"] for each in one.get("parameters", [])}
        assert {answer.status for answer in (*operation.answers, *operation.errors)} == set(one["responses"])
        for each in one.get("parameters", []):
            assert f">{each['name']}</code>" in article
            assert each.get("description", "") in article
        contents = [one.get("requestBody", {}), *(each for status, each in one["responses"].items() if status < "400")]
        for media_type in (name for content in contents for name in content.get("content", {})):
            assert media_type in article
        for response in (each for status, each in one["responses"].items() if status >= "400"):
            assert response["description"] in article

    check_each(sorted(found), check)


def test_it_has_every_property_of_every_body_and_response(api: Any) -> None:
    page = api.get("docs").content.decode()

    def names(schema: Any) -> set[str]:
        if isinstance(schema, list):
            return {name for each in schema for name in names(each)}
        if not isinstance(schema, dict):
            return set()
        return set(schema.get("properties", {})) | {name for each in schema.values() for name in names(each)}

    shown = set(re.findall(r'<code class="api-name"[^>]*>([^<]+)</code>', page))
    components = build_document()["components"]["schemas"]
    bodies = {name: schema for name, schema in components.items() if not name.endswith("Error")}
    assert not names(list(bodies.values())) - shown


def test_each_link_of_it_leads_to_a_place_on_it(api: Any) -> None:
    page = api.get("docs").content.decode()
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(set(ids)) == len(ids)
    links = re.findall(r'href="#([^"]+)"', page)
    assert "schema-Finding" in links
    assert set(links) <= {*ids, "main"}


def test_the_example_of_a_call_is_one_that_the_description_takes() -> None:
    operations = {operation.name: operation for operation in _operations()}

    def check(name: str) -> None:
        operation, one = operations[name], _described(name)
        words = shlex.split(f"curl '{operation.address}'{operation.options}".replace("\\\n", " "))
        query = {key: values[0] for key, values in parse_qs(urlsplit(words[1]).query).items()}
        given = {each["name"]: each["schema"] for each in one.get("parameters", []) if each.get("required")}
        assert set(query) == set(given)
        assert all(_is_valid(query[key], schema) for key, schema in given.items())
        if "requestBody" in one:
            body = json.loads(words[words.index("-d") + 1])
            assert _is_valid(body, one["requestBody"]["content"]["application/json"]["schema"]), body

    check_each(sorted(operations), check)


def test_where_reads_need_no_key_it_says_so(api: Any, settings: Any) -> None:
    settings.AGENT_API_PUBLIC_READ = False
    assert "No key required" not in api.get("docs").content.decode()
    settings.AGENT_API_PUBLIC_READ = True
    page = api.get("docs").content.decode()
    read = page[page.index('id="capability_registry_list"') :].partition("</article>")[0]
    write = page[page.index('id="bundle_publish"') :].partition("</article>")[0]
    assert "No key required" in read
    assert "No key required" not in write


def test_its_calls_have_the_address_that_agents_reach_this_server_by(api: Any, settings: Any) -> None:
    settings.PUBLIC_URL = "https://studio.example.com"
    assert "https://studio.example.com/api/v1/capability_match" in api.get("docs").content.decode()


@pytest.mark.parametrize(
    ("schema", "type_words", "limits"),
    [
        ({"type": "string", "minLength": 1, "maxLength": 64}, "string", ("1 to 64 characters",)),
        ({"type": "integer", "minimum": 0, "maximum": 2**53 - 1}, "integer", ()),
        ({"type": "integer", "minimum": 1, "nullable": True}, "integer or null", ("at least 1",)),
        ({"type": "array", "items": {"$ref": "#/components/schemas/Other"}, "maxItems": 5}, "list of objects",
         ("at most 5 items",)),
        ({"type": "string", "enum": ["a", "b"], "default": "a"}, "string", ('one of "a", "b"', 'default "a"')),
        ({"type": "string", "format": "binary"}, "bytes", ()),
    ],
)  # fmt: skip
def test_a_schema_in_words(schema: dict[str, Any], type_words: str, limits: tuple[str, ...]) -> None:
    document = {
        "info": {"description": "x", "version": "1"},
        "components": {"schemas": {"Other": {"type": "object", "description": "Another", "properties": {"x": {}}}}},
        "paths": {
            "/x": {
                "get": {
                    "operationId": "x", "summary": "X", "description": "X.",
                    "parameters": [{"name": "it", "in": "query", "required": True, "schema": schema}],
                    "responses": {"200": {"description": "Done."}},
                }
            }
        },
    }  # fmt: skip
    reference = build_reference(document)
    ((field,),) = [operation.parameters for group in reference.groups for operation in group.operations]
    assert (field.type, field.limits, field.is_required) == (type_words, limits, True)
    assert [(one.name, _names(one.fields)) for one in reference.components] in ([], [("Other", {"x"})])
