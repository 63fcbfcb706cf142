from typing import Any

import pytest

from capability_rules.errors import SourceUnreadable
from features.tool_sources.readers.openapi import read_openapi
from features.tool_sources.tests.openapi_documents import first_operation, openapi, posting


def test_openapi_reads_each_method_of_each_path() -> None:
    paths: dict[str, Any] = {
        "/pets": {"get": {}, "post": {}, "x-own": {}, "parameters": []},
        "/pets/{id}": {"delete": {}, "head": {}},
    }
    catalog = read_openapi(openapi(paths))
    assert [one.key for one in catalog] == ["GET /pets", "POST /pets", "HEAD /pets/{id}", "DELETE /pets/{id}"]
    assert [one.is_read for one in catalog] == [True, False, True, False]


@pytest.mark.parametrize("version", ["2.0", "4.0.0", "1"])
def test_openapi_of_another_version_is_refused(version: str) -> None:
    with pytest.raises(SourceUnreadable, match=f"is of version {version}"):
        read_openapi(openapi({}, version=version))


def test_openapi_with_too_many_operations_is_refused_with_the_number() -> None:
    paths: dict[str, Any] = {f"/p{number}": {"get": {}} for number in range(100_000)}
    with pytest.raises(SourceUnreadable, match="100,000 operations; at most 2,000"):
        read_openapi(openapi(paths))


def test_openapi_parameter_of_the_operation_counts_before_that_of_the_path() -> None:
    shared = [{"name": "id", "in": "path", "schema": {"type": "string"}}, {"$ref": "#/components/parameters/Page"}]
    own = [{"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}, "description": "Its *number*"}]
    page = {"name": "page", "in": "query", "schema": {"type": "integer"}}
    document = openapi({"/p/{id}": {"parameters": shared, "get": {"parameters": own}}}, parameters={"Page": page})
    id_, second = first_operation(document).parameters
    assert (id_.schema, id_.is_required) == ({"description": "Its *number*", "type": "integer"}, True)
    assert (second.name, second.is_required) == ("page", False)


@pytest.mark.parametrize(
    ("name", "where"),
    [("session", "cookie"), ("Authorization", "header"), ("X-Api-Key", "header"), ("Accept", "header")],
)
def test_openapi_credentials_are_not_arguments(name: str, where: str) -> None:
    given = [{"name": name, "in": where, "required": True, "schema": {"type": "string"}}]
    operation = first_operation(openapi({"/p": {"get": {"parameters": given}}}))
    assert not operation.parameters
    assert [loss.code for loss in operation.losses] == ["IMPORT_SCHEMA_LOST"]


def test_openapi_takes_json_before_forms_before_anything_else() -> None:
    media = {"text/csv": {}, "multipart/form-data": {"schema": {"type": "object"}}}
    document = openapi({"/p": {"put": {"requestBody": {"content": media}}}})
    operation = first_operation(document)
    assert operation.body is not None
    assert operation.body.media_type == "multipart/form-data"
    assert [loss.code for loss in operation.losses] == ["IMPORT_SCHEMA_REWRITTEN"]
    media["application/vnd.api+json"] = {"schema": {"type": "string"}}
    body = first_operation(document).body
    assert body is not None
    assert body.media_type == "application/vnd.api+json"


def test_openapi_result_is_the_first_success_in_json() -> None:
    responses = {
        "default": {"content": {"application/json": {"schema": {"type": "null"}}}},
        "404": {"content": {"application/json": {"schema": {"type": "boolean"}}}},
        "204": {"description": "nothing"},
        "201": {"$ref": "#/components/responses/Made"},
    }
    made = {"content": {"application/json": {"schema": {"type": "object", "properties": {"id": {"type": "string"}}}}}}
    document = openapi({"/p": {"post": {"responses": responses}}}, responses={"Made": made})
    result = first_operation(document).result
    assert result == {"type": "object", "properties": {"id": {"type": "string"}}}


@pytest.mark.parametrize(
    ("reference", "words"),
    [
        ("#/components/schemas/Gone", "leads to nothing"),
        ("other.yaml#/Pet", "leads out of the document"),
        ("http://127.0.0.1/pet.json", "leads out of the document"),
    ],
)
def test_openapi_lost_reference_takes_any_value_and_is_reported(reference: str, words: str) -> None:
    operation = first_operation(posting({"properties": {"pet": {"$ref": reference}}}))
    assert operation.body is not None
    assert operation.body.schema["properties"] == {"pet": {}}
    assert any(words in loss.message for loss in operation.losses)


def test_openapi_reference_to_a_path_item_is_followed() -> None:
    document = openapi({"/a": {"$ref": "#/components/pathItems/A"}}, pathItems={"A": {"get": {"operationId": "a"}}})
    assert [one.name for one in read_openapi(document)] == ["a"]


def test_openapi_path_item_that_leads_to_itself_is_left_out_and_said() -> None:
    catalog = read_openapi(openapi({"/a": {"$ref": "#/paths/~1a"}, "/b": {"get": {}}}))
    assert [one.key for one in catalog] == ["GET /b"]
    assert "back to itself" in catalog.skipped[0]


def test_openapi_chain_of_references_is_refused_beyond_the_limit() -> None:
    chain: dict[str, Any] = {f"P{n}": {"$ref": f"#/components/parameters/P{n + 1}"} for n in range(100)}
    paths = {"/a": {"get": {"parameters": [{"$ref": "#/components/parameters/P0"}]}}}
    with pytest.raises(SourceUnreadable, match="More than 64 references"):
        read_openapi(openapi(paths, parameters=chain))


def test_openapi_3_2_has_more_methods() -> None:
    item = {"query": {"operationId": "search"}, "additionalOperations": {"COPY": {"operationId": "copy"}, "x y": {}}}
    catalog = read_openapi(openapi({"/s": item}, version="3.2.0"))
    assert [(one.key, one.name, one.is_read) for one in catalog] == [
        ("QUERY /s", "search", False), ("COPY /s", "copy", False),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("parameter", "code", "is_argument"),
    [
        ({"name": "q", "in": "querystring", "content": {}}, "IMPORT_SCHEMA_LOST", False),
        ({"name": "q", "in": "elsewhere"}, "IMPORT_SCHEMA_LOST", False),
        ({"name": "q", "in": "query", "style": "deepObject"}, "IMPORT_SCHEMA_REWRITTEN", True),
        ({"name": "q", "in": "query", "style": "pipeDelimited"}, "IMPORT_SCHEMA_REWRITTEN", True),
    ],
)  # fmt: skip
def test_openapi_names_what_a_parameter_loses(parameter: dict[str, Any], code: str, is_argument: bool) -> None:
    operation = first_operation(openapi({"/p": {"get": {"parameters": [parameter]}}}))
    assert [loss.code for loss in operation.losses] == [code]
    assert bool(operation.parameters) is is_argument
