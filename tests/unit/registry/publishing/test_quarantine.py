"""A capability that may do harm is taken from readers, and comes back through today's gate as what it was."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from capability_rules.bundles.bundle_reader import SourceBundle
from capability_rules.errors import InvalidRequest
from registry.access import operators, teams
from registry.catalog import drafts
from registry.common.actors import Actor
from registry.common.errors import CapabilityNotFound, Forbidden, ReplacementInvalid, StatusConflict
from registry.core.jobs.queue import Lease
from registry.core.transactions import get_registry_revision
from registry.models import AuditEvent, Capability, Release, ToolName
from registry.publishing import batch, bulk_actions, publication, scheduled_releases
from registry.publishing.publication import PublishResult
from registry.publishing.quarantine import evaluate_end, is_quarantine_open, quarantine
from registry.publishing.recheck import recheck_published
from registry.snapshot import current_snapshot
from tests.factories import OLGA, bundle, damage, publish, tool

pytestmark = pytest.mark.django_db
TERMINAL = Actor("command_line", "root")
KEY = Actor("agent_key", "ci")


def _row(capability_id: str = "alpha") -> Capability:
    return Capability.objects.select_related("replaced_by", "published_revision").get(capability_id=capability_id)


def _quarantine(capability_id: str = "alpha", note: str = "") -> None:
    quarantine(capability_id=capability_id, by=OLGA, note=note)


def _restore(capability_id: str = "alpha", by: Actor = TERMINAL, **more: Any) -> PublishResult:
    return publication.restore(capability_id=capability_id, by=by, **{"note": "It is harmless", **more})


def _member(name: str, role: str = "publisher") -> Actor:
    operators.create_operator(username=name, role=role, password="Correct-horse-battery-9", by=OLGA)
    return Actor("operator", name)


def _publish(by: Actor, body: str = "One.") -> None:
    assert publication.publish(files=bundle(body=body), by=by).status == "published"


def test_it_is_taken_from_readers_and_audited() -> None:
    publish()
    before = get_registry_revision()
    _quarantine(note="It sends the diary away")
    assert (_row().status, get_registry_revision()) == ("quarantined", before + 1)
    event = AuditEvent.objects.latest("id")
    assert (event.verb, event.subject) == ("capability.quarantine", "alpha")
    assert event.detail == {"note": "It sends the diary away", "from": "published"}
    held = current_snapshot()
    assert (held.ids, held.retired, sorted(held.quarantined)) == ([], {"alpha": before + 1}, ["alpha"])


def test_only_what_readers_can_load_is_quarantined() -> None:
    with pytest.raises(CapabilityNotFound):
        _quarantine("nothing")
    drafts.save_draft(capability_id="alpha", files=bundle(), based_on=None, by=OLGA)
    with pytest.raises(StatusConflict, match="'alpha' is draft"):
        _quarantine()
    publish()
    _quarantine()
    with pytest.raises(StatusConflict, match="'alpha' is quarantined"):
        _quarantine()
    assert Release.objects.count() == 2


def test_only_the_team_that_owns_it_and_admins_may() -> None:
    publish()
    for name, role in (("ada", "admin"), ("pia", "publisher")):
        operators.create_operator(username=name, role=role, password="Correct-horse-battery-9", by=OLGA)
    team = teams.create_team(name="Health", by=OLGA)
    teams.set_owning_team(capability_id="alpha", key=team.pk, by=OLGA)
    with pytest.raises(Forbidden):
        quarantine(capability_id="alpha", by=Actor("operator", "pia"))
    quarantine(capability_id="alpha", by=Actor("operator", "ada"))
    assert _row().status == "quarantined"


def test_its_tool_names_stay_taken() -> None:
    publish(tools=[tool("shared_list")])
    _quarantine()
    assert list(ToolName.objects.values_list("name", flat=True)) == ["shared_list"]
    outcome = publication.publish(files=bundle("beta", [tool("shared_list")]), by=OLGA)
    assert {finding.code for finding in outcome.findings} >= {"TOOL_NAME_COLLISION"}
    publication.retire(capability_id="alpha", by=OLGA)
    assert not ToolName.objects.exists()


def test_publishing_and_rolling_back_keep_it_quarantined() -> None:
    publish()
    _quarantine()
    outcome = publication.publish(files=bundle(body="A safe text."), by=OLGA)
    assert (outcome.status, outcome.revision, _row().status) == ("published", 2, "quarantined")
    assert current_snapshot().ids == []
    again = publication.publish(files=bundle(body="A safe text."), by=OLGA)
    assert (again.status, again.revision) == ("unchanged", 2)
    assert publication.rollback(capability_id="alpha", to=1, by=OLGA).revision == 1
    assert (_row().status, current_snapshot().ids) == ("quarantined", [])
    drafts.save_draft(capability_id="alpha", files=bundle(body="A third."), based_on=None, by=OLGA)
    assert publication.publish_draft(capability_id="alpha", by=OLGA).revision == 3
    assert _row().status == "quarantined"


def test_restoring_gives_it_back_through_todays_gate() -> None:
    publish("beta")
    publish(body="One.")
    _quarantine()
    publication.publish(files=bundle(body="Two."), by=OLGA)
    outcome = _restore(note="Fixed")
    assert (outcome.status, outcome.revision, _row().status) == ("published", 2, "published")
    assert sorted(current_snapshot().ids) == ["alpha", "beta"]
    assert not current_snapshot().quarantined
    assert AuditEvent.objects.latest("id").verb == "capability.restore"


def test_what_todays_rules_refuse_stays_quarantined(monkeypatch: pytest.MonkeyPatch) -> None:
    publish()
    _quarantine()
    monkeypatch.setattr(publication, "validate_bundle", lambda *_, **__: _refused())
    assert _restore().status == "refused"
    assert _row().status == "quarantined"


def _refused() -> object:
    from capability_rules.validation import validate_bundle

    return validate_bundle(bundle(description=None))


def test_what_was_deprecated_comes_back_deprecated_with_its_replacement() -> None:
    publish()
    publish("beta")
    publication.deprecate(capability_id="alpha", replaced_by="beta", by=OLGA)
    _quarantine()
    assert _row().replaced_by == _row("beta")
    _restore()
    entry = current_snapshot().entries["alpha"]
    assert (entry.status, entry.replaced_by) == ("deprecated", "beta")
    _quarantine()
    publication.retire(capability_id="beta", by=OLGA)
    _restore()
    assert (_row().status, _row().replaced_by) == ("deprecated", None)


def test_nobody_is_sent_to_what_is_quarantined() -> None:
    publish()
    publish("beta")
    publication.deprecate(capability_id="alpha", replaced_by="beta", by=OLGA)
    _quarantine("beta")
    entry = current_snapshot().entries["alpha"]
    assert (entry.status, entry.replaced_by) == ("deprecated", None)
    _restore("beta")
    assert current_snapshot().entries["alpha"].replaced_by == "beta"


def test_a_check_of_the_registry_leaves_it_out_unless_it_is_named() -> None:
    publish()
    publish("beta")
    _quarantine()
    assert [entry.path for entry in recheck_published()] == ["beta"]
    assert [entry.path for entry in recheck_published(["alpha"])] == ["alpha"]


def test_a_past_list_is_read_back_as_it_was() -> None:
    from registry.snapshot.snapshot import snapshot_at

    publish()
    _quarantine()
    publish("beta")
    assert snapshot_at(1).ids == ["alpha"]
    past = snapshot_at(2)
    assert (past.ids, past.retired) == ([], {"alpha": 2})


def test_ending_it_needs_a_reason() -> None:
    publish()
    _quarantine()
    with pytest.raises(InvalidRequest, match="Say why"):
        _restore(note="  ")
    assert _restore(note="Looked at it").status == "published"
    detail = AuditEvent.objects.latest("id").detail
    assert (detail["note"], detail["ended_quarantine"]) == ("Looked at it", True)


def test_a_key_never_ends_it() -> None:
    _publish(KEY)
    _quarantine()
    for by in (KEY, Actor("agent_key", "another"), Actor("system", "git source 1")):
        with pytest.raises(Forbidden, match="A key cannot end the quarantine"):
            _restore(by=by)
    assert _row().status == "quarantined"


def test_of_a_team_those_end_it_who_neither_published_nor_edited_it() -> None:
    ada, ben, eve = _member("ada", "admin"), _member("ben"), _member("eve")
    author = _member("amy", "author")
    drafts.save_draft(capability_id="alpha", files=bundle(body="Bad."), based_on=None, by=author)
    drafts.save_draft(capability_id="alpha", files=bundle(body="Bad, by two."), based_on=1, by=eve)
    assert publication.publish_draft(capability_id="alpha", by=ben).status == "published"
    assert _row().published_revision.editors == ["operator:amy", "operator:eve"]  # type: ignore[union-attr]
    quarantine(capability_id="alpha", by=ben)
    for by in (ben, eve, author):
        with pytest.raises(Forbidden, match=r"published or edited what is quarantined.*: ada in the Studio"):
            _restore(by=by, is_confirmed=True)
    with pytest.raises(Forbidden, match="You cannot publish it"):
        _restore(by=_member("vic", "viewer"))
    assert _restore(by=ada).status == "published"
    assert "alone" not in AuditEvent.objects.latest("id").detail


def test_a_sole_admin_ends_it_after_confirming_who_they_are_and_the_log_says_so() -> None:
    ada = _member("ada", "admin")
    _publish(ada)
    quarantine(capability_id="alpha", by=ada)
    with pytest.raises(Forbidden, match="confirm who you are first"):
        _restore(by=ada)
    assert _row().status == "quarantined"
    assert _restore(by=ada, is_confirmed=True).status == "published"
    detail = AuditEvent.objects.latest("id").detail
    assert (detail["ended_quarantine"], detail["alone"]) == (True, True)


@pytest.mark.parametrize("state", ["invited", "deactivated", "author", "in another team"])
def test_who_cannot_end_it_locks_a_sole_admin_out_of_nothing(state: str) -> None:
    ada = _member("ada", "admin")
    if state == "invited":
        operators.invite_operator(username="ben", role="admin", by=ada)
    else:
        _member("ben", "author" if state == "author" else "publisher")
    _publish(ada)
    if state == "deactivated":
        operators.disable_operator(username="ben", by=ada)
    if state == "in another team":
        team = teams.create_team(name="Health", by=ada)
        teams.set_owning_team(capability_id="alpha", key=team.pk, by=ada)
    quarantine(capability_id="alpha", by=ada)
    assert _restore(by=ada, is_confirmed=True).status == "published"


def test_a_publisher_alone_does_not_end_it() -> None:
    ben = _member("ben")
    _publish(ben)
    quarantine(capability_id="alpha", by=ben)
    with pytest.raises(Forbidden, match="an admin in the Studio"):
        _restore(by=ben, is_confirmed=True)


def test_an_admin_beside_somebody_who_may_is_not_alone() -> None:
    ada, _ben = _member("ada", "admin"), _member("ben")
    _publish(ada)
    quarantine(capability_id="alpha", by=ada)
    with pytest.raises(Forbidden, match=": ben in the Studio"):
        _restore(by=ada, is_confirmed=True)


def test_what_a_key_or_a_mirror_published_is_ended_by_any_member_who_may() -> None:
    ada = _member("ada", "admin")
    _publish(Actor("system", "git source 1"))
    quarantine(capability_id="alpha", by=ada)
    _publish(Actor("system", "git source 1"), "Two.")
    assert _row().status == "quarantined"
    assert _restore(by=ada).revision == 2
    _publish(KEY, "Three.")
    quarantine(capability_id="alpha", by=KEY)
    assert _restore(by=ada).status == "published"
    assert "alone" not in AuditEvent.objects.latest("id").detail


def test_at_the_server_it_is_ended_by_an_admin() -> None:
    _member("ada", "admin")
    _publish(TERMINAL)
    _quarantine()
    assert _restore().status == "published"
    assert AuditEvent.objects.latest("id").detail["alone"] is True


def test_the_person_at_the_server_is_the_member_of_that_name() -> None:
    root, _ada = _member("root", "admin"), _member("ada", "admin")
    _publish(TERMINAL)
    _quarantine()
    with pytest.raises(Forbidden, match=": ada in the Studio"):
        _restore(by=root, is_confirmed=True)


def _retire_and_restore(by: Actor) -> None:
    publication.retire(capability_id="alpha", by=by)
    _restore(by=by, is_confirmed=True)


def _retire_and_publish(by: Actor) -> None:
    publication.retire(capability_id="alpha", by=by)
    _publish(by, "Again.")


def _roll_back(by: Actor) -> None:
    publication.rollback(capability_id="alpha", to=1, by=by)


def _publish_and_restore(by: Actor) -> None:
    _publish(by, "Fixed.")
    _restore(by=by, is_confirmed=True)


def _deprecate(by: Actor) -> None:
    publication.deprecate(capability_id="alpha", by=by)


def _deprecate_many(by: Actor) -> None:
    bulk_actions.deprecate_capabilities(capability_ids=["alpha"], by=by)


def _list(by: Actor) -> None:
    publication.set_visibility(capability_id="alpha", visibility="unlisted", by=by)


def _schedule(by: Actor) -> None:
    drafts.save_draft(capability_id="alpha", files=bundle(body="Later."), based_on=None, by=by)
    at = timezone.now() + timedelta(hours=1)
    release = scheduled_releases.schedule_release(
        capability_id="alpha", draft_version=1, due_at=at, by=by, note="Later"
    ).release
    assert release is not None
    finish = scheduled_releases.publish_scheduled(Lease(1, "release.publish", {"scheduled_id": release.pk}, 1, 1))
    assert finish is not None
    finish()
    assert _row().published_revision.number == 3  # type: ignore[union-attr]


def _import(by: Actor) -> None:
    source = SourceBundle("alpha", dict(bundle(body="From elsewhere.")))
    (done,) = batch.import_all([source], by=Actor("system", "git source 1"), mode="publish")
    assert done.status == "published"


def _replace(by: Actor) -> None:
    publish("beta")
    publication.deprecate(capability_id="beta", replaced_by="alpha", by=by)


WAYS = [
    *(_retire_and_restore, _retire_and_publish, _roll_back, _publish_and_restore, _deprecate, _deprecate_many),
    *(_list, _schedule, _import, _replace),
]


@pytest.mark.both_databases
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("by", [KEY, Actor("operator", "ben")], ids=["key", "member"])
def test_there_is_no_way_around_it(way: Callable[[Actor], None], by: Actor) -> None:
    _member("ada", "admin")
    _member("ben")
    _publish(by)
    _publish(by, "Two.")
    quarantine(capability_id="alpha", by=Actor("operator", "ada"))
    with contextlib.suppress(Forbidden, StatusConflict, ReplacementInvalid):
        way(by)
    assert "alpha" not in current_snapshot().ids
    assert is_quarantine_open(_row())
    assert evaluate_end(_row(), by).refusal
    assert _restore(by=Actor("operator", "ada")).status == "published"
    assert _row().status == "published"


def test_what_was_published_while_it_was_quarantined_counts_too() -> None:
    ada, ben, eve = _member("ada", "admin"), _member("ben"), _member("eve")
    _publish(ben)
    _quarantine()
    _publish(eve, "Fixed.")
    for by in (ben, eve):
        with pytest.raises(Forbidden):
            _restore(by=by)
    assert _restore(by=ada).revision == 2


def test_an_earlier_quarantine_does_not_count() -> None:
    ben, eve = _member("ben"), _member("eve")
    _publish(ben)
    _quarantine()
    _restore(by=eve)
    _publish(eve, "Two.")
    _quarantine()
    assert _restore(by=ben).revision == 2


def test_editors_of_a_revision_from_before_they_were_kept_are_read_from_the_audit_log() -> None:
    ada, eve = _member("ada", "admin"), _member("eve")
    drafts.save_draft(capability_id="alpha", files=bundle(body="Bad."), based_on=None, by=eve)
    publication.publish_draft(capability_id="alpha", by=KEY)
    damage(_row().published_revision, editors=None)  # type: ignore[arg-type]
    _quarantine()
    with pytest.raises(Forbidden, match="published or edited"):
        _restore(by=eve)
    assert _restore(by=ada).status == "published"


def test_the_texts_of_a_draft_have_its_editors_whoever_sends_them() -> None:
    eve = _member("eve")
    drafts.save_draft(capability_id="alpha", files=bundle(body="Bad."), based_on=None, by=eve)
    assert publication.publish(files=bundle(body="Bad."), by=KEY).status == "published"
    assert _row().published_revision.editors == ["operator:eve"]  # type: ignore[union-attr]
    publication.publish(files=bundle(body="Others."), by=KEY)
    assert _row().published_revision.editors == ["agent_key:ci"]  # type: ignore[union-attr]
