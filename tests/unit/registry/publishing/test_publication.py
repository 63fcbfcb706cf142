"""Publishing: what readers see moves once, whole, or not at all."""

from __future__ import annotations

import json
from typing import Any

import pytest

from capability_rules.validation import Report, validate_bundle
from registry.catalog.drafts import get_draft, save_draft, validate_draft
from registry.common.errors import CapabilityNotFound, DraftConflict, DraftNotFound
from registry.core.published_index import get_validation_context
from registry.core.transactions import get_registry_revision
from registry.models import AuditEvent, Capability, Draft, RegistryState, Release, Revision, ToolName
from registry.publishing import gate_check, publication
from tests.factories import OLGA, bundle, damage, publish, to_json, tool

pytestmark = pytest.mark.django_db


def _codes(outcome: publication.PublishResult) -> list[str]:
    return [finding.code for finding in outcome.findings]


def test_a_first_publish_makes_revision_one() -> None:
    outcome = publication.publish(files=bundle(tools=[tool("alpha_list")]), by=OLGA, note="At last")
    capability = Capability.objects.get(capability_id="alpha")
    revision = capability.published_revision
    assert (outcome.status, outcome.revision, outcome.registry_revision) == ("published", 1, 1)
    assert revision is not None
    assert (capability.status, revision.number, revision.note) == ("published", 1, "At last")
    assert outcome.digest == revision.digest
    assert list(ToolName.objects.values_list("name", "capability__capability_id")) == [("alpha_list", "alpha")]
    assert Release.objects.get().registry_revision == get_registry_revision() == 1
    assert AuditEvent.objects.get().verb == "capability.publish"


def test_the_texts_are_kept_as_normalised() -> None:
    files = {name: text.encode() for name, text in bundle().items()}
    files["skill.md"] = b"\xef\xbb\xbf" + files["skill.md"].replace(b"\n", b"\r\n")
    publication.publish(files=files, by=OLGA)
    assert Revision.objects.get().files == bundle()


def test_each_change_makes_the_next_revision_and_moves_the_registry_by_one() -> None:
    publish()
    publish("beta")
    outcome = publish(body="Answer in two sentences.")
    assert (outcome.revision, outcome.registry_revision) == (2, 3)
    assert list(Release.objects.values_list("capability__capability_id", "revision__number")) == [
        ("alpha", 1),
        ("beta", 1),
        ("alpha", 2),
    ]


@pytest.mark.parametrize("layout", [{"indent": 0}, {"sort_keys": True}, {"separators": (",", ":")}])
def test_another_layout_of_the_json_alone_is_unchanged(layout: dict[str, Any]) -> None:
    first = publish(tools=[tool("alpha_list")])
    files = bundle(tools=[tool("alpha_list")])
    for name in ("capability.json", "tools.json"):
        files[name] = json.dumps(json.loads(files[name]), **layout)
    outcome = publication.publish(files=files, by=OLGA)
    assert (outcome.status, outcome.revision, outcome.digest) == ("unchanged", 1, first.digest)
    assert (Revision.objects.count(), Release.objects.count(), get_registry_revision()) == (1, 1, 1)
    assert AuditEvent.objects.count() == 1


def test_wrapper_map_and_absent_files_are_unchanged() -> None:
    first = publish(tools=[tool("alpha_list")])
    files = bundle(tools=[tool("alpha_list")])
    files["tools.json"] = to_json({"tools": json.loads(files["tools.json"])})
    files["ui_schemas.json"] = "{}"
    outcome = publication.publish(files=files, by=OLGA)
    assert (outcome.status, outcome.digest) == ("unchanged", first.digest)


def test_new_utterances_alone_make_a_new_revision_of_the_same_digest() -> None:
    first = publish()
    outcome = publish(utterances={"should_match": ["alpha now"]})
    assert (outcome.status, outcome.revision, outcome.digest) == ("published", 2, first.digest)


def test_a_written_out_default_is_a_change() -> None:
    first = publish()
    assert publish(os=["common"]).digest != first.digest


def test_a_refusal_changes_nothing() -> None:
    publish()
    outcome = publication.publish(files=bundle(description=None), by=OLGA)
    assert (outcome.status, outcome.revision) == ("refused", 1)
    assert "FIELD_MISSING" in _codes(outcome)
    assert (Revision.objects.count(), get_registry_revision(), AuditEvent.objects.count()) == (1, 1, 1)


def test_example_messages_of_a_refused_bundle_are_not_rehearsed(monkeypatch: pytest.MonkeyPatch) -> None:
    publish("alpha")
    monkeypatch.setattr(gate_check, "_rehearse", lambda _: pytest.fail("rehearsed"))
    assert publication.publish(files=bundle("beta", description=None), by=OLGA).status == "refused"
    save_draft(capability_id="gamma", files=bundle("gamma", description=None), based_on=None, by=OLGA, create=True)
    assert publication.publish_draft(capability_id="gamma", by=OLGA).status == "refused"


def test_a_refusal_of_what_nobody_has_makes_no_capability() -> None:
    outcome = publication.publish(files={"skill.md": "# Alpha\n"}, by=OLGA)
    assert (outcome.status, outcome.revision, outcome.digest) == ("refused", None, None)
    assert not Capability.objects.exists()


@pytest.mark.parametrize(("change", "status"), [({}, "unchanged"), ({"body": "New."}, "would_publish")])
def test_a_dry_run_tells_and_writes_nothing(change: dict[str, Any], status: str) -> None:
    publish()
    outcome = publication.publish(files=bundle(**change), by=OLGA, dry_run=True)
    assert (outcome.status, outcome.revision) == (status, 1)
    assert outcome.gate is not None
    assert (Revision.objects.count(), get_registry_revision(), AuditEvent.objects.count()) == (1, 1, 1)


def test_a_dry_run_of_a_new_one_tells_its_digest() -> None:
    foreseen = publication.publish(files=bundle(), by=OLGA, dry_run=True)
    assert (foreseen.status, foreseen.revision) == ("would_publish", None)
    assert not RegistryState.objects.exists()
    assert publish().digest == foreseen.digest


def test_a_tool_name_of_another_capability_is_refused_where_it_stands() -> None:
    publish(tools=[tool("shared_list")])
    outcome = publication.publish(files=bundle("beta", [tool("beta_list"), tool("shared_list")]), by=OLGA)
    (finding,) = [finding for finding in outcome.findings if finding.code == "TOOL_NAME_COLLISION"]
    assert outcome.status == "refused"
    assert (finding.file, finding.pointer) == ("tools.json", "/1/name")
    assert not Capability.objects.filter(capability_id="beta").exists()


def test_a_name_taken_after_the_check_is_refused_inside_the_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process publishes between our validation and our transaction."""
    files = bundle("beta", [tool("shared_list")])
    report = validate_bundle(files, published=get_validation_context())
    publish(tools=[tool("shared_list")])
    outcome = publication.publish_validated(report, by=OLGA)
    assert outcome.status == "refused"
    assert "TOOL_NAME_COLLISION" in _codes(outcome)


def test_tool_names_move_from_one_capability_to_another() -> None:
    publish(tools=[tool("shared_list"), tool("alpha_list")])
    publish(tools=[tool("alpha_list")])
    publish("beta", [tool("shared_list")])
    assert dict(ToolName.objects.values_list("name", "capability__capability_id")) == {
        "alpha_list": "alpha",
        "shared_list": "beta",
    }


def test_publishing_a_path_replaces_the_draft_which_is_kept_aside() -> None:
    draft = save_draft(capability_id="alpha", files=bundle(body="Draft."), based_on=None, by=OLGA)
    publish()
    with pytest.raises(DraftNotFound):
        get_draft("alpha")
    kept = Draft.objects.get()
    assert (kept.version, kept.files) == (draft.version, bundle(body="Draft."))
    assert kept.discarded_at is not None


def test_publishing_what_is_published_replaces_the_draft_too() -> None:
    publish()
    save_draft(capability_id="alpha", files=bundle(body="Draft."), based_on=None, by=OLGA)
    assert publication.publish(files=bundle(), by=OLGA).status == "unchanged"
    with pytest.raises(DraftNotFound):
        get_draft("alpha")


def test_a_refused_path_leaves_the_draft() -> None:
    publish()
    save_draft(capability_id="alpha", files=bundle(body="Draft."), based_on=None, by=OLGA)
    publication.publish(files=bundle(description=None), by=OLGA)
    assert get_draft("alpha").version == 1


def test_a_draft_is_published_and_gone() -> None:
    saved = save_draft(capability_id="alpha", files=bundle(), based_on=None, by=OLGA)
    outcome = publication.publish_draft(capability_id="alpha", draft_version=saved.version, by=OLGA)
    assert (outcome.status, outcome.revision) == ("published", 1)
    with pytest.raises(DraftNotFound):
        publication.publish_draft(capability_id="alpha", draft_version=saved.version, by=OLGA)


def test_a_draft_that_moved_on_is_not_published() -> None:
    save_draft(capability_id="alpha", files=bundle(), based_on=None, by=OLGA)
    save_draft(capability_id="alpha", files=bundle(body="Newer."), based_on=1, by=OLGA)
    with pytest.raises(DraftConflict) as caught:
        publication.publish_draft(capability_id="alpha", draft_version=1, by=OLGA)
    assert caught.value.extra["draft_version"] == 2
    assert caught.value.extra["theirs"] == bundle(body="Newer.")
    assert not Revision.objects.exists()


def test_a_draft_that_moves_on_during_the_check_is_not_published(monkeypatch: pytest.MonkeyPatch) -> None:
    save_draft(capability_id="alpha", files=bundle(), based_on=None, by=OLGA)
    check = validate_draft

    def check_while_somebody_saves(draft: Draft, report: Report | None) -> Report:
        report = check(draft, report)
        save_draft(capability_id="alpha", files=bundle(body="Newer."), based_on=1, by=OLGA)
        return report

    monkeypatch.setattr(publication, "validate_draft", check_while_somebody_saves)
    with pytest.raises(DraftConflict):
        publication.publish_draft(capability_id="alpha", by=OLGA)
    assert not Revision.objects.exists()


def test_a_draft_is_not_published_by_a_report_of_another_capability() -> None:
    save_draft(capability_id="alpha", files=bundle(), based_on=None, by=OLGA)
    with pytest.raises(ValueError, match="'beta'"):
        publication.publish_validated_draft(
            validate_bundle(bundle("beta")), capability_id="alpha", draft_version=1, by=OLGA
        )
    assert not Revision.objects.exists()


def test_a_draft_cannot_be_published_as_another_capability() -> None:
    publish("beta")
    save_draft(capability_id="alpha", files=bundle("beta", body="Taken over."), based_on=None, by=OLGA)
    outcome = publication.publish_draft(capability_id="alpha", by=OLGA)
    assert (outcome.status, outcome.capability_id) == ("refused", "alpha")
    assert Revision.objects.count() == 1


def test_a_draft_of_nobody_is_told() -> None:
    with pytest.raises(CapabilityNotFound):
        publication.publish_draft(capability_id="alpha", by=OLGA)


def test_a_dry_run_of_a_draft_leaves_it() -> None:
    save_draft(capability_id="alpha", files=bundle(), based_on=None, by=OLGA)
    outcome = publication.publish_draft(capability_id="alpha", by=OLGA, dry_run=True)
    assert outcome.status == "would_publish"
    assert get_draft("alpha").version == 1


def test_a_deprecated_capability_stays_deprecated() -> None:
    publish()
    publish("beta")
    publication.deprecate(capability_id="alpha", replaced_by="beta", by=OLGA)
    publish(body="Still here.")
    capability = Capability.objects.get(capability_id="alpha")
    assert (capability.status, capability.replaced_by and capability.replaced_by.capability_id) == (
        "deprecated",
        "beta",
    )
    assert Release.objects.latest("registry_revision").replaced_by == "beta"


def test_publishing_a_retired_one_brings_it_back() -> None:
    publish()
    publication.retire(capability_id="alpha", by=OLGA)
    outcome = publication.publish(files=bundle(), by=OLGA)
    assert (outcome.status, outcome.revision) == ("published", 2)
    assert Capability.objects.get().status == "published"


def test_a_damaged_row_is_mended_by_publishing_the_same_again() -> None:
    publish(tools=[tool("alpha_list")])
    for number, columns in enumerate(
        ({"digest": "sha256:" + "0" * 64}, {"tools_json": "[7]"}, {"tools_json": '[{"name": "alpha_list"}]'}), start=2
    ):
        damage(Revision.objects.latest("number"), **columns)
        assert publish(tools=[tool("alpha_list")]).revision == number


@pytest.mark.parametrize(
    "tools_json",
    [
        '[{"name": "alpha_list", "policy": {"kind": "read"}}]',
        "[[]]",
        '[{"name": 7}]',
        "nothing",
        None,
        '[{"name":"a","policy":7}]',
    ],
)
def test_every_verb_works_on_a_damaged_row(tools_json: str | None) -> None:
    publish(tools=[tool("alpha_list")])
    publish(tools=[tool("alpha_list")], body="Two.")
    damage(Revision.objects.get(number=2), tools_json=tools_json)
    publication.deprecate(capability_id="alpha", by=OLGA)
    assert publication.rollback(capability_id="alpha", to=1, by=OLGA).status == "published"
    publication.retire(capability_id="alpha", by=OLGA)
    assert publication.restore(capability_id="alpha", by=OLGA).status == "published"
