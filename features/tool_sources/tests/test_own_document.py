"""The product's own OpenAPI document as tools."""

from capability_kit.bundles.tool_export import VENDORS, export_tools
from capability_rules.validation.rules.tools import check_tools
from features.tool_sources.source_tools import read_tools
from tests.servers import ROOT


def test_own_openapi_document_becomes_tools_without_an_error() -> None:
    catalog = read_tools((ROOT / "agent_api" / "openapi.yaml").read_bytes())
    contracts = {tool.name: tool.contract for tool in catalog.tools}
    assert len(contracts) == len(catalog.tools)
    codes = {problem.code for problem in check_tools(list(contracts.values()))}
    assert codes <= {"TOOL_PROPERTY_UNDESCRIBED", "TOOL_VENDOR_LIMIT"}
    for vendor in VENDORS:
        # What a vendor does not take, because of names in a body, was said.
        for name in export_tools(contracts, vendor).left_out:
            tool = next(tool for tool in catalog.tools if tool.name == name)
            assert any("Gemini" in loss.message for loss in tool.losses)
