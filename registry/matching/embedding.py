"""What every embedder is: texts become vectors of unit length."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from capability_rules.errors import RegistryError
from registry.matching.calibration import Background
from registry.matching.ngram_index import Floats


class EmbedderUnavailable(RegistryError):
    """The model is not installed, was changed, or the endpoint did not answer with vectors."""

    code = "EMBEDDER_UNAVAILABLE"


class Embedder(Protocol):
    """Turns texts into vectors of `dimension` numbers each. Two are equal where their vectors may be compared."""

    def __hash__(self) -> int: ...

    @property
    def model_id(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    def load(self) -> None:
        """Load what the first text would wait for. Raises `EmbedderUnavailable`."""
        ...

    def embed(self, texts: Sequence[str]) -> Floats:
        """What is known, such as example messages. Shape (texts, dimension), of unit length. Raises
        `EmbedderUnavailable`."""
        ...

    def embed_messages(self, texts: Sequence[str]) -> Floats:
        """What is compared with what is known; its dot product with that is the similarity. Raises
        `EmbedderUnavailable`."""
        ...

    def make_background(self, known: Floats) -> Background:
        """Of messages whose vectors `embed` has made: what messages are calibrated by."""
        ...

    def can_read(self, text: str) -> bool:
        """Whether the vector of a text says what it is about: not in a language that the model never saw."""
        ...


class SymmetricEmbedder:
    """The base of those whose vectors of messages are made as the vectors of what is known are."""

    def embed(self, texts: Sequence[str]) -> Floats:
        raise NotImplementedError

    def load(self) -> None:
        self.embed(["."])

    def embed_messages(self, texts: Sequence[str]) -> Floats:
        return self.embed(texts)

    def make_background(self, known: Floats) -> Background:
        return Background(known)


def normalize_vectors(vectors: Any) -> Floats:
    """The same directions with length 1; a zero vector stays."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.maximum(lengths, 1e-12), np.float32)
