"""Roll back, deprecate, retire and restore."""

from __future__ import annotations

import pytest

from registry.common.errors import CapabilityNotFound, ReplacementInvalid, RevisionNotFound, StatusConflict
from registry.core.transactions import get_registry_revision
from registry.models import AuditEvent, Capability, Release, Revision, ToolName
from registry.publishing import publication
from tests.factories import OLGA, bundle, damage, publish, tool

pytestmark = pytest.mark.django_db


def _status(capability_id: str = "alpha") -> str:
    return Capability.objects.get(capability_id=capability_id).status


def _codes(outcome: publication.PublishResult) -> set[str]:
    return {finding.code for finding in outcome.findings}


# Rollback


def test_a_rollback_moves_the_pointer_and_the_registry_but_makes_no_number() -> None:
    first = publish()
    publish(body="Two.")
    outcome = publication.rollback(capability_id="alpha", to=1, by=OLGA, note="Two was wrong")
    assert (outcome.status, outcome.revision, outcome.digest) == ("published", 1, first.digest)
    assert (Revision.objects.count(), get_registry_revision()) == (2, 3)
    event = AuditEvent.objects.latest("id")
    assert (event.verb, event.detail["from"], event.detail["to"]) == ("capability.rollback", 2, 1)
    assert event.detail["note"] == "Two was wrong"


def test_the_next_publish_after_a_rollback_takes_the_next_number() -> None:
    publish()
    publish(body="Two.")
    publication.rollback(capability_id="alpha", to=1, by=OLGA)
    assert publish(body="Three.").revision == 3


def test_a_rollback_to_what_is_published_changes_nothing() -> None:
    publish()
    assert publication.rollback(capability_id="alpha", to=1, by=OLGA).status == "unchanged"
    assert get_registry_revision() == 1


def test_a_rollback_takes_its_tool_names_back() -> None:
    publish(tools=[tool("alpha_old")])
    publish(tools=[tool("alpha_new")])
    publication.rollback(capability_id="alpha", to=1, by=OLGA)
    assert list(ToolName.objects.values_list("name", flat=True)) == ["alpha_old"]


def test_a_rollback_runs_todays_gate() -> None:
    publish(tools=[tool("shared_list")])
    publish()
    publish("beta", [tool("shared_list")])
    outcome = publication.rollback(capability_id="alpha", to=1, by=OLGA)
    assert (outcome.status, outcome.revision) == ("refused", 2)
    assert "TOOL_NAME_COLLISION" in _codes(outcome)
    assert get_registry_revision() == 3


def test_a_rollback_that_loosens_must_be_acknowledged() -> None:
    publish(tools=[tool("alpha_save", "write", requires_approval=False)])
    publish(tools=[tool("alpha_save", "write")])
    assert publication.rollback(capability_id="alpha", to=1, by=OLGA).status == "refused"
    outcome = publication.rollback(capability_id="alpha", to=1, by=OLGA, acknowledge=["POLICY_LOOSENED"])
    assert outcome.status == "published"
    assert AuditEvent.objects.latest("id").detail["acknowledged"] == ["POLICY_LOOSENED"]


def test_a_rollback_keeps_the_status() -> None:
    publish()
    publish(body="Two.")
    publication.deprecate(capability_id="alpha", by=OLGA)
    publication.rollback(capability_id="alpha", to=1, by=OLGA)
    assert _status() == "deprecated"


def test_a_rollback_to_a_damaged_revision_is_refused() -> None:
    publish()
    publish(body="Two.")
    damage(Revision.objects.get(number=1), skill_md=bundle(body="Somebody else's.")["skill.md"])
    with pytest.raises(StatusConflict):
        publication.rollback(capability_id="alpha", to=1, by=OLGA)


@pytest.mark.parametrize("to", [0, 2, 99])
def test_a_rollback_to_nothing_is_told(to: int) -> None:
    publish()
    with pytest.raises(RevisionNotFound):
        publication.rollback(capability_id="alpha", to=to, by=OLGA)


def test_a_revision_of_another_capability_is_none_of_ours() -> None:
    publish()
    publish("beta")
    publish("beta", body="Two.")
    with pytest.raises(RevisionNotFound):
        publication.rollback(capability_id="alpha", to=2, by=OLGA)


def test_what_is_retired_cannot_be_rolled_back() -> None:
    publish()
    publish(body="Two.")
    publication.retire(capability_id="alpha", by=OLGA)
    with pytest.raises(StatusConflict):
        publication.rollback(capability_id="alpha", to=1, by=OLGA)


# Deprecate


def test_a_deprecated_one_says_what_to_use_instead() -> None:
    publish()
    publish("beta")
    capability = publication.deprecate(capability_id="alpha", replaced_by="beta", by=OLGA, note="Beta is better")
    assert (capability.status, capability.replaced_by and capability.replaced_by.capability_id) == (
        "deprecated",
        "beta",
    )
    assert get_registry_revision() == 3
    assert {"replaced_by": "beta", "note": "Beta is better"}.items() <= AuditEvent.objects.latest("id").detail.items()


def test_deprecating_twice_changes_nothing_but_another_replacement_does() -> None:
    publish()
    publish("beta")
    publication.deprecate(capability_id="alpha", by=OLGA)
    publication.deprecate(capability_id="alpha", by=OLGA)
    assert get_registry_revision() == 3
    publication.deprecate(capability_id="alpha", replaced_by="beta", by=OLGA)
    assert get_registry_revision() == 4
    assert publication.deprecate(capability_id="alpha", by=OLGA).replaced_by is None


@pytest.mark.parametrize("replaced_by", ["alpha", "nobody", "draft_only", "gone", "Alpha!"])
def test_an_odd_replacement_is_refused(replaced_by: str) -> None:
    from registry.catalog.drafts import save_draft

    publish()
    publish("gone")
    publication.retire(capability_id="gone", by=OLGA)
    save_draft(capability_id="draft_only", files=bundle("draft_only"), based_on=None, by=OLGA)
    with pytest.raises(ReplacementInvalid):
        publication.deprecate(capability_id="alpha", replaced_by=replaced_by, by=OLGA)
    assert _status() == "published"


def test_replacements_never_lead_in_a_circle() -> None:
    for name in ("alpha", "beta", "gamma"):
        publish(name)
    publication.deprecate(capability_id="alpha", replaced_by="beta", by=OLGA)
    publication.deprecate(capability_id="beta", replaced_by="gamma", by=OLGA)
    with pytest.raises(ReplacementInvalid):
        publication.deprecate(capability_id="gamma", replaced_by="alpha", by=OLGA)


@pytest.mark.parametrize("verb", [publication.deprecate, publication.retire, publication.restore])
def test_an_unknown_id_is_told_with_what_there_is(verb: object) -> None:
    publish()
    with pytest.raises(CapabilityNotFound) as caught:
        verb(capability_id="alpho", by=OLGA)  # type: ignore[operator]
    assert caught.value.extra["available_capabilities"] == ["alpha"]


def test_a_draft_cannot_be_deprecated_retired_or_restored() -> None:
    from registry.catalog.drafts import save_draft

    save_draft(capability_id="alpha", files=bundle(), based_on=None, by=OLGA)
    for verb in (publication.deprecate, publication.retire, publication.restore):
        with pytest.raises(StatusConflict):
            verb(capability_id="alpha", by=OLGA)
    with pytest.raises(StatusConflict):
        publication.rollback(capability_id="alpha", to=1, by=OLGA)


# Retire and restore


def test_a_retired_one_frees_its_tool_names() -> None:
    publish(tools=[tool("shared_list")])
    publication.retire(capability_id="alpha", by=OLGA, note="Unused")
    assert not ToolName.objects.exists()
    publish("beta", [tool("shared_list")])
    assert Release.objects.get(registry_revision=2).status == "retired"


def test_a_restored_one_takes_its_tool_names_back() -> None:
    publish(tools=[tool("shared_list")])
    publication.retire(capability_id="alpha", by=OLGA)
    outcome = publication.restore(capability_id="alpha", by=OLGA, note="Needed after all")
    assert (outcome.status, outcome.revision, _status()) == ("published", 1, "published")
    assert ToolName.objects.get().name == "shared_list"


def test_a_restore_is_refused_where_its_tool_name_was_taken() -> None:
    publish(tools=[tool("shared_list")])
    publication.retire(capability_id="alpha", by=OLGA)
    publish("beta", [tool("shared_list")])
    outcome = publication.restore(capability_id="alpha", by=OLGA)
    assert (outcome.status, outcome.revision, _status()) == ("refused", None, "retired")
    assert "TOOL_NAME_COLLISION" in _codes(outcome)


def test_a_restored_one_has_no_replacement() -> None:
    publish()
    publish("beta")
    publication.deprecate(capability_id="alpha", replaced_by="beta", by=OLGA)
    publication.restore(capability_id="alpha", by=OLGA)
    capability = Capability.objects.get(capability_id="alpha")
    assert (capability.status, capability.replaced_by) == ("published", None)


def test_what_is_published_cannot_be_restored_and_what_is_retired_not_retired() -> None:
    publish()
    with pytest.raises(StatusConflict):
        publication.restore(capability_id="alpha", by=OLGA)
    publication.retire(capability_id="alpha", by=OLGA)
    for verb in (publication.retire, publication.deprecate):
        with pytest.raises(StatusConflict):
            verb(capability_id="alpha", by=OLGA)


def test_a_damaged_one_is_not_restored() -> None:
    publish()
    publication.retire(capability_id="alpha", by=OLGA)
    damage(Revision.objects.get(), digest="sha256:" + "0" * 64)
    with pytest.raises(StatusConflict):
        publication.restore(capability_id="alpha", by=OLGA)
    assert _status() == "retired"


def test_retiring_a_replacement_leaves_no_pointer_to_what_cannot_be_loaded() -> None:
    publish()
    publish("beta")
    publication.deprecate(capability_id="alpha", replaced_by="beta", by=OLGA)
    publication.retire(capability_id="beta", by=OLGA)
    latest = Release.objects.filter(capability__capability_id="alpha").latest("registry_revision")
    assert latest.replaced_by == ""
