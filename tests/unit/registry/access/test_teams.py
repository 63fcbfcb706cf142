"""Teams: whose a capability is, and that others keep their hands off it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from capability_rules.errors import InvalidRequest
from registry.access import operators, teams
from registry.catalog import drafts
from registry.common.actors import SYSTEM, Actor
from registry.common.errors import Forbidden, NameConflict, NotFound, StatusConflict
from registry.models import AuditEvent, Capability, Draft, Review, Team
from registry.publishing import bulk_actions, proposals, publication, reviews, scheduled_releases
from registry.selectors.capability_list import CapabilityFilter, CapabilityList
from tests.factories import OLGA, bundle, publish
from tests.sweeps import check_each, rolled_back

pytestmark = pytest.mark.django_db
VERA = Actor("operator", "vera")
ROOT = Actor("operator", "root")
PASSWORD = "a-long-passphrase"


@pytest.fixture(autouse=True)
def people() -> None:
    for name, role in (("vera", "publisher"), ("root", "admin")):
        operators.create_operator(username=name, role=role, password=PASSWORD, by=OLGA)


@pytest.fixture
def owners() -> Team:
    """A team that owns `alpha`, with nobody in it; `alpha` has two revisions and a draft, and is proposed anew."""
    publish()
    publish(body="Two.")
    drafts.save_draft(capability_id="alpha", files=bundle(body="Three."), based_on=None, by=OLGA)
    drafts.discard_draft(capability_id="alpha", by=OLGA)
    drafts.save_draft(capability_id="alpha", files=bundle(body="Four."), based_on=None, by=OLGA)
    proposals.propose(files=bundle(body="Five."), by=Actor("agent_key", "bot"))
    team = teams.create_team(name="Owners", by=ROOT)
    teams.set_owning_team(capability_id="alpha", key=team.pk, by=ROOT)
    return team


def _draft_version() -> int:
    return Draft.objects.get(discarded_at__isnull=True).version


def _proposal() -> Any:
    return Capability.objects.get().proposals.get().proposal_id


def _restored(by: Actor) -> Draft:
    if by == VERA and not operators.list_operators(search="vera")[0].teams:
        return drafts.restore_draft(capability_id="alpha", version=1, by=by)
    drafts.discard_draft(capability_id="alpha", by=by)
    return drafts.restore_draft(capability_id="alpha", version=1, by=by)


def _review() -> int:
    """Of a review that was asked for at the command line."""
    found = Review.objects.first()
    if found is None:
        found = reviews.request_review(capability_id="alpha", draft_version=_draft_version(), by=SYSTEM, note="Look")
    return found.pk


def _asked(verb: Callable[..., Any], by: Actor, **more: Any) -> Any:
    return verb(review_id=_review(), round_seen=1, by=by, **more)


VERBS: dict[str, Callable[[Actor], Any]] = {
    "save_draft": lambda by: drafts.save_draft(
        capability_id="alpha", files=bundle(body="Mine."), based_on=_draft_version(), by=by
    ),
    "replace_draft": lambda by: drafts.replace_draft(capability_id="alpha", files=bundle(body="Mine."), by=by),
    "discard_draft": lambda by: drafts.discard_draft(capability_id="alpha", by=by),
    "restore_draft": _restored,
    "restore_version": lambda by: drafts.restore_version(
        capability_id="alpha", version=1, based_on=_draft_version(), by=by
    ),
    "publish": lambda by: publication.publish(files=bundle(body="Mine."), by=by),
    "ask_review": lambda by: reviews.request_review(
        capability_id="alpha", draft_version=_draft_version(), by=by, note="Look"
    ),
    "approve": lambda by: _asked(reviews.approve, by),
    "request_changes": lambda by: _asked(reviews.request_changes, by, words="No"),
    "withdraw": lambda by: reviews.withdraw(review_id=_review(), by=by),
    "schedule_release": lambda by: scheduled_releases.schedule_release(
        capability_id="alpha",
        draft_version=_draft_version(),
        due_at=timezone.now() + timedelta(hours=1),
        by=by,
        note="n",
    ),
    "publish_draft": lambda by: publication.publish_draft(capability_id="alpha", by=by),
    "rollback": lambda by: publication.rollback(capability_id="alpha", to=1, by=by, note="n"),
    "set_visibility": lambda by: publication.set_visibility(capability_id="alpha", visibility="unlisted", by=by),
    "deprecate": lambda by: publication.deprecate(capability_id="alpha", by=by),
    "retire": lambda by: publication.retire(capability_id="alpha", by=by),
    "accept_proposal": lambda by: proposals.accept_proposal(proposal_id=_proposal(), by=by),
    "reject_proposal": lambda by: proposals.reject_proposal(proposal_id=_proposal(), by=by),
}


@pytest.mark.both_databases
def test_a_verb_is_refused_to_others_and_writes_nothing(owners: Team) -> None:
    def check(name: str) -> None:
        if name in ("approve", "request_changes", "withdraw"):
            _review()
        written = AuditEvent.objects.count()
        with pytest.raises(Forbidden, match="Only members of the team 'Owners'"):
            VERBS[name](VERA)
        assert AuditEvent.objects.count() == written

    check_each(VERBS, check, isolate=rolled_back)


@pytest.mark.both_databases
@pytest.mark.parametrize("who", ["member", "admin", "pipeline", "terminal"])
def test_a_verb_is_done_for_members_admins_keys_and_the_command_line(who: str, owners: Team) -> None:
    if who == "member":
        teams.add_member(key=owners.pk, username="vera", by=ROOT)
    by = {"member": VERA, "admin": ROOT, "pipeline": Actor("agent_key", "vera"), "terminal": SYSTEM}[who]

    def check(name: str) -> None:
        if name == "withdraw" and who in ("member", "pipeline"):
            with pytest.raises(Forbidden, match="Only the author of the review and admins"):
                VERBS[name](by)
            return
        written = AuditEvent.objects.count()
        VERBS[name](by)
        assert AuditEvent.objects.count() > written

    check_each(VERBS, check, isolate=rolled_back)


def test_an_admin_who_was_deactivated_is_none(owners: Team) -> None:
    teams.require_edit_permission("alpha", ROOT)
    operators.create_operator(username="other", role="admin", password=PASSWORD, by=OLGA)
    operators.disable_operator(username="root", by=OLGA)
    with pytest.raises(Forbidden, match="Only members of the team 'Owners' and admins"):
        teams.require_edit_permission("alpha", ROOT)


def test_whoever_leaves_the_team_loses_it_at_once(owners: Team) -> None:
    teams.add_member(key=owners.pk, username="vera", by=ROOT)
    VERBS["save_draft"](VERA)
    teams.remove_member(key=owners.pk, username="vera", by=ROOT)
    with pytest.raises(Forbidden):
        VERBS["save_draft"](VERA)
    teams.set_owning_team(capability_id="alpha", key=None, by=ROOT)
    VERBS["save_draft"](VERA)


def test_several_at_once_tell_which_are_refused(owners: Team) -> None:
    publish("beta")
    told = bulk_actions.deprecate_capabilities(capability_ids=["alpha", "beta"], by=VERA)
    assert list(told.done) == ["beta"]
    assert [name for name, _ in told.refused] == ["alpha"]


def test_the_list_is_filtered_by_the_team_before_what_the_author_names(owners: Team) -> None:
    publish("beta", metadata={"owner": "Somebody"})
    assert (
        len(CapabilityList(CapabilityFilter(owner="Owners")))
        == len(CapabilityList(CapabilityFilter(owner="Somebody")))
        == 1
    )
    teams.set_owning_team(capability_id="beta", key=owners.pk, by=ROOT)
    assert len(CapabilityList(CapabilityFilter(owner="Owners"))) == 2
    assert list(CapabilityList(CapabilityFilter()).choices().owners) == [("Owners", 2)]


@pytest.mark.both_databases
def test_each_write_is_in_the_log_and_doing_it_twice_is_not() -> None:
    team = teams.create_team(name=" A ", description="d", by=ROOT)
    publish()
    for _ in range(2):
        teams.add_member(key=team.pk, username="vera", by=ROOT)
        teams.set_owning_team(capability_id="alpha", key=team.pk, by=ROOT)
    teams.update_team(key=team.pk, name="B", by=ROOT)
    assert [(row.name, row.members, row.capabilities) for row in teams.list_teams()] == [("B", 1, 1)]
    page = teams.get_team_page(team.pk)
    assert ([one.username for one in page.members], page.owned) == (["vera"], ["alpha"])
    for _ in range(2):
        teams.set_owning_team(capability_id="alpha", key=None, by=ROOT)
        teams.remove_member(key=team.pk, username="vera", by=ROOT)
    teams.delete_team(key=team.pk, by=ROOT)
    verbs = [verb for verb in AuditEvent.objects.order_by("id").values_list("verb", flat=True) if verb[:4] != "oper"]
    assert verbs == [
        "team.create",
        "capability.publish",
        "team.add_member",
        "capability.set_owner",
        "team.change",
        "capability.set_owner",
        "team.remove_member",
        "team.delete",
    ]


def test_a_team_that_owns_something_stays(owners: Team) -> None:
    with pytest.raises(StatusConflict):
        teams.delete_team(key=owners.pk, by=ROOT)
    assert Team.objects.exists()


@pytest.mark.parametrize("name", ["", " ", "x" * 81, "a\0b", "a\nb"])
def test_an_odd_name_is_refused(name: str) -> None:
    with pytest.raises(InvalidRequest):
        teams.create_team(name=name, by=ROOT)


def test_a_name_is_used_once() -> None:
    teams.create_team(name="A", by=ROOT)
    other = teams.create_team(name="B", by=ROOT)
    with pytest.raises(NameConflict):
        teams.create_team(name="A", by=ROOT)
    with pytest.raises(NameConflict):
        teams.update_team(key=other.pk, name="A", by=ROOT)


def test_what_is_not_there_is_told() -> None:
    with pytest.raises(NotFound):
        teams.get_team_page(77)
    team = teams.create_team(name="A", by=ROOT)
    with pytest.raises(NotFound):
        teams.add_member(key=team.pk, username="nobody", by=ROOT)
