import json

import pytest

from capability_rules.errors import InvalidRequest
from capability_rules.validation import validate_bundle
from features.tool_sources.drafting import add_contracts, build_files
from features.tool_sources.source_tools import read_tools
from features.tool_sources.tests.openapi_documents import openapi
from registry.authoring.capability_creation import CapabilitySpec

NAME = {"type": "string", "description": "Its name"}
BODY = {
    "content": {"application/json": {"schema": {"type": "object", "properties": {"name": NAME}, "required": ["name"]}}}
}
PATHS = {
    "/pets": {
        "get": {"operationId": "listPets", "summary": "List all pets"},
        "post": {"operationId": "createPet", "summary": "Create a pet", "requestBody": BODY},
    }
}
CONTRACTS = [tool.contract for tool in read_tools(json.dumps(openapi(PATHS)).encode()).tools]
WISH = CapabilitySpec("pets", "Pets", "Looks pets up and adds new ones.")


def test_new_capability_from_tools_may_be_published_as_it_is() -> None:
    files = build_files(WISH, CONTRACTS, forms=["create_pet"])
    report = validate_bundle(files)
    assert list(report.findings) == []
    assert [tool["name"] for tool in json.loads(files["tools.json"])] == ["list_pets", "create_pet"]
    assert len(json.loads(files["ui_schemas.json"])) == 1


@pytest.mark.parametrize(
    ("name", "summary"),
    [
        ("transfers", "Transfers of an account"),
        ("sends", "Sends by day"),
        ("updates", "Updates"),
        ("drops", "Drops of the game."),
        ("refunds", "Refunds, newest first"),
        ("purchases", "Purchases that were made"),
        ("posts", ""),
        ("cancelsByDay", "Cancels per day"),
    ],
)
def test_operation_that_reads_and_is_named_by_a_plural_is_not_held(name: str, summary: str) -> None:
    document = openapi({f"/{name}": {"get": {"operationId": name, "summary": summary}}})
    contracts = [tool.contract for tool in read_tools(json.dumps(document).encode()).tools]
    findings = validate_bundle(build_files(WISH, contracts)).findings
    assert [one for one in findings if one.code.startswith("SEC_")] == []


def test_tools_are_added_to_a_capability_and_the_rest_stays_as_written() -> None:
    files = build_files(WISH, CONTRACTS[:1])
    files["tools.json"] = files["tools.json"].replace("  ", "    ")
    changed = add_contracts(files, CONTRACTS[1:])
    assert changed["tools.json"].startswith(files["tools.json"].rstrip("]\n").rstrip())
    assert "### Write\n\n- `create_pet`: Create a pet" in changed["skill.md"].partition("## Examples")[0]
    assert list(validate_bundle(changed).findings) == []


def test_tools_are_added_to_a_map_and_to_nothing() -> None:
    files = build_files(WISH, CONTRACTS[:1])
    for text in ('{"tools": []}', "", "[]"):
        changed = add_contracts({**files, "tools.json": text}, CONTRACTS)
        assert not validate_bundle(changed).errors


@pytest.mark.parametrize("text", ["{", '"x"', '{"tools": 1}'])
def test_tools_are_not_added_to_what_is_not_a_list(text: str) -> None:
    with pytest.raises(InvalidRequest, match="not a list of tools"):
        add_contracts({"tools.json": text}, CONTRACTS)


def test_tool_of_a_name_that_is_there_is_not_added() -> None:
    with pytest.raises(InvalidRequest, match=r"has a tool '.*' already"):
        add_contracts(build_files(WISH, CONTRACTS), CONTRACTS)
