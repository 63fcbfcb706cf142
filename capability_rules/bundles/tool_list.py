"""Reads tools.json of a draft, which may be a list or `{"tools": [...]}`, and may be anything else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from capability_kit.json_text import parse_json
from capability_rules.bundles.problem import Path


def read_tool_list(text: str | None) -> tuple[Path, list[Any]] | None:
    """The list with the path that leads to it in the text; None where there is none."""
    value = parse_json(text)
    path: Path = ("tools",) if isinstance(value, dict) else ()
    listed = value.get("tools") if isinstance(value, dict) else value
    return (path, listed) if isinstance(listed, list) else None


def list_tool_contracts(files: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """The tools by their names, as far as tools.json can be read."""
    _path, listed = read_tool_list(files.get("tools.json")) or ((), [])
    return {one["name"]: one for one in listed if isinstance(one, dict) and isinstance(one.get("name"), str)}


def locate_tool(text: str, name: str) -> Path:
    """The path to the tool of this name in a text that `list_tool_contracts` has found it in."""
    path, listed = read_tool_list(text) or ((), [])
    index = max(at for at, one in enumerate(listed) if isinstance(one, dict) and one.get("name") == name)
    return (*path, index)
