"""The Model Context Protocol: what the product has of it beside the protocol itself."""

from typing import Final

from registry.feature import Feature

FEATURE: Final = Feature(name="mcp", addresses="features.mcp.addresses")
