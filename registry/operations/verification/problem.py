"""What is wrong with a stored history: one problem for each row that was changed, cut or taken away."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Problem:
    """`table` and `row` name what is wrong: the table and the key of its row; `message` says it in a sentence."""

    code: str
    table: str
    row: str
    message: str

    def as_dict(self) -> dict[str, str]:
        """As `registry verify --format json` prints it."""
        return {"code": self.code, "table": self.table, "row": self.row, "message": self.message}


class HistorySource(Protocol):
    """Where rows come from: a database or a backup. `rows` yields columns as JSON values, in the order of the key."""

    def rows(self, table: str) -> Iterator[Row]:
        """Every row of `auditevent`, `capability`, `checkpoint`, `registrystate`, `release` or `revision`."""
        ...
