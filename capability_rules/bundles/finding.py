"""A finding: one error or warning with its exact place in the author's own text (schemas/finding.schema.json)."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from datetime import date, datetime
from typing import Any

from capability_rules.bundles.problem import BUNDLE_FILES, EXCUSED, Severity


@dataclass(frozen=True, slots=True)
class FindingAcceptance:
    """Who has accepted a finding, why, and when; from the day `until` (UTC) one that is waived counts again."""

    number: int
    by: str
    reason: str
    at: datetime
    is_alone: bool = False
    until: date | None = None

    def as_dict(self) -> dict[str, Any]:
        """The key `waiver` of schemas/finding.schema.json, or `accepted` where it has no end."""
        words = {"by": self.by, "reason": self.reason}
        if self.until is not None:
            return {"waiver_id": self.number, **words, "until": self.until.isoformat()}
        return {**words, "at": self.at.isoformat(timespec="seconds")}


@dataclass(frozen=True, slots=True)
class Finding:
    """`pointer` is a JSON Pointer (RFC 6901), or heading texts joined by `/` in skill.md.

    `line` and `column` count from 1, columns in code points; both are None for a file that is missing.
    """

    code: str
    severity: Severity
    file: str
    pointer: str
    line: int | None
    column: int | None
    message: str
    hint: str
    # What it is about, by name: the key that is missing, the key that was meant. Quick fixes read it; it is not output.
    subject: str = field(default="", compare=False)
    # How far above its threshold the classifier found what it alone found; it is not output.
    certainty: float = field(default=0.0, compare=False)
    # Where somebody has accepted it for a time: it is shown, and blocks nothing.
    waiver: FindingAcceptance | None = field(default=None, compare=False)
    # What a waiver of it is kept by (finding_fingerprints.py), once it was assessed; it is not output.
    fingerprint: str = field(default="", compare=False)
    # A person has to decide about its passage before it is published, or has decided.
    held: bool = field(default=False, compare=False)
    accepted: FindingAcceptance | None = field(default=None, compare=False)
    # What a decision about it is kept by; it is not output.
    passage: str = field(default="", compare=False)

    def as_dict(self) -> dict[str, Any]:
        """The shape of schemas/finding.schema.json; `waiver`, `held` and `accepted` are there where they are true."""
        shown = {one.name: getattr(self, one.name) for one in fields(self) if one.compare}
        shown |= {"waiver": self.waiver.as_dict()} if self.waiver is not None else {}
        shown |= {"held": True} if self.held else {}
        return shown | ({"accepted": self.accepted.as_dict()} if self.accepted is not None else {})

    @property
    def words(self) -> str:
        """What is wrong, and how to fix it, for readers that take one text."""
        return f"{self.message}. {self.hint}".rstrip() if self.hint else self.message

    @property
    def is_error(self) -> bool:
        """Whether it blocks publishing: an error that is not waived."""
        return self.severity == "error" and self.waiver is None

    @property
    def is_warning(self) -> bool:
        """A warning that nobody has accepted."""
        return self.severity == "warning" and self.waiver is None and self.accepted is None

    @property
    def is_doubt(self) -> bool:
        """Whether the security checks doubt a passage: what weighs words is a warning, and never certain."""
        return self.severity == "warning" and self.code.startswith("SEC_")

    @property
    def is_excused(self) -> bool:
        """A doubt that the text around it took away: an example in a lesson."""
        return self.severity == "note" and self.subject == EXCUSED


def sort_findings(findings: list[Finding]) -> tuple[Finding, ...]:
    """Sorted by file and place, each once."""
    return tuple(sorted(dict.fromkeys(findings), key=_sort_key))


def _sort_key(finding: Finding) -> tuple[Any, ...]:
    position = next((at for at, name in enumerate(BUNDLE_FILES) if name == finding.file), len(BUNDLE_FILES))
    place = (position, finding.file, finding.line or 0, finding.column or 0)
    return (*place, finding.code, finding.pointer, finding.message)
