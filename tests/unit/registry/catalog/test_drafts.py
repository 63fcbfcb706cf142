"""Drafts: nothing that somebody wrote is lost, and nobody overwrites what they have not read."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from capability_rules.errors import InvalidRequest
from capability_rules.validation import validate_bundle
from registry.catalog import drafts
from registry.common.errors import CapabilityNotFound, DraftConflict, DraftNotFound
from registry.models import AuditEvent, Capability, Draft
from tests.factories import OLGA, Files, bundle, publish, tool
from tests.sweeps import check_each, rolled_back

pytestmark = pytest.mark.django_db


def _save(based_on: int | None = None, files: Files | None = None, capability_id: str = "alpha") -> drafts.SavedDraft:
    return drafts.save_draft(capability_id=capability_id, files=files or bundle(), based_on=based_on, by=OLGA)


def test_a_first_save_makes_a_capability_that_was_never_published() -> None:
    saved = _save()
    assert (saved.version, saved.report.ok) == (1, True)
    assert Capability.objects.get().status == "draft"
    assert AuditEvent.objects.get().detail == {"draft_version": 1}


def test_each_save_has_a_version_of_its_own() -> None:
    assert [_save().version, _save(1).version, _save(2).version] == [1, 2, 3]
    assert Draft.objects.count() == 1


def test_a_draft_may_be_as_wrong_as_it_likes() -> None:
    saved = _save(files={"skill.md": "", "tools.json": "{"})
    assert not saved.report.ok
    assert drafts.get_draft("alpha").files == {"skill.md": "", "tools.json": "{"}


def test_an_absent_file_is_not_an_empty_one() -> None:
    _save(files={"skill.md": ""})
    assert drafts.get_draft("alpha").files == {"skill.md": ""}


def test_a_first_draft_of_no_file_is_refused() -> None:
    publish()
    for capability_id in ("alpha", "beta"):
        with pytest.raises(InvalidRequest, match="nothing to save"):
            drafts.save_draft(capability_id=capability_id, files={}, based_on=None, by=OLGA)
    assert not Draft.objects.exists()
    assert not Capability.objects.filter(capability_id="beta").exists()


def test_a_draft_can_be_emptied() -> None:
    saved = _save()
    drafts.save_draft(capability_id="alpha", files={}, based_on=saved.version, by=OLGA)
    assert drafts.get_draft("alpha").files == {}


@pytest.mark.parametrize("based_on", [None, 1, 3, 99])
def test_a_stale_save_is_refused_with_both_texts(based_on: int | None) -> None:
    _save()
    _save(1, bundle(body="Theirs."))
    with pytest.raises(DraftConflict) as caught:
        _save(based_on, bundle(body="Yours."))
    assert caught.value.extra == {
        "yours": bundle(body="Yours."),
        "theirs": bundle(body="Theirs."),
        "draft_version": 2,
    }
    assert drafts.get_draft("alpha").files == bundle(body="Theirs.")


def test_a_save_based_on_a_draft_that_is_gone_is_refused() -> None:
    _save()
    drafts.discard_draft(capability_id="alpha", by=OLGA)
    with pytest.raises(DraftConflict) as caught:
        _save(1)
    assert (caught.value.extra["theirs"], caught.value.extra["draft_version"]) == ({}, None)


def test_a_stale_save_of_a_new_capability_leaves_no_capability() -> None:
    with pytest.raises(DraftConflict):
        _save(4)
    assert not Capability.objects.exists()


def test_creating_one_that_exists_is_refused() -> None:
    publish()
    with pytest.raises(DraftConflict):
        drafts.save_draft(capability_id="alpha", files=bundle(), based_on=None, by=OLGA, create=True)


def test_a_version_is_never_used_twice() -> None:
    """Somebody who read version 1 must not save over a later draft that is called 1 again."""
    _save()
    drafts.discard_draft(capability_id="alpha", by=OLGA)
    assert _save().version == 2


def test_an_id_that_cannot_be_is_refused() -> None:
    def check(capability_id: str) -> None:
        with pytest.raises(InvalidRequest):
            _save(capability_id=capability_id)

    check_each(
        ["", "Alpha", "a__b", "_a", "a_", "a-b", "a b", "ä", "a\n", "a" * 65, "../a", "a\0"], check, isolate=rolled_back
    )


@pytest.mark.parametrize(
    "files",
    [
        {"notes.txt": "x"},
        {"skill.md": "x" * (1024 * 1024 + 1)},
        {"skill.md": "x" * 2**20, "tools.json": "x" * 2**20, "capability.json": "x"},
    ],
)
def test_what_no_bundle_can_hold_is_refused(files: Files) -> None:
    with pytest.raises(InvalidRequest):
        _save(files=files)


def test_nul_and_half_characters_can_be_stored_on_both_databases() -> None:
    _save(files={"skill.md": "a\0b\ud800c"})
    assert drafts.get_draft("alpha").files == {"skill.md": "a\ufffdb?c"}


def test_a_discarded_draft_comes_back() -> None:
    _save()
    drafts.discard_draft(capability_id="alpha", by=OLGA, note="Oops")
    assert AuditEvent.objects.latest("id").detail == {"draft_version": 1, "note": "Oops"}
    with pytest.raises(DraftNotFound):
        drafts.get_draft("alpha")
    drafts.restore_draft(capability_id="alpha", version=1, by=OLGA)
    assert drafts.get_draft("alpha").files == bundle()
    assert _save(1).version == 2


def test_a_discarded_draft_does_not_come_back_over_a_new_one() -> None:
    _save()
    drafts.discard_draft(capability_id="alpha", by=OLGA)
    _save(files=bundle(body="New."))
    with pytest.raises(DraftConflict):
        drafts.restore_draft(capability_id="alpha", version=1, by=OLGA)
    assert drafts.get_draft("alpha").files == bundle(body="New.")


@pytest.mark.parametrize("version", [1, 2])
def test_only_what_was_discarded_can_come_back(version: int) -> None:
    _save()
    with pytest.raises(DraftNotFound):
        drafts.restore_draft(capability_id="alpha", version=version, by=OLGA)


def test_discarding_what_is_not_there_is_told() -> None:
    with pytest.raises(CapabilityNotFound):
        drafts.discard_draft(capability_id="alpha", by=OLGA)
    publish()
    with pytest.raises(DraftNotFound):
        drafts.discard_draft(capability_id="alpha", by=OLGA)


def test_a_discarded_draft_is_forgotten_after_thirty_days() -> None:
    _save()
    drafts.discard_draft(capability_id="alpha", by=OLGA)
    _save()
    Draft.objects.filter(version=1).update(discarded_at=timezone.now() - timedelta(days=30, minutes=1))
    drafts.discard_draft(capability_id="alpha", by=OLGA)
    assert list(Draft.objects.values_list("version", flat=True)) == [2]


def test_an_editor_opens_the_draft_else_what_is_published() -> None:
    publish()
    capability = Capability.objects.get()
    assert drafts.editable_files(capability) == (bundle(), None)
    _save(files=bundle(body="Draft."))
    assert drafts.editable_files(capability) == (bundle(body="Draft."), 1)


def test_a_draft_knows_what_it_was_based_on() -> None:
    publish()
    _save(files=bundle(body="Draft."))
    draft = drafts.get_draft("alpha")
    assert draft.base_revision is not None
    assert draft.base_revision.number == 1


def test_an_import_takes_the_place_of_a_draft_which_is_kept_aside() -> None:
    _save()
    draft = drafts.replace_draft(capability_id="alpha", files=bundle(body="Imported."), by=OLGA, note="From git")
    assert draft is not None
    assert (draft.version, Draft.objects.count()) == (2, 2)
    assert AuditEvent.objects.latest("id").detail == {"draft_version": 2, "note": "From git"}
    drafts.discard_draft(capability_id="alpha", by=OLGA)
    drafts.restore_draft(capability_id="alpha", version=1, by=OLGA)
    assert drafts.get_draft("alpha").files == bundle()


def test_an_import_of_the_same_texts_changes_nothing() -> None:
    _save()
    drafts.replace_draft(capability_id="alpha", files=bundle(), by=OLGA)
    assert (Draft.objects.get().version, AuditEvent.objects.count()) == (1, 1)


@pytest.mark.parametrize("of", [bundle(body="Others."), bundle("beta")], ids=["other texts", "another id"])
def test_a_report_of_something_else_is_not_taken_for_that_of_a_draft(of: Files) -> None:
    good = validate_bundle(of)
    assert good.ok
    broken = bundle(description=None) if of["capability.json"] == bundle()["capability.json"] else of
    draft = drafts.replace_draft(capability_id="alpha", files=broken, by=OLGA, report=good)
    assert draft is not None
    assert draft.digest == ""


def test_a_stored_draft_is_not_judged_by_a_report_of_other_texts() -> None:
    _save(files=bundle(description=None))
    assert not drafts.validate_draft(drafts.get_draft("alpha"), validate_bundle(bundle())).ok


def test_a_report_of_the_same_texts_does_not_make_a_draft_of_another_id_good() -> None:
    _save(files=bundle("beta"))
    report = drafts.validate_draft(drafts.get_draft("alpha"), validate_bundle(bundle("beta")))
    assert [finding.code for finding in report.errors] == ["FIELD_INVALID"]


def test_the_report_of_a_draft_knows_the_rest_of_the_registry() -> None:
    publish("beta", [tool("shared_list")])
    saved = _save(files=bundle(tools=[tool("shared_list")]))
    assert [finding.code for finding in saved.report.errors] == ["TOOL_NAME_COLLISION"]
