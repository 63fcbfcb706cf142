"""Is a stored revision still what was published, and does it still pass? If not, agents get an error with the mend."""

from __future__ import annotations

from typing import Final

from registry.errors import SkillMalformed
from registry.incidents import open_incident
from registry.models import Revision
from registry.queries import bundle_of, texts_digest
from registry.validation import RULES_VERSION, Finding, validate

_WHAT: Final = {
    "capability.json": "metadata",
    "skill.md": "skill doc",
    "tools.json": "tool schema",
    "ui_schemas.json": "UI schema",
}


def require_sound(revision: Revision) -> None:
    """Raise `SkillMalformed` for a damaged or outdated revision, and note the incident.

    The check is two hashes where nothing has changed: the whole validation runs only for a row that was touched, or
    that older rules have passed.
    """
    if revision.rules_version == RULES_VERSION and is_intact(revision):
        return
    findings, details = _faults(revision)
    if not details:
        return
    name = revision.capability.capability_id
    what = _WHAT.get(findings[0].file, "files") if findings else ""
    message = f"Skill '{name}' has invalid {what}" if what else f"Skill '{name}' does not match its digest"
    open_incident(revision=revision, message=message, details=details, findings=findings)
    raise SkillMalformed(
        message,
        details=details,
        findings=[finding.as_dict() for finding in findings[:20]],
        last_good_digest=_last_good_digest(revision),
    )


def is_intact(revision: Revision) -> bool:
    """Whether texts and digest are still those that were published."""
    return texts_digest(revision.files) == revision.texts_digest and bundle_of(revision).digest == revision.digest


def _faults(revision: Revision) -> tuple[tuple[Finding, ...], str]:
    """The errors of the stored texts, and the first of them in words; no words where it is sound."""
    report = validate(revision.files)
    if report.errors:
        return report.errors, report.errors[0].message
    if report.bundle is None or report.bundle.digest != revision.digest:
        found = report.bundle.digest if report.bundle else "nothing readable"
        return (), f"The stored content has the digest {found}, but {revision.digest} was published"
    return (), ""


def _last_good_digest(revision: Revision) -> str | None:
    """The digest of the newest other revision that is sound: a session can pin it meanwhile."""
    others = revision.capability.revisions.exclude(pk=revision.pk).order_by("-number")[:20]
    for other in others:
        if is_intact(other) and not _faults(other)[1]:
            return other.digest
    return None
