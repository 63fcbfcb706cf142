"""Warnings of what a vendor would not take as a plain (non-strict) tool: `capability_kit.bundles.vendor_limits`.

Strict mode has more limits; an export of tools for it applies those.
"""

from __future__ import annotations

from collections.abc import Iterator

from capability_kit.bundles.vendor_limits import PROPERTY_NAMES, ROOT_REFUSED
from capability_kit.json_schema.graph import Node, SchemaGraph
from capability_rules.bundles.problem import Path, RawFinding


def check_vendor_limits(graph: SchemaGraph, path: Path) -> Iterator[RawFinding]:
    """Warnings, each naming the vendor and the reason."""
    for keyword in ROOT_REFUSED:
        if keyword in graph.root.schema:
            message = f"OpenAI and Anthropic refuse '{keyword}' at the root of a tool's schema"
            yield _limit((*path, keyword), message, "Move it into a property.", at_key=True)
    for node in graph.nodes:
        yield from _check_property_name(node, path)
        if node.schema.get("type") == "array" and "items" not in node.schema and "prefixItems" not in node.schema:
            message = "OpenAI and Gemini refuse a list whose entries are not described"
            yield _limit((*path, *node.path), message, 'Add "items" with the schema of one entry.')


def _check_property_name(node: Node, path: Path) -> Iterator[RawFinding]:
    if len(node.path) < 2 or node.path[-2] != "properties":
        return
    name = str(node.path[-1])
    vendors = [vendor.capitalize() for vendor, allowed in PROPERTY_NAMES.items() if not allowed.fullmatch(name)]
    if vendors:
        message = f"{' and '.join(vendors)} would refuse the property name {name[:64]!r}"
        hint = "Begin with a letter; use letters, digits and _ only, at most 64."
        yield _limit((*path, *node.path), message, hint, at_key=True)


def _limit(place: Path, message: str, hint: str, *, at_key: bool = False) -> RawFinding:
    return RawFinding("TOOL_VENDOR_LIMIT", "tools.json", place, message, hint, at_key=at_key)
