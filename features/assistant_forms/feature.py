"""Forms and approvals through MCP: what the product has of them."""

from typing import Final

from registry.feature import Feature

FEATURE: Final = Feature(name="assistant_forms", requires=("mcp",), mcp_tools="features.assistant_forms.tools.TOOLS")
