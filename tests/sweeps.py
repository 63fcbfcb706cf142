"""A check of many cells in one test, on what is prepared once; the message names every cell that fails."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import pytest


def check_each(
    cells: Iterable[Any],
    check: Callable[[Any], object],
    *,
    name: Callable[[Any], object] = lambda cell: repr(cell)[:200],
    isolate: Callable[[], AbstractContextManager[object]] = nullcontext,
) -> None:
    """Call `check` with each cell inside of `isolate()`, and fail once, with each cell that failed and why.

    No cells at all is a failure too: a sweep that collects nothing proves nothing.
    """
    failures, count = [], 0
    for cell in cells:
        count += 1
        try:
            with isolate():
                check(cell)
        except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001 (whatever it is, the others are checked too)
            failures.append(f"{name(cell)}: {type(error).__name__}: {error}")
    assert count, "there is nothing to check"
    assert not failures, f"{len(failures)} of {count} fail:\n" + "\n".join(failures)


@contextmanager
def rolled_back() -> Iterator[None]:
    """A process that has just begun, on the test's database; what is written is rolled back."""
    # The packages check without Django.
    from django.db import transaction

    from registry.common import caches

    caches.reset_all()
    with transaction.atomic():
        yield
        transaction.set_rollback(True)
    caches.reset_all()
