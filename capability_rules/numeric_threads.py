"""How many threads numerical libraries have in a process of ours: one."""

from __future__ import annotations

import os
from typing import Final

# Read once, when numpy is loaded: to set them later changes `os.environ` alone. A message or a bundle is too small to
# be shared among threads, which spin while they wait for each other: on two busy cores a match took 117 to 300 ms of
# CPU instead of 24.
SINGLE_THREAD: Final = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def limit_numeric_threads() -> None:
    """Set what is not given, for this process and those that it starts; to be called before any other import."""
    for name, count in SINGLE_THREAD.items():
        os.environ.setdefault(name, count)
