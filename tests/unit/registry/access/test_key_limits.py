"""A key of a team, or of some ids, changes those capabilities and no others, by whichever verb."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError
from django.utils import timezone

from capability_rules.bundles.bundle_reader import SourceBundle
from capability_rules.errors import InvalidRequest
from features.acceptances import waiver_store
from registry.access import agent_keys, teams
from registry.access.key_limits import describe_limit, require_within_limit
from registry.catalog import drafts
from registry.common.actors import Actor
from registry.common.errors import Forbidden, NotFound, StatusConflict
from registry.feature import list_registry_models
from registry.models import AgentKey, AuditEvent, Capability, Team
from registry.publishing import batch, proposals, publication, scan_results
from registry.publishing.quarantine import quarantine
from tests import factories
from tests.factories import OLGA, agent_key, bundle, publish
from tests.sweeps import check_each, rolled_back

pytestmark = pytest.mark.django_db
fresh_process = pytest.fixture(autouse=True)(factories.fresh_process)
TERMINAL = Actor("command_line", "root")
OF_TEAM, OF_IDS = Actor("agent_key", "of team"), Actor("agent_key", "of ids")
LOG = {"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "Trivy"}}, "results": []}]}


@pytest.fixture(autouse=True)
def keys(fresh_process: None) -> None:
    """`own` is of the team and among the ids, `other` is neither; both have a second revision and a draft."""
    team = teams.create_team(name="Health", by=OLGA)
    for name in ("own", "other"):
        publish(name)
        publish(name, body="Two.")
        # With a warning that can be waived.
        files = bundle(name, body="Three.", intent_triggers=["what is"])
        drafts.save_draft(capability_id=name, files=files, based_on=None, by=OLGA)
    teams.set_owning_team(capability_id="own", key=team.pk, by=OLGA)
    agent_key("publish", "propose", name="of team", team="Health")
    agent_key("publish", "propose", name="of ids", capability_ids=["own", "new"])


def _scan(name: str, by: Actor) -> object:
    return scan_results.store_scan_results(capability_id=name, log=LOG, by=by)


def _waive(name: str, by: Actor) -> object:
    until = timezone.now().date() + timedelta(days=9)
    return waiver_store.create_waiver(
        capability_id=name, code="TRIGGER_TOO_GENERAL", place="capability.json", reason="Known.", until=until, by=by
    )


def _end_waiver(name: str, by: Actor) -> object:
    number = waiver_store.list_waivers(Capability.objects.get(capability_id=name))[0].pk
    return waiver_store.end_waiver(capability_id=name, waiver_id=number, by=by)


# Each change that a key can make, on a capability of this name.
VERBS: dict[str, Callable[[str, Actor], object]] = {
    "publish": lambda name, by: publication.publish(files=bundle(name, body="Four."), by=by),
    "publish_draft": lambda name, by: publication.publish_draft(capability_id=name, by=by),
    "rollback": lambda name, by: publication.rollback(capability_id=name, to=1, by=by),
    "deprecate": lambda name, by: publication.deprecate(capability_id=name, by=by),
    "retire": lambda name, by: publication.retire(capability_id=name, by=by),
    "restore": lambda name, by: publication.restore(capability_id=name, by=by),
    "quarantine": lambda name, by: quarantine(capability_id=name, by=by),
    "save_draft": lambda name, by: drafts.save_draft(capability_id=name, files=bundle(name), based_on=1, by=by),
    "replace_draft": lambda name, by: drafts.replace_draft(capability_id=name, files=bundle(name), by=by),
    "replace_draft, dry run": lambda name, by: drafts.replace_draft(
        capability_id=name, files=bundle(name), by=by, dry_run=True
    ),
    "discard_draft": lambda name, by: drafts.discard_draft(capability_id=name, by=by),
    "scan": _scan,
    "waive": _waive,
    "end_waiver": _end_waiver,
    "propose": lambda name, by: proposals.propose(files=bundle(name), by=by),
}
# What somebody else does before.
BEFORE = {"end_waiver": "waive", "restore": "deprecate"}


def _prepare(verb: str, name: str) -> None:
    if verb in BEFORE:
        VERBS[BEFORE[verb]](name, TERMINAL)


def _stored() -> dict[str, list[dict[str, Any]]]:
    models = list_registry_models()
    return {model.__name__: list(model._default_manager.order_by("pk").values()) for model in models}


@pytest.mark.parametrize("by", [OF_TEAM, OF_IDS], ids=str)
def test_no_verb_changes_what_is_not_the_keys(by: Actor) -> None:
    def check(verb: str) -> None:
        _prepare(verb, "other")
        before = _stored()
        with pytest.raises(Forbidden, match=f"The key '{by.name}' may change .* only; 'other' is not one of them"):
            VERBS[verb]("other", by)
        assert _stored() == before

    check_each(sorted(VERBS), check, isolate=rolled_back)


@pytest.mark.parametrize("by", [OF_TEAM, OF_IDS], ids=str)
def test_every_verb_changes_what_is_the_keys(by: Actor) -> None:
    def check(verb: str) -> None:
        _prepare(verb, "own")
        VERBS[verb]("own", by)

    check_each(sorted(VERBS), check, isolate=rolled_back)


@pytest.mark.parametrize("create", ["publish", "save_draft", "replace_draft", "propose"])
def test_what_a_key_of_a_team_creates_belongs_to_the_team(create: str) -> None:
    if create == "save_draft":
        drafts.save_draft(capability_id="new", files=bundle("new"), based_on=None, by=OF_TEAM)
    else:
        VERBS[create]("new", OF_TEAM)
    team = Capability.objects.select_related("team").get(capability_id="new").team
    assert team is not None
    assert team.name == "Health"
    event = AuditEvent.objects.get(verb="capability.set_owner", subject="new")
    assert (event.actor_name, event.detail["before"], event.detail["after"]) == (
        "of team", {"team": None}, {"team": "Health"},
    )  # fmt: skip


def test_a_key_of_ids_creates_these_alone() -> None:
    publication.publish(files=bundle("new"), by=OF_IDS)
    assert Capability.objects.get(capability_id="new").team is None
    with pytest.raises(Forbidden, match="may change new, own only; 'third' is not one of them"):
        publication.publish(files=bundle("third"), by=OF_IDS)
    assert not Capability.objects.filter(capability_id="third").exists()


def test_one_bundle_of_several_is_refused_and_the_rest_goes_on() -> None:
    sources = [SourceBundle(name, dict(bundle(name, body="Four."))) for name in ("other", "own")]
    runs: list[Callable[[bool], list[batch.BatchResult]]] = [
        lambda dry: batch.publish_all(sources, by=OF_TEAM, dry_run=dry),
        lambda dry: batch.import_all(sources, by=OF_TEAM, mode="publish", dry_run=dry),
        lambda dry: batch.import_all(sources, by=OF_TEAM, mode="draft", dry_run=dry),
    ]
    for run in runs:
        for dry in (True, False):
            denied, done = run(dry)
            (finding,) = (one for one in denied.findings if one.is_error)
            assert (denied.status, finding.code, finding.pointer) == ("refused", "CHANGE_NOT_ALLOWED", "/capability_id")
            assert "capabilities of the team 'Health' only" in finding.message
            assert done.status in ("would_publish", "published", "unchanged", "draft")
        with pytest.raises(Forbidden):
            batch.publish_all(sources[:1], by=OF_TEAM)
    assert Capability.objects.get(capability_id="other").revisions.count() == 2


def test_a_bundle_without_an_id_is_refused_for_that() -> None:
    for dry in (True, False):
        (result,) = batch.publish_all([SourceBundle("a", {"skill.md": "# A"})], by=OF_IDS, dry_run=dry)
        assert (result.status, result.findings[0].code) == ("refused", "FILE_MISSING")


def test_a_team_that_gives_a_capability_away_takes_it_from_its_keys() -> None:
    require_within_limit("own", OF_TEAM)
    teams.set_owning_team(capability_id="own", key=None, by=OLGA)
    with pytest.raises(Forbidden):
        require_within_limit("own", OF_TEAM)


def test_a_proposal_for_what_a_key_may_not_know_tells_nothing() -> None:
    done = proposals.propose(files=bundle("other"), by=OF_TEAM, is_visible=lambda _: False)
    assert done.proposal.capability.capability_id == "other"
    with pytest.raises(Forbidden):
        proposals.propose(files=bundle("other"), by=OF_TEAM, is_visible=lambda _: True)
    # Ids are the same refusal, whether there is such a capability or not.
    for name in ("other", "third"):
        with pytest.raises(Forbidden, match="may change new, own only"):
            proposals.propose(files=bundle(name), by=OF_IDS, is_visible=lambda _: False)


def test_a_key_without_a_limit_changes_everything() -> None:
    agent_key("publish", name="all")
    assert publication.retire(capability_id="other", by=Actor("agent_key", "all")).status == "retired"


def test_a_team_with_keys_in_force_is_not_deleted() -> None:
    team = Team.objects.get()
    teams.set_owning_team(capability_id="own", key=None, by=OLGA)
    with pytest.raises(StatusConflict, match="has the keys of team: revoke them"):
        teams.delete_team(key=team.pk, by=OLGA)
    agent_keys.revoke_key(name="of team", by=OLGA)
    teams.delete_team(key=team.pk, by=OLGA)
    assert AgentKey.objects.get(name="of team").revoked_at is not None


@pytest.mark.parametrize(
    ("limit", "error", "words"),
    [
        ({"team": "Nobody"}, NotFound, "There is no team named 'Nobody'"),
        ({"team": "Health", "capability_ids": ["own"]}, InvalidRequest, "exclude each other"),
        ({"capability_ids": []}, InvalidRequest, "Ids of capabilities"),
        ({"capability_ids": ["No"]}, InvalidRequest, "Ids of capabilities"),
        ({"capability_ids": [f"a{number}" for number in range(501)]}, InvalidRequest, "1 to 500 of them"),
    ],
)
def test_an_odd_limit_is_refused(limit: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        agent_keys.create_key(name="odd", by=OLGA, **limit)
    assert not AgentKey.objects.filter(name="odd").exists()


@pytest.mark.both_databases
def test_a_limit_is_changed_audited_and_described() -> None:
    event = AuditEvent.objects.get(verb="agent_key.create", subject="of team")
    assert {"scopes": ["propose", "publish"], "team": "Health"}.items() <= event.detail.items()
    rights: dict[str, Any] = {"scopes": ["publish"], "groups": None, "read_only_tools": False, "preview": False}
    row = agent_keys.update_key(
        name="of team",
        by=OLGA,
        expires_at=None,
        team="",
        capability_ids=[f"c{number}" for number in range(12)],
        **rights,
    )
    assert describe_limit(row) == "c0, c1, c10, c11, c2, c3, c4, c5, c6, c7 and 2 more"
    detail = AuditEvent.objects.get(verb="agent_key.change").detail
    assert (detail["before"]["team"], detail["after"]["team"]) == ("Health", None)
    assert detail["after"]["capabilities"] == row.capability_ids


def test_the_database_holds_one_limit() -> None:
    with pytest.raises(IntegrityError):
        AgentKey.objects.filter(name="of team").update(capability_ids=["own"])
