"""Is a stored revision still what was published, and does it still pass? If not, agents get an error to act on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from capability_rules.bundles.bundle import SkillBundle
from capability_rules.validation import RULES_VERSION, Finding, validate_bundle
from features.acceptances.accepted_findings import mark_waived_since
from registry.catalog.incidents import close_repaired, open_incident
from registry.common.errors import SkillMalformed
from registry.core.queries import files_digest, load_bundle
from registry.models import Revision

_WHAT: Final = {
    "capability.json": "metadata",
    "skill.md": "skill doc",
    "tools.json": "tool schema",
    "ui_schemas.json": "UI schema",
}


@dataclass(frozen=True)
class RevisionDefect:
    """Why a stored revision cannot be handed out: for agents, and the findings behind it (none for a damaged row)."""

    message: str
    details: str
    findings: tuple[Finding, ...]


def require_valid_revision(revision: Revision) -> None:
    """Raise `SkillMalformed` for a damaged or outdated revision, and note the incident; of a sound one it is closed.

    The check is two hashes where nothing has changed: the whole validation runs only for a row that was touched, or
    that older rules have passed.
    """
    if revision.rules_version == RULES_VERSION and is_intact(revision):
        close_repaired(revision)
        return
    fault = find_defect(revision)
    if fault is None:
        close_repaired(revision)
        return
    report_defect(revision, fault)
    raise SkillMalformed(
        fault.message,
        details=fault.details,
        findings=[finding.as_dict() for finding in fault.findings[:20]],
        last_good_digest=_last_good_digest(revision),
    )


def find_defect(revision: Revision) -> RevisionDefect | None:
    """What today's rules have against the stored texts, by the whole validation; None where they are sound."""
    findings, details = _faults(revision)
    if not details:
        return None
    name = revision.capability.capability_id
    what = _WHAT.get(findings[0].file, "files") if findings else ""
    message = f"Skill '{name}' has invalid {what}" if what else f"Skill '{name}' does not match its digest"
    return RevisionDefect(message, details, findings)


def report_defect(revision: Revision, fault: RevisionDefect) -> None:
    """Open an incident for it, or count it where it is known."""
    open_incident(revision=revision, message=fault.message, details=fault.details, findings=fault.findings)


def is_intact(revision: Revision) -> bool:
    """Whether texts and digest are still those that were published."""
    return files_digest(revision.files) == revision.files_digest and load_bundle(revision).digest == revision.digest


def _faults(revision: Revision) -> tuple[tuple[Finding, ...], str]:
    """The errors of the stored texts, and the first of them in words; no words where it is sound. What was waived when
    it was published, or later, is none of them."""
    report = validate_bundle(revision.files)
    if report.errors:
        report = replace(report, findings=mark_waived_since(revision, report.findings))
    if report.errors:
        return report.errors, report.errors[0].message
    return (), find_changed_file(revision, report.bundle)


def find_changed_file(revision: Revision, bundle: SkillBundle | None) -> str:
    """What says that the stored texts, read as `bundle`, are not those that were published; empty where they are."""
    if bundle is None or bundle.digest != revision.digest:
        found = bundle.digest if bundle else "nothing readable"
        return f"The stored content has the digest {found}, but {revision.digest} was published"
    if bundle.content_digest != revision.content_digest:
        return "What is stored beside the digest, supporting files or utterances, is not what was published"
    return ""


def find_damaged_revisions() -> tuple[str, ...]:
    """Revisions, old ones included, whose texts are not those that were published, by name. Computes every digest."""
    found = Revision.objects.select_related("capability").order_by("pk").iterator(chunk_size=50)
    return tuple(str(revision) for revision in found if not is_intact(revision))


def _last_good_digest(revision: Revision) -> str | None:
    """The digest of the newest other revision that is sound: a session can pin it meanwhile."""
    others = revision.capability.revisions.exclude(pk=revision.pk).order_by("-number")[:20]
    for other in others:
        if is_intact(other) and not _faults(other)[1]:
            return other.digest
    return None
