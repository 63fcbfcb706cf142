"""Drafts and publishing as a state machine: any order of saves, discards, publishes, rollbacks and retirements keeps
what a plain model of them says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import pytest
from django.db import transaction
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from capability_rules.errors import RegistryError
from registry.catalog import drafts
from registry.common import caches
from registry.common.errors import DraftConflict, DraftNotFound
from registry.core import audit
from registry.core.transactions import get_registry_revision
from registry.models import AuditEvent, Capability, Release, Revision
from registry.publishing import publication
from tests.factories import OLGA, bundle

pytestmark = pytest.mark.django_db

BODIES = st.sampled_from(["One.", "Two.", "Three."])


class DraftMachine(RuleBasedStateMachine):
    """One capability; the fields are what it should be in."""

    events: ClassVar[list[str]] = []

    @initialize()
    def begin(self) -> None:
        self.savepoint = transaction.savepoint()
        caches.reset_all()
        self.draft: str | None = None
        self.version = 0
        self.revisions: list[str] = []
        self.published: int | None = None
        self.status = "none"
        self.releases = get_registry_revision()
        self.began = self.releases

    def teardown(self) -> None:
        if hasattr(self, "savepoint"):
            transaction.savepoint_rollback(self.savepoint)
        caches.reset_all()

    def _refused(self, act: Callable[[], Any], *kinds: type[RegistryError]) -> None:
        before = AuditEvent.objects.count(), get_registry_revision()
        with pytest.raises(kinds or (RegistryError,)):
            act()
        assert (AuditEvent.objects.count(), get_registry_revision()) == before

    @rule(body=BODIES, is_stale=st.booleans())
    def save(self, body: str, is_stale: bool) -> None:
        based_on = None if self.draft is None else self.version + is_stale

        def act() -> Any:
            return drafts.save_draft(capability_id="alpha", files=bundle(body=body), based_on=based_on, by=OLGA)

        if self.draft is not None and is_stale:
            self._refused(act, DraftConflict)
            return
        self.version = act().version
        self.draft = body
        self.status = "draft" if self.status == "none" else self.status

    @rule()
    def discard(self) -> None:
        if self.draft is None:
            self._refused(lambda: drafts.discard_draft(capability_id="alpha", by=OLGA))
            return
        drafts.discard_draft(capability_id="alpha", by=OLGA)
        self.draft = None

    @rule(is_stale=st.booleans())
    def publish_draft(self, is_stale: bool) -> None:
        def act() -> Any:
            return publication.publish_draft(capability_id="alpha", draft_version=self.version + is_stale, by=OLGA)

        if self.draft is None:
            self._refused(act, DraftNotFound, RegistryError)
        elif is_stale:
            self._refused(act, DraftConflict)
        else:
            self._expect_published(act(), self.draft)
            self.draft = None

    @rule(body=BODIES)
    def publish(self, body: str) -> None:
        self._expect_published(publication.publish(files=bundle(body=body), by=OLGA), body)
        self.draft = None

    def _expect_published(self, outcome: Any, body: str) -> None:
        live = self.revisions[self.published - 1] if self.published else None
        if self.status == "published" and live == body:
            assert outcome.status == "unchanged"
            return
        assert outcome.status == "published", outcome
        assert outcome.revision is not None
        if outcome.revision > len(self.revisions):
            self.revisions.append(body)
        assert self.revisions[outcome.revision - 1] == body
        self.published, self.status = outcome.revision, "published"
        self.releases += 1

    @precondition(lambda self: self.revisions)
    @rule(data=st.data())
    def roll_back(self, data: Any) -> None:
        to = data.draw(st.integers(1, len(self.revisions)))

        def act() -> Any:
            return publication.rollback(capability_id="alpha", to=to, by=OLGA)

        if self.status == "retired":
            self._refused(act)
        elif act().status == "published":
            assert to != self.published
            self.published = to
            self.releases += 1
        else:
            assert to == self.published

    @rule()
    def retire(self) -> None:
        if self.status != "published":
            self._refused(lambda: publication.retire(capability_id="alpha", by=OLGA))
            return
        publication.retire(capability_id="alpha", by=OLGA)
        self.status = "retired"
        self.releases += 1

    @rule()
    def restore(self) -> None:
        if self.status != "retired":
            self._refused(lambda: publication.restore(capability_id="alpha", by=OLGA))
            return
        assert publication.restore(capability_id="alpha", by=OLGA).status == "published"
        self.status = "published"
        self.releases += 1

    @invariant()
    def it_is_what_the_model_says(self) -> None:
        if not hasattr(self, "savepoint"):
            return
        found = Capability.objects.filter(capability_id="alpha").first()
        assert (found.status if found else "none") == self.status
        live = found.published_revision.number if found and found.published_revision else None
        assert live == self.published
        try:
            draft = drafts.get_draft("alpha")
        except RegistryError:
            assert self.draft is None
        else:
            assert draft.version == self.version
            assert self.draft is not None
            assert self.draft in draft.files["skill.md"]
        assert get_registry_revision() == self.releases
        assert Release.objects.count() == self.releases
        assert [row.number for row in Revision.objects.order_by("number")] == list(range(1, len(self.revisions) + 1))
        assert audit.find_chain_break() is None


@pytest.mark.slow
def test_any_order_of_writes_keeps_what_the_model_says() -> None:
    budget = settings(
        max_examples=12,
        stateful_step_count=10,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        derandomize=True,
    )
    run_state_machine_as_test(DraftMachine, settings=budget)
