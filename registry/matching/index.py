"""The matcher of this process, rebuilt when the published capabilities have changed."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, lru_cache, partial
from typing import Final, NamedTuple

import numpy as np
from django.db import connection

from capability_kit import tracing
from capability_kit.text.tokenizer import has_words
from capability_kit.text.trigger_matching import TriggerIndex
from capability_rules.bundles.profile import CapabilityProfile
from registry.common import caches
from registry.matching import index_vectors, kernel_classifier
from registry.matching.calibration import Background, Calibration
from registry.matching.capability_profiles import clear_cache as forget_known
from registry.matching.capability_profiles import profiles_of_drafts, profiles_of_revisions
from registry.matching.denied_intents import match_wanted
from registry.matching.embedders import get_embedder
from registry.matching.embedding import Embedder, EmbedderUnavailable
from registry.matching.example_similarity import ExampleSimilarity, TrainingExamples, build_training_examples
from registry.matching.index_vectors import IndexVectors, TextLists, cut_rows, list_texts
from registry.matching.kept_answers import KeptAnswers
from registry.matching.kept_words import KeptWords
from registry.matching.matcher import Matcher, MatchResult, list_trigger_languages
from registry.matching.ngram_index import FeatureIndex, Floats
from registry.matching.search import SearchIndex
from registry.matching.skill_doc_similarity import SkillDocSimilarity, extract_stems
from registry.matching.trigger_evidence import TriggerEvidence
from registry.matching.vector_store import Progress
from registry.models import MatchClassifier, SkillGroup
from registry.snapshot import Snapshot, current_snapshot
from registry.snapshot.snapshot import AccessScope

logger = logging.getLogger(__name__)

# A message that waits for vectors of new sentences waits no longer; words alone decide until a job has made them.
_SECONDS_AT_ONCE: Final = 2.0
# How often to check whether the job has fitted a head or made vectors meanwhile: rarely where making an index takes
# long, so that those who ask spend a tenth of the time on it at most.
_POLL_SECONDS: Final = 1.0
_POLL_SECONDS_MAX: Final = 60.0
_POLL_SHARE: Final = 0.1
# An index that took longer to make is made in the background, and callers take the one before meanwhile; the next one
# is begun after a pause of twice that time. Below it they wait, as for vectors: the first message after a publish is
# matched against what the list has.
_LAG_FROM_SECONDS: Final = 2.0
# With more changes than this since the index before, all triggers are read again.
_CHANGES_MAX: Final = 100
# Past this a message says nothing new to the model, which reads 256 pieces of words.
EMBEDDED_MESSAGE_LENGTH_MAX: Final = 2000


class IndexRevisions(NamedTuple):
    """The state of the registry that an index is made of; groups move with the revision of keys and settings."""

    registry_revision: int
    access_revision: int
    epoch: str


class _Beside(NamedTuple):
    """What there is beside the words of known sentences: nothing where there is no embedder."""

    vectors: Floats | None
    embedder: Embedder | None
    skill_docs: SkillDocSimilarity | None
    background: Background | None


@dataclass(frozen=True)
class MatchIndex:
    """What is known at one state of the registry.

    `embedder` is the one whose vectors it has, None where words alone decide; while `is_waiting`, a job makes those of
    the chosen one. Of a group in `exclusive` a session keeps one member.
    """

    revisions: IndexRevisions
    matcher: Matcher
    groups: Matcher
    make_search: Callable[[], SearchIndex]
    embedder: Embedder | None
    counters: dict[str, Floats] = field(default_factory=dict)
    is_waiting: bool = False
    described_groups: tuple[CapabilityProfile, ...] = ()
    exclusive: frozenset[str] = frozenset()
    answers: KeptAnswers = field(default_factory=KeptAnswers)

    @cached_property
    def search(self) -> SearchIndex:
        """Made when it is first asked: a message that is matched does not need it, and skill docs take long to read."""
        return self.make_search()

    def is_made_of(self, snapshot: Snapshot) -> bool:
        """False where the next index is being made: what is found may not be published any more."""
        return self.revisions == _revisions(snapshot)

    def vector(self, message: str) -> Floats | None:
        """The message's own vector; None without an embedder, where it does not respond now, for a language that it
        does not read, and for what has no words: a model finds "?" and "👋" as near to a greeting as to anything."""
        said = " ".join(message.split())[:EMBEDDED_MESSAGE_LENGTH_MAX]
        if self.embedder is None or not has_words(said) or not self.embedder.can_read(said):
            return None
        try:
            return _message_vector(self.embedder, said)
        except EmbedderUnavailable as error:
            logger.warning("a message was matched by words alone: %s", error)
            self.answers.note_failure()
            return None

    def match(self, message: str, *, top: int, takes: Callable[[CapabilityProfile], bool] | None = None) -> MatchResult:
        """As `match_wanted`, with the vectors of this process's embedder."""
        with tracing.span("match message") as span:
            found = match_wanted(self.matcher, message, self._vectors, top=top, takes=takes, counter=self._counter)
            span.set("studio.match.decision", found.decision)
            span.set("studio.match.characters", len(message))
            return found

    def _vectors(self, texts: list[str]) -> Floats | None:
        """Of the message alone, or of its parts at once."""
        if len(texts) == 1:
            vector = self.vector(texts[0])
            return None if vector is None else vector[None]
        try:
            if self.embedder is None or not all(map(self.embedder.can_read, texts)):
                return None
            return np.asarray(self.embedder.embed_messages(texts), np.float32)
        except EmbedderUnavailable as error:
            logger.warning("a message was matched as one: %s", error)
            self.answers.note_failure()
            return None

    def _counter(self, one: CapabilityProfile, vector: Floats | None) -> float:
        known = self.counters.get(one.capability_id)
        return float((known @ vector).max()) if known is not None and vector is not None else 0.0

    def groups_of(self, capability_id: str) -> tuple[str, ...]:
        """The skill groups that a capability names."""
        return self.matcher.known[self.matcher.places[capability_id]].skill_groups

    def match_groups(self, message: str, *, top: int) -> list[str]:
        """Skill groups whose own words or example sentences the message is close to."""
        verdict = self.groups.match(message, self.vector(message), top=top)
        return [one.capability_id for one in verdict.matches if not one.is_below_threshold]


@lru_cache(maxsize=512)
def _message_vector(embedder: Embedder, message: str) -> Floats:
    return np.asarray(embedder.embed_messages([message])[0], np.float32)


caches.register(_message_vector.cache_clear)


@dataclass(frozen=True)
class KeptWork:
    """What was read and computed for one index and serves the next: what stands in it changes no index.

    Nothing is known by its place: after a restore from a backup another one is begun.
    """

    words: KeptWords = field(default_factory=KeptWords)
    numbers: FeatureIndex = field(default_factory=FeatureIndex)
    doc_numbers: FeatureIndex = field(default_factory=partial(FeatureIndex, extract_stems))
    calibration: Calibration = field(default_factory=Calibration)
    trigger_evidence: TriggerEvidence = field(default_factory=TriggerEvidence)
    vectors: IndexVectors = field(default_factory=IndexVectors)

    def make_vectors(self, snapshot: Snapshot, *, seconds: float, between: Progress | None = None) -> bool:
        """Make and store vectors of the chosen model for so many seconds; whether all are there. Raises
        `EmbedderUnavailable`."""
        return self.vectors.make(get_embedder(), _Known.read(snapshot).texts, seconds, between)


class _Known(NamedTuple):
    """What an index is made of, and the samples of capabilities and groups."""

    profiles: list[CapabilityProfile]
    rows: list[SkillGroup]
    groups: tuple[CapabilityProfile, ...]
    samples: TrainingExamples
    group_samples: TrainingExamples

    @classmethod
    def read(cls, snapshot: Snapshot, *, previews: bool = False) -> _Known:
        profiles, rows = list_profiles(snapshot, previews=previews), list(SkillGroup.objects.all())
        groups = tuple(map(_known_group, rows))
        samples, group_samples = (build_training_examples([one.samples for one in of]) for of in (profiles, groups))
        return cls(profiles, rows, groups, samples, group_samples)

    @property
    def texts(self) -> TextLists:
        return list_texts(self.profiles, self.samples, self.group_samples)


def build(
    before: MatchIndex | None,
    snapshot: Snapshot,
    *,
    seconds: float | None,
    kept: KeptWork | None = None,
    between: Progress | None = None,
    previews: bool = False,
) -> MatchIndex:
    """The index of a snapshot, which changes nothing but what is `kept`; without a limit in `seconds` all vectors are
    there afterwards.

    With `previews` drafts replace what is published, as they do for keys that may preview. Of the index `before` what
    did not change is taken, and its classifier where none is stored is extended to what is new.
    """
    kept = kept or KeptWork()
    known = _Known.read(snapshot, previews=previews)
    made = kept.vectors.get(get_embedder(), known.texts, seconds, between)
    embedder = made.embedder
    of_known, of_groups, of_counters, of_search, of_docs, everyday = made.lists
    background = None if embedder is None or everyday is None else embedder.make_background(everyday)
    docs = None if of_docs is None else SkillDocSimilarity(known.profiles, of_docs, kept.doc_numbers)
    entries = {**snapshot.entries, **snapshot.drafts} if previews else snapshot.entries
    of_groups_known = ExampleSimilarity(known.group_samples, of_groups, background=background)
    return MatchIndex(
        revisions=_revisions(snapshot),
        matcher=Matcher(
            known.profiles,
            _evidence(known, _Beside(of_known, embedder, docs, background), kept, before),
            triggers=changed_triggers(before.matcher if before is not None else None, known.profiles),
            trigger_evidence=kept.trigger_evidence,
        ),
        groups=Matcher(known.groups, of_groups_known if known.groups else None),
        make_search=cache(lambda: kept.words.search_index(known.profiles, entries, of_search)),
        embedder=embedder,
        counters=_by_capability(known.profiles, of_counters),
        is_waiting=made.is_waiting,
        described_groups=known.groups,
        exclusive=_exclusive_ids(known.rows),
    )


def list_profiles(snapshot: Snapshot, *, previews: bool = False) -> list[CapabilityProfile]:
    """What is published, by capability_id; only what is new since the last time is read."""
    found = profiles_of_revisions({entry.revision_id: entry.capability_id for entry in snapshot.entries.values()})
    if previews:
        found |= profiles_of_drafts(snapshot.drafts)
    return [one for _, one in sorted(found.items()) if one.samples]


def find_embedder_meanwhile(snapshot: Snapshot) -> Embedder | None:
    """As `index_vectors.find_embedder_meanwhile`, of what is published."""
    return index_vectors.find_embedder_meanwhile(get_embedder(), _Known.read(snapshot).texts)


def _evidence(known: _Known, beside: _Beside, kept: KeptWork, before: MatchIndex | None) -> ExampleSimilarity | None:
    samples = known.samples
    if not samples.classes:
        return None
    can_fit = kernel_classifier.can_fit(len(samples.texts), samples.classes)
    weights = get_stored_classifier(samples, beside.embedder) if can_fit else None
    is_fitted = weights is not None
    # A classifier that was fitted on the vectors of one model says nothing about those of another.
    if weights is None and before is not None and can_fit and before.embedder == beside.embedder:
        weights = _extended_classifier(before.matcher, known.profiles, samples)
    return ExampleSimilarity(
        samples,
        beside.vectors,
        weights,
        kept.numbers,
        is_fitted=is_fitted,
        skill_docs=beside.skill_docs,
        background=beside.background,
        calibration=kept.calibration,
    )


class _Build(NamedTuple):
    """When the last index was made or looked after, by time.monotonic(), and how long making it took."""

    at: float = 0.0
    seconds: float = 0.0
    # The first one reads everything, and the first with vectors loads a model: that says nothing about the next.
    is_typical: bool = False

    @property
    def lag_seconds(self) -> float:
        """What a caller who does not wait for the next one saves, as far as it is known."""
        return self.seconds if self.is_typical else 0.0


@dataclass
class MatchIndexCache:
    """One per process; the first call after a publish builds the new index, the others wait for it."""

    previews: bool = False
    index: MatchIndex | None = None
    kept: KeptWork = field(default_factory=KeptWork)
    last_build: _Build = field(default_factory=_Build)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def get(self, *, may_lag: bool = False, vector_seconds: float | None = None) -> MatchIndex:
        """The index of what is published now. Raises `RegistryUnavailable` where nothing was ever read.

        With `may_lag` it is the one before while the next is made, where the last one took more than two seconds: no
        caller waits longer for it.
        Vectors that are not stored are made for `vector_seconds`, two by default; with a negative number none are, and
        no model is loaded.
        """
        snapshot, current = current_snapshot(), self.index
        if current is not None and self._is_good(current, snapshot):
            return current
        is_known = current is not None and current.revisions.epoch == snapshot.epoch
        if may_lag and current is not None and is_known and self.last_build.lag_seconds > _LAG_FROM_SECONDS:
            self._renew_in_background(snapshot)
            return current
        with self.lock:
            current = self.index
            if current is not None and self._is_good(current, snapshot):
                return current
            return self._renew(snapshot, _SECONDS_AT_ONCE if vector_seconds is None else vector_seconds)

    def _renew(self, snapshot: Snapshot, vector_seconds: float) -> MatchIndex:
        """The next index; the caller holds the lock."""
        current, began = self.index, time.monotonic()
        may_have_grown = current is not None and self._may_have_grown(current)
        self.last_build = self.last_build._replace(at=began)
        if current is not None and current.revisions.epoch != snapshot.epoch:
            # Restored from a backup: the same row ids may refer to other texts.
            self.kept, self.index = KeptWork(), None
            forget_known()
        elif current is not None and not may_have_grown and self._has_same_words(current, snapshot):
            self.index = replace(current, revisions=_revisions(snapshot), answers=KeptAnswers())
            return self.index
        self.index = build(self.index, snapshot, seconds=vector_seconds, kept=self.kept, previews=self.previews)
        is_typical = current is not None and not current.is_waiting
        self.last_build = _Build(began, time.monotonic() - began, is_typical)
        return self.index

    def _has_same_words(self, current: MatchIndex, snapshot: Snapshot) -> bool:
        """Whether only keys or settings have changed since, and no skill group."""
        if self.previews or current.revisions.registry_revision != snapshot.registry_revision:
            return False
        rows = list(SkillGroup.objects.all())
        return current.described_groups == tuple(map(_known_group, rows)) and current.exclusive == _exclusive_ids(rows)

    def _renew_in_background(self, snapshot: Snapshot) -> None:
        last = self.last_build
        if time.monotonic() - last.at >= 2 * last.lag_seconds and self.lock.acquire(blocking=False):
            threading.Thread(target=self._renew_and_release, args=[snapshot], name="match-index", daemon=True).start()

    def _renew_and_release(self, snapshot: Snapshot) -> None:
        try:
            self._renew(snapshot, _SECONDS_AT_ONCE)
        except Exception:
            # A thread has nobody to tell; the callers go on with the index before, and it is tried again.
            logger.exception("the matching index could not be made")
        finally:
            self.lock.release()
            connection.close()

    def _is_good(self, current: MatchIndex, snapshot: Snapshot) -> bool:
        return current.is_made_of(snapshot) and not self._may_have_grown(current)

    def _may_have_grown(self, current: MatchIndex) -> bool:
        """Whether a job may have made what the cached index lacks: vectors, or a fitted head."""
        is_whole = not current.is_waiting and (current.matcher.evidence is None or current.matcher.evidence.is_settled)
        pause = min(max(_POLL_SECONDS, self.last_build.seconds / _POLL_SHARE), _POLL_SECONDS_MAX)
        return not is_whole and time.monotonic() - self.last_build.at > pause

    def forget(self) -> None:
        """Begin again, as in a new process."""
        with self.lock:
            self.kept, self.index, self.last_build = KeptWork(), None, _Build()


def changed_triggers(before: Matcher | None, known: Sequence[CapabilityProfile]) -> TriggerIndex | None:
    """The triggers of these capabilities, from those before; None where too much has changed, or there are none."""
    if before is None:
        return None
    now = {one.capability_id: one for one in known}
    gone = {one.capability_id: one for one in before.known if now.get(one.capability_id) is not one}
    places, held = before.places, before.known
    new = {name: one for name, one in now.items() if name not in places or held[places[name]] is not one}
    languages = list_trigger_languages(known)
    if len(gone) + len(new) > _CHANGES_MAX or languages != list_trigger_languages(before.known):
        return None
    triggers = before.triggers
    for name in gone.keys() | new.keys():
        (old, was), (own, language) = _triggers_of(gone.get(name), languages), _triggers_of(new.get(name), languages)
        triggers = triggers.replaced(name, old, own, was=was, language=language)
    return triggers


def _triggers_of(one: CapabilityProfile | None, languages: Container[str]) -> tuple[tuple[str, ...], str]:
    """The triggers of a capability, and their language where messages are stemmed by it."""
    if one is None:
        return (), ""
    return one.triggers, one.stemmed_language if one.stemmed_language in languages else ""


def _revisions(snapshot: Snapshot) -> IndexRevisions:
    return IndexRevisions(snapshot.registry_revision, snapshot.access_revision, snapshot.epoch)


def _known_group(group: SkillGroup) -> CapabilityProfile:
    return CapabilityProfile(group.group_id, group.name, description=group.description, sentences=tuple(group.examples))


def _exclusive_ids(groups: Iterable[SkillGroup]) -> frozenset[str]:
    return frozenset(group.group_id for group in groups if group.is_exclusive)


def _by_capability(known: Sequence[CapabilityProfile], vectors: Floats | None) -> dict[str, Floats]:
    if vectors is None:
        return {}
    own = cut_rows(vectors, [len(one.counter_sentences) for one in known])
    return {one.capability_id: rows for one, rows in zip(known, own, strict=True) if rows is not None and len(rows)}


def _extended_classifier(
    before: Matcher, known: Sequence[CapabilityProfile], samples: TrainingExamples
) -> Floats | None:
    """The head of the index before, for the samples of now; None where it had none, or most of them are new."""
    old = before.evidence
    if old is None or old.weights is None:
        return None
    owners = [before.known[label].capability_id for label in old.samples.labels]
    row_of = {owned: row for row, owned in enumerate(zip(owners, old.samples.texts, strict=True))}
    named = zip((known[label].capability_id for label in samples.labels), samples.texts, strict=True)
    rows = np.array([row_of.get(owned, -1) for owned in named], np.int64)
    columns = np.array([before.places.get(one.capability_id, -1) for one in known], np.int64)
    if np.count_nonzero(rows >= 0) < len(rows) / 2:
        return None
    return kernel_classifier.extend_classifier(
        old.weights, old.samples.labels, samples.labels, rows=rows, columns=columns
    )


def get_stored_classifier(samples: TrainingExamples, embedder: Embedder | None) -> Floats | None:
    """The head that a job has fitted on exactly these samples, if it has."""
    model_id = embedder.model_id if embedder else ""
    row = MatchClassifier.objects.filter(model_id=model_id, fingerprint=samples.fingerprint).first()
    if row is None or (row.samples, row.classes) != (len(samples.texts), samples.classes):
        return None
    return np.frombuffer(bytes(row.weights), "<f2").reshape(row.samples, row.classes).astype(np.float32)


PUBLISHED_INDEX: Final = MatchIndexCache()
WITH_DRAFTS: Final = MatchIndexCache(previews=True)
caches.register(PUBLISHED_INDEX.forget)
caches.register(WITH_DRAFTS.forget)


def get_index(snapshot: Snapshot, sight: AccessScope) -> MatchIndex:
    """The index that a key's messages are matched against: with drafts, where it previews them and there are any.

    It may lag behind the snapshot: what is returned of it is checked against the snapshot.
    """
    return (WITH_DRAFTS if sight.preview and snapshot.drafts else PUBLISHED_INDEX).get(may_lag=True)
