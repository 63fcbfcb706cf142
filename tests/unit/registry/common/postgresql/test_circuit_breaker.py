"""How long a thread waits for a server that is silent; test_base.py has a real one."""

from __future__ import annotations

import threading
from typing import Any

from registry.common.postgresql.circuit_breaker import GRACE_SECONDS, CircuitBreaker


def test_a_thread_waits_as_long_as_it_was_told_and_then_as_before(settings: Any) -> None:
    settings.DATABASE_STATEMENT_TIMEOUT_SECONDS = 7.0
    breaker, elsewhere = CircuitBreaker(), []
    assert breaker.silence_seconds() is None
    breaker.is_serving = True
    assert breaker.silence_seconds() == 7.0 + GRACE_SECONDS
    with breaker.within(1.0):
        assert breaker.silence_seconds() == 1.0
        other = threading.Thread(target=lambda: elsewhere.append(breaker.silence_seconds()))
        other.start()
        other.join()
    assert elsewhere == [breaker.silence_seconds()] == [7.0 + GRACE_SECONDS]
    settings.DATABASE_STATEMENT_TIMEOUT_SECONDS = 0
    assert breaker.silence_seconds() is None


def test_a_server_that_is_away_is_of_use_to_the_probe_alone() -> None:
    breaker = CircuitBreaker(is_serving=True, is_away=True)
    assert breaker.is_useless()
    with breaker.within(1.0, is_probe=True):
        assert not breaker.is_useless()
    assert breaker.is_useless()
