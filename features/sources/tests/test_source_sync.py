"""Sources that are followed: what changes there is taken in once, and what changed here is kept."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from capability_rules.errors import InvalidRequest, SourceUnreadable
from features.acceptances.held_passages import accept_passages, list_waiting
from features.sources import push_webhooks, source_sync
from features.sources.drift import compare_with_source
from features.sources.models import GitSource, GitSourceItem
from features.sources.push_webhooks import PushDelivery
from features.sources.source_selectors import list_source_rows
from features.sources.source_sync import SyncResult, add_git_source, remove_source, sync_source
from registry.common.actors import Actor
from registry.common.errors import NameConflict, NotFound
from registry.models import AuditEvent, Capability, Draft, Incident, Job, Revision
from registry.operations import worker
from registry.publishing import publication
from tests.factories import DOUBT, OLGA, bundle, publish, tool
from tests.git_https import commit, git, make_certificate, served

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return make_certificate(tmp_path_factory.mktemp("tls"))


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Two bundles below `bundles`."""
    folder = tmp_path / "repo"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    _commit(folder, "alpha")
    _commit(folder, "beta")
    return folder


@pytest.fixture
def url(
    repository: Path, certificate: tuple[Path, Path], settings: Any, monkeypatch: pytest.MonkeyPatch
) -> Iterator[str]:
    settings.IMPORT_ALLOWED_NETWORKS = (ip_network("127.0.0.0/8"),)
    monkeypatch.setenv("GIT_SSL_CAINFO", str(certificate[0]))
    with served(repository, certificate) as address:
        yield address


def _commit(folder: Path, capability_id: str, **fields: Any) -> None:
    files = bundle(capability_id, **fields)
    commit(folder, {f"bundles/{capability_id}/{name}": text for name, text in files.items()})


def _add(url: str, mode: str = "publish") -> int:
    return int(add_git_source(spec=f"{url}@main#bundles", mode=mode, every_minutes=60, by=OLGA).pk)


def _statuses(synced: SyncResult) -> dict[str, str]:
    return {item.capability_id: item.status for item in synced.taken}


def _sync(source_id: int) -> dict[str, str]:
    return _statuses(sync_source(source_id=source_id, by=OLGA))


def _differences(source_id: int) -> dict[str, str]:
    return {entry.capability_id: entry.difference for entry in compare_with_source(source_id)}


def test_what_changes_in_the_source_is_published_once(url: str, repository: Path) -> None:
    source_id = _add(url)
    assert _sync(source_id) == {"alpha": "published", "beta": "published"}
    assert _sync(source_id) == {}
    _commit(repository, "alpha", body="Two.")
    assert _sync(source_id) == {"alpha": "published"}
    assert Revision.objects.filter(capability__capability_id="alpha").count() == 2
    newest = Revision.objects.get(capability__capability_id="alpha", number=2)
    head = git(repository, "rev-parse", "HEAD").strip()
    assert newest.note == f"From {url}@main#bundles at {head[:12]}"
    source = GitSource.objects.get()
    assert (source.commit, source.failures, source.last_synced_at is not None) == (head, 0, True)
    assert _differences(source_id) == {}


@pytest.mark.both_databases
def test_drafts_are_made_where_that_was_asked_for(url: str, repository: Path) -> None:
    source_id = _add(url, "draft")
    assert _sync(source_id) == {"alpha": "draft", "beta": "draft"}
    assert Draft.objects.count() == 2
    assert not Revision.objects.exists()
    assert _differences(source_id) == {"alpha": "not_published", "beta": "not_published"}
    draft = Draft.objects.get(capability__capability_id="alpha")
    publication.publish_draft(capability_id="alpha", draft_version=draft.version, by=OLGA)
    assert _differences(source_id) == {"beta": "not_published"}
    _commit(repository, "alpha", body="Two.")
    assert _differences(source_id)["alpha"] == "source_changed"


@pytest.mark.slow
def test_what_was_published_here_meanwhile_is_not_overwritten(url: str, repository: Path) -> None:
    source_id = _add(url)
    _sync(source_id)
    publish("alpha", body="Fixed here.")
    assert _sync(source_id) == {}
    assert _differences(source_id) == {"alpha": "registry_changed"}
    _commit(repository, "alpha", body="Changed there.")
    assert _differences(source_id) == {"alpha": "both_changed"}
    assert _sync(source_id) == {"alpha": "held"}
    assert "Fixed here." in str(Revision.objects.get(capability__capability_id="alpha", number=2).skill_md)
    assert "Changed there." in str(Draft.objects.get(discarded_at=None).skill_md)
    # The operator takes the source's: both agree again, and the next change is published.
    draft = Draft.objects.get(discarded_at=None)
    publication.publish_draft(capability_id="alpha", draft_version=draft.version, by=OLGA)
    assert _differences(source_id) == {}
    _commit(repository, "alpha", body="Again.")
    assert _sync(source_id) == {"alpha": "published"}


@pytest.mark.slow
def test_the_same_change_on_both_sides_is_no_drift(url: str, repository: Path) -> None:
    source_id = _add(url)
    _sync(source_id)
    publish("alpha", body="Two.")
    _commit(repository, "alpha", body="Two.")
    assert _differences(source_id) == {}
    assert _sync(source_id) == {"alpha": "unchanged"}


def test_what_goes_from_the_source_stays_here_and_is_told(url: str, repository: Path) -> None:
    source_id = _add(url)
    _sync(source_id)
    git(repository, "rm", "-rq", "bundles/beta")
    git(repository, "commit", "-qm", "x")
    assert _sync(source_id) == {}
    assert Capability.objects.get(capability_id="beta").status == "published"
    assert _differences(source_id) == {"beta": "gone_from_source"}
    assert AuditEvent.objects.filter(verb="git_source.sync").latest("id").detail["became"] == {"beta": "gone"}
    assert [vars(row)["troubled"] for row in list_source_rows()] == [1]
    assert _sync(source_id) == {}
    assert AuditEvent.objects.filter(verb="git_source.sync").count() == 2, "it is said once"
    publication.retire(capability_id="beta", by=OLGA)
    assert _differences(source_id) == {}
    assert [vars(row)["troubled"] for row in list_source_rows()] == [0]


def test_a_bundle_that_is_refused_is_told_and_tried_again(url: str, repository: Path) -> None:
    source_id = _add(url)
    _commit(repository, "alpha", description=None)
    commit(repository, {"bundles/odd/SKILL.md": "No front matter"})
    synced = sync_source(source_id=source_id, by=OLGA)
    assert {item.path: item.status for item in synced.taken} == {
        "alpha": "refused", "beta": "published", "odd": "refused",
    }  # fmt: skip
    alpha = GitSourceItem.objects.get(path="alpha")
    assert "description" in alpha.detail
    assert _differences(source_id) == {"alpha": "unread", "": "unread"}
    _commit(repository, "alpha")
    assert _sync(source_id)["alpha"] == "published"
    assert GitSourceItem.objects.get(path="alpha").detail == ""


def test_a_source_that_cannot_be_read_says_so_until_it_can(url: str, repository: Path) -> None:
    source_id = _add(url)
    away = repository.with_name("away")
    repository.rename(away)
    for failures in (1, 2):
        with pytest.raises(SourceUnreadable):
            sync_source(source_id=source_id, by=OLGA)
        source = GitSource.objects.get()
        assert (source.failures, bool(source.last_error), source.last_synced_at) == (failures, True, None)
    assert AuditEvent.objects.filter(verb="git_source.fail").count() == 1
    away.rename(repository)
    _sync(source_id)
    assert (GitSource.objects.get().failures, GitSource.objects.get().last_error) == (0, "")


@pytest.mark.both_databases
def test_a_worker_looks_at_once_and_again_and_again(url: str, repository: Path) -> None:
    source_id = _add(url)
    worker.Worker().run_due()
    assert Revision.objects.count() == 2
    assert Revision.objects.first().created_by == f"system:git source {source_id}"  # type: ignore[union-attr]
    job = Job.objects.get(kind=source_sync.KIND, state="queued")
    assert timedelta(minutes=59) < job.run_after - timezone.now() <= timedelta(minutes=60)
    _commit(repository, "alpha", body="Two.")
    repository.rename(repository.with_name("away"))
    Job.objects.filter(pk=job.pk).update(run_after=timezone.now())
    worker.Worker().run_due()
    assert GitSource.objects.get().failures == 1
    repository.with_name("away").rename(repository)
    Job.objects.filter(kind=source_sync.KIND, state="queued").update(run_after=timezone.now())
    worker.Worker().run_due()
    assert Revision.objects.count() == 3
    remove_source(source_id=source_id, by=OLGA)
    Job.objects.filter(kind=source_sync.KIND, state="queued").update(run_after=timezone.now())
    worker.Worker().run_due()
    assert not Job.objects.filter(kind=source_sync.KIND, state="queued").exists()
    assert Capability.objects.filter(status="published").count() == 2


@pytest.mark.slow
def test_a_push_is_taken_in_by_the_next_worker(url: str, repository: Path) -> None:
    source_id = _add(url)
    worker.Worker().run_due()
    _, secret = push_webhooks.create_push_secret(source_id=source_id, by=OLGA)
    _commit(repository, "alpha", body="Two.")
    worker.Worker().run_due()
    assert Revision.objects.count() == 2
    push = json.dumps({"ref": "refs/heads/main"}).encode()
    heard = push_webhooks.receive_push(
        source_id=source_id, delivery=PushDelivery(event="push", body=push, token=secret)
    )
    assert heard.status == "queued"
    worker.Worker().run_due()
    assert Revision.objects.count() == 3
    assert Job.objects.filter(kind=source_sync.KIND, state="queued").count() == 1


def test_three_failures_in_a_row_are_an_incident_until_the_next_good_look(url: str, repository: Path) -> None:
    source_id = _add(url)
    away = repository.with_name("away")
    repository.rename(away)
    for failures in (1, 2, 3):
        with pytest.raises(SourceUnreadable):
            sync_source(source_id=source_id, by=OLGA)
        assert Incident.objects.count() == (1 if failures == 3 else 0)
    incident = Incident.objects.get()
    assert (incident.kind, incident.source_id, incident.message) == (
        "source", source_id, f"{url}@main#bundles cannot be read",
    )  # fmt: skip
    away.rename(repository)
    _sync(source_id)
    assert Incident.objects.get().closed_at is not None


@pytest.mark.slow
def test_what_the_gate_wants_a_person_for_is_a_draft_until_somebody_publishes_it(url: str, repository: Path) -> None:
    source_id = _add(url)
    _commit(repository, "alpha", tools=[tool("alpha_save", kind="write")])
    _sync(source_id)
    _commit(repository, "alpha", tools=[tool("alpha_save", kind="write", requires_approval=False)])
    assert _sync(source_id) == {"alpha": "refused"}
    assert "POLICY_LOOSENED" in GitSourceItem.objects.get(path="alpha").detail
    draft = Draft.objects.get(discarded_at=None)
    assert _sync(source_id) == {"alpha": "refused"}
    assert Draft.objects.get(discarded_at=None) == draft
    publication.publish_draft(
        capability_id="alpha", draft_version=draft.version, by=OLGA, acknowledge=["POLICY_LOOSENED"]
    )
    assert _sync(source_id) == {"alpha": "unchanged"}
    assert _differences(source_id) == {}
    _commit(repository, "alpha", body="Two.", tools=[tool("alpha_save", kind="write", requires_approval=False)])
    assert _sync(source_id) == {"alpha": "published"}


def test_passage_that_is_held_is_a_draft_an_incident_and_published_once_decided(url: str, repository: Path) -> None:
    source_id = _add(url)
    _commit(repository, "alpha", body=DOUBT)
    assert _sync(source_id)["alpha"] == "refused"
    assert "A person has to decide" in Incident.objects.get(closed_at=None).findings[0]["message"]
    _sync(source_id)
    assert Incident.objects.get(closed_at=None).count == 2
    (waiting,) = list_waiting("alpha")
    assert waiting.submitted_by == [str(OLGA)]
    accept_passages(capability_id="alpha", by=Actor("command_line", "root"), reason="Known")
    assert _sync(source_id) == {"alpha": "published"}
    assert not Incident.objects.filter(closed_at=None).exists()


def test_a_look_that_was_parked_is_not_the_last_one(url: str) -> None:
    source_id = _add(url)
    Job.objects.all().delete()
    source_sync.on_job_state_change({"source_id": source_id}, "queued")
    assert not Job.objects.exists()
    source_sync.on_job_state_change({"source_id": source_id}, "parked")
    assert Job.objects.get().payload == {"source_id": source_id}


@pytest.mark.parametrize(
    "spec", ["http://git.example/a", "https://a:b@git.example/a", "/etc", "https://git.example/a@-x"]
)
def test_other_addresses_are_refused(spec: str) -> None:
    with pytest.raises(SourceUnreadable):
        add_git_source(spec=spec, mode="draft", every_minutes=60, by=OLGA)
    assert not GitSource.objects.exists()


def test_odd_settings_are_refused() -> None:
    spec = "https://git.example/a"
    for mode, minutes in (("guess", 60), ("draft", 4), ("draft", 7 * 24 * 60 + 1)):
        with pytest.raises(InvalidRequest):
            add_git_source(spec=spec, mode=mode, every_minutes=minutes, by=OLGA)
    add_git_source(spec=spec, mode="draft", every_minutes=5, by=OLGA)
    with pytest.raises(NameConflict):
        add_git_source(spec=spec, mode="publish", every_minutes=60, by=OLGA)
    for verb in (sync_source, remove_source):
        with pytest.raises(NotFound):
            verb(source_id=0, by=OLGA)
    with pytest.raises(NotFound):
        compare_with_source(0)


def test_sources_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_sync, "SOURCES_MAX", 1)
    add_git_source(spec="https://git.example/a", mode="draft", every_minutes=60, by=OLGA)
    with pytest.raises(InvalidRequest, match="At most 1"):
        add_git_source(spec="https://git.example/b", mode="draft", every_minutes=60, by=OLGA)


def test_private_addresses_are_refused_when_they_are_looked_at() -> None:
    source = add_git_source(spec="https://10.0.0.1/a", mode="draft", every_minutes=60, by=OLGA)
    with pytest.raises(SourceUnreadable, match="not a public address"):
        sync_source(source_id=source.pk, by=OLGA)
