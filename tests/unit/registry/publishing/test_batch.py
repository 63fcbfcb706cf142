"""Many bundles in one call: one by one, and what is refused never stops the rest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from capability_rules.bundles.bundle_reader import SourceBundle
from capability_rules.validation import Report, lookahead, validate_bundle
from capability_rules.validation.isolation import pool
from registry.catalog import drafts
from registry.catalog.drafts import get_draft, save_draft
from registry.models import AuditEvent, Capability, Draft
from registry.publishing import batch, publication
from tests.factories import OLGA, Files, bundle, publish, tool

pytestmark = pytest.mark.django_db


def _sources(*all_files: Files) -> list[SourceBundle]:
    return [SourceBundle(f"path/{number}", files) for number, files in enumerate(all_files)]


def _publish(*all_files: Files, **options: Any) -> list[str]:
    return [result.status for result in batch.publish_all(_sources(*all_files), by=OLGA, **options)]


def _codes(*all_files: Files) -> list[list[str]]:
    checked = batch.validate_all(_sources(*all_files))
    return [[finding.code for finding in entry.report.findings] for entry in checked]


TWINS = (bundle(), bundle(body="Other."))
RIVALS = (bundle("alpha", [tool("shared")]), bundle("beta", [tool("shared")]))


def test_one_that_is_refused_never_stops_the_rest() -> None:
    assert _publish(bundle("alpha"), bundle("beta", description=None), bundle("gamma")) == [
        "published",
        "refused",
        "published",
    ]
    assert list(Capability.objects.values_list("capability_id", flat=True)) == ["alpha", "gamma"]


def test_validating_finds_collisions_within_the_call() -> None:
    assert _codes(*RIVALS) == [[], ["TOOL_NAME_COLLISION"]]
    assert _codes(*TWINS) == [[], ["CAPABILITY_ID_DUPLICATE"]]


@pytest.mark.parametrize("rivals", [RIVALS, TWINS])
@pytest.mark.parametrize("dry_run", [False, True])
def test_what_validating_shows_as_an_error_publishing_refuses(rivals: tuple[Files, Files], dry_run: bool) -> None:
    first = "would_publish" if dry_run else "published"
    assert _publish(*rivals, dry_run=dry_run) == [first, "refused"]


def test_a_duplicate_points_at_the_id_and_names_the_other_path() -> None:
    (_, second) = batch.validate_all(_sources(*TWINS))
    (finding,) = second.report.findings
    assert (finding.pointer, finding.line, finding.column) == ("/capability_id", 2, 20)
    assert "path/0" in finding.message


def test_the_same_path_twice_is_a_duplicate_too() -> None:
    sources = [SourceBundle("same", bundle())] * 2
    assert [entry.report.ok for entry in batch.validate_all(sources)] == [True, False]


def test_bundles_without_an_id_are_no_duplicates() -> None:
    without = bundle(capability_id=None)
    assert _codes(without, without) == [["FIELD_MISSING"], ["FIELD_MISSING"]]


def test_a_tool_name_that_moves_within_the_call_is_free() -> None:
    publish(tools=[tool("shared")])
    assert _publish(bundle(), bundle("beta", [tool("shared")])) == ["published", "published"]


def test_a_dry_run_writes_nothing() -> None:
    _publish(bundle(), dry_run=True)
    assert not Capability.objects.exists()


def test_an_import_stores_drafts_whatever_their_faults() -> None:
    results = batch.import_all(_sources(bundle(description=None)), by=OLGA, mode="draft", note="From git")
    assert [(result.status, result.revision) for result in results] == [("draft", None)]
    assert get_draft("alpha").files == bundle(description=None)
    assert AuditEvent.objects.get().detail["note"] == "From git"


def test_an_import_checks_a_draft_once(monkeypatch: pytest.MonkeyPatch) -> None:
    checked: list[Mapping[str, bytes | str]] = []

    def check(files: Mapping[str, bytes | str], **context: Any) -> Report:
        checked.append(files)
        return validate_bundle(files, **context)

    for module in (lookahead, drafts):
        monkeypatch.setattr(module, "validate_bundle", check)
    (result,) = batch.import_all(_sources(bundle()), by=OLGA, mode="draft")
    assert result.status == "draft"
    assert get_draft("alpha").digest
    assert checked == [bundle()]


def test_an_import_as_a_dry_run_stores_none() -> None:
    results = batch.import_all(_sources(bundle()), by=OLGA, mode="draft", dry_run=True)
    assert [result.status for result in results] == ["draft"]
    assert not Draft.objects.exists()


@pytest.mark.parametrize(
    "files",
    [
        bundle(capability_id=None),
        bundle("Alpha!"),
        {"skill.md": "# A"},
        bundle() | {"skill.md": "a\0"},
        bundle() | {"skill.md": "a" * 2**21},
    ],
    ids=["no id", "odd id", "no capability.json", "NUL", "too large"],
)
def test_an_import_refuses_what_no_draft_can_hold(files: Files) -> None:
    (result,) = batch.import_all(_sources(files), by=OLGA, mode="draft")
    assert result.status == "refused"
    assert result.findings
    assert not Draft.objects.exists()


def test_the_second_of_two_imports_of_one_id_does_not_take_the_place_of_the_first() -> None:
    results = batch.import_all(_sources(*TWINS), by=OLGA, mode="draft")
    assert [result.status for result in results] == ["draft", "refused"]
    assert get_draft("alpha").files == TWINS[0]


def test_an_import_keeps_the_draft_that_was_there_aside() -> None:
    save_draft(capability_id="alpha", files=bundle(body="Mine."), based_on=None, by=OLGA)
    batch.import_all(_sources(bundle()), by=OLGA, mode="draft")
    assert get_draft("alpha").version == 2
    assert Draft.objects.get(version=1).files == bundle(body="Mine.")


def test_an_import_can_publish() -> None:
    publish(tools=[tool("a")])
    looser = bundle(tools=[tool("a", "write")])
    for acknowledge, status in ((), "refused"), (("POLICY_LOOSENED",), "published"):
        (result,) = batch.import_all(_sources(looser), by=OLGA, mode="publish", acknowledge=acknowledge)
        assert result.status == status


def test_a_result_as_the_contract_says() -> None:
    (result,) = batch.publish_all(_sources(bundle()), by=OLGA)
    document = result.as_dict()
    assert set(document) == {"path", "capability_id", "status", "revision", "digest", "findings"}
    assert (document["path"], document["capability_id"], document["revision"]) == ("path/0", "alpha", 1)
    (entry,) = batch.validate_all(_sources({"skill.md": ""}))
    assert set(entry.as_dict()) == {"path", "capability_id", "ok", "findings"}
    assert (entry.as_dict()["capability_id"], entry.as_dict()["ok"]) == (None, False)


@pytest.fixture
def one_process() -> Iterator[None]:
    pool.use_processes(1)
    yield
    pool.use_processes(0)


@pytest.mark.usefixtures("one_process")
def test_what_was_checked_ahead_is_judged_by_what_is_published_when_its_turn_comes() -> None:
    rivals = [bundle(name, tools=[tool("shared_list")]) for name in ("alpha", "beta")]
    for count, results in enumerate((batch.publish_all(_sources(*rivals), by=OLGA), _publish_drafts(*rivals))):
        found = [(result.status, [finding.code for finding in result.findings]) for result in results]
        assert found == [(("published", "unchanged")[count], []), ("refused", ["TOOL_NAME_COLLISION"])]


def _publish_drafts(*rivals: Files) -> list[batch.BatchResult]:
    imported = batch.import_all(_sources(*rivals), by=OLGA, mode="draft")
    return batch.publish_drafts([result.capability_id for result in imported], by=OLGA)


def test_a_draft_that_was_saved_since_it_was_read_is_published_as_it_is_now(monkeypatch: pytest.MonkeyPatch) -> None:
    save_draft(capability_id="alpha", files=bundle(body="Older."), based_on=None, by=OLGA)
    monkeypatch.setattr(drafts, "read_draft_files", lambda _name: bundle(body="Newer, and read too early."))
    (result,) = batch.publish_drafts(["alpha"], by=OLGA)
    assert result.status == "published"
    assert result.files == bundle(body="Older.")


def test_a_draft_that_is_saved_during_its_publish_does_not_stop_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("alpha", "beta"):
        save_draft(capability_id=name, files=bundle(name), based_on=None, by=OLGA)

    def validate_while_somebody_saves(draft: Draft, report: Report | None) -> Report:
        if draft.capability.capability_id == "alpha":
            save_draft(capability_id="alpha", files=bundle(body="Newer."), based_on=1, by=OLGA)
        return drafts.validate_draft(draft, report)

    monkeypatch.setattr(publication, "validate_draft", validate_while_somebody_saves)
    results = batch.publish_drafts(["alpha", "beta"], by=OLGA)
    assert [result.status for result in results] == ["refused", "published"]
    assert [finding.code for finding in results[0].findings] == ["DRAFT_CONFLICT"]
