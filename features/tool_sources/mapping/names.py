"""Names of tools in snake_case, each once: from the operationId, else from method and path."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator
from typing import Final

from features.tool_sources.operation import ApiOperation

LENGTH_MAX: Final = 64
_KEPT: Final = 55
_WORD_BREAKS: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_PARAMETER: Final = re.compile(r"\{([^{}]*)\}")


def snake_case(text: str) -> str:
    """Its words in lower-case ASCII joined by `_`; empty where none of its letters has an ASCII form."""
    folded = "".join(letter if letter.isascii() else letter.casefold() for letter in text)
    plain = unicodedata.normalize("NFKD", folded).encode("ascii", "ignore").decode("ascii")
    return re.sub(r"[^a-z0-9]+", "_", _WORD_BREAKS.sub("_", plain).lower()).strip("_")


def suggest_name(operation: ApiOperation) -> str:
    """The name of the tool that an operation becomes, before others are looked at."""
    name = snake_case(operation.name) or _of_path(operation)
    if not name:
        return f"tool_{_hash(operation.key)}"
    return _shortened(name if name[0].isalpha() else f"{operation.method.lower() or 'tool'}_{name}", operation.key)


def _of_path(operation: ApiOperation) -> str:
    """`GET /pets/{petId}/toys` is get_pets_by_pet_id_toys; empty where the path has no ASCII word."""
    words = snake_case(_PARAMETER.sub(r" by \1 ", operation.path))
    return f"{operation.method.lower()}_{words}" if words else ""


def _shortened(name: str, key: str) -> str:
    if len(name) <= LENGTH_MAX:
        return name
    return f"{name[:_KEPT].rstrip('_')}_{_hash(key)}"


def _hash(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()[:8]


def name_tools(operations: Iterable[ApiOperation], taken: Collection[str] = ()) -> dict[str, str]:
    """The name of each operation by its key. Where two would have one name, or another tool has it, the later one is
    named after its path, or gets a number."""
    names: dict[str, str] = {}
    used = set(taken)
    for operation in operations:
        name = next(name for name in _choices(operation) if name not in used)
        used.add(name)
        names[operation.key] = name
    return names


def _choices(operation: ApiOperation) -> Iterator[str]:
    name = suggest_name(operation)
    yield name
    by_path = _of_path(operation)
    if by_path:
        yield _shortened(by_path, operation.key)
    number = 2
    while True:
        yield f"{name[: LENGTH_MAX - 5]}_{number}"
        number += 1
