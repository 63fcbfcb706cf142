"""How the gate comes to its report: texts are compared with what readers have now, given the state of the registry."""

from __future__ import annotations

import logging
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from django.conf import settings

from capability_kit import tracing
from capability_rules.bundles.bundle import SkillBundle
from capability_rules.bundles.finding import sort_findings
from capability_rules.bundles.profile import CapabilityProfile, profile_from_json
from capability_rules.errors import RegistryError
from capability_rules.validation import Report
from features.acceptances.accepted_findings import mark_waived
from registry.access.operators import is_admin
from registry.catalog.assessment import assess_report, find_missing_scanners
from registry.catalog.integrity import is_intact
from registry.common.actors import Actor
from registry.core.published_index import INDEX
from registry.core.queries import load_bundle
from registry.matching.findings import find_matching_issues
from registry.matching.trigger_overlaps import find_trigger_overlaps
from registry.models import Capability
from registry.publishing import reviews
from registry.publishing.gate import GateReport, build_gate_report
from registry.publishing.release_rules import (
    PublishConditions,
    PublishQuestion,
    UnmetCondition,
    find_unmet,
    get_rule,
    skill_groups_of,
)
from registry.publishing.review_comments import count_open_threads

if TYPE_CHECKING:
    from registry.matching.utterance_regression import UtteranceRegression

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class GateRequest:
    """What a caller brings to the gate; `note` is None where none was requested yet; `was_quarantined` says that these
    texts were quarantined, so that passages in them have to be decided again."""

    acknowledge: Collection[str] = ()
    by: Actor | None = None
    note: str | None = None
    previously_published: bool = False
    was_quarantined: bool = False


def find_capability(capability_id: str) -> Capability | None:
    """With what is published of it; None where there is none."""
    return Capability.objects.filter(capability_id=capability_id).select_related("published_revision").first()


@tracing.traced("evaluate gate")
def evaluate_gate(
    report: Report, capability: Capability | None, asked: GateRequest, *, run_utterance_check: bool = False
) -> GateReport:
    """The gate's report against what readers have now. A damaged row is never "up to date": a new publish fixes it.

    The one place where findings are collected (of the texts, of scanners, of the comparison, of the rules), waived and
    judged; inside the lock, what the caller knew of waivers counts no more.

    `run_utterance_check` compares it with all example messages too, which takes up to seconds.
    """
    report = assess_report(report, previously_published=asked.previously_published)
    revision = capability.published_revision if capability else None
    published = load_bundle(revision) if revision else None
    candidate = profile_from_json(report.bundle.capability) if report.bundle is not None else None
    gate = build_gate_report(
        report,
        published=published,
        acknowledge=asked.acknowledge,
        overlaps=find_trigger_overlaps(candidate, INDEX.refreshed().owners_of_trigger) if candidate else (),
        rehearsal=_rehearse(candidate) if candidate and run_utterance_check else None,
        terms=_terms(report, capability, published, asked),
    )
    return replace(
        gate,
        findings=mark_waived(capability.capability_id if capability else "", gate.findings, report.files),
        unchanged=gate.unchanged and revision is not None and is_intact(revision),
    )


def add_trigger_findings(report: Report) -> Report:
    """Return the report with what the gate will say of its triggers, for an editor that asks with each pause.

    That is what needs no comparison with example messages: triggers that others have too, and that there are none.
    """
    if report.bundle is None or report.errors:
        return report
    candidate = profile_from_json(report.bundle.capability)
    overlaps = find_trigger_overlaps(candidate, INDEX.refreshed().owners_of_trigger)
    found = sort_findings([*report.findings, *find_matching_issues(report, overlaps, None)])
    return replace(report, findings=mark_waived(report.capability_id, found, report.files))


def _terms(
    report: Report, capability: Capability | None, published: SkillBundle | None, asked: GateRequest
) -> PublishConditions:
    """What is required here, and what this publish provides of it."""
    groups = skill_groups_of(*(bundle.capability for bundle in (report.bundle, published) if bundle is not None))
    rule = get_rule(groups)
    unmet: tuple[UnmetCondition, ...] = ()
    if report.bundle is not None and report.ok and not asked.previously_published:
        unmet = find_unmet(PublishQuestion(capability, report.bundle.digest, groups, str(asked.by or "")))
    approval = reviews.get_approval(capability, report) if capability is not None else None
    return PublishConditions(
        rule=rule,
        can_loosen=not rule.loosening_requires or is_admin(asked.by),
        note=asked.note,
        approved_by=approval.decided_by if approval is not None else "",
        missing_scanners=tuple(find_missing_scanners(report.capability_id, report.files, settings.REQUIRED_SCANNERS)),
        unmet=unmet,
        open_comments=count_open_threads(capability) if capability is not None and rule.comments_resolved else 0,
        previously_published=asked.previously_published,
        was_quarantined=asked.was_quarantined,
        was_retired=capability is not None and capability.status == "retired",
        by_itself=asked.by is not None and asked.by.kind == "system",
    )


def _rehearse(candidate: CapabilityProfile) -> UtteranceRegression | None:
    """None where it cannot be done now: it advises, and blocks no publish."""
    # numpy takes a tenth of a second to import: only what matches pays for it.
    from registry.matching.index import PUBLISHED_INDEX
    from registry.matching.utterance_regression import check_utterances

    try:
        # A page does not wait for an index of thousands after each publish: it advises.
        return check_utterances(candidate, PUBLISHED_INDEX.get(may_lag=True))
    except (RegistryError, OSError, MemoryError) as error:
        logger.warning("example messages were not rehearsed: %s", error)
        return None
