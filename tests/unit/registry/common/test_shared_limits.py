"""Limits that processes share: against a real Redis, which is killed, hung and brought back."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest
from pytest_django import Settings

from registry.common import shared_limits
from registry.common.rate_limits import Backoff, FailureThrottle, RateLimited, RateLimiter
from registry.common.shared_limits import SharedLimits
from tests.servers import ROOT, Server, descendants, start_redis

pytestmark = [
    pytest.mark.redis,
    pytest.mark.depends_on_speed("a call waits 50 ms for Redis at most, and buckets fill again within as many"),
]

BACKOFF = Backoff(burst=3, interval_seconds=20, interval_seconds_max=60)
# What one process of its own counts: how many of ten calls are taken.
OTHER = """
import sys, time
from django.conf import settings
settings.configure(REDIS_URL=sys.argv[1])
from registry.common.rate_limits import RATE_LIMITER, RateLimited
from registry.common.shared_limits import SHARED
SHARED.connect_in_background()
deadline = time.monotonic() + 10
while not SHARED.is_connected and time.monotonic() < deadline: time.sleep(0.01)
taken = 0
for _ in range(10):
    try: RATE_LIMITER.consume("write", "ada", count=8, seconds=60)
    except RateLimited: continue
    taken += 1
print(taken)
"""


def connected() -> SharedLimits:
    shared = SharedLimits()
    wait_connected(shared)
    return shared


def wait_connected(shared: SharedLimits, seconds: float = 10) -> None:
    deadline = time.monotonic() + seconds
    while not shared.is_connected:
        assert time.monotonic() < deadline, "no connection"
        shared.connect_in_background()
        time.sleep(0.01)


@pytest.fixture
def url(redis_url: str, settings: Settings) -> str:
    settings.REDIS_URL = redis_url
    return redis_url


@pytest.fixture
def own_redis(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setattr(shared_limits, "PAUSE_SECONDS", 0.2)
    server = start_redis()
    settings.REDIS_URL = server.url
    yield server
    server.resume()
    server.stop()


def taken(limiter: RateLimiter, calls: int, count: int = 8) -> int:
    done = 0
    for _ in range(calls):
        try:
            limiter.consume("write", "ada", count=count, seconds=60)
        except RateLimited:
            continue
        done += 1
    return done


def test_two_processes_share_one_limit(url: str) -> None:
    assert taken(RateLimiter(connected()), 5) == 5
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    other = subprocess.run(
        [sys.executable, "-c", OTHER, url], env=env, capture_output=True, text=True, timeout=60, check=True
    )
    assert other.stdout.strip() == "3"


@pytest.mark.usefixtures("url")
def test_the_wait_and_the_look_are_those_of_all_processes() -> None:
    first, second = RateLimiter(connected()), RateLimiter(connected())
    assert not second.is_exhausted("write", "ada", count=2, seconds=60)
    assert taken(first, 2, count=2) == 2
    assert second.is_exhausted("write", "ada", count=2, seconds=60)
    with pytest.raises(RateLimited) as refused:
        second.consume("write", "ada", count=2, seconds=60)
    assert 55 <= refused.value.retry_after_seconds <= 61
    assert second.refused == {"write": 1}
    second.consume("match", "ada", count=2, seconds=60)
    second.consume("write", "bob", count=2, seconds=60)


@pytest.mark.usefixtures("url")
def test_a_window_is_over_for_all_processes() -> None:
    first, second = RateLimiter(connected()), RateLimiter(connected())
    first.consume("write", "ada", count=1, seconds=0.2)
    with pytest.raises(RateLimited):
        second.consume("write", "ada", count=1, seconds=0.2)
    time.sleep(0.25)
    second.consume("write", "ada", count=1, seconds=0.2)


@pytest.mark.usefixtures("url")
def test_sign_in_attempts_are_counted_together() -> None:
    first, second = FailureThrottle(connected()), FailureThrottle(connected())
    first.begin_attempt({"ada": BACKOFF, "network": BACKOFF})
    second.begin_attempt({"ada": BACKOFF})
    first.begin_attempt({"ada": BACKOFF})
    with pytest.raises(RateLimited) as refused:
        second.begin_attempt({"ada": BACKOFF, "network": BACKOFF})
    # The bucket is full, so that its interval is doubled.
    assert 35 <= refused.value.retry_after_seconds <= 40
    # What had to wait was counted nowhere: the network has room for two.
    second.begin_attempt({"network": BACKOFF})
    first.refund("ada")
    second.begin_attempt({"ada": BACKOFF})
    first.reset("ada")
    for _ in range(2):
        first.begin_attempt({"ada": BACKOFF})


@pytest.mark.usefixtures("url")
def test_the_buckets_in_redis_wait_as_those_in_memory() -> None:
    backoff = Backoff(burst=2, interval_seconds=0.05, interval_seconds_max=0.4)
    memory, shared = FailureThrottle(), connected()
    waits: list[tuple[bool, bool]] = []
    for number in range(12):
        try:
            memory.begin_attempt({"ada": backoff})
            is_taken = True
        except RateLimited:
            is_taken = False
        waits.append((is_taken, shared.begin_attempt({"ada": (2, 0.05, 0.4)}) == 0))
        time.sleep(0.021 * number)
    assert sum(one != other for one, other in waits) <= 1, waits
    assert {one for one, _ in waits} == {True, False}


@pytest.fixture
def failures(monkeypatch: pytest.MonkeyPatch) -> list[Exception]:
    """Each time that Redis was waited for in vain."""
    fail, found = SharedLimits._fail, list[Exception]()

    def record(shared: SharedLimits, error: Exception) -> None:
        found.append(error)
        fail(shared, error)

    monkeypatch.setattr(SharedLimits, "_fail", record)
    return found


def test_a_redis_that_is_killed_leaves_each_process_its_own_count(own_redis: Server, failures: list[Exception]) -> None:
    first, second = RateLimiter(connected()), RateLimiter(connected())
    assert (taken(first, 3), taken(second, 3)) == (3, 3)
    for pid in descendants(own_redis.process.pid):
        os.kill(pid, signal.SIGKILL)
    own_redis.end()
    # Each goes on from what it has counted itself.
    assert (taken(first, 20), taken(second, 20)) == (5, 5)
    assert len(failures) == 2
    own_redis.start_again()
    assert first.shared is not None
    assert second.shared is not None
    wait_connected(first.shared)
    wait_connected(second.shared)
    first.consume("guess", "ada", count=1, seconds=60)
    with pytest.raises(RateLimited):
        second.consume("guess", "ada", count=1, seconds=60)


def test_a_redis_that_hangs_is_waited_for_once(
    own_redis: Server, failures: list[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    limiter = RateLimiter(connected())
    # However long the calls take here, none of them is after it.
    monkeypatch.setattr(shared_limits, "PAUSE_SECONDS", 600.0)
    own_redis.pause()
    for number in range(50):
        limiter.consume("match", str(number), count=1, seconds=60)
    assert len(failures) == 1
    own_redis.resume()
    assert limiter.shared is not None
    limiter.shared._retry_at = 0.0
    wait_connected(limiter.shared)


def test_without_redis_nothing_is_asked(settings: Settings) -> None:
    settings.REDIS_URL = None
    shared = SharedLimits()
    shared.connect_in_background()
    assert shared.window("write", "ada", count=1, seconds=60) is None
    assert shared.begin_attempt({"ada": (1, 2, 3)}) is None
    assert not shared.is_connected


def test_a_redis_that_is_full_counts_nothing_and_refuses_nobody(own_redis: Server) -> None:
    import redis

    limiter = RateLimiter(connected())
    with redis.Redis.from_url(own_redis.url) as client:
        client.config_set("maxmemory", "1")
        client.config_set("maxmemory-policy", "noeviction")
    assert taken(limiter, 10, count=4) == 4


def test_a_key_says_neither_who_nor_how_long() -> None:
    key = shared_limits._key("guess", "agent key 192.0.2.7")
    assert "192" not in key
    assert len(shared_limits._key("guess", "x" * 100_000)) == len(key)
