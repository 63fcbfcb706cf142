"""What publishing asks for beside valid texts, whichever way somebody publishes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from capability_rules.bundles.bundle_reader import SourceBundle
from capability_rules.errors import InvalidRequest
from registry.access.operators import create_operator
from registry.catalog import drafts
from registry.common.actors import SYSTEM, Actor
from registry.common.errors import NotFound
from registry.models import AuditEvent, Capability, ReleaseRule, Revision
from registry.publishing import batch, publication, release_rules, reviews
from tests.factories import OLGA, bundle, publish, tool

pytestmark = pytest.mark.django_db

ADMIN = Actor("operator", "ada")
KEY = Actor("agent_key", "pipeline")
AT_TERMINAL = Actor("command_line", "olga")
TIGHT = [tool("alpha_save", "write")]
LOOSE = [tool("alpha_save", "write", requires_approval=False)]
TICKED = ("POLICY_LOOSENED",)


def set_rule(group_id: str = "", **values: Any) -> ReleaseRule:
    """A rule that asks for what is named."""
    asked: dict[str, Any] = {"four_eyes": False, "loosening": "publisher", "note_required": False} | values
    return release_rules.set_rule(group_id=group_id, by=ADMIN, **asked)


def _codes(outcome: Any) -> list[str]:
    return [finding.code for finding in outcome.findings if finding.is_error]


def _try(
    tools: Sequence[dict[str, Any]] = (), *, by: Actor = OLGA, note: str = "why", acknowledge: Any = (), **fields: Any
) -> Any:
    return publication.publish(files=bundle("alpha", tools, **fields), by=by, note=note, acknowledge=acknowledge)


def _approved(by: Actor = ADMIN, **fields: Any) -> None:
    """A draft of these texts that somebody has approved."""
    draft = drafts.replace_draft(capability_id="alpha", files=bundle(**fields), by=OLGA)
    assert draft is not None
    review = reviews.request_review(capability_id="alpha", draft_version=draft.version, by=OLGA, note="Look")
    reviews.approve(review_id=review.pk, round_seen=review.round, by=by)


def test_without_a_rule_nothing_is_asked_for() -> None:
    publish(tools=TIGHT)
    assert _try(LOOSE, note="", acknowledge=TICKED).status == "published"


def test_four_eyes_stop_every_way_to_publish() -> None:
    publish()
    set_rule(four_eyes=True)
    files = bundle(body="New.")
    drafts.save_draft(capability_id="alpha", files=files, based_on=None, by=OLGA)
    source = SourceBundle("alpha", dict(files))
    outcomes: list[Any] = [
        publication.publish(files=files, by=OLGA, note="x"),
        publication.publish(files=files, by=AT_TERMINAL, note="x"),
        publication.publish(files=files, by=KEY, note="x"),
        publication.publish(files=files, by=SYSTEM, note="x"),
        publication.publish(files=files, by=OLGA, note="x", dry_run=True),
        publication.publish_draft(capability_id="alpha", by=OLGA, note="x"),
        publication.publish_draft(capability_id="alpha", by=OLGA, note="x", dry_run=True),
        *batch.publish_all([source], by=KEY),
        *batch.publish_all([source], by=KEY, dry_run=True),
        *batch.import_all([source], by=KEY, mode="publish"),
    ]
    assert [(outcome.status, _codes(outcome)) for outcome in outcomes] == [("refused", ["APPROVAL_REQUIRED"])] * 10
    assert Revision.objects.count() == 1


def test_an_approval_by_somebody_else_lets_the_very_texts_through_whichever_way() -> None:
    publish()
    set_rule(four_eyes=True)
    _approved(body="New.")
    assert _codes(_try(body="Newer.")) == ["APPROVAL_REQUIRED"]
    outcome = _try(body="New.", by=KEY)
    assert outcome.status == "published"
    revision = Revision.objects.get(number=2)
    assert (revision.created_by, revision.approved_by) == ("agent_key:pipeline", "operator:ada")
    event = AuditEvent.objects.filter(verb="capability.publish").latest("id")
    assert event.detail["approved_by"] == "operator:ada"


def test_one_approval_is_for_one_publish() -> None:
    publish()
    set_rule(four_eyes=True)
    _approved(body="New.")
    assert _try(body="New.").status == "published"
    assert publication.rollback(capability_id="alpha", to=1, by=OLGA, note="x").status == "published"
    assert _codes(_try(body="New.")) == ["APPROVAL_REQUIRED"]


def test_an_approval_of_ones_own_from_before_the_rule_is_none() -> None:
    publish()
    _approved(by=OLGA, body="New.")
    set_rule(four_eyes=True)
    assert _codes(_try(body="New.")) == ["APPROVAL_REQUIRED"]


def test_what_is_published_already_asks_for_nobody() -> None:
    publish()
    set_rule(four_eyes=True, note_required=True)
    assert _try(note="").status == "unchanged"


def test_going_back_and_bringing_back_need_no_second_person() -> None:
    publish()
    publish(body="New.")
    set_rule(four_eyes=True)
    assert publication.rollback(capability_id="alpha", to=1, by=OLGA, note="x").status == "published"
    publication.retire(capability_id="alpha", by=OLGA)
    assert publication.restore(capability_id="alpha", by=OLGA, note="x").status == "published"


@pytest.mark.parametrize(("note", "status"), [("", "refused"), (" \t", "refused"), ("why", "published")])
def test_a_note_is_asked_for(note: str, status: str) -> None:
    publish()
    publish(body="New.")
    set_rule(note_required=True)
    assert publication.rollback(capability_id="alpha", to=1, by=OLGA, note=note).status == status
    outcome = _try(body="Newer.", note=note)
    assert outcome.status == status
    assert _codes(outcome) == ([] if status == "published" else ["NOTE_REQUIRED"])


def test_a_note_that_nobody_was_asked_for_yet_is_not_missed() -> None:
    publish()
    set_rule(note_required=True)
    drafts.save_draft(capability_id="alpha", files=bundle(body="New."), based_on=None, by=OLGA)
    seen = publication.publish_draft(capability_id="alpha", by=OLGA, note=None, dry_run=True)
    assert seen.status == "would_publish"


@pytest.mark.parametrize(
    ("by", "expected"),
    [(OLGA, "refused"), (KEY, "refused"), (ADMIN, "published"), (AT_TERMINAL, "published")],
)
def test_only_an_admin_may_loosen(by: Actor, expected: str) -> None:
    create_operator(username="olga", password="Correct-horse-battery-9", role="publisher", by=ADMIN)
    create_operator(username="ada", password="Correct-horse-battery-9", role="admin", by=ADMIN)
    publish(tools=TIGHT)
    set_rule(loosening="admin")
    outcome = _try(LOOSE, by=by, acknowledge=TICKED)
    assert outcome.status == expected
    assert _codes(outcome) == ([] if expected == "published" else ["LOOSENING_NOT_ALLOWED"])


def test_who_may_not_loosen_may_publish_everything_else() -> None:
    publish(tools=TIGHT)
    set_rule(loosening="admin")
    assert _try(TIGHT, by=KEY, body="New.").status == "published"


def test_a_looser_policy_needs_a_second_person_going_back_too() -> None:
    publish(tools=LOOSE)
    publish(tools=TIGHT)
    set_rule(loosening="second_person")
    assert _codes(_try(LOOSE, acknowledge=TICKED)) == ["APPROVAL_REQUIRED"]
    back = publication.rollback(capability_id="alpha", to=1, by=OLGA, note="x", acknowledge=TICKED)
    assert (back.status, _codes(back)) == ("refused", ["APPROVAL_REQUIRED"])
    assert _try(TIGHT, body="New.").status == "published"
    _approved(tools=LOOSE)
    assert _codes(_try(LOOSE)) == ["POLICY_LOOSENED"]
    assert _try(LOOSE, acknowledge=TICKED).status == "published"


def test_a_groups_rule_holds_for_its_members_and_nobody_leaves_it_by_leaving_the_group() -> None:
    publish(skill_groups=["health"])
    publish("beta")
    set_rule("health", four_eyes=True)
    assert _codes(_try(skill_groups=["health"], body="New.")) == ["APPROVAL_REQUIRED"]
    assert _codes(_try(body="New.")) == ["APPROVAL_REQUIRED"]
    assert publication.publish(files=bundle("beta", body="New."), by=OLGA).status == "published"
    assert _codes(publication.publish(files=bundle("beta", skill_groups=["health"]), by=OLGA)) == ["APPROVAL_REQUIRED"]


def test_a_first_release_is_held_to_the_rule() -> None:
    set_rule(four_eyes=True)
    assert _codes(_try()) == ["APPROVAL_REQUIRED"]
    assert not Capability.objects.exists()
    _approved()
    assert _try().status == "published"


def test_the_strictest_of_all_rules_counts() -> None:
    set_rule(note_required=True)
    set_rule("health", loosening="admin")
    set_rule("food", loosening="second_person", four_eyes=True)
    found = release_rules.get_rule(["health", "food"])
    assert (found.four_eyes, found.note_required) == (True, True)
    assert found.loosening_requires == {"admin", "second_person"}
    assert release_rules.get_rule([]) == release_rules.EffectiveRule(note_required=True)


def test_a_rule_is_set_changed_and_dropped_with_a_row_in_the_log() -> None:
    set_rule("health", four_eyes=True)
    set_rule("health", four_eyes=True)
    set_rule("health", note_required=True)
    registry_rule, groups = release_rules.list_rules()
    assert (registry_rule.four_eyes, registry_rule.loosening, registry_rule.note_required) == (
        False,
        "publisher",
        False,
    )
    assert [(rule.group_id, rule.four_eyes, rule.note_required) for rule in groups] == [("health", False, True)]
    release_rules.delete_rule(group_id="health", by=ADMIN)
    told = list(AuditEvent.objects.filter(verb__startswith="release_rule").values_list("verb", "subject"))
    assert told == [("release_rule.set", "health")] * 2 + [("release_rule.drop", "health")]
    with pytest.raises(NotFound):
        release_rules.delete_rule(group_id="health", by=ADMIN)


@pytest.mark.parametrize(("group_id", "loosening"), [("Not An Id", "admin"), ("x" * 65, "admin"), ("a", "anybody")])
def test_an_odd_rule_is_refused(group_id: str, loosening: str) -> None:
    with pytest.raises(InvalidRequest):
        set_rule(group_id, loosening=loosening)
    assert not ReleaseRule.objects.exists()
