"""Bytes of supporting files against the digests that name them."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Iterator
from typing import Any

from capability_rules.bundles.file_pointer import parse_pointer
from registry.operations.verification.problem import Problem, Row


def read_contents(contents: Iterable[Row], chunks: Iterable[Row], found: set[str]) -> Iterator[Problem]:
    """Contents whose parts do not come to their digest; fills `found` with the digests of the others."""
    digests = {row["id"]: str(row["digest"]) for row in contents}
    computed: dict[int, Any] = {key: hashlib.sha256() for key in digests}
    counts = dict.fromkeys(digests, 0)
    for row in chunks:
        key = row["content_id"]
        # Parts are written in their order and never changed: one that is out of it was put there.
        if counts.get(key) == row["number"]:
            computed[key].update(base64.b64decode(row["data"]))
            counts[key] += 1
    for key, digest in digests.items():
        if f"sha256:{computed[key].hexdigest()}" == digest:
            found.add(digest)
        else:
            words = f"The parts of the file {digest} are not its bytes: they were changed, or some are missing"
            yield Problem("CONTENT_CHANGED", "filecontent", str(key), words)


def list_missing(texts: object, found: set[str]) -> list[str]:
    """The digests that `{path: text}` of a revision names and that are not among those found."""
    values = texts.values() if isinstance(texts, dict) else ()
    pointers = (parse_pointer(text) for text in values if isinstance(text, str))
    return [pointer.digest for pointer in pointers if pointer is not None and pointer.digest not in found]
