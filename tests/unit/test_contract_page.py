"""docs/contract.md, ui-schemas.md and architecture.md against code and schemas: tables, codes, operations, layers."""

from __future__ import annotations

import json
import re
import tomllib
from itertools import pairwise
from typing import Any

import pytest
import yaml

from agent_api.http.errors import STATUS_CODES
from capability_rules.validation.codes import list_codes
from tests.servers import ROOT

CONTRACT = (ROOT / "docs" / "contract.md").read_text("utf-8")
UI_SCHEMAS = (ROOT / "docs" / "ui-schemas.md").read_text("utf-8")
ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text("utf-8")


def _rows(text: str) -> list[list[str]]:
    """The cells of every row of every table."""
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]


def _section(text: str, title: str) -> str:
    found = re.search(rf"^(#+) {re.escape(title)}\n.*?(?=^#|\Z)", text, re.DOTALL | re.MULTILINE)
    assert found is not None, title
    return found[0]


def _schema(name: str) -> Any:
    return json.loads((ROOT / "schemas" / name).read_text("utf-8"))


def test_the_keys_of_capability_json_are_those_of_the_schema() -> None:
    keys = {
        key for row in _rows(_section(CONTRACT, "1.1 capability.json")) for key in re.findall(r"`(\$?\w+)`", row[0])
    }
    assert keys == set(_schema("capability.schema.json")["properties"])


def test_the_numbers_of_capability_json_are_those_of_the_schema() -> None:
    schema = _schema("capability.schema.json")
    rules = {row[0]: row[1] for row in _rows(_section(CONTRACT, "1.1 capability.json"))}
    properties = schema["properties"]
    assert f"1 to {properties['name']['maxLength']} characters" in rules["`name`"]
    assert f"1 to {properties['description']['maxLength']} characters" in rules["`description`"]
    triggers = properties["intent_triggers"]
    assert f"at most {triggers['maxItems']}" in rules["`intent_triggers`"]
    assert f"1 to {triggers['items']['maxLength']} characters" in rules["`intent_triggers`"]
    sentences = schema["$defs"]["sentences"]
    assert f"at most {sentences['maxItems']} each" in rules["`utterances`"]
    assert f"1 to {sentences['items']['maxLength']} characters" in rules["`utterances`"]
    assert f"at most {schema['$defs']['id']['maxLength']} characters" in rules["`capability_id`"]
    assert schema["$defs"]["id"]["pattern"] in rules["`capability_id`"]


def test_error_codes_have_the_status_that_the_contract_says() -> None:
    rows = [row for row in _rows(_section(CONTRACT, "4. The agent API")) if row[0][:1].isdigit()]
    assert len(rows) > 10
    for statuses, codes, _ in rows:
        named = re.findall(r"`([A-Z_]+)`", codes)
        expected = [int(status) for status in statuses.split(", ")]
        assert [STATUS_CODES[code] for code in named] == (expected * len(named) if len(expected) == 1 else expected)


def test_every_operation_is_in_the_contract() -> None:
    document = yaml.safe_load((ROOT / "agent_api" / "openapi.yaml").read_text("utf-8"))
    operations = {method["operationId"] for path in document["paths"].values() for method in path.values()}
    assert [name for name in sorted(operations) if not re.search(rf"\b{name}\b", CONTRACT)] == []


@pytest.mark.parametrize(
    ("operation", "name"),
    [
        ("capability_registry_list", "registry_list"),
        ("capability_skill_load", "skill_load"),
        ("capability_match", "match"),
        ("capability_search", "search"),
        ("prompt_render", "prompt"),
    ],
)
def test_every_key_of_a_response_is_in_the_contract(operation: str, name: str) -> None:
    text = _section(CONTRACT, "4. The agent API")
    assert operation in text
    keys = _schema(f"api/{name}.schema.json")["properties"]
    assert [key for key in keys if f'"{key}"' not in text and f"`{key}`" not in text] == []


def test_finding_codes_of_the_contract_exist() -> None:
    sections = "".join(
        _section(CONTRACT, f"1.{number} {name}") for number, name in ((2, "skill.md"), (3, "tools.json"))
    )
    named = set(re.findall(r"`([A-Z]+(?:_[A-Z]+)+)`", sections + _section(CONTRACT, "2. Findings")))
    assert len(named) > 2
    assert named - {"UI_", "SEC_"} <= set(list_codes())


def test_every_ui_code_is_listed_with_its_severity() -> None:
    listed = {
        code: severity
        for row in _rows(_section(UI_SCHEMAS, "6. Checks"))
        if len(row) == 3
        for severity, cell in (("error", row[1]), ("warning", row[2]))
        for code in re.findall(r"`(UI_\w+)`", cell)
    }
    assert listed == {name: code.severity for name, code in list_codes().items() if name.startswith("UI_")}


def test_the_files_of_the_architecture_exist() -> None:
    named = set(re.findall(r"`((?:registry|studio|agent_api)/[\w/]+(?:\.py|/))`", ARCHITECTURE))
    assert len(named) > 20
    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []


def test_the_layers_of_the_architecture_are_those_of_the_linter() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    layers = next(each["layers"] for each in contracts if each["name"] == "Layers of registry")
    order = {
        name.strip().removeprefix("registry."): len(layers) - at
        for at, layer in enumerate(layers)
        for name in layer.split("|")
    }
    rows = [row for row in _rows(_section(ARCHITECTURE, "Packages")) if row[0].isdigit()]
    ranks = [[order[name] for name in re.findall(r"`(\w+)/`", row[1])] for row in rows]
    assert {name for row in rows for name in re.findall(r"`(\w+)/`", row[1])} == set(order) - {
        "apps",
        "tasks",
        "wiring",
    }
    assert all(max(lower) < min(upper) for lower, upper in pairwise(ranks))
