"""The operations of the API as its OpenAPI document has them, so that tests of all of them find a new one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from agent_api.openapi.document import build_document


@dataclass(frozen=True)
class Operation:
    """`required` are the parameters of the query that it does not go without; a write takes an Idempotency-Key."""

    name: str
    method: str
    path: str
    required: tuple[str, ...]
    is_write: bool
    is_for_operators: bool


@cache
def list_operations() -> tuple[Operation, ...]:
    """Those of the core and of all features; the document takes a third of a second."""
    return tuple(_read_operations())


def _read_operations() -> Iterator[Operation]:
    for path, methods in build_document()["paths"].items():
        for method, described in methods.items():
            parameters = described.get("parameters", ())
            yield Operation(
                name=path.rpartition("/")[2],
                method=method.upper(),
                path=path.removeprefix("/"),
                required=tuple(one["name"] for one in parameters if one.get("required")),
                is_write=any(one["name"] == "Idempotency-Key" for one in parameters),
                is_for_operators="operators" in described["tags"],
            )
