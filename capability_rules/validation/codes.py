"""Every finding code, from schemas/findings.toml: docs/findings.md, the help pages, SARIF and the checks read it here."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from typing import Any, get_args

from capability_rules.bundles.problem import FindingCode, Severity
from capability_rules.schema_loader import SCHEMAS_DIR

FINDINGS_FILE = SCHEMAS_DIR / "findings.toml"


@dataclass(frozen=True, slots=True)
class Family:
    """Codes that belong together, in the order of the alphabet; the description ends with a full stop."""

    key: str
    title: str
    description: str
    codes: tuple[FindingCode, ...]


@cache
def list_families() -> tuple[Family, ...]:
    """Every code of the product, in the order of docs/findings.md."""
    return parse_families(FINDINGS_FILE.read_text(encoding="utf-8"))


@cache
def list_codes() -> dict[str, FindingCode]:
    """Every code of the product, each with cause, example and fix. One table for all: nobody changes it."""
    return {row.code: row for family in list_families() for row in family.codes}


@cache
def severity_by_code() -> dict[str, Severity]:
    """The severity of each code where a problem does not say its own. One table for all: nobody changes it."""
    return {code: row.severity for code, row in list_codes().items()}


def parse_families(text: str) -> tuple[Family, ...]:
    """The families of a table of findings. Raises `ValueError` with the code and the key that is wrong."""
    families = tuple(_read_family(key, table) for key, table in tomllib.loads(text).items())
    seen: set[str] = set()
    for row in (row for family in families for row in family.codes):
        if row.code in seen:
            raise ValueError(f"{FINDINGS_FILE.name}: {row.code} is in two families")
        seen.add(row.code)
    return families


def _read_family(key: str, table: dict[str, Any]) -> Family:
    rows = [_read_row(code, row) for code, row in table.items() if isinstance(row, dict)]
    words = {name: value for name, value in table.items() if not isinstance(value, dict)}
    if set(words) != {"title", "description"}:
        raise ValueError(f"{FINDINGS_FILE.name}: {key} must have title and description, not {', '.join(words)}")
    return Family(key, words["title"], words["description"], tuple(sorted(rows, key=lambda row: row.code)))


def _read_row(code: str, row: dict[str, Any]) -> FindingCode:
    if set(row) != {"severity", "cause", "example", "fix"} or not all(isinstance(each, str) for each in row.values()):
        texts = f"severity, cause, example and fix, not {', '.join(row)}"
        raise ValueError(f"{FINDINGS_FILE.name}: {code} must have the texts {texts}")
    if row["severity"] not in get_args(Severity):
        raise ValueError(
            f"{FINDINGS_FILE.name}: {code}: severity must be error, warning or note, not {row['severity']}"
        )
    return FindingCode(code=code, **row)
