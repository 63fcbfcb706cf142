"""A changed source as a finding on the capability, and as an incident where agents are concerned."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from capability_rules.bundles.finding import Finding
from features.acceptances.waiver_store import create_waiver
from features.tool_sources import source_store, takeover, watch
from features.tool_sources.models import ToolBinding, ToolSource
from features.tool_sources.tests.pet_store import CREATE, KIND, LIST, NAME, add_source, content, create_pets
from registry.catalog import drafts
from registry.common.actors import Actor
from registry.common.errors import Forbidden
from registry.core.queries import get_capability
from registry.models import AuditEvent, Incident, Job
from registry.publishing import publication
from tests.factories import OLGA

pytestmark = pytest.mark.django_db
DRIFT = ("TOOL_SOURCE_CHANGED", "TOOL_SOURCE_BROKEN")


def check(source: ToolSource, **changes: Any) -> None:
    watch.check_source(source_id=source.pk, by=OLGA, content=content(**changes))


def findings() -> list[Finding]:
    return [one for one in drafts.validate_draft(drafts.get_draft("pets")).findings if one.code in DRIFT]


def publish() -> str:
    outcome = publication.publish_draft(capability_id="pets", by=OLGA)
    assert outcome.status in ("published", "refused"), outcome.findings
    return outcome.status


def incidents() -> list[Incident]:
    return list(Incident.objects.filter(closed_at__isnull=True))


def take_over() -> None:
    seen = takeover.plan_takeover("pets", "create_pet").seen
    takeover.take_over(capability_id="pets", tool_name="create_pet", by=OLGA, seen=seen)


def edit(old: str, new: str) -> None:
    files, version = drafts.editable_files(get_capability("pets"))
    changed = {name: text.replace(old, new) for name, text in files.items()}
    assert changed != files
    drafts.save_draft(capability_id="pets", files=changed, based_on=version, by=OLGA)


def test_change_that_no_call_notices_is_a_warning_at_its_tool() -> None:
    source = add_source()
    create_pets(source)
    assert findings() == []
    check(source, properties={"name": NAME, "kind": KIND, "age": {"type": "integer", "description": "In years"}})
    (found,) = findings()
    assert (found.code, found.severity, found.file, found.pointer) == (
        "TOOL_SOURCE_CHANGED", "warning", "tools.json", "/1",
    )  # fmt: skip
    assert "`age` of `create_pet` is new" in found.message
    assert found.line is not None
    assert found.line > 1
    assert publish() == "published"
    assert incidents() == []


def test_refused_calls_are_an_error_until_the_change_is_taken_over() -> None:
    source = add_source()
    create_pets(source)
    check(source, required=["name", "kind"])
    (found,) = findings()
    assert (found.code, found.severity) == ("TOOL_SOURCE_BROKEN", "error")
    assert "`kind` of `create_pet` became required" in found.message
    assert publish() == "refused"
    take_over()
    assert findings() == []
    assert publish() == "published"


def test_change_that_an_author_makes_by_hand_counts_as_made() -> None:
    source = add_source()
    create_pets(source)
    check(source, required=["name", "kind"])
    text = drafts.get_draft("pets").files["tools.json"]
    edit('"name"\n', '"name",\n          "kind"\n')
    assert drafts.get_draft("pets").files["tools.json"] != text
    assert findings() == []


def test_draft_passes_again_in_lists_when_the_source_is_put_right() -> None:
    source = add_source()
    create_pets(source)
    digest = drafts.get_draft("pets").digest
    assert digest
    check(source, required=["name", "kind"])
    assert drafts.get_draft("pets").digest == ""
    check(source)
    assert drafts.get_draft("pets").digest == digest


@pytest.mark.both_databases
def test_published_tool_that_is_broken_is_one_incident_until_the_source_is_fine_again() -> None:
    source = add_source()
    create_pets(source)
    assert publish() == "published"
    check(source, required=["name", "kind"])
    (incident,) = incidents()
    assert (incident.kind, incident.capability, incident.count) == ("tool", get_capability("pets"), 1)
    assert "`create_pet`" in incident.message
    assert "`kind` of `create_pet` became required" in incident.details
    assert AuditEvent.objects.filter(verb="incident.open", subject="pets").count() == 1
    check(source, required=["name", "kind"])
    assert incidents()[0].count == 2
    check(source)
    assert incidents() == []
    assert AuditEvent.objects.filter(verb="incident.close", subject="pets").count() == 1


def test_several_broken_tools_of_one_source_are_one_incident() -> None:
    source = add_source()
    create_pets(source)
    publish()
    check(source, paths={"/pets": {}})
    (incident,) = incidents()
    assert "`create_pet`, `list_pets`" in incident.message


def test_incident_of_a_tool_that_was_taken_over_waits_for_the_release() -> None:
    source = add_source()
    create_pets(source)
    publish()
    check(source, required=["name", "kind"])
    take_over()
    check(source, required=["name", "kind"])
    assert len(incidents()) == 1
    publish()
    assert incidents() == []


def test_release_of_something_else_leaves_the_incident_open() -> None:
    source = add_source()
    create_pets(source)
    publish()
    check(source, required=["name", "kind"])
    edit("Looks pets up", "Finds pets")
    assert publish() == "refused"
    revision = get_capability("pets").published_revision
    assert revision is not None
    publication.retire(capability_id="pets", by=OLGA)
    assert incidents() == []
    assert publication.restore(capability_id="pets", by=OLGA).status == "published"
    assert len(incidents()) == 1


@pytest.mark.both_databases
def test_waived_error_is_published_and_its_incident_stays_as_it_was() -> None:
    source = add_source()
    create_pets(source)
    publish()
    check(source, required=["name", "kind"])
    edit("Looks pets up", "Finds pets")
    (found,) = findings()
    terminal = Actor("command_line", "test")
    until = timezone.now().date() + timedelta(days=9)
    given: dict[str, Any] = {"capability_id": "pets", "reason": "The document is wrong.", "until": until}
    place = f"tools.json:{found.line}"
    with pytest.raises(Forbidden):
        create_waiver(code="TOOL_SOURCE_BROKEN", place=place, by=OLGA, **given)
    create_waiver(code="TOOL_SOURCE_BROKEN", place=place, by=terminal, **given)
    assert publish() == "published"
    assert len(incidents()) == 1
    assert not AuditEvent.objects.filter(verb="incident.close", subject="pets").exists()


def test_draft_that_renames_a_broken_tool_does_not_hide_it() -> None:
    source = add_source()
    create_pets(source)
    publish()
    edit("create_pet", "add_pet")
    check(source, required=["name", "kind"])
    (incident,) = incidents()
    assert "`create_pet`" in incident.message


def test_what_was_never_published_opens_no_incident() -> None:
    source = add_source()
    create_pets(source)
    check(source, paths={"/pets": {}})
    assert incidents() == []
    assert [one.code for one in findings()] == ["TOOL_SOURCE_BROKEN", "TOOL_SOURCE_BROKEN"]


def test_source_that_is_removed_leaves_neither_finding_nor_incident() -> None:
    source = add_source()
    create_pets(source)
    publish()
    check(source, required=["name", "kind"])
    source_store.remove_source(source_id=source.pk, by=OLGA)
    assert incidents() == []
    assert not ToolBinding.objects.exists()


def test_incident_is_in_the_mail_of_those_who_may_publish() -> None:
    from registry.access import operators

    operators.create_operator(username="vera", password="Correct-horse-battery-9", role="publisher", by=OLGA)
    operators.set_email(username="vera", email="vera@example.com", by=OLGA)
    source = add_source()
    create_pets(source, LIST, CREATE)
    publish()
    check(source, required=["name", "kind"])
    assert "Incident: pets" in [job.payload["subject"] for job in Job.objects.filter(kind="mail.send")]
