"""One bundle checked in a process of a pool: what it asks is answered, and what it found so far is kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from capability_rules.bundles.finding import Finding, sort_findings
from capability_rules.bundles.problem import UNFINISHED_CODE
from capability_rules.bundles.validation_context import ValidationContext
from capability_rules.validation.in_place import build_report, unfinished_words
from capability_rules.validation.isolation.messages import pack_files, unpack_bundle, unpack_findings
from capability_rules.validation.isolation.pool import CheckEnded, CheckPool
from capability_rules.validation.report import Report


def check_in_pool(
    pool: CheckPool, files: Mapping[str, bytes | str], published: ValidationContext | None = None
) -> Report:
    """As `capability_rules.validation.in_place.check_in_place`, and it ends. Raises `ChecksBusy`."""
    check = _Check(files, published or ValidationContext())
    try:
        return check.finished(pool.run({"do": "check", "files": pack_files(files)}, check.take))
    except CheckEnded:
        return check.unfinished()


@dataclass
class _Check:
    """One bundle on its way: what was sent, and what is known by now."""

    files: Mapping[str, bytes | str]
    published: ValidationContext
    name: str = "the files"
    normalized: dict[str, str] = field(default_factory=dict)
    capability_id: str = ""
    found: list[Finding] = field(default_factory=list)

    def take(self, message: Mapping[str, Any]) -> dict[str, Any] | None:
        """Keep what a message says; the answer where it is a question."""
        if "question" in message:
            asked = self.published.owners_of if message["question"] == "owners_of" else self.published.ids_like
            answer = asked(message["of"])
            return {"answer": answer if isinstance(answer, dict) else sorted(answer)}
        self.name = message["checking"]
        self.found += unpack_findings(message["found"])
        if "parsed" in message:
            parsed = message["parsed"]
            self.normalized = {name: parsed["changed"].get(name, self.files.get(name)) for name in parsed["names"]}
            self.capability_id = parsed["capability_id"]
        return None

    def finished(self, report: Mapping[str, Any]) -> Report:
        bundle = unpack_bundle(report["bundle"], self.normalized)
        found = tuple(unpack_findings(report["findings"]))
        return build_report(self.normalized, found, bundle, self.capability_id)

    def unfinished(self) -> Report:
        """What is known, and an error that says which check did not end."""
        files = self.normalized or {name: _text(raw) for name, raw in self.files.items()}
        findings = sort_findings([*self.found, self._failure()])
        return build_report(files, findings, None, self.capability_id)

    def _failure(self) -> Finding:
        return Finding(UNFINISHED_CODE, "error", "capability.json", "", 1, 1, *unfinished_words(self.name))


def _text(raw: bytes | str) -> str:
    return raw if isinstance(raw, str) else raw.decode(errors="replace")
