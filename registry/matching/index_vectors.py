"""The vectors that an index is made of: those of the chosen model, or what there is until a job has made them all.

After a model was exchanged, messages and known texts are both compared by the model before, if it is still installed
and has vectors of what is published. After an import, the chosen model's own vectors go on, and what has none yet is
found by triggers and shared words. Where neither helps, words alone decide. Vectors of two models never stand in one
index.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain
from typing import Final, NamedTuple

from capability_rules.bundles.profile import CapabilityProfile
from registry.matching.calibration import EVERYDAY_MESSAGES
from registry.matching.embedders import list_other_embedders
from registry.matching.embedding import Embedder, EmbedderUnavailable
from registry.matching.example_similarity import TrainingExamples
from registry.matching.ngram_index import Floats
from registry.matching.search import texts_to_embed
from registry.matching.skill_doc_similarity import prose_texts
from registry.matching.vector_store import Progress, VectorStore

logger = logging.getLogger(__name__)

# Of capabilities, groups, sentences that must not match, search, skill docs, and everyday messages.
TextLists = tuple[Sequence[str], Sequence[str], Sequence[str], Sequence[str], Sequence[str], Sequence[str]]
# As many texts become vectors in a second: where more are missing than a message can wait for, none is begun.
_TEXTS_PER_SECOND: Final = 128
# What has been published since another model was chosen gets vectors of the model before as well; where more is
# missing, that model was in use at another time.
_MISSING_OF_FORMER_MAX: Final = 256

# With half of the capabilities without vectors 40 % of messages find theirs, 28 % by words alone; with three quarters
# without it is 28 % as well (docs/matching.md).
_MISSING_SHARE_MAX: Final = 0.5


class MadeVectors(NamedTuple):
    """Vectors of `embedder` for each list of texts, None where there are none; `is_waiting` where a job has to make
    more: then those of the chosen model may be zeros."""

    embedder: Embedder | None
    lists: list[Floats | None]
    is_waiting: bool


@dataclass
class IndexVectors:
    """Of one cache of indexes; keeps the vectors that were looked up for the next index."""

    _stores: dict[str, VectorStore] = field(default_factory=dict)

    def get(
        self, chosen: Embedder | None, texts: TextLists, seconds: float | None, between: Progress | None = None
    ) -> MadeVectors:
        """Without a limit in `seconds` all of the chosen model are made; with one, none where they are too many."""
        if chosen is None:
            return MadeVectors(None, [None] * len(texts), is_waiting=False)
        found = self._try(chosen, texts, seconds, between)
        if found is not None:
            self._stores = {chosen.model_id: self._store(chosen)}
            return MadeVectors(chosen, cut_rows(found, [len(of_kind) for of_kind in texts]), is_waiting=False)
        meanwhile = find_embedder_meanwhile(chosen, texts)
        if meanwhile is None:
            found = None
        elif meanwhile == chosen:
            found = self._store(chosen).vectors_so_far([*chain(*texts)])
        else:
            found = self._try(meanwhile, texts, seconds, None)
        embedder = None if found is None else meanwhile
        return MadeVectors(embedder, cut_rows(found, [len(of_kind) for of_kind in texts]), is_waiting=True)

    def make(self, chosen: Embedder | None, texts: TextLists, seconds: float, between: Progress | None) -> bool:
        """Make and store vectors of the chosen model for so many seconds; whether all are there. Raises
        `EmbedderUnavailable`."""
        if chosen is None:
            return True
        return self._store(chosen).make_missing([*chain(*texts)], seconds=seconds, between=between)

    def _try(
        self, embedder: Embedder, texts: TextLists, seconds: float | None, between: Progress | None
    ) -> Floats | None:
        missing_max = None if seconds is None else max(0.0, seconds) * _TEXTS_PER_SECOND
        try:
            return self._store(embedder).vectors(
                [*chain(*texts)], seconds=seconds, missing_max=missing_max, between=between
            )
        except EmbedderUnavailable as error:
            logger.warning("messages are not compared by %s: %s", type(embedder).__name__, error)
            return None

    def _store(self, embedder: Embedder) -> VectorStore:
        held = self._stores.get(embedder.model_id)
        if held is None or held.embedder != embedder:
            held = self._stores[embedder.model_id] = VectorStore(embedder)
        return held


def list_texts(
    known: Sequence[CapabilityProfile], samples: TrainingExamples, group_samples: TrainingExamples
) -> TextLists:
    """All texts whose vectors an index needs."""
    return (
        samples.texts,
        group_samples.texts,
        [text for one in known for text in one.counter_sentences],
        [text for one in known for text in texts_to_embed(one)],
        prose_texts(known),
        EVERYDAY_MESSAGES,
    )


def find_embedder_meanwhile(chosen: Embedder | None, texts: TextLists) -> Embedder | None:
    """What compares messages until all vectors of the chosen model are there: another that is installed and has those
    of nearly all texts, or the chosen one where it has those of half. None where words alone do."""
    if chosen is None:
        return None
    listed = list(dict.fromkeys(chain(*texts)))
    missing = {one: VectorStore(one).count_missing(listed) for one in list_other_embedders(chosen)}
    best = min(missing, key=lambda one: missing[one], default=None)
    if best is not None and missing[best] <= min(_MISSING_OF_FORMER_MAX, len(listed) // 2):
        return best
    own = VectorStore(chosen)
    # Everyday messages are what nearness is measured by.
    has_enough = own.count_missing(listed) <= len(listed) * _MISSING_SHARE_MAX and not own.count_missing(texts[-1])
    return chosen if has_enough else None


def cut_rows(vectors: Floats | None, lengths: Sequence[int]) -> list[Floats | None]:
    """The rows of each list, in order."""
    if vectors is None:
        return [None] * len(lengths)
    ends = [*accumulate(lengths)]
    return [vectors[end - length : end] for end, length in zip(ends, lengths, strict=True)]
