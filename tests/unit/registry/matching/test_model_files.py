"""Rows of a file, read where they are needed."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from registry.matching.model_files import RowFile


@pytest.mark.parametrize("has_pread", [True, False])
def test_rows_are_read_from_an_offset_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_pread: bool) -> None:
    if not has_pread:
        monkeypatch.delattr(os, "pread", raising=False)
    path = tmp_path / "table"
    path.write_bytes(b"head" + bytes(range(40)))
    rows = RowFile(path, 8, 4)
    assert rows.rows([4, 0, 4]).tolist() == [[*range(32, 40)], [*range(8)], [*range(32, 40)]]
    assert rows.rows([]).shape == (0, 8)
    assert rows.digest() == hashlib.sha256(path.read_bytes()).hexdigest()
