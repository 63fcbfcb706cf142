"""What a publish leaves to be learned, and what the job makes of it."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from django.utils import timezone

from registry.core.jobs import queue
from registry.core.transactions import write_transaction
from registry.matching import index, kernel_classifier, training_job
from registry.matching.embedders import get_embedder
from registry.matching.index import PUBLISHED_INDEX, MatchIndexCache, build
from registry.matching.vector_store import text_digest
from registry.models import Job, MatchClassifier, RegistryState, Revision, SentenceVector
from registry.operations.worker import Worker
from registry.snapshot import STORE as SNAPSHOTS
from tests.factories import publish, tampering

pytestmark = pytest.mark.django_db


@pytest.fixture
def minilm(settings: Any) -> None:
    settings.EMBEDDER = "minilm"
    get_embedder.cache_clear()


def _run_due(monkeypatch: pytest.MonkeyPatch) -> None:
    Job.objects.filter(kind=training_job.KIND, state="queued").update(run_after="2020-01-01T00:00:00Z")
    while queue.run_next_job():
        pass


def test_several_publishes_leave_one_job() -> None:
    publish("alpha")
    publish("beta")
    assert Job.objects.filter(kind=training_job.KIND).count() == 1


def _queued() -> Job:
    return Job.objects.get(kind=training_job.KIND, state="queued")


def test_training_waits_for_the_end_of_publishing(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.MATCHING_LEARN_AFTER_SECONDS = 1.0
    publish("alpha")
    created = _queued().created_at
    Job.objects.update(run_after=created + timedelta(seconds=1))
    for seconds, due_after in ((0.1, 1.0), (0.8, 1.8), (1.0, 1.8), (59.5, 60.0), (59.8, 60.0)):
        if seconds == 59.5:
            Job.objects.update(run_after=created + timedelta(seconds=59.9))
        now = created + timedelta(seconds=seconds)
        monkeypatch.setattr(timezone, "now", lambda now=now: now)
        with write_transaction():
            training_job.queue_training()
        assert (_queued().run_after - created).total_seconds() == pytest.approx(due_after, abs=0.05)


def test_no_index_is_made_where_no_head_is_to_be_fitted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "build", lambda *_, **__: pytest.fail("made for nothing"))
    publish("alpha")
    publish("beta")
    _run_due(monkeypatch)
    assert Job.objects.get(kind=training_job.KIND).state == "done"


def test_a_large_registry_rests_five_times_as_long_as_it_was_worked_for(
    minilm: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(training_job, "_TEXTS_WITHOUT_REST", 0)
    worked, clock = iter([0.0]), SimpleNamespace(now=1000.0)
    stand_in = SimpleNamespace(thread_time=lambda: next(worked, 10.0), monotonic=lambda: clock.now)
    publish("alpha")
    monkeypatch.setattr(training_job, "time", stand_in)
    monkeypatch.setattr(training_job, "_rests_until", 0.0)
    _run_due(monkeypatch)
    made = SentenceVector.objects.count()
    assert made
    publish("beta", utterances={"should_match": ["a sentence of its own"]})
    Job.objects.filter(state="queued").update(run_after="2020-01-01T00:00:00Z")
    clock.now += 20
    while queue.run_next_job():
        pass
    assert SentenceVector.objects.count() == made
    wait = _queued().run_after - timezone.now()
    assert 0 < wait.total_seconds() <= 30
    clock.now += 31
    _run_due(monkeypatch)
    assert SentenceVector.objects.count() > made


@pytest.mark.both_databases
def test_the_job_makes_vectors_once_a_text(minilm: None, monkeypatch: pytest.MonkeyPatch) -> None:
    publish("alpha", utterances={"should_match": ["one sentence", "another sentence"]})
    _run_due(monkeypatch)
    assert Job.objects.get(kind=training_job.KIND).state == "done"
    names = set(SentenceVector.objects.values_list("text_sha256", flat=True))
    assert text_digest("one sentence") in names
    made = SentenceVector.objects.count()
    publish("beta", utterances={"should_match": ["one sentence"]})
    _run_due(monkeypatch)
    assert SentenceVector.objects.filter(text_sha256=text_digest("one sentence")).count() == 1
    assert SentenceVector.objects.count() > made


def test_a_head_that_takes_long_is_fitted_by_the_job(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_classifier, "_WORK_AT_ONCE", 0)
    publish("alpha")
    publish("beta")
    before = PUBLISHED_INDEX.get()
    assert before.matcher.evidence is not None
    assert not before.matcher.evidence.is_fitted
    _run_due(monkeypatch)
    row = MatchClassifier.objects.get()
    assert row.fingerprint == before.matcher.evidence.samples.fingerprint
    after = MatchIndexCache().get()
    assert after.matcher.evidence is not None
    assert after.matcher.evidence.weights is not None
    assert np.isfinite(after.matcher.evidence.weights).all()


def test_a_head_of_other_sentences_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_classifier, "_WORK_AT_ONCE", 0)
    publish("alpha")
    publish("beta")
    _run_due(monkeypatch)
    publish("gamma")
    index = MatchIndexCache().get()
    assert index.matcher.evidence is not None
    assert not index.matcher.evidence.is_fitted


def test_what_was_published_during_the_job_is_learned_by_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    publish("alpha")
    Job.objects.filter(kind=training_job.KIND).update(run_after="2020-01-01T00:00:00Z")
    lease = queue.claim_job(Job.objects.get(kind=training_job.KIND).run_after)
    assert lease is not None
    write = training_job.train(lease)
    publish("beta")
    queue._finish(lease, write)
    assert Job.objects.filter(kind=training_job.KIND, state="queued").count() == 1


def test_a_vector_of_another_length_is_made_anew(minilm: None) -> None:
    SentenceVector.objects.create(
        model_id="all-MiniLM-L6-v2-onnx-int8", text_sha256=text_digest("Alpha"), dimension=3, vector=b"\0" * 12
    )
    publish("alpha")
    index = PUBLISHED_INDEX.get(vector_seconds=600)
    assert index.matcher.evidence is not None
    assert index.matcher.evidence.vectors is not None
    assert index.matcher.evidence.vectors.shape[1] == 384


def test_without_time_words_answer_and_the_job_does_the_rest(minilm: None, monkeypatch: pytest.MonkeyPatch) -> None:
    publish("alpha")
    found = build(None, SNAPSHOTS.refresh(), seconds=-1, kept=PUBLISHED_INDEX.kept)
    assert found.is_waiting
    assert found.embedder is None
    assert found.match("alpha please", top=3).matches[0].capability_id == "alpha"
    Worker().run_due()
    _run_due(monkeypatch)
    assert not build(None, SNAPSHOTS.refresh(), seconds=-1, kept=PUBLISHED_INDEX.kept).is_waiting


@pytest.mark.both_databases
def test_after_a_restore_nothing_is_known_by_its_old_row() -> None:
    publish("alpha", intent_triggers=["walrus"])
    before = PUBLISHED_INDEX.get()
    assert before.match("walrus", top=3).decision == "match"
    # As a restore leaves it: the same row, another text, another history.
    revision = Revision.objects.get()
    revision.capability_json = (revision.capability_json or "").replace("walrus", "ostrich")
    with tampering():
        Revision.objects.update(capability_json=revision.capability_json)
    RegistryState.objects.update(epoch="another")
    assert PUBLISHED_INDEX.get().match("ostrich", top=3).matches[0].triggers


def test_while_vectors_are_waited_for_an_index_that_takes_long_is_made_rarely(monkeypatch: pytest.MonkeyPatch) -> None:
    publish()
    holder = MatchIndexCache()
    made: list[float] = []

    def slowly(*arguments: Any, **options: Any) -> Any:
        made.append(time.monotonic())
        time.sleep(0.1)
        return replace(build(*arguments, **options), is_waiting=True)

    monkeypatch.setattr(index, "build", slowly)
    monkeypatch.setattr(index, "_POLL_SECONDS", 0.0)
    for _ in range(20):
        holder.get()
    assert len(made) == 1
    publish(body="More of it.")
    holder.get()
    assert len(made) == 2
