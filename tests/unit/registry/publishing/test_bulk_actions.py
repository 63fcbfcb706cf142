"""One verb for several capabilities."""

from __future__ import annotations

import zipfile

import pytest

from capability_rules.errors import InvalidRequest
from registry.catalog import drafts, revalidation
from registry.models import AuditEvent, Capability, Job
from registry.publishing import bulk_actions, publication
from tests.factories import OLGA, bundle, publish

pytestmark = pytest.mark.django_db


def _statuses() -> dict[str, str]:
    return dict(Capability.objects.values_list("capability_id", "status"))


def test_each_is_deprecated_and_what_cannot_be_is_told() -> None:
    for name in ("alpha", "beta", "gamma"):
        publish(name)
    drafts.save_draft(capability_id="draft", files={"skill.md": ""}, based_on=None, by=OLGA)
    told = bulk_actions.deprecate_capabilities(
        capability_ids=["alpha", "draft", "gamma", "beta", "nowhere", "beta"], by=OLGA, replaced_by="gamma", note="old"
    )
    assert told.done == ["alpha", "beta"]
    assert [capability_id for capability_id, _ in told.refused] == ["draft", "gamma", "nowhere"]
    assert _statuses() == {"alpha": "deprecated", "beta": "deprecated", "gamma": "published", "draft": "draft"}
    events = AuditEvent.objects.filter(verb="capability.deprecate").values_list("subject", "detail", "actor_name")
    rows = [(one, detail["replaced_by"], detail["note"], who) for one, detail, who in events]
    assert rows == [(one, "gamma", "old", "olga") for one in ("alpha", "beta")]


def test_an_export_has_a_folder_for_each_and_the_same_bytes_each_time() -> None:
    publish("alpha")
    publish("retired")
    publication.retire(capability_id="retired", by=OLGA)
    drafts.save_draft(capability_id="draft", files=bundle("draft"), based_on=None, by=OLGA)
    drafts.save_draft(capability_id="alpha", files=bundle(body="Not yet."), based_on=None, by=OLGA)
    content = bulk_actions.export_capabilities(["retired", "draft", "alpha", "nowhere"])
    with zipfile.ZipFile(content) as archive:
        texts = {name: archive.read(name).decode() for name in archive.namelist()}
    assert sorted({name.split("/")[0] for name in texts}) == ["alpha", "draft", "retired"]
    # What is published, not what is being written.
    assert "Not yet." not in texts["alpha/skill.md"]
    assert texts["draft/skill.md"] == bundle("draft")["skill.md"]
    content.seek(0)
    assert bulk_actions.export_capabilities(["alpha", "draft", "retired"]).read() == content.read()


def test_an_export_that_no_import_would_take_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    publish("alpha")
    monkeypatch.setattr(bulk_actions, "ARCHIVE_BYTES_MAX", 100)
    with pytest.raises(InvalidRequest, match="choose fewer"):
        bulk_actions.export_capabilities(["alpha"])


@pytest.mark.parametrize("chosen", [[], [f"c{number}" for number in range(201)]])
def test_none_and_too_many_are_refused(chosen: list[str]) -> None:
    for verb in (
        lambda: bulk_actions.deprecate_capabilities(capability_ids=chosen, by=OLGA),
        lambda: bulk_actions.export_capabilities(chosen),
    ):
        with pytest.raises(InvalidRequest):
            verb()


def test_nothing_to_export_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="anything to export"):
        bulk_actions.export_capabilities(["nowhere"])


def test_only_the_chosen_are_checked_again() -> None:
    for name in ("alpha", "beta", "gamma"):
        publish(name)
    publication.retire(capability_id="gamma", by=OLGA)
    Job.objects.all().delete()
    queued = revalidation.queue_some(capability_ids=["alpha", "gamma", "nowhere"], by=OLGA)
    assert (queued.queued, queued.already_queued) == (1, 0)
    assert revalidation.queue_some(capability_ids=["alpha"], by=OLGA).already_queued == 1
    (job,) = Job.objects.filter(kind=revalidation.KIND)
    assert job.payload == {"revision_id": Capability.objects.get(capability_id="alpha").published_revision_id}
    assert AuditEvent.objects.filter(verb="registry.revalidate", actor_name="olga").count() == 2
