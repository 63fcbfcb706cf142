"""docs/findings.md, made of the tables of codes, so that the page and the product cannot drift apart."""

from __future__ import annotations

from dataclasses import dataclass

from registry.bundles.problem import FindingCode
from registry.validation import a2ui, codes, security

_FAMILIES = (
    ("Files and texts", "What cannot be read as a text.", codes.FILES),
    ("JSON", "What strict JSON forbids.", codes.JSON),
    ("Keys and values", "capability.json, and the shape of every file.", codes.FIELDS),
    ("skill.md", "Front matter, sections, and what the text mentions.", codes.SKILL),
    ("Tool contracts", "tools.json.", codes.TOOLS),
    ("UI schemas", "ui_schemas.json: the A2UI checks.", a2ui.CODES),
    ("Security", "Which pattern was seen, and where; never that a text is safe.", security.CODES),
    ("The gate", "Differences from the release that readers have.", codes.GATE),
    ("Import", "What taking in an Agent Skill mapped, kept elsewhere or left out.", codes.IMPORT),
    ("Stored revisions", "What `registry check` finds beside the rules.", codes.STORED),
    ("Limits", "Where a check could not go to its end.", codes.LIMITS),
)

_HEAD = """# Findings

Every code that a check can report, with cause, example and fix. An **error** stops publishing; a **warning**
is shown. A finding also says the file, the place (line and column in the author's own text) and a hint; its shape is
`schemas/finding.schema.json`. Codes are stable: they are never renamed, and never mean something else later.

Made by `python3 run.py manage findings_page`; a test keeps this page complete.
"""


@dataclass(frozen=True, slots=True)
class Family:
    """Codes that belong together, in order; the words end with a full stop."""

    title: str
    words: str
    codes: tuple[FindingCode, ...]


def list_families() -> list[Family]:
    """Every code of the product, as the page has them."""
    return [Family(title, words, tuple(sorted(rows, key=lambda row: row.code))) for title, words, rows in _FAMILIES]


def render_findings_page() -> str:
    """The whole page as Markdown."""
    parts = [_HEAD, *map(_family, list_families())]
    return "\n".join(parts)


def _family(family: Family) -> str:
    return "\n".join([f"## {family.title}\n", f"{family.words}\n", *map(_section, family.codes)])


def _section(row: FindingCode) -> str:
    return f"""### {row.code}

*{row.severity.capitalize()}.* {row.cause}

- Example: {row.example}
- Fix: {row.mend}
"""
