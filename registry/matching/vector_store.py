"""The vectors of known texts: kept in the database by text and model, and in memory while they are used."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from django.db.models import QuerySet

from registry.matching.embedding import Embedder
from registry.matching.ngram_index import Floats
from registry.models import SentenceVector

# This many texts are made into vectors between two checks of the clock.
_CHUNK: Final = 64
_LOOKED_UP_AT_ONCE: Final = 500
# How many of the texts have their vectors, of how many.
Progress = Callable[[int, int], object]


def text_digest(text: str) -> str:
    """The name of a text in the table."""
    return hashlib.sha256(text.encode("utf-8", errors="replace")).hexdigest()


@dataclass
class VectorStore:
    """Vectors of one embedder."""

    embedder: Embedder
    _held: dict[str, Floats] = field(default_factory=dict)
    # Texts whose vectors are known to be in the database.
    _stored: set[str] = field(default_factory=set)

    def vectors(
        self,
        texts: Sequence[str],
        *,
        seconds: float | None = None,
        missing_max: float | None = None,
        between: Progress | None = None,
    ) -> Floats | None:
        """Shape (texts, dimension), or None where `seconds` did not suffice to make those that were missing; where more
        than `missing_max` are, none is made.

        `between` is called before the first is made and now and then. Raises `EmbedderUnavailable`.
        """
        wanted = dict.fromkeys(texts)
        self._held = {text: self._held[text] for text in wanted if text in self._held}
        self._look_up([text for text in wanted if text not in self._held])
        missing = [text for text in wanted if text not in self._held]
        if missing_max is not None and len(missing) > missing_max:
            return None
        deadline = None if seconds is None else time.monotonic() + seconds
        for at in range(0, len(missing), _CHUNK):
            if between is not None:
                between(len(wanted) - len(missing) + at, len(wanted))
            if deadline is not None and time.monotonic() > deadline:
                return None
            self._make(missing[at : at + _CHUNK])
        if between is not None:
            between(len(wanted), len(wanted))
        if not texts:
            return np.zeros((0, self.embedder.dimension), np.float32)
        found = np.stack([self._held[text] for text in texts])
        # As rows of what is returned, which an index keeps anyway: each vector is in memory once.
        self._held.update(zip(texts, found, strict=True))
        return found

    def make_missing(self, texts: Sequence[str], *, seconds: float, between: Progress | None = None) -> bool:
        """Make and store the vectors that are not stored, for so many seconds; whether all are. Holds none of them.

        `between` is called as by `vectors`. Raises `EmbedderUnavailable`.
        """
        wanted = dict.fromkeys(texts)
        self._stored &= wanted.keys()
        self._stored |= self._find_stored([text for text in wanted if text not in self._stored])
        missing = [text for text in wanted if text not in self._stored]
        deadline = time.monotonic() + seconds
        for at in range(0, len(missing), _CHUNK):
            if between is not None:
                between(len(wanted) - len(missing) + at, len(wanted))
            if time.monotonic() > deadline:
                return False
            chunk = missing[at : at + _CHUNK]
            self._store(chunk, self.embedder.embed(chunk))
            self._stored.update(chunk)
        if between is not None:
            between(len(wanted), len(wanted))
        return True

    def _find_stored(self, texts: list[str]) -> set[str]:
        by_hash = {text_digest(text): text for text in texts}
        return {
            by_hash[name]
            for part in _cut(list(by_hash))
            for name in self._rows(part).values_list("text_sha256", flat=True)
        }

    def _rows(self, hashes: Sequence[str]) -> QuerySet[SentenceVector]:
        return SentenceVector.objects.filter(
            model_id=self.embedder.model_id, dimension=self.embedder.dimension, text_sha256__in=hashes
        )

    def vectors_so_far(self, texts: Sequence[str]) -> Floats:
        """Shape (texts, dimension): those that the last `vectors` found or made, zeros for all others."""
        nothing = np.zeros(self.embedder.dimension, np.float32)
        return np.stack([self._held.get(text, nothing) for text in texts])

    def count_missing(self, texts: Sequence[str]) -> int:
        """How many of these texts have no stored vector of this embedder; reads none of the vectors."""
        hashes = list({text_digest(text) for text in texts})
        return len(hashes) - sum(self._rows(part).count() for part in _cut(hashes))

    def _look_up(self, texts: list[str]) -> None:
        by_hash = {text_digest(text): text for text in texts}
        for part in _cut(list(by_hash)):
            for name, vector in self._rows(part).values_list("text_sha256", "vector"):
                found = np.frombuffer(bytes(vector), "<f4")
                if len(found) == self.embedder.dimension:
                    self._held[by_hash[name]] = found

    def _make(self, texts: list[str]) -> None:
        made = self.embedder.embed(texts)
        self._held.update(zip(texts, made, strict=True))
        self._store(texts, made)

    def _store(self, texts: list[str], made: Floats) -> None:
        rows = [
            SentenceVector(
                model_id=self.embedder.model_id,
                text_sha256=text_digest(text),
                dimension=self.embedder.dimension,
                vector=vector.astype("<f4").tobytes(),
            )
            for text, vector in zip(texts, made, strict=True)
        ]
        # Another process may have made the same ones.
        SentenceVector.objects.bulk_create(rows, ignore_conflicts=True)


def _cut(hashes: list[str]) -> Iterator[list[str]]:
    return (hashes[at : at + _LOOKED_UP_AT_ONCE] for at in range(0, len(hashes), _LOOKED_UP_AT_ONCE))
