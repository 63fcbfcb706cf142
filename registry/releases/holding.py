"""Texts held against what readers have now, with all that is known of the registry: the gate with its surroundings."""

from __future__ import annotations

import logging
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from registry.actors import Actor
from registry.bundles import Bundle
from registry.errors import RegistryError
from registry.matching.known import Known, known_of
from registry.matching.overlaps import trigger_overlaps
from registry.matching.published import published_known
from registry.models import Capability
from registry.queries import bundle_of
from registry.releases import reviews
from registry.releases.gate import GateReport, gate_report
from registry.releases.review_comments import open_comments
from registry.releases.rules import Terms, groups_in, may_loosen, rule_for
from registry.soundness import is_intact
from registry.validation import Report

if TYPE_CHECKING:
    from registry.matching.rehearsal import Rehearsal

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Asked:
    """What a caller brings to the gate; `note` is None where nobody was asked for one yet."""

    acknowledge: Collection[str] = ()
    by: Actor | None = None
    note: str | None = None
    is_return: bool = False


def find_capability(capability_id: str) -> Capability | None:
    """With what is published of it; None where there is none."""
    return Capability.objects.filter(capability_id=capability_id).select_related("published_revision").first()


def hold(report: Report, capability: Capability | None, asked: Asked, *, rehearsed: bool = False) -> GateReport:
    """Held against what readers have now. A damaged row is never "up to date": publishing the same again mends it.

    `rehearsed` holds it against everybody's golden sentences too, which takes up to seconds.
    """
    revision = capability.published_revision if capability else None
    published = bundle_of(revision) if revision else None
    candidate = known_of(report.bundle.capability) if report.bundle is not None else None
    gate = gate_report(
        report,
        published=published,
        acknowledge=asked.acknowledge,
        overlaps=trigger_overlaps(candidate, published_known().values()) if candidate else (),
        rehearsal=_rehearse(candidate) if candidate and rehearsed else None,
        terms=_terms(report, capability, published, asked),
    )
    return replace(gate, unchanged=gate.unchanged and revision is not None and is_intact(revision))


def _terms(report: Report, capability: Capability | None, published: Bundle | None, asked: Asked) -> Terms:
    """What is asked for here, and what this publish brings of it."""
    rule = rule_for(groups_in(*(bundle.capability for bundle in (report.bundle, published) if bundle is not None)))
    approval = reviews.approval_of(capability, report) if capability is not None else None
    return Terms(
        rule=rule,
        may_loosen=not rule.loosened_by or may_loosen(asked.by),
        note=asked.note,
        approved_by=approval.decided_by if approval is not None else "",
        open_comments=open_comments(capability) if capability is not None and rule.comments_resolved else 0,
        is_return=asked.is_return,
    )


def _rehearse(candidate: Known) -> Rehearsal | None:
    """None where it cannot be done now: it advises, and stands in nobody's way."""
    from registry.matching.index import HOLDER
    from registry.matching.rehearsal import rehearse

    try:
        return rehearse(candidate, HOLDER.get())
    except (RegistryError, OSError, MemoryError) as error:
        logger.warning("golden sentences were not rehearsed: %s", error)
        return None
