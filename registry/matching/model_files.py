"""What models are read from: a table in a file, of which single rows are needed, and a graph with its weights."""

from __future__ import annotations

import hashlib
import os
import threading
import weakref
from collections.abc import Mapping, Sequence
from io import FileIO
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

Tensors = dict[str, npt.NDArray[Any]]
DATA: Final = Path(__file__).parent / "data"


class RowFile:
    """Rows of bytes in a file, from an offset on. They stay in the system's cache, which all processes share: a mapped
    file would count as this process's memory, with what lies around each row that is read."""

    def __init__(self, path: Path, row_bytes: int, offset: int = 0) -> None:
        """Open a file of rows of `row_bytes` each, the first at `offset`. Raises OSError."""
        self._file = FileIO(path)
        self._row_bytes, self._offset = row_bytes, offset
        self._lock = threading.Lock()
        weakref.finalize(self, self._file.close)

    def digest(self) -> str:
        """The SHA-256 of the whole file."""
        with self._lock:
            self._file.seek(0)
            return hashlib.file_digest(self._file, "sha256").hexdigest()

    def rows(self, numbers: Sequence[int]) -> npt.NDArray[np.uint8]:
        """The rows with these numbers: shape (rows, bytes)."""
        joined = b"".join(map(self._read, numbers))
        return np.frombuffer(joined, np.uint8).reshape(len(numbers), self._row_bytes)

    def _read(self, number: int) -> bytes:
        place = self._offset + number * self._row_bytes
        if hasattr(os, "pread"):
            return os.pread(self._file.fileno(), self._row_bytes, place)
        with self._lock:
            self._file.seek(place)
            return self._file.read(self._row_bytes)


class HeldRows:
    """The same rows in memory, where no file can be made."""

    def __init__(self, table: npt.NDArray[np.uint8]) -> None:
        self._table = table

    def rows(self, numbers: Sequence[int]) -> npt.NDArray[np.uint8]:
        """The rows with these numbers: shape (rows, bytes)."""
        return self._table[numbers]


def make_session(graph: Path, tensors: Mapping[str, npt.NDArray[Any]]) -> Any:
    """ONNX Runtime's session of a graph that lacks these tensors, on one thread. Raises ImportError."""
    # An optional package, and a heavy one.
    import onnxruntime

    options = onnxruntime.SessionOptions()
    # One message is too small to share, and the other threads serve other requests.
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    values = [onnxruntime.OrtValue.ortvalue_from_numpy(np.ascontiguousarray(tensor)) for tensor in tensors.values()]
    options.add_external_initializers([*tensors], values)
    return onnxruntime.InferenceSession(graph.read_bytes(), options, providers=["CPUExecutionProvider"])
