"""A SKILL.md as it came: front matter read leniently, and the text after it unchanged."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import yaml

from registry.agent_skills.loss_report import LossReport
from registry.bundles.front_matter import FrontMatter, split_front_matter
from registry.bundles.text import FILE_BYTES_MAX, decode_text, size_bytes

# `key: value` on one line; what is no plain key is left to YAML.
_KEY_LINE: Final = re.compile(r"(?P<key>[ ]*(?:- )?[A-Za-z_][\w.-]*:)[ \t]+(?P<value>\S.*?)[ \t]*")
_BLOCK: Final = re.compile(r"[|>][+-]?[0-9]?[+-]?(?:[ \t]+#.*)?")
_RESCUE_HINT: Final = "Put quotes around the whole value."


@dataclass(frozen=True)
class ParsedSkill:
    """`values` are those of the front matter, every scalar a string; `typed` are the keys whose scalar YAML would take
    for a number, a truth value, a date or nothing (`version`, or `metadata/version` one level below).

    `has_front_matter` distinguishes a file without any from one with an empty one.
    """

    values: dict[str, Any] = field(default_factory=dict)
    body: str = ""
    typed: frozenset[str] = frozenset()
    has_front_matter: bool = False


def parse_skill(raw: bytes | str, losses: LossReport) -> ParsedSkill | None:
    """Read the file; None where it is not text at all, with the error in `losses`.

    Broken YAML is tried once more with the lines that break it in quotes (`IMPORT_YAML_RESCUED`).
    """
    if size_bytes(raw) > FILE_BYTES_MAX:
        losses.add("FILE_TOO_LARGE", f"The file has more than {FILE_BYTES_MAX:,} bytes", "Shorten it.")
        return None
    text, fault = decode_text(raw)
    losses.text = text
    if fault is not None:
        losses.add(fault.code, fault.message, fault.hint)
        return None
    found = split_front_matter(text)
    if not found.body_offset and not found.faults:
        return ParsedSkill(body=text)
    if not found.values:
        found = _rescue(text, found, losses)
    if not found.values:
        reason = found.faults[0].message if found.faults else "It holds no keys"
        hint = found.faults[0].hint if found.faults else "Write name: and description: into it."
        losses.add("IMPORT_FRONT_MATTER_UNUSABLE", f"The front matter cannot be read. {reason}", hint)
        return None
    losses.key_offsets = found.key_offsets
    for duplicate in found.faults:
        losses.add("IMPORT_KEY_LOST", f"{duplicate.message}; the last one counts", duplicate.hint)
    typed = frozenset(_typed_keys(found.source))
    body = text[split_front_matter(text).body_offset :]
    return ParsedSkill(found.values, body, typed, has_front_matter=True)


def _rescue(text: str, found: FrontMatter, losses: LossReport) -> FrontMatter:
    """Quote the lines that are no YAML by themselves. The lines stay where they are, so that places agree."""
    if not found.body_offset or not found.source:
        return found
    lines = found.source.split("\n")
    odd = list(_odd_lines(lines))
    for number, quoted in odd:
        lines[number] = quoted
    start = text.index("\n") + 1
    repaired = split_front_matter(text[:start] + "\n".join(lines) + text[start + len(found.source) :])
    if not odd or not repaired.values:
        return found
    losses.text = text
    for number, _ in odd:
        offset = start + sum(len(line) + 1 for line in found.source.split("\n")[:number])
        losses.key_offsets = {**losses.key_offsets, "": offset}
        losses.add("IMPORT_YAML_RESCUED", f"Line {number + 2} is no YAML; its value was taken as a text", _RESCUE_HINT)
    return repaired


def _odd_lines(lines: list[str]) -> Iterator[tuple[int, str]]:
    """The lines `key: value` that YAML refuses by themselves, with their value in quotes; block texts stay."""
    block_indent: int | None = None
    for number, line in enumerate(lines):
        indent = len(line) - len(line.lstrip(" "))
        if block_indent is not None and (not line.strip() or indent > block_indent):
            continue
        block_indent = None
        match = _KEY_LINE.fullmatch(line)
        if match is None:
            continue
        if _BLOCK.fullmatch(match["value"]):
            block_indent = indent
        elif not _is_yaml(line.strip()):
            yield number, f"{match['key']} '" + match["value"].replace("'", "''") + "'"


def _is_yaml(line: str) -> bool:
    try:
        yaml.compose(line, Loader=yaml.BaseLoader)
    except (yaml.YAMLError, RecursionError):
        return False
    return True


def _typed_keys(source: str) -> Iterator[str]:
    """Keys whose plain scalar is not a string by YAML's own rules; nothing is constructed."""
    try:
        root = yaml.compose(source, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError):
        return
    if not isinstance(root, yaml.MappingNode):
        return
    for key, value in root.value:
        if _is_typed(value):
            yield str(key.value)
        elif isinstance(value, yaml.MappingNode):
            yield from (f"{key.value}/{inner.value}" for inner, below in value.value if _is_typed(below))


def _is_typed(node: yaml.Node) -> bool:
    return isinstance(node, yaml.ScalarNode) and node.tag != "tag:yaml.org,2002:str"
