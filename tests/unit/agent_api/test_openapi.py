"""The API description: valid, committed as it is generated, and readable by anybody."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
import yaml
from django.core.management import call_command
from drf_spectacular.validation import validate_schema
from jsonschema import Draft4Validator

from agent_api.openapi.document import build_document, render_yaml
from capability_rules.schema_loader import SCHEMAS_DIR, read_schema
from tests.servers import ROOT

pytestmark = pytest.mark.django_db


def test_it_is_valid_openapi() -> None:
    validate_schema(build_document())  # type: ignore[no-untyped-call]


def test_what_is_committed_is_what_the_code_generates() -> None:
    committed = (ROOT / "agent_api" / "openapi.yaml").read_text("utf-8")
    assert committed == render_yaml(), "run: python3 run.py manage openapi > agent_api/openapi.yaml"


def test_the_command_writes_it(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("openapi")
    assert capsys.readouterr().out == render_yaml()


def test_lists_of_operations_have_a_line_for_each_and_a_server_to_call() -> None:
    document = build_document()
    assert document["servers"] == [{"url": "/"}]
    assert document["info"]["license"]["name"] == "Apache-2.0"
    for operations in document["paths"].values():
        for operation in operations.values():
            summary = operation["summary"]
            assert 10 <= len(summary) <= 120, operation["operationId"]
            assert operation["description"].startswith(summary)
            assert not summary.endswith(".")


def test_every_path_is_its_operation_id() -> None:
    seen = set()
    for path, operations in build_document()["paths"].items():
        for method, operation in operations.items():
            name = path.rpartition("/")[2]
            expected = f"{name}_post" if method == "post" and "get" in operations else name
            assert operation["operationId"] == expected
            seen.add(operation["operationId"])
    assert {"capability_registry_list", "capability_skill_load", "capability_skill_load_post"} <= seen


def test_every_response_is_typed_and_every_refusal_known() -> None:
    for path, operations in build_document()["paths"].items():
        for method, operation in operations.items():
            responses = operation["responses"]
            assert {"400", "401", "403", "405", "429", "503"} <= set(responses), (path, method)
            assert ({"413", "415"} <= set(responses)) == ("requestBody" in operation), (path, method)
            for status, response in responses.items():
                assert ("content" in response) == (status != "304"), (path, method, status)


def test_every_component_compiles_and_every_reference_leads_somewhere() -> None:
    document = build_document()
    for name, schema in document["components"]["schemas"].items():
        Draft4Validator.check_schema({key: value for key, value in schema.items() if key != "nullable"})
        assert schema.get("type") == "object", name
    for reference in re.findall(r'"\$ref": "([^"]+)"', json.dumps(document)):
        assert reference.startswith("#/components/schemas/"), reference
        assert reference.rpartition("/")[2] in document["components"]["schemas"], reference


def test_every_schema_of_an_answer_is_valid_and_refers_to_what_there_is() -> None:
    from jsonschema import Draft202012Validator

    from tests.shapes import _registry

    for file in (SCHEMAS_DIR / "api").glob("*.schema.json"):
        schema = read_schema(f"api/{file.name.removesuffix('.schema.json')}")
        Draft202012Validator.check_schema(schema)
        assert schema["$id"].endswith(f"/api/{file.name}")
        Draft202012Validator(schema, registry=_registry()).is_valid({})


@pytest.mark.usefixtures("closed")
def test_it_is_read_without_a_key(api: Any) -> None:
    response = api.get("schema")
    assert response.status_code == 200
    assert response.headers["Content-Type"].startswith("application/vnd.oai.openapi")
    assert yaml.safe_load(response.content) == build_document()
    response = api.get("schema", {"format": "json"})
    assert response.headers["Content-Type"] == "application/vnd.oai.openapi+json"
    assert response.json() == build_document()
    api.error(api.get("schema", {"format": "xml"}), 400, "INVALID_REQUEST")


def test_a_browser_gets_the_same_whatever_it_accepts(api: Any) -> None:
    for accept in ("text/html", "application/xml", "*/*;q=0", "x"):
        assert api.get("schema", headers={"Accept": accept}).status_code == 200
        assert api.get("capability_registry_list", headers={"Accept": accept}).json()["capabilities"] == []
