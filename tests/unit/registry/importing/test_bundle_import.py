"""What somebody brings becomes drafts, all of it or nothing."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from capability_rules.bundles.archives import write_tar_gz, write_zip
from capability_rules.bundles.bundle_reader import SourceBundle
from capability_rules.errors import InvalidRequest, SourceUnreadable
from registry.catalog import drafts
from registry.common.errors import NotFound
from registry.core.jobs import queue
from registry.importing import bundle_import, git_import_jobs
from registry.models import Capability, Draft, GitImport, Job
from tests.factories import OLGA, bundle, publish

pytestmark = pytest.mark.django_db
SKILL = b"---\nname: pdf-forms\ndescription: Fills PDF forms. Use it for forms.\nodd-key: 1\n---\n# PDF\n\nFill it.\n"


def _members(*ids: str) -> dict[str, bytes]:
    return {f"{each}/{name}": text.encode() for each in ids for name, text in bundle(each).items()}


@pytest.mark.parametrize("write", [write_zip, write_tar_gz])
def test_several_of_one_archive_become_drafts(write: Callable[..., bytes]) -> None:
    data = write({**_members("alpha", "beta"), "skills/pdf-forms/SKILL.md": SKILL})
    outcome = bundle_import.import_all_or_none(bundle_import.import_archive(data, "mine.zip"), by=OLGA)
    assert outcome.is_stored
    assert [line.capability_id for line in outcome.lines] == ["alpha", "beta", "pdf_forms"]
    assert {draft.capability.capability_id for draft in Draft.objects.all()} == {"alpha", "beta", "pdf_forms"}
    assert [each["code"] for each in outcome.lines[2].as_dict()["findings"]] == ["IMPORT_KEY_MOVED"]


def test_where_one_cannot_be_taken_none_is() -> None:
    sources = [SourceBundle("good", bundle("good")), SourceBundle("bad", {"capability.json": "{"})]
    outcome = bundle_import.import_all_or_none(sources, by=OLGA)
    assert not outcome.is_stored
    assert [line.is_taken for line in outcome.lines] == [True, False]
    assert not Capability.objects.exists()


def test_a_draft_with_faults_is_taken() -> None:
    files = {"capability.json": '{"capability_id": "half"}'}
    outcome = bundle_import.import_all_or_none([SourceBundle("half", files)], by=OLGA)
    assert outcome.is_stored
    assert outcome.lines[0].findings


def test_what_is_there_already_is_replaced_only_where_that_was_said() -> None:
    publish()
    drafts.save_draft(capability_id="alpha", files=bundle(body="Mine."), based_on=None, by=OLGA)
    sources = [SourceBundle("alpha", bundle(body="Theirs."))]
    outcome = bundle_import.import_all_or_none(sources, by=OLGA)
    assert (outcome.is_stored, outcome.known) == (False, ("alpha",))
    assert "Mine." in drafts.get_draft("alpha").files["skill.md"]
    assert bundle_import.import_all_or_none(sources, by=OLGA, replace_existing=True).is_stored
    assert "Theirs." in drafts.get_draft("alpha").files["skill.md"]
    assert Draft.objects.filter(discarded_at__isnull=False).count() == 1


def test_what_is_there_already_is_skipped_where_that_was_said() -> None:
    publish()
    sources = [SourceBundle("alpha", bundle(body="Theirs.")), SourceBundle("beta", bundle("beta"))]
    outcome = bundle_import.import_all_or_none(sources, by=OLGA, skip_existing=True)
    assert [(line.capability_id, line.is_skipped) for line in outcome.lines] == [("alpha", True), ("beta", False)]
    assert outcome.is_stored
    assert {draft.capability.capability_id for draft in Draft.objects.all()} == {"beta"}
    again = bundle_import.import_all_or_none(sources, by=OLGA, skip_existing=True)
    assert (again.is_stored, [line.is_skipped for line in again.lines]) == (False, [True, True])
    bad = [*sources, SourceBundle("gamma", bundle("gamma")), SourceBundle("bad", {"capability.json": "{"})]
    assert not bundle_import.import_all_or_none(bad, by=OLGA, skip_existing=True).is_stored
    assert not Draft.objects.filter(capability__capability_id="gamma").exists()


def test_two_of_one_id_are_refused() -> None:
    sources = [SourceBundle("a", bundle()), SourceBundle("b", bundle())]
    assert not bundle_import.import_all_or_none(sources, by=OLGA).is_stored
    assert not Capability.objects.exists()


def test_the_files_of_a_folder_are_read_by_their_paths() -> None:
    files = [(f"my/{name}", data) for name, data in _members("alpha", "beta").items()]
    found = bundle_import.import_files([*files, ("my/notes.txt", b"x")], "my")
    assert [source.folder for source in found] == ["alpha", "beta"]
    plain = [(name, text.encode()) for name, text in bundle().items()]
    assert len(bundle_import.import_files(plain, "folder")) == 1


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ([("capability.json", b"{}"), ("capability.json", b"{}")], "came twice"),
        ([("../capability.json", b"{}")], "is invalid"),
        ([("/capability.json", b"{}")], "is invalid"),
        ([("a//capability.json", b"{}")], "is invalid"),
        ([("a\\capability.json", b"{}")], "is invalid"),
        ([("notes.txt", b"")], "no bundle"),
        ([], "no bundle"),
        ([(f"{n}", b"") for n in range(2001)], "at most 2,000"),
        ([("capability.json", b"x" * (64 * 1024 * 1024 + 1))], "more than 64 MiB"),
    ],
)
def test_odd_folders_are_refused(files: list[tuple[str, bytes]], words: str) -> None:
    with pytest.raises(SourceUnreadable, match=words):
        bundle_import.import_files(files, "folder")


def test_too_many_and_too_large_are_refused() -> None:
    with pytest.raises(SourceUnreadable, match="at most 100"):
        bundle_import.import_all_or_none([SourceBundle("a", {})] * 101, by=OLGA)
    with pytest.raises(SourceUnreadable, match="64 MiB"):
        bundle_import.import_archive(b"x" * (64 * 1024 * 1024 + 1), "big.zip")
    with pytest.raises(SourceUnreadable):
        bundle_import.import_archive(b"no archive", "odd.zip")


def test_pasted_texts_are_a_bundle_or_a_skill() -> None:
    assert bundle_import.import_texts(bundle(), "pasted")[0].files["capability.json"]
    (skill,) = bundle_import.import_texts({"skill.md": SKILL.decode(), "tools.json": " "}, "pasted")
    outcome = bundle_import.import_all_or_none([skill], by=OLGA)
    assert outcome.lines[0].capability_id == "pdf_forms"
    with pytest.raises(SourceUnreadable, match="There is nothing to import"):
        bundle_import.import_texts({"skill.md": " \n"}, "pasted")


def _sources(monkeypatch: pytest.MonkeyPatch, found: list[SourceBundle] | SourceUnreadable) -> None:
    def read(*_: object) -> list[SourceBundle]:
        if isinstance(found, SourceUnreadable):
            raise found
        return found

    monkeypatch.setattr(git_import_jobs, "discover_source", read)


def test_a_git_address_is_imported_by_a_job(monkeypatch: pytest.MonkeyPatch) -> None:
    _sources(monkeypatch, [SourceBundle("repo/alpha", bundle()), SourceBundle("repo/beta", bundle("beta"))])
    run = git_import_jobs.start_import(source="https://git.example/repo#skills", by=OLGA)
    assert run.state == "waiting"
    assert queue.run_next_job() == "done"
    run.refresh_from_db()
    assert (run.state, run.found, run.reason) == ("stored", 2, "")
    assert [line["capability_id"] for line in run.results] == ["alpha", "beta"]
    assert drafts.get_draft("beta").saved_by == "operator:olga"


def test_what_cannot_be_fetched_is_told_and_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    _sources(monkeypatch, SourceUnreadable("repo: not found"))
    run = git_import_jobs.start_import(source="https://git.example/repo", by=OLGA)
    assert queue.run_next_job() == "done"
    run.refresh_from_db()
    assert (run.state, run.reason) == ("refused", "repo: not found")
    assert queue.run_next_job() is None


def test_a_repository_with_one_that_is_refused_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    publish()
    _sources(monkeypatch, [SourceBundle("repo/alpha", bundle()), SourceBundle("repo/beta", bundle("beta"))])
    run = git_import_jobs.start_import(source="https://git.example/repo", by=OLGA)
    queue.run_next_job()
    run.refresh_from_db()
    assert (run.state, [line["is_known"] for line in run.results]) == ("refused", [True, False])
    assert not Draft.objects.exists()


def test_a_git_import_of_one_skill_gives_it_the_id_that_was_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    _sources(monkeypatch, [SourceBundle("repo", {"SKILL.md": SKILL})])
    run = git_import_jobs.start_import(source="https://git.example/repo", by=OLGA, as_id="my_forms")
    queue.run_next_job()
    run.refresh_from_db()
    assert (run.state, [line["capability_id"] for line in run.results]) == ("stored", ["my_forms"])
    _sources(monkeypatch, [SourceBundle("repo/a", {"SKILL.md": SKILL}), SourceBundle("repo/b", {"SKILL.md": SKILL})])
    run = git_import_jobs.start_import(source="https://git.example/repo", by=OLGA, as_id="another")
    queue.run_next_job()
    run.refresh_from_db()
    assert (run.state, "2" in run.reason) == ("refused", True)
    assert [each.capability_id for each in Capability.objects.all()] == ["my_forms"]
    with pytest.raises(InvalidRequest, match="No Id"):
        git_import_jobs.start_import(source="https://git.example/repo", by=OLGA, as_id="No Id")


def test_a_job_that_died_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    run = git_import_jobs.start_import(source="https://git.example/repo", by=OLGA)
    monkeypatch.setattr(git_import_jobs, "discover_source", lambda *_: 1 / 0)
    for _ in range(2):
        Job.objects.update(run_after=run.created_at)
        queue.run_next_job()
    run.refresh_from_db()
    assert (Job.objects.get().state, run.state) == ("parked", "refused")
    assert "worker" in run.reason


@pytest.mark.parametrize(
    "source", ["http://git.example/a", "git@host:a", "", "https://u:p@h/a", "x" * 600, "file:///etc"]
)
def test_another_address_is_refused_at_once(source: str) -> None:
    with pytest.raises(SourceUnreadable):
        git_import_jobs.start_import(source=source, by=OLGA)
    assert not GitImport.objects.exists()
    with pytest.raises(NotFound):
        git_import_jobs.get_import(1)
