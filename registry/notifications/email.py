"""E-mail to operators: a review was requested or decided, an incident opened, or readers lost what they wrote.

An e-mail is a job that is stored with the row of the audit log that it reports; it is sent by a worker and tried again
where the mail server is unreachable. Operators without an address in their account get none.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from django.conf import settings
from django.core.mail import EmailMessage
from django.db.models import Q, QuerySet

from registry.core.concerned_people import TAKING_VERBS, find_concerned
from registry.core.jobs import queue
from registry.core.jobs.queue import Lease
from registry.models import AuditEvent, Operator, Review

KIND: Final = "mail.send"
# Pauses of 10 s, 20 s, 40 s ...: the last try is made nearly three hours after the first.
TRIES_MAX: Final = 11
RECIPIENTS_MAX: Final = 100
_MAY_PUBLISH: Final = Q(role__in=["publisher", "admin"])


def on_audit_event(row: AuditEvent) -> None:
    """Queue an e-mail for each operator whom the row concerns; under the lock of the registry."""
    if row.verb == "review.ask":
        _queue(_members().filter(_MAY_PUBLISH).exclude(username__in=_authors(row)), _review_requested(row))
    elif row.verb == "review.reviewers" and row.detail["added"]:
        _queue(_members().filter(username=row.detail["added"]).exclude(username=row.actor_name), _asked_by_name(row))
    elif row.verb in ("review.approve", "review.send_back"):
        _queue(_members().filter(username__in=_authors(row) - {row.actor_name}), _answered(row))
    elif row.verb in TAKING_VERBS:
        _queue(_members().filter(username__in=find_concerned([row])[row.pk]), _taken(row))
    elif row.verb == "incident.open":
        _queue(_members().filter(_MAY_PUBLISH), _incident(row))


def write_to_publishers(subject: str, words: str, path: str) -> None:
    """Queue an e-mail for each operator who may publish; `path` leads to a page of the Studio. The caller holds the
    lock of the registry."""
    _queue(_members().filter(_MAY_PUBLISH), _letter(subject, words, path))


def _authors(row: AuditEvent) -> set[str]:
    """Who has asked for the review, and who wrote its texts."""
    review = Review.objects.defer(*Review.COLUMNS.values()).get(pk=row.detail["review_id"])
    return {actor.partition(":")[2] for actor in (review.requested_by, *review.editors)}


def _members() -> QuerySet[Operator]:
    return Operator.objects.filter(is_active=True).exclude(email="")


def _review_requested(row: AuditEvent) -> dict[str, str]:
    words = f"{row.actor_name} submitted '{row.subject}' for review:\n\n{row.detail['note']}"
    return _letter(f"Submitted for review: {row.subject}", words, f"/reviews/{row.detail['review_id']}/")


def _asked_by_name(row: AuditEvent) -> dict[str, str]:
    words = f"{row.actor_name} asks you to review '{row.subject}'."
    return _letter(f"Your review is requested: {row.subject}", words, f"/reviews/{row.detail['review_id']}/")


def _answered(row: AuditEvent) -> dict[str, str]:
    is_approved = row.verb == "review.approve"
    done = f"approved '{row.subject}'" if is_approved else f"requested changes to '{row.subject}'"
    said = f":\n\n{row.detail['words']}" if row.detail.get("words") else "."
    subject = "Approved" if is_approved else "Changes requested"
    return _letter(
        f"{subject}: {row.subject}", f"{row.actor_name} {done}{said}", f"/reviews/{row.detail['review_id']}/"
    )


def _taken(row: AuditEvent) -> dict[str, str]:
    subject, done = {
        "capability.rollback": ("Rolled back", "rolled '{0}' back from revision {1} to revision {2}"),
        "capability.quarantine": ("Quarantined", "quarantined '{0}': agents can no longer load it"),
        "capability.retire": ("Retired", "retired '{0}': agents can no longer load it"),
    }[row.verb]
    words = done.format(row.subject, row.detail.get("from"), row.detail.get("to"))
    said = f":\n\n{row.detail['note']}" if row.detail.get("note") else "."
    return _letter(f"{subject}: {row.subject}", f"{row.actor_name} {words}{said}", f"/capabilities/{row.subject}/")


def _incident(row: AuditEvent) -> dict[str, str]:
    words = f"{row.detail['message']}.\n\n{row.detail['details']}"
    return _letter(f"Incident: {row.subject}", words, "/incidents/")


def _letter(subject: str, words: str, path: str) -> dict[str, str]:
    return {"subject": subject, "words": words, "path": path}


def _queue(members: Iterable[Operator], letter: dict[str, str]) -> None:
    for member in list(members)[:RECIPIENTS_MAX]:
        payload = {"operator_id": member.pk, **letter}
        queue.enqueue(KIND, payload, concurrency_key="mail", max_attempts=TRIES_MAX)


def send_email(lease: Lease) -> None:
    """The handler; payload `{"operator_id", "subject", "words", "path"}`. At least once: a worker that dies after the
    server accepted the e-mail sends it again."""
    given: dict[str, Any] = lease.payload
    member = _members().filter(pk=given["operator_id"]).first()
    if member is None:
        return
    where = f"\n\n{settings.PUBLIC_URL}{given['path']}" if settings.PUBLIC_URL else ""
    foot = "\n\n-- \nYou get this e-mail because your Capability Studio account has this address."
    EmailMessage(
        subject=" ".join(f"[Studio] {given['subject']}".split()),
        body=f"{given['words']}{where}{foot}\n",
        to=[member.email],
        headers={"Auto-Submitted": "auto-generated"},
    ).send()
