"""Validates what is published, or is a draft, against the current rules in one pass, as for a folder of bundles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from django.db.models import QuerySet

from capability_rules.bundles.finding import sort_findings
from capability_rules.validation import Finding, Report, ValidationContext, validate_bundle
from capability_rules.validation.bundle_set import ValidationResult
from registry.catalog.assessment import assess_report
from registry.catalog.drafts import validate_draft
from registry.catalog.integrity import find_changed_file
from registry.common.errors import CapabilityNotFound
from registry.core.published_index import get_validation_context
from registry.core.queries import HELD_STATUSES, LOADABLE_STATUSES
from registry.core.rows import Row
from registry.models import Capability, Draft, Revision


def recheck_published(capability_ids: Sequence[str] = (), *, below: str = "") -> Iterator[ValidationResult]:
    """Every capability that agents can load, or these by id, quarantined ones too; `below` is the folder that its
    paths begin with.

    Beside today's rules, what is stored is compared with the digests of what was published, as each load does. Raises
    `CapabilityNotFound` for an id that agents cannot load.
    """
    held = Capability.objects.filter(status__in=HELD_STATUSES if capability_ids else LOADABLE_STATUSES)
    found = _choose(held, "capability_id", capability_ids).select_related("published_revision")
    names = get_validation_context()
    for capability in found.order_by("capability_id").iterator(chunk_size=50):
        if capability.published_revision is not None:
            report = _report(capability.published_revision, names)
            yield ValidationResult(f"{below}{capability.capability_id}", report)


def _report(revision: Revision, published: ValidationContext) -> Report:
    report = assess_report(validate_bundle(revision.files, published=published))
    change = "" if report.errors else find_changed_file(revision, report.bundle)
    if not change:
        return report
    hint = "Publish the texts again, or restore a backup; the database content was not changed by this registry."
    finding = Finding("DIGEST_MISMATCH", "error", "capability.json", "", None, None, change, hint)
    return replace(report, findings=sort_findings([finding, *report.findings]))


def recheck_drafts(capability_ids: Sequence[str] = (), *, below: str = "") -> Iterator[ValidationResult]:
    """As `recheck_published`, for every active draft. Raises `CapabilityNotFound`."""
    active = Draft.objects.filter(discarded_at__isnull=True).select_related("capability")
    found = _choose(active, "capability__capability_id", capability_ids)
    for draft in found.order_by("capability__capability_id").iterator(chunk_size=50):
        yield ValidationResult(f"{below}{draft.capability.capability_id}", validate_draft(draft))


def _choose(found: QuerySet[Row], column: str, capability_ids: Sequence[str]) -> QuerySet[Row]:
    """Those with these ids, or all of them without any."""
    if not capability_ids:
        return found
    known = set(found.values_list(column, flat=True))
    for capability_id in capability_ids:
        if capability_id not in known:
            raise CapabilityNotFound(capability_id)
    return found.filter(**{f"{column}__in": capability_ids})
