"""A SKILL.md as it came: front matter read leniently, and the text after it unchanged."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from capability_kit.bundles.front_matter import FrontMatter, normalize_skill_text, read_front_matter
from capability_rules.agent_skills.loss_report import LossReport
from capability_rules.bundles.text import BOM, FILE_BYTES_MAX, decode_text, size_bytes

_BEGIN_HINT: Final = "Begin it with ---, name:, description: and ---."


@dataclass(frozen=True)
class ParsedSkill:
    """`front_matter` is None for a file without any, which is not the same as an empty one."""

    body: str = ""
    front_matter: FrontMatter | None = field(default=None)


def parse_skill(raw: bytes | str, losses: LossReport) -> ParsedSkill | None:
    """Read the file; None where it is not text at all, or its front matter cannot be used, with the error in `losses`.

    Broken YAML is read line by line (`IMPORT_YAML_RESCUED`).
    """
    if size_bytes(raw) > FILE_BYTES_MAX:
        losses.add("FILE_TOO_LARGE", f"The file has more than {FILE_BYTES_MAX:,} bytes", "Shorten it.")
        return None
    text, fault = decode_text(raw)
    text = losses.text = normalize_skill_text(text)
    if fault is not None:
        losses.add(fault.code, fault.message, fault.hint, offset=fault.offset)
        return None
    found = read_front_matter(text)
    if not found.body_offset and not found.faults:
        return ParsedSkill(text)
    if not found.values:
        _refuse(found, losses)
        return None
    if _has_bom(raw):
        message = "The file begins with a byte order mark, behind which some readers find no front matter"
        losses.add("IMPORT_FORM_ODD", message, "Save it as UTF-8 without one.", offset=0)
    losses.places = found.places
    losses.add_remarks(found.remarks)
    return ParsedSkill(text[found.body_offset :], found)


def _refuse(found: FrontMatter, losses: LossReport) -> None:
    fault = found.faults[0] if found.faults else None
    reason = fault.message if fault else "It holds no keys"
    hint = fault.hint if fault else "Write name: and description: into it."
    message = f"The front matter cannot be read. {reason}"
    losses.add("IMPORT_FRONT_MATTER_UNUSABLE", message, hint, offset=fault.offset if fault else 0)


def _has_bom(raw: bytes | str) -> bool:
    return raw.startswith(BOM) if isinstance(raw, str) else raw.startswith(BOM.encode())


def refuse_missing(text: str, losses: LossReport) -> None:
    """The error of a file without a front matter; where one seems to begin further down, it is named."""
    lines = text.split("\n", 100)
    at = next((number for number, line in enumerate(lines[:100]) if line.rstrip() == "---"), None)
    is_one = at is not None and any(line.lstrip().lower().startswith("name:") for line in lines[at + 1 : at + 10])
    hint = f"Line {at + 1} has the --- that must be on line 1." if at is not None and is_one else _BEGIN_HINT
    losses.add("IMPORT_FRONT_MATTER_UNUSABLE", "SKILL.md has no front matter", hint, offset=0)
