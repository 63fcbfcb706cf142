"""docs/findings.md, made of the table of findings, so that the page and the product cannot drift apart."""

from __future__ import annotations

from capability_rules.bundles.problem import FindingCode
from capability_rules.validation.codes import Family, list_families

_HEAD = """# Findings

Every code that a check can report, with cause, example and fix. An **error** stops publishing; a **warning**
is shown. A finding also says the file, the place (line and column in the author's own text) and a hint; its shape is
`schemas/finding.schema.json`. Codes are stable: they are never renamed, and never mean something else later.

Made by `python3 run.py manage findings_page`; a test keeps this page complete.
"""


def render_findings_page() -> str:
    """The whole page as Markdown."""
    return "\n".join([_HEAD, *map(_family, list_families())])


def _family(family: Family) -> str:
    return "\n".join([f"## {family.title}\n", f"{family.description}\n", *map(_section, family.codes)])


def _section(row: FindingCode) -> str:
    return f"""### {row.code}

*{row.severity.capitalize()}.* {row.cause}

- Example: {row.example}
- Fix: {row.fix}
"""
