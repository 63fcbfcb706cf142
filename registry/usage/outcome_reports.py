"""Why uses ended as they did: what hosts say of them, for 30 days (docs/contract.md 4, `capability_feedback`)."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import Any, Final
from uuid import UUID

from django.db.models import QuerySet
from django.utils import timezone

from capability_kit.json_text import map_texts
from capability_kit.outcome_reports import CONVERSATION_BYTES_MAX, MESSAGES_MAX, NAME_LENGTH_MAX
from capability_rules.errors import InvalidRequest
from registry.access.teams import require_edit_permission
from registry.common.actors import Actor
from registry.common.errors import NotFound
from registry.core import audit, chosen_settings
from registry.core.jobs.queue import CommitAction, Lease
from registry.core.rows import get_row
from registry.core.transactions import write_transaction
from registry.models import AuditEvent, Capability, FeedbackEvent, OutcomeReport
from registry.usage.revision_health import BAD_OUTCOMES
from registry.usage.scrubbing import scrub_text
from registry.usage.unmatched_messages import normalized_form

REASON_LENGTH_MAX: Final = 500
RETENTION: Final = timedelta(days=30)
KIND: Final = "outcome_report.prune"
KEEP: Final = "KEEP_CONVERSATIONS"
# So many of the newest are looked at; a page of more is read by nobody.
SHOWN_MAX: Final = 300
_ROLES: Final = ("user", "agent", "tool")
_NAME: Final = re.compile(rf"[A-Za-z0-9_.:-]{{1,{NAME_LENGTH_MAX}}}")


@dataclass(frozen=True, slots=True)
class ReportedReason:
    """What a host says beside an outcome, of the form that is kept."""

    reason: str = ""
    tool: str = ""
    code: str = ""
    missing: str = ""
    conversation: list[dict[str, Any]] | None = field(default=None, repr=False)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is to be kept."""
        return not (self.reason or self.code or self.conversation is not None)


def read_reason(reason: object, failed_call: object, conversation: object) -> ReportedReason:
    """Check and scrub what came; a conversation is None where the registry keeps none. Raises `InvalidRequest`."""
    if reason is not None and (not isinstance(reason, str) or len(reason) > REASON_LENGTH_MAX):
        raise InvalidRequest(f"reason must be a string of at most {REASON_LENGTH_MAX} characters")
    call = {} if failed_call is None else failed_call
    if not isinstance(call, Mapping) or (failed_call is not None and not {"tool", "code"} <= call.keys()):
        raise InvalidRequest('failed_call must be an object such as {"tool": "visit_book", "code": "NOT_FOUND"}')
    names = {name: call.get(name) or "" for name in ("tool", "code", "missing")}
    wrong = next(
        (name for name, one in names.items() if one and not (isinstance(one, str) and _NAME.fullmatch(one))), ""
    )
    if wrong:
        raise InvalidRequest(
            f"failed_call.{wrong} must be a name of at most {NAME_LENGTH_MAX} letters, digits and _ . : -"
        )
    said = scrub_text(reason or "", most=REASON_LENGTH_MAX)
    return ReportedReason(said, **names, conversation=_read_conversation(conversation))


def _read_conversation(given: object) -> list[dict[str, Any]] | None:
    if given is None:
        return None
    if not isinstance(given, list) or len(given) > MESSAGES_MAX or not all(_is_message(one) for one in given):
        raise InvalidRequest(
            f'conversation must be a list of at most {MESSAGES_MAX} messages such as {{"role": "user", "text": "…"}}'
        )
    if len(json.dumps(given, ensure_ascii=False).encode("utf-8", "surrogatepass")) > CONVERSATION_BYTES_MAX:
        raise InvalidRequest(
            f"conversation must be at most {CONVERSATION_BYTES_MAX:,} bytes of JSON: send the newest part"
        )
    if not chosen_settings.get_setting(KEEP):
        return None
    kept = [{name: one[name] for name in ("role", "text", "calls") if name in one} for one in given]
    # Names of keys too long to be some are cut.
    return [map_texts(one, scrub_text, partial(scrub_text, most=64)) | {"role": one["role"]} for one in kept]


def _is_message(one: object) -> bool:
    if not isinstance(one, dict) or one.get("role") not in _ROLES or not isinstance(one.get("text"), str):
        return False
    calls = one.get("calls", [])
    return isinstance(calls, list) and all(
        isinstance(call, dict) and isinstance(call.get("tool"), str) and isinstance(call.get("arguments"), dict)
        for call in calls
    )


def keep_report(event: FeedbackEvent, said: ReportedReason, by: Actor) -> None:
    """Store it beside its event; the caller holds the lock."""
    if not said.is_empty:
        OutcomeReport.objects.create(
            event=event,
            reason=said.reason,
            tool=said.tool,
            code=said.code,
            missing=said.missing,
            conversation=said.conversation,
            member=by.name if by.kind == "operator" else "",
        )


@dataclass(frozen=True, slots=True)
class ReportGroup:
    """Uses of which hosts say the same: a missing argument, an error of a tool, or nearly the same sentence."""

    tool: str
    code: str
    missing: str
    reports: Sequence[OutcomeReport]

    @property
    def failures(self) -> int:
        """How many of them failed."""
        return sum(one.event.outcome in BAD_OUTCOMES for one in self.reports)

    @property
    def newest(self) -> OutcomeReport:
        """The one that came last."""
        return self.reports[0]


def list_groups(capability: Capability, *, revision: int | None = None) -> list[ReportGroup]:
    """What hosts said of its uses in the last 30 days: groups with most failures first, the newest of each first."""
    found = _reports(capability).select_related("event").order_by("-event_id")
    found = found if revision is None else found.filter(event__revision=revision)
    together: dict[tuple[str, ...], list[OutcomeReport]] = defaultdict(list)
    for one in found[:SHOWN_MAX]:
        together[_shared(one)].append(one)
    groups = [ReportGroup(rows[0].tool, rows[0].code, rows[0].missing, rows) for rows in together.values()]
    return sorted(groups, key=lambda group: (-group.failures, -group.newest.event_id))


def _reports(capability: Capability) -> QuerySet[OutcomeReport]:
    since = timezone.now() - RETENTION
    return OutcomeReport.objects.filter(event__capability=capability, at__gte=since)


def _shared(one: OutcomeReport) -> tuple[str, ...]:
    """What failures have in common; good ones never share a group with them."""
    bad = "bad" if one.event.outcome in BAD_OUTCOMES else ""
    if one.missing:
        return (bad, "missing", one.tool, one.missing)
    if one.code:
        return (bad, "code", one.tool, one.code)
    return (bad, "said", normalized_form(one.reason) if one.reason else "")


def get_report(event_id: UUID, *, capability: Capability | None = None) -> OutcomeReport:
    """The report of an outcome, with its event and capability. Raises `NotFound`."""
    found = OutcomeReport.objects.select_related("event__capability").filter(
        event__event_id=event_id, at__gte=timezone.now() - RETENTION
    )
    found = found if capability is None else found.filter(event__capability=capability)
    return get_row(found, NotFound("What was said of this use is no longer kept"))


def erase_report(*, event_id: UUID, by: Actor) -> None:
    """Forget what was said; the outcome stays. Raises `NotFound`, `Forbidden`."""
    with write_transaction():
        report = get_report(event_id)
        capability_id = report.event.capability.capability_id
        require_edit_permission(capability_id, by)
        report.delete()
        audit.record(by=by, verb="feedback.erase", subject=capability_id, detail={"event_id": str(event_id)})


def erase_of_member(event: AuditEvent) -> None:
    """Forget what the assistants of a member said who is deactivated; for the hook of that verb."""
    OutcomeReport.objects.filter(member=event.subject).delete()


def prune_reports(lease: Lease) -> CommitAction:  # noqa: ARG001 (the handler of a job without a payload)
    """The handler: deletes what is older than 30 days, and conversations where none is kept any more."""
    old = OutcomeReport.objects.filter(at__lt=timezone.now() - RETENTION)
    keeps = chosen_settings.get_setting(KEEP)

    def prune() -> None:
        old.delete()
        if not keeps:
            OutcomeReport.objects.filter(conversation__isnull=False, reason="", code="").delete()
            OutcomeReport.objects.filter(conversation__isnull=False).update(conversation=None)

    return prune
