"""An imported tools.json in the form of a model vendor or of MCP, as contracts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from capability_kit.json_text import parse_json
from capability_rules.bundles.finding import Finding
from capability_rules.bundles.json_edits import to_json
from capability_rules.bundles.text import FILE_BYTES_MAX, decode_text, size_bytes
from capability_rules.bundles.vendor_tools import convert_tools, find_tool_list

FILE: Final = "tools.json"


def convert_tools_file(files: Mapping[str, bytes | str]) -> tuple[str, Finding] | None:
    """The text of tools.json with contracts, and a finding on what the conversion left out or supposed; None where
    there is nothing to convert."""
    content = files.get(FILE)
    if content is None or size_bytes(content) > FILE_BYTES_MAX:
        return None
    text, fault = decode_text(content)
    found = find_tool_list(parse_json(text)) if not fault else None
    converted = convert_tools(found[1]) if found is not None else None
    if converted is None:
        return None
    message = f"The tools were in the form of {' and '.join(converted.vendors)}; they were converted to contracts"
    hint = " ".join(converted.losses)
    finding = Finding("IMPORT_TOOLS_CONVERTED", "warning", FILE, "", 1, 1, message, hint)
    return to_json(converted.tools), finding
