"""Fill a new data directory as a busy registry leaves it: `DATA_DIR=... python bench/busy.py COUNT`.

So many capabilities in 40 skill groups, and all that pages list: drafts, reviews, planned releases, a year of loads,
outcomes, proposals, what was asked for in vain, incidents, keys, people, teams, webhooks and 100,000 rows of audit log.
Rows as the verbs leave them, stored in bulk. An admin signs in as `bench` with PASSWORD.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterable, Iterator
from datetime import timedelta
from itertools import islice
from typing import Any, Final
from uuid import UUID

import fill
from django.core.management import call_command
from django.utils import timezone

from features.webhooks.models import Webhook, WebhookDelivery
from registry.access import operators
from registry.common.actors import SYSTEM
from registry.core import audit
from registry.core.queries import files_digest
from registry.models import (
    AgentKey,
    AuditEvent,
    Capability,
    Confidence,
    Draft,
    FeedbackEvent,
    Incident,
    LoadCount,
    Operator,
    Proposal,
    Review,
    ReviewEntry,
    ScheduledRelease,
    SkillGroup,
    Team,
    TeamMember,
    UnknownCapabilityRequest,
    UnmatchedMessage,
)

PASSWORD: Final = "quiet-lantern-over-27-rivers"
GROUPS, KEYS, PEOPLE, TEAMS, WEBHOOKS = 40, 200, 300, 60, 30
AUDIT_ROWS: Final = 100_000
VERBS: Final = ("draft.save", "capability.publish", "feedback.record", "review.comment", "agent_key.create")
OUTCOMES: Final = ("confirmed_success", "likely_success", "likely_failure", "confirmed_failure", "used")
OLGA, PAUL = "operator:olga", "operator:paul"
NOW: Final = timezone.now()
_dice = random.Random(5000)


def store(model: Any, rows: Iterable[Any]) -> None:
    """In bulk, in portions that a statement can hold."""
    waiting = iter(rows)
    while portion := list(islice(waiting, 500)):
        model.objects.bulk_create(portion)


def ago(days: float) -> Any:
    return NOW - timedelta(days=days)


def fill_people() -> None:
    operator = operators.create_operator(username="bench", role="admin", password=PASSWORD, by=SYSTEM)
    Operator.objects.filter(pk=operator.pk).update(must_change_password=False)
    roles = ("viewer", "author", "publisher", "admin")
    store(Operator, (Operator(username=f"person_{n:03}", role=roles[n % 4], password="!") for n in range(PEOPLE)))
    store(Team, (Team(name=f"Team {n:02}", description="Looks after some", created_by=OLGA) for n in range(TEAMS)))
    teams, people = list(Team.objects.all()), list(Operator.objects.all())
    store(TeamMember, (TeamMember(team=teams[n % TEAMS], operator=person) for n, person in enumerate(people)))
    store(
        AgentKey,
        (
            AgentKey(
                name=f"key {n:03}", key_hash=f"{n:064x}", key_prefix=f"csk_{n:04}", scopes=["read"], created_by=OLGA
            )
            for n in range(KEYS)
        ),
    )


def fill_webhooks() -> None:
    hooks = [
        Webhook(name=f"hook {n}", url=f"https://hooks.example.com/{n}", secret="whsec_bench", created_by=OLGA)
        for n in range(WEBHOOKS)
    ]
    store(Webhook, hooks)
    store(
        WebhookDelivery,
        (
            WebhookDelivery(
                webhook=hook, event_id=UUID(int=n), kind="capability.published", body="{}",
                state=("delivered", "failed")[n % 7 == 0], attempts=1, finished_at=ago(n / 50), created_at=ago(n / 50),
            )
            for hook in Webhook.objects.all()
            for n in range(500)
        ),
    )  # fmt: skip


def fill_work(published: list[Capability]) -> None:
    """Drafts of a fifth, a review for each fifth of those, and releases that wait."""
    drafts = [_draft(one) for one in published[::5]]
    store(Draft, drafts)
    store(Review, (_review(draft, n) for n, draft in enumerate(drafts)))
    store(
        ReviewEntry,
        (
            ReviewEntry(review=review, kind=kind, round=1, by=PAUL, words="Look at this line again")
            for review in Review.objects.all()
            for kind in ("asked", "comment", "comment")
        ),
    )
    store(
        ScheduledRelease,
        (
            ScheduledRelease(
                capability=draft.capability, draft_version=1, files_digest=files_digest(draft.files),
                due_at=ago(-n / 24), note="At night", scheduled_by=PAUL,
            )
            for n, draft in enumerate(drafts[::5])
        ),
    )  # fmt: skip


def _draft(capability: Capability) -> Draft:
    revision = capability.published_revision
    assert revision is not None
    draft = Draft(
        capability=capability, version=1, base_revision=revision, saved_by=OLGA, saved_at=ago(_dice.random() * 40)
    )
    files = dict(revision.files)
    files["skill.md"] = str(files["skill.md"]) + "\n\nOne more line.\n"
    draft.files = files
    draft.digest = revision.digest
    return draft


def _review(draft: Draft, number: int) -> Review:
    state = ("open", "sent_back", "approved", "withdrawn", "published")[number % 5]
    review = Review(
        capability=draft.capability, state=state, draft_version=1, files_digest=files_digest(draft.files),
        note="Please", requested_by=OLGA, requested_at=ago(number / 20),
    )  # fmt: skip
    review.files = draft.files
    if state != "open":
        review.decided_at, review.decided_by = NOW, PAUL
    if state == "published":
        review.revision = 1
    return review


def fill_use(published: list[Capability]) -> None:
    """Loads by day and key for 90 days and by month before, outcomes with what they led to, proposals."""
    store(
        LoadCount,
        (
            LoadCount(
                day=ago(days).date(), capability_id=one.capability_id, revision=1,
                key_name=f"key {(n + days) % KEYS:03}", count=1 + (n * days) % 50,
            )
            for n, one in enumerate(published)
            for days in ((n % 30) + 30 * month for month in range(4))
        ),
    )  # fmt: skip
    told = published[::10]
    store(
        FeedbackEvent,
        (
            FeedbackEvent(capability=one, revision=1, outcome=OUTCOMES[(n + m) % 5], key_name="key 001", at=ago(m / 2))
            for n, one in enumerate(told)
            for m in range(80)
        ),
    )
    store(
        Confidence,
        (
            Confidence(capability=one, revision=revision, percent=(n * 7) % 101, uses=80, confirmed=16)
            for n, one in enumerate(told)
            for revision in (0, 1)
        ),
    )
    store(Proposal, (_proposal(one, n) for n, one in enumerate(published[::25])))


def _proposal(one: Capability, number: int) -> Proposal:
    assert one.published_revision is not None
    proposal = Proposal(capability=one, note="Users were startled", key_name=f"key {number % KEYS:03}")
    proposal.files = one.published_revision.files
    if number % 2:
        proposal.status, proposal.decided_at, proposal.decided_by = "rejected", NOW, PAUL
    return proposal


def fill_trouble(published: list[Capability]) -> None:
    """What was asked for in vain, and what could not be given."""
    requested_by = {f"key {n:03}": n + 1 for n in range(20)}
    store(
        UnknownCapabilityRequest,
        (
            UnknownCapabilityRequest(capability_id=f"wish_{n}", count=1 + n % 40, requested_by=requested_by)
            for n in range(9000)
        ),
    )
    store(
        UnmatchedMessage,
        (
            UnmatchedMessage(
                form=f"{n:064x}", text=f"could you please do number {n} for me", decision="none", nearest="bench_001",
                count=1 + n % 9, requested_by={"key 001": 1},
            )
            for n in range(5000)
        ),
    )  # fmt: skip
    store(
        Incident,
        (
            Incident(
                capability=one, revision=one.published_revision, cause=f"{n:064x}", message="It could not be read",
                details="The tool is not in tools.json", closed_at=NOW if n % 10 else None,
            )
            for n, one in enumerate(published[::5])
        ),
    )  # fmt: skip


def audit_rows() -> Iterator[AuditEvent]:
    """A chain that goes on where the log stands."""
    last = AuditEvent.objects.order_by("-id").first()
    previous = last.hash if last else audit.GENESIS
    for n in range(AUDIT_ROWS):
        event = AuditEvent(
            at=ago(300 - n / 400), actor_kind="operator", actor_name=f"person_{n % PEOPLE:03}", verb=VERBS[n % 5],
            subject=f"bench_{n % 5000:03}", detail={"version": n, "note": "As asked"}, previous_hash=previous,
        )  # fmt: skip
        event.hash = previous = audit.event_hash(event)
        yield event


def main(count: int) -> None:
    call_command("migrate", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    fill.store_in_bulk(range(count), groups=GROUPS)
    store(SkillGroup, (SkillGroup(group_id=f"group_{n}", name=f"Group {n}") for n in range(GROUPS)))
    fill_people()
    published = list(Capability.objects.select_related("published_revision"))
    for team, one in zip(Team.objects.all(), published[::70], strict=False):
        Capability.objects.filter(pk=one.pk).update(team=team)
    fill_work(published)
    fill_use(published)
    fill_trouble(published)
    fill_webhooks()
    store(AuditEvent, audit_rows())


if __name__ == "__main__":
    main(int(sys.argv[1]))
