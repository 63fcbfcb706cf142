"""Limits on work that hold on any machine: compared with reference work in the same test, never with a clock alone.

`with costs.at_most(50):` says that what is inside takes at most as much CPU time as fifty runs of the reference.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_TEXT: Final = " ".join(f"word{n % 97} says {n} of it;" for n in range(2_000))
_PATTERN: Final = re.compile(r"\b(\w+) says (\d+)\b")


def run_reference() -> int:
    """The work: patterns, dictionaries, JSON and sorting, as the product does; some ten milliseconds today."""
    found: dict[str, list[int]] = {}
    for match in _PATTERN.finditer(_TEXT):
        found.setdefault(match[1], []).append(int(match[2]) ** 2 % 1_001)
    for _ in range(26):
        found = {key: sorted(values, reverse=True) for key, values in json.loads(json.dumps(found)).items()}
    return len(found)


def reference_seconds() -> float:
    """The CPU time of one run of the reference: the least of three, since other work on the machine only adds."""
    return min(_seconds_of_a_run() for _ in range(3))


def _seconds_of_a_run() -> float:
    began = time.process_time()
    run_reference()
    return time.process_time() - began


@contextmanager
def at_most(references: float) -> Iterator[None]:
    """Fail where the work inside takes more CPU time of this process than so many runs of the reference."""
    reference = reference_seconds()
    began = time.process_time()
    yield
    used = time.process_time() - began
    if used > references * reference:
        # The machine may have become slower meanwhile.
        reference = max(reference, reference_seconds())
    assert used <= references * reference, f"{used / reference:.0f} times the reference, at most {references:g}"
