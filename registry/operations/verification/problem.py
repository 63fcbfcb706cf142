"""What is wrong with a stored history: one problem for each row that was changed, cut or taken away."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Row = Mapping[str, Any]
# Every row of a table (registry/operations/backup/tables.py), from a database or a backup: columns as JSON values, in
# the order of the key.
ReadTable = Callable[[str], Iterator[Row]]


@dataclass(frozen=True, slots=True)
class Problem:
    """`table` and `row` name what is wrong: the table and the key of its row; `message` says it in a sentence."""

    code: str
    table: str
    row: str
    message: str
