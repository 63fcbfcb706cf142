"""What matching does between the choice of another model and the end of the job that makes its vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np
import pytest

from registry.core.jobs import queue
from registry.core.transactions import write_transaction
from registry.matching import (
    embedders,
    index,
    index_vectors,
    kernel_classifier,
    readability,
    training_job,
    vector_store,
)
from registry.matching.calibration import Background
from registry.matching.embedding import Embedder, EmbedderUnavailable, normalize_vectors
from registry.matching.index import KeptWork, build
from registry.matching.ngram_index import Floats
from registry.matching.training_progress import count_missing_vectors, get_training_progress
from registry.models import Job, MatchClassifier, SentenceVector
from registry.snapshot import STORE as SNAPSHOTS
from tests.factories import publish

pytestmark = pytest.mark.django_db


class WorkerKilled(BaseException):
    """Nothing catches it, as nothing runs any more after SIGKILL."""


@dataclass(eq=False)
class CountingEmbedder:
    """Vectors by letter; remembers what it was asked for, and may fail after some batches."""

    model_id: str
    dimension: int = 26
    embedded: list[str] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)
    batches_left: int = 1000
    failure: BaseException = field(default_factory=WorkerKilled)

    def load(self) -> None:
        """Nothing to load."""

    def embed(self, texts: Sequence[str]) -> Floats:
        if not self.batches_left:
            raise self.failure
        self.batches_left -= 1
        self.embedded += texts
        return self._count_letters(texts)

    def embed_messages(self, texts: Sequence[str]) -> Floats:
        self.messages += texts
        return self._count_letters(texts)

    def make_background(self, known: Floats) -> Background:
        return Background(known)

    def can_read(self, text: str) -> bool:
        return bool(text)

    def _count_letters(self, texts: Sequence[str]) -> Floats:
        rows = [[1 + text.lower().count(chr(97 + at % 26)) for at in range(self.dimension)] for text in texts]
        return normalize_vectors(np.array(rows, np.float32).reshape(len(texts), self.dimension))


class Models:
    """Which models are chosen and installed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.chosen: Embedder | None = None
        self.others: list[Embedder] = []
        for module in (embedders, index, readability):
            monkeypatch.setattr(module, "get_embedder", lambda: self.chosen)
        monkeypatch.setattr(index_vectors, "list_other_embedders", lambda chosen: self.others)

    def choose(self, chosen: Embedder, *others: Embedder) -> None:
        """As a restart with another setting: nothing is in memory."""
        self.chosen, self.others = chosen, [*others]
        training_job.clear_cache()


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch) -> Models:
    return Models(monkeypatch)


def _run_next() -> str | None:
    Job.objects.filter(state="queued").exclude(kind=training_job.KIND).delete()
    Job.objects.filter(state="queued").update(run_after="2020-01-01T00:00:00Z")
    return queue.run_next_job()


def _run_all() -> None:
    while _run_next():
        pass


def _queue() -> None:
    with write_transaction():
        training_job.queue_training()


def test_messages_are_compared_by_the_model_before_until_all_vectors_of_the_new_one_are_there(models: Models) -> None:
    old, new = CountingEmbedder("old", 26), CountingEmbedder("new", 20)
    models.choose(old)
    publish("alpha", utterances={"should_match": ["weigh me", "log my weight"]})
    _run_all()
    models.choose(new, old)
    kept = KeptWork()
    found = build(None, SNAPSHOTS.refresh(), seconds=-1, kept=kept)
    assert (found.embedder, found.is_waiting) == (old, True)
    found.match("weigh me now", top=3)
    assert old.messages == ["weigh me now"]
    assert (new.embedded, new.messages) == ([], [])
    _queue()
    _run_all()
    found = build(None, SNAPSHOTS.refresh(), seconds=-1, kept=kept)
    assert (found.embedder, found.is_waiting) == (new, False)
    found.match("weigh me now", top=3)
    assert new.messages == ["weigh me now"]
    assert found.matcher.evidence is not None
    assert found.matcher.evidence.vectors is not None
    assert found.matcher.evidence.vectors.shape[1] == 20


@pytest.mark.both_databases
def test_what_is_published_meanwhile_is_compared_by_the_model_before_too(models: Models) -> None:
    old, new = CountingEmbedder("old"), CountingEmbedder("new", batches_left=0, failure=EmbedderUnavailable("away"))
    models.choose(old)
    publish("alpha")
    _run_all()
    models.choose(new, old)
    publish("beta", utterances={"should_match": ["an hour of yoga"]})
    found = build(None, SNAPSHOTS.refresh(), seconds=600)
    assert found.embedder is old
    assert found.match("yoga for an hour", top=1).matches[0].capability_id == "beta"


@pytest.mark.both_databases
def test_after_an_import_what_has_vectors_goes_on_and_the_rest_is_found_by_words(models: Models) -> None:
    model = CountingEmbedder("one")
    models.choose(model)
    publish("alpha", utterances={"should_match": ["weigh me"]})
    _run_all()
    publish("beta", intent_triggers=["yoga"], utterances={"should_match": [f"lesson {n}" for n in range(30)]})
    found = build(None, SNAPSHOTS.refresh(), seconds=-1)
    assert (found.embedder, found.is_waiting) == (model, True)
    assert found.matcher.evidence is not None
    assert found.matcher.evidence.vectors is not None
    has_vector = [bool(row.any()) for row in found.matcher.evidence.vectors]
    labels, place = found.matcher.evidence.samples.labels, found.matcher.places["alpha"]
    assert {one for one, label in zip(has_vector, labels, strict=True) if label == place} == {True}
    assert {one for one, label in zip(has_vector, labels, strict=True) if label != place} == {False}
    of_beta = [one for one in found.match("yoga please", top=2).matches if one.capability_id == "beta"]
    assert [hit.trigger for hit in of_beta[0].triggers] == ["yoga"]
    _queue()
    _run_all()
    assert not build(None, SNAPSHOTS.refresh(), seconds=-1).is_waiting


def test_with_more_than_half_without_vectors_words_alone_decide(models: Models) -> None:
    models.choose(CountingEmbedder("one"))
    publish("alpha")
    _run_all()
    publish("beta", utterances={"should_match": [f"lesson {number}" for number in range(190)]})
    assert build(None, SNAPSHOTS.refresh(), seconds=-1).embedder is None


@pytest.mark.parametrize("has_vectors", [False, True])
def test_words_alone_decide_where_the_model_before_is_not_installed_or_knows_nothing(
    models: Models, has_vectors: bool
) -> None:
    old, new = CountingEmbedder("old"), CountingEmbedder("new")
    models.choose(old)
    publish("alpha")
    if has_vectors:
        _run_all()
    models.choose(new, *([] if has_vectors else [old]))
    found = build(None, SNAPSHOTS.refresh(), seconds=-1)
    assert (found.embedder, found.is_waiting) == (None, True)
    assert found.match("alpha please", top=3).matches[0].capability_id == "alpha"


def test_a_classifier_of_the_model_before_is_not_extended_for_the_new_one(
    models: Models, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = CountingEmbedder("old"), CountingEmbedder("new")
    models.choose(old)
    publish("alpha")
    publish("beta")
    _run_all()
    models.choose(new, old)
    extended: list[object] = []
    monkeypatch.setattr(index, "_extended_classifier", lambda *given: extended.append(given))
    kept = KeptWork()
    before = build(None, SNAPSHOTS.refresh(), seconds=-1, kept=kept)
    assert before.embedder is old
    assert build(before, SNAPSHOTS.refresh(), seconds=None, kept=kept).embedder is new
    assert extended == []
    before = build(None, SNAPSHOTS.refresh(), seconds=None, kept=kept)
    build(before, SNAPSHOTS.refresh(), seconds=None, kept=kept)
    assert len(extended) == 1


def test_a_killed_worker_is_followed_by_one_that_makes_the_rest(
    models: Models, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_store, "_CHUNK", 16)
    model = CountingEmbedder("new", batches_left=3)
    models.choose(model)
    publish("alpha")
    with pytest.raises(WorkerKilled):
        _run_next()
    job = Job.objects.get(kind=training_job.KIND)
    assert (job.state, job.payload["made"], SentenceVector.objects.count()) == ("running", 48, 48)
    assert get_training_progress().state == "running"
    assert count_missing_vectors() == job.payload["total"] - 48
    Job.objects.update(lease_expires_at="2020-01-01T00:00:00Z")
    model.batches_left = 1000
    training_job.clear_cache()
    _run_all()
    progress = get_training_progress()
    assert (progress.state, progress.made) == ("done", progress.total)
    assert count_missing_vectors() == 0
    assert len(model.embedded) == len(set(model.embedded)) == SentenceVector.objects.count() == progress.total


@pytest.mark.both_databases
def test_a_step_ends_after_some_seconds_and_other_jobs_have_their_turn(
    models: Models, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_store, "_CHUNK", 16)
    model = CountingEmbedder("new")
    # Each batch takes 8 s.
    clock = SimpleNamespace(monotonic=lambda: 8.0 * len(model.embedded) / 16)
    monkeypatch.setattr(vector_store, "time", clock)
    models.choose(model)
    publish("alpha")
    assert _run_next() == "done"
    assert SentenceVector.objects.count() == 32
    following = Job.objects.get(kind=training_job.KIND, state="queued")
    assert (following.payload["made"], following.concurrency_key) == (32, training_job.KIND)
    begun = following.payload["since"]
    _run_all()
    made = [job.payload["made"] for job in Job.objects.filter(kind=training_job.KIND).order_by("id")]
    assert made == sorted(made)
    assert len(made) > 3
    last = Job.objects.filter(kind=training_job.KIND).latest("id")
    assert (last.state, last.payload["since"], last.payload["made"]) == ("done", begun, last.payload["total"])


def test_a_second_run_makes_nothing(models: Models) -> None:
    model = CountingEmbedder("new")
    models.choose(model)
    publish("alpha")
    _run_all()
    made = len(model.embedded)
    _queue()
    _run_all()
    assert len(model.embedded) == made


@pytest.mark.both_databases
def test_a_model_that_fails_is_named_with_its_error_and_tried_again(
    models: Models, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel_classifier, "_WORK_AT_ONCE", 0)
    model = CountingEmbedder("new", batches_left=0, failure=EmbedderUnavailable("the endpoint is away"))
    models.choose(model)
    publish("alpha")
    publish("beta")
    assert _run_next() == "queued"
    progress = get_training_progress()
    assert (progress.state, progress.made) == ("failing", 0)
    assert progress.error.endswith("the endpoint is away")
    # Words alone decide meanwhile, with all that was learned of them.
    assert MatchClassifier.objects.get().model_id == ""
    model.batches_left = 1000
    _run_all()
    assert get_training_progress().state == "done"


def test_a_job_that_was_done_for_another_model_says_nothing_of_this_one(models: Models) -> None:
    models.choose(CountingEmbedder("old"))
    assert get_training_progress().state == "never"
    publish("alpha")
    assert get_training_progress().state == "queued"
    _run_all()
    assert get_training_progress().state == "done"
    models.choose(CountingEmbedder("new"))
    assert get_training_progress().state == "outdated"
    # As a release left it that did not count.
    Job.objects.update(payload={})
    assert get_training_progress().state == "outdated"


def test_the_progress_names_what_compares_messages_meanwhile(models: Models, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_store, "_CHUNK", 16)
    old, new = CountingEmbedder("old"), CountingEmbedder("new", batches_left=1)
    models.choose(old)
    publish("alpha")
    _run_all()
    models.choose(new, old)
    _queue()
    with pytest.raises(WorkerKilled):
        _run_next()
    progress = get_training_progress()
    assert (progress.model, progress.meanwhile, progress.made) == ("new", "old", 16)
    assert progress.since is not None
