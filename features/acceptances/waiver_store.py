"""Accepting a finding for a time: who may, for which findings, and for how long (docs/contract.md 3).

A waiver is for one passage: edits around it do not matter, an edit of the passage itself makes another finding. What it
does to findings is in `accepted_findings.py`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, Final

from django.utils import timezone

from capability_rules.bundles.finding import Finding
from capability_rules.errors import InvalidRequest
from capability_rules.validation import validate_bundle
from features.acceptances.acceptance_write import acceptance_write, check_reason
from features.acceptances.accepted_findings import explain_unwaivable
from features.acceptances.models import Acceptance, as_moment
from registry.access.operators import is_admin, may_publish
from registry.catalog.drafts import get_active_draft, refresh_digest, validate_draft
from registry.catalog.revalidation import queue_failing
from registry.common.actors import Actor
from registry.common.errors import Forbidden, NotFound, StatusConflict
from registry.core import audit
from registry.core.published_index import get_validation_context
from registry.core.queries import get_capability
from registry.core.rows import get_row, update_row
from registry.models import Capability
from registry.publishing.gate_check import GateRequest, evaluate_gate

DAYS_MAX: Final = 180
_PLACE: Final = re.compile(r"(?P<file>[^\n]+?)(?::(?P<line>\d{1,9}))?(?::(?P<column>\d{1,9}))?")


@dataclass(frozen=True, slots=True)
class WaivableFinding:
    """A finding of a capability's draft, or of what is published where a draft is missing; `why_not` says why it cannot
    be waived, and is empty where it can. `source_line` is the line that it is at."""

    finding: Finding
    why_not: str
    source_line: str


def list_waivable(capability: Capability, by: Actor | None = None) -> list[WaivableFinding]:
    """What the gate finds, for this publisher, in the draft, else in what is published. Raises `StatusConflict` without
    either."""
    draft = get_active_draft(capability)
    if draft is not None:
        report = validate_draft(draft)
    elif capability.published_revision is not None:
        report = validate_bundle(capability.published_revision.files, published=get_validation_context())
    else:
        raise StatusConflict(f"'{capability.capability_id}' has neither a draft nor a revision")
    gate = evaluate_gate(report, capability, GateRequest(by=by, previously_published=draft is None))
    lines = {name: text.split("\n") for name, text in report.files.items()}
    return [WaivableFinding(one, explain_unwaivable(one, gate.findings), _line_of(lines, one)) for one in gate.findings]


def _line_of(lines: dict[str, list[str]], finding: Finding) -> str:
    of_file = lines.get(finding.file, [])
    return of_file[finding.line - 1] if finding.line is not None and finding.line <= len(of_file) else ""


def find_waivable(capability: Capability, *, code: str, place: str, by: Actor | None = None) -> WaivableFinding:
    """The one finding of this code at `FILE`, `FILE:LINE`, `FILE:LINE:COLUMN`, or with this fingerprint (`sha256:HEX`).

    Raises `InvalidRequest` for another form, and where several are there; `NotFound` where none is.
    """
    of_code = [one for one in list_waivable(capability, by) if one.finding.code == code]
    found = [one for one in of_code if _is_at(one.finding, place)]
    if not found:
        where = f"; it is at {_places(of_code)}" if of_code else ""
        raise NotFound(f"There is no finding {code[:64]} at {place[:300]}{where}")
    if len(found) > 1:
        raise InvalidRequest(f"{code[:64]} is at several places; name one of {_places(found)}")
    return found[0]


def _is_at(finding: Finding, place: str) -> bool:
    if place.startswith("sha256:"):
        return finding.fingerprint == place
    match = _PLACE.fullmatch(place)
    if match is None:
        raise InvalidRequest("place has the form FILE, FILE:LINE or FILE:LINE:COLUMN, such as skill.md:12")
    line, column = (int(match[name]) if match[name] else None for name in ("line", "column"))
    return finding.file == match["file"] and line in (None, finding.line) and column in (None, finding.column)


def _places(found: Sequence[WaivableFinding]) -> str:
    more = f" and {len(found) - 5} more" if len(found) > 5 else ""
    places = [describe_place(one.finding) for one in found]
    # Two at the very same place differ in their fingerprints.
    names = [one.finding.fingerprint if places.count(at) > 1 else at for one, at in zip(found, places, strict=True)]
    return ", ".join(names[:5]) + more


def describe_place(finding: Finding) -> str:
    """`FILE:LINE:COLUMN`, as `find_waivable` reads it."""
    return finding.file if finding.line is None else f"{finding.file}:{finding.line}:{finding.column}"


def create_waiver(*, capability_id: str, code: str, place: str, reason: str, until: date, by: Actor) -> Acceptance:
    """Waive the finding of a code at a place (`find_waivable`) until a day (UTC), from which on it counts again.

    Raises `InvalidRequest` for a finding that cannot be waived, a reason or a day that is not allowed; `Forbidden` for
    an error where `by` is not an admin; `StatusConflict` where it is waived; `NotFound`, `CapabilityNotFound`.
    """
    reason = check_reason(reason, "Say why it is waived: a few words are needed")
    check_day(until)
    found = find_waivable(get_capability(capability_id), code=code, place=place, by=by)
    finding = found.finding
    require_right(finding, by)
    if found.why_not:
        raise InvalidRequest(found.why_not)
    with acceptance_write(capability_id, by, "waiver.create") as detail:
        require_right(finding, by)
        _require_unwaived(capability_id, finding.fingerprint)
        waiver = Acceptance.waivers.create(
            capability_id=capability_id,
            code=code,
            severity=finding.severity,
            file=finding.file,
            line=finding.line,
            fingerprint=finding.fingerprint,
            message=finding.message,
            reason=reason,
            until=until,
            accepted_at=timezone.now(),
            accepted_by=str(by),
        )
        detail.update(_audited(waiver), **audit.changed({}, _values(waiver)))
    capability = get_capability(capability_id)
    refresh_digest(capability)
    # What is published may have failed by what is waived now.
    queue_failing(capability)
    return waiver


def _require_unwaived(capability_id: str, fingerprint: str) -> None:
    waiver = Acceptance.waivers.in_force().filter(capability_id=capability_id, fingerprint=fingerprint).first()
    if waiver is not None:
        raise StatusConflict(f"It is waived until {waiver.until} already: end that waiver first")


def check_day(until: date) -> None:
    """Raises `InvalidRequest` for a day that is past or too far ahead."""
    today = timezone.now().date()
    if not today < until <= today + timedelta(days=DAYS_MAX):
        last = today + timedelta(days=DAYS_MAX)
        raise InvalidRequest(f"The end is a day from {today + timedelta(days=1)} to {last} (UTC), found {until}")


def require_right(finding: Finding, by: Actor) -> None:
    """Admins and the registry's own command line waive errors; publishers, and keys that publish, warnings. Raises
    `Forbidden`."""
    if finding.severity == "error" and not is_admin(by):
        raise Forbidden(f"Only admins can waive an error such as {finding.code}")
    if not may_publish(by):
        raise Forbidden("Only publishers and admins can waive a warning")


def end_waiver(*, capability_id: str, waiver_id: int, by: Actor) -> Acceptance:
    """End a waiver before its day: the finding counts at the next gate. What is live stays live.

    Raises `NotFound`, and `StatusConflict` where it has ended.
    """
    with acceptance_write(capability_id, by, "waiver.end") as detail:
        waiver = get_waiver(capability_id, waiver_id)
        if waiver.state != "in_force":
            raise StatusConflict(f"The waiver is not in force any more: it is {waiver.state}")
        if not may_publish(by):
            raise Forbidden("Only publishers and admins can end a waiver")
        was = _values(waiver)
        update_row(waiver, ended_at=timezone.now(), ended_by=str(by))
        detail.update(_audited(waiver), **audit.changed(was, _values(waiver)))
    refresh_digest(get_capability(capability_id))
    return waiver


def get_waiver(capability_id: str, waiver_id: int) -> Acceptance:
    """One of a capability's. Raises `CapabilityNotFound`, `NotFound`."""
    get_capability(capability_id)
    found = Acceptance.waivers.filter(pk=waiver_id, capability_id=capability_id)
    return get_row(found, NotFound(f"'{capability_id[:64]}' has no waiver {waiver_id}"))


def list_waivers(capability: Capability, *, in_force: bool = False) -> list[Acceptance]:
    """The newest first; with `in_force` those alone that count now."""
    found = Acceptance.waivers.in_force() if in_force else Acceptance.waivers.all()
    return list(found.filter(capability_id=capability.capability_id))


def describe_waiver_row(waiver: Acceptance) -> dict[str, Any]:
    """One entry of `{"waivers": [...]}`."""
    columns = ("capability_id", "code", "severity", "file", "line", "message", "reason")
    return {
        "waiver_id": waiver.pk,
        **{name: getattr(waiver, name) for name in columns},
        "until": str(waiver.until),
        "state": waiver.state,
        "created_at": as_moment(waiver.accepted_at),
        "created_by": waiver.accepted_by,
        "ended_at": as_moment(waiver.ended_at),
        "ended_by": waiver.ended_by,
    }


def _values(waiver: Acceptance) -> dict[str, Any]:
    """What changes of a waiver: the audit log keeps it before and after."""
    return {"state": waiver.state, "until": str(waiver.until)}


def _audited(waiver: Acceptance) -> dict[str, Any]:
    columns = ("code", "severity", "file", "fingerprint", "reason")
    return {"waiver_id": waiver.pk, **{name: getattr(waiver, name) for name in columns}, "until": str(waiver.until)}
