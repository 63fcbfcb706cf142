"""Coroutines in tests."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

Result = TypeVar("Result")


def run_async(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """Run `coroutine` in the event loop of a thread of its own, `event-loop_0`, and return its result.

    Playwright keeps an event loop in the thread of the tests once a browser has been started, and `asyncio.run` is
    refused there.
    """
    with ThreadPoolExecutor(1, thread_name_prefix="event-loop") as executor:
        return executor.submit(asyncio.run, coroutine).result()
