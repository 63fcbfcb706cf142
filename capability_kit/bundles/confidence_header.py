"""A playbook's confidence, written under its H1 for the agent that executes it (docs/requirements.md D).

The skill doc stays the author's, so that its digest can be recomputed; the header is made for each reading.
"""

from __future__ import annotations

import re
from typing import Any, Final

from capability_kit.bundles.bundle import Bundle
from capability_kit.bundles.playbook import mark_fences
from capability_kit.text.sanitize import one_line

FOLLOW_FROM: Final = 0.9
DOUBT_BELOW: Final = 0.3
_TITLE: Final = re.compile(r" {0,3}#(?:[ \t]|$)")
_UNDERLINE: Final = re.compile(r" {0,3}=+[ \t]*$")
# A line by which an author would say how far a playbook is trusted.
OWN_CONFIDENCE: Final = re.compile(r"\s*\*\*Confidence:\*\*", re.IGNORECASE)
_OWN_HEADER: Final = re.compile(r"\s*\*\*(?:Confidence|Product Area|Issue Type):\*\*", re.IGNORECASE)


def add_header(bundle: Bundle) -> str:
    """The skill doc with the header lines under its H1; without an H1, above everything.

    Lines of the same kind that the author put there are left out: how far it is trusted is not the author's to say.
    """
    lines = bundle.skill_doc.strip().split("\n")
    header = format_header(bundle)
    end = _title_end(lines)
    head, rest = lines[:end], lines[end:]
    while rest and (not rest[0].strip() or _OWN_HEADER.match(rest[0])):
        rest.pop(0)
    parts = ["\n".join(head), "\n".join(header), "\n".join(rest)]
    return "\n\n".join(part for part in parts if part)


def format_header(bundle: Bundle) -> list[str]:
    """`**Confidence:** 0.85 (23 uses, 20 confirmed)` and what the playbook says of its area.

    Where one key has reported all of it, that is said.
    """
    playbook = bundle.capability.get("playbook")
    facts = playbook if isinstance(playbook, dict) else {}
    lines = []
    if bundle.confidence is not None:
        uses, confirmed = (_count(bundle.confidence.get(key)) for key in ("uses", "confirmed"))
        whose = "; one agent's word" if _is_single(bundle) else ""
        lines.append(f"**Confidence:** {parse_score(bundle):.2f} ({uses} uses, {confirmed} confirmed{whose})")
    for title, key in (("Product Area", "product_area"), ("Issue Type", "issue_type")):
        if isinstance(facts.get(key), str) and facts[key].strip():
            lines.append(f"**{title}:** {one_line(facts[key])}")
    return lines


def format_trust(bundle: Bundle) -> str:
    """How far to trust it, in words; empty where nothing is known."""
    if bundle.profile != "playbook" or bundle.confidence is None:
        return ""
    score = parse_score(bundle)
    if _is_single(bundle):
        return f"Confidence {score:.2f} is one agent's word alone: verify each step and be ready to deviate."
    if score >= FOLLOW_FROM:
        return f"Confidence {score:.2f}: this playbook has proved itself; follow it step by step."
    if score < DOUBT_BELOW:
        return f"Confidence {score:.2f}: this playbook has failed often; be sceptical and verify everything."
    return f"Confidence {score:.2f}: a starting point; verify each step and be ready to deviate."


def parse_score(bundle: Bundle) -> float:
    """The confidence, 0 to 1; 0.5 where the registry sent something invalid."""
    score: Any = (bundle.confidence or {}).get("score")
    is_number = isinstance(score, int | float) and not isinstance(score, bool)
    return min(1.0, max(0.0, float(score))) if is_number else 0.5


def _is_single(bundle: Bundle) -> bool:
    """Whether one key has reported all of it."""
    return (bundle.confidence or {}).get("single_key") is True


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else 0


def _title_end(lines: list[str]) -> int:
    """The number of lines up to and with the first H1 outside of fences; 0 where there is none."""
    for index, (line, is_fenced) in enumerate(mark_fences(lines)):
        if not is_fenced and _TITLE.match(line):
            return index + 1
        if not is_fenced and index + 1 < len(lines) and line.strip() and _UNDERLINE.match(lines[index + 1]):
            return index + 2
    return 0
