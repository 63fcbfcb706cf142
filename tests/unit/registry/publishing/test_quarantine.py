"""A capability that may do harm is taken from readers, and comes back through today's gate as what it was."""

from __future__ import annotations

import pytest

from registry.access import operators, teams
from registry.catalog import drafts
from registry.common.actors import Actor
from registry.common.errors import CapabilityNotFound, Forbidden, StatusConflict
from registry.core.transactions import get_registry_revision
from registry.models import AuditEvent, Capability, Release, ToolName
from registry.publishing import publication
from registry.publishing.quarantine import quarantine
from registry.publishing.recheck import recheck_published
from registry.snapshot import current_snapshot
from tests.factories import OLGA, bundle, publish, tool

pytestmark = pytest.mark.django_db


def _row(capability_id: str = "alpha") -> Capability:
    return Capability.objects.select_related("replaced_by", "published_revision").get(capability_id=capability_id)


def _quarantine(capability_id: str = "alpha", note: str = "") -> None:
    quarantine(capability_id=capability_id, by=OLGA, note=note)


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
    outcome = publication.restore(capability_id="alpha", by=OLGA, note="Fixed")
    assert (outcome.status, outcome.revision, _row().status) == ("published", 2, "published")
    assert sorted(current_snapshot().ids) == ["alpha", "beta"]
    assert not current_snapshot().quarantined
    assert AuditEvent.objects.latest("id").verb == "capability.restore"


def test_what_todays_rules_refuse_stays_quarantined(monkeypatch: pytest.MonkeyPatch) -> None:
    publish()
    _quarantine()
    monkeypatch.setattr(publication, "validate_bundle", lambda *_, **__: _refused())
    assert publication.restore(capability_id="alpha", by=OLGA).status == "refused"
    assert _row().status == "quarantined"


def _refused() -> object:
    from registry.validation import validate_bundle

    return validate_bundle(bundle(description=None))


def test_what_was_deprecated_comes_back_deprecated_with_its_replacement() -> None:
    publish()
    publish("beta")
    publication.deprecate(capability_id="alpha", replaced_by="beta", by=OLGA)
    _quarantine()
    assert _row().replaced_by == _row("beta")
    publication.restore(capability_id="alpha", by=OLGA)
    entry = current_snapshot().entries["alpha"]
    assert (entry.status, entry.replaced_by) == ("deprecated", "beta")
    _quarantine()
    publication.retire(capability_id="beta", by=OLGA)
    publication.restore(capability_id="alpha", by=OLGA)
    assert (_row().status, _row().replaced_by) == ("deprecated", None)


def test_nobody_is_sent_to_what_is_quarantined() -> None:
    publish()
    publish("beta")
    publication.deprecate(capability_id="alpha", replaced_by="beta", by=OLGA)
    _quarantine("beta")
    entry = current_snapshot().entries["alpha"]
    assert (entry.status, entry.replaced_by) == ("deprecated", None)
    publication.restore(capability_id="beta", by=OLGA)
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
