"""Rate limits: counted in memory, and with `REDIS_URL` in Redis too, so that all processes share one limit.

No limit depends on Redis being up (`shared_limits`): without it each process counts on its own, and goes on from what
it has counted itself. The bound is the setting times the number of processes then.
"""

from __future__ import annotations

import math
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Mapping
from dataclasses import astuple, dataclass, field
from ipaddress import IPv6Address, IPv6Network, ip_address
from typing import Final, Literal, get_args

from django.conf import settings

from capability_rules.errors import RegistryError
from registry.common import caches
from registry.common.shared_limits import SHARED, SharedLimits

LimitKind = Literal["match", "write", "guess", "uncached"]
LIMIT_DESCRIPTIONS: Final[tuple[LimitKind, ...]] = get_args(LimitKind)
GuessKind = Literal["agent key", "install code", "share link", "source hook"]
# Past these many callers the oldest windows are forgotten; a flood of addresses must not fill the memory.
SUBJECTS_MAX: Final = 20_000


class RateLimited(RegistryError):
    """Too many calls; `retry_after_seconds` says when the next one is taken."""

    code = "RATE_LIMITED"

    def __init__(self, retry_after_seconds: int) -> None:
        super().__init__(f"Too many calls; try again in {retry_after_seconds} seconds")
        self.retry_after_seconds = retry_after_seconds


@dataclass
class RateLimiter:
    """Counts by fixed windows: one counter per subject, reset when its window is over."""

    shared: SharedLimits | None = None
    # How often each limit has refused since the process began.
    refused: Counter[str] = field(default_factory=Counter)
    _windows: dict[tuple[str, str], tuple[float, int]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def consume(self, name: LimitKind, subject: str, *, count: int, seconds: float, cost: int = 1) -> None:
        """Count one call as `cost` of them. Raises `RateLimited` where `count` were taken within the window: a call
        that costs more than what is left of it is still taken, so that none is refused forever."""
        now = time.monotonic()
        key = (name, subject)
        with self._lock:
            began, used = self._windows.get(key, (now, 0))
            if now - began >= seconds:
                began, used = now, 0
            wait = began + seconds - now if used >= count else self._shared_wait(name, subject, count, seconds)
            if wait > 0:
                self.refused[name] += 1
                raise RateLimited(max(1, int(wait) + 1))
            self._make_room()
            self._windows[key] = (began, used + cost)

    def is_exhausted(self, name: LimitKind, subject: str, *, count: int, seconds: float) -> bool:
        """Whether the next call would be refused; counts nothing."""
        began, used = self._windows.get((name, subject), (0.0, 0))
        if used >= count and time.monotonic() - began < seconds:
            return True
        return self._shared_wait(name, subject, count, seconds, is_counted=False) > 0

    def _shared_wait(
        self, name: LimitKind, subject: str, count: int, seconds: float, *, is_counted: bool = True
    ) -> float:
        """The seconds that all processes together make the caller wait; 0 where they do not, or there is no Redis."""
        if self.shared is None:
            return 0.0
        return self.shared.window(name, subject, count=count, seconds=seconds, is_counted=is_counted) or 0.0

    def _make_room(self) -> None:
        while len(self._windows) >= SUBJECTS_MAX:
            del self._windows[next(iter(self._windows))]

    def forget(self) -> None:
        with self._lock:
            self._windows.clear()


RATE_LIMITER: Final = RateLimiter(SHARED)
caches.register(RATE_LIMITER.forget)


@dataclass(frozen=True, slots=True)
class Backoff:
    """How failures are slowed down: a leaky bucket that takes `burst` failures and leaks one each interval.

    The interval doubles with each failure that fills the bucket, up to `interval_seconds_max`, and is reset when the
    bucket is empty.
    """

    burst: int
    interval_seconds: float
    interval_seconds_max: float


@dataclass(slots=True)
class _Bucket:
    """`level` is the number of failures in the bucket at the time `at`."""

    level: float
    interval_seconds: float
    at: float


@dataclass
class FailureThrottle:
    """Makes the next attempt wait longer with each failure; it never locks a subject permanently.

    An attempt counts as a failure from its beginning, so that parallel attempts do not pass together. A successful
    attempt is taken back.
    """

    shared: SharedLimits | None = None
    _buckets: OrderedDict[str, _Bucket] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def begin_attempt(self, backoffs: Mapping[str, Backoff]) -> None:
        """Count an attempt against each of these subjects.

        Raises `RateLimited`, with the longest wait, where one of them has to wait; then nothing is counted.
        """
        now = time.monotonic()
        with self._lock:
            buckets = {subject: self._leaked(subject, backoff, now) for subject, backoff in backoffs.items()}
            wait = max((_wait_seconds(bucket, backoffs[subject]) for subject, bucket in buckets.items()), default=0.0)
            for subject in buckets.keys() & self._buckets.keys():
                self._buckets.move_to_end(subject)
            if wait <= 0 and self.shared is not None:
                wait = self.shared.begin_attempt({subject: astuple(one) for subject, one in backoffs.items()}) or 0.0
            if wait > 0:
                RATE_LIMITER.refused["guess"] += 1
                raise RateLimited(max(1, math.ceil(wait)))
            for subject, bucket in buckets.items():
                _fill(bucket, backoffs[subject])
                self._buckets[subject] = bucket
            while len(self._buckets) > SUBJECTS_MAX:
                # The least recently used one: a flood of other subjects must not evict the one under attack.
                self._buckets.popitem(last=False)

    def refund(self, subject: str) -> None:
        """Take back one attempt, which has succeeded or was not looked at."""
        with self._lock:
            bucket = self._buckets.get(subject)
            if bucket is not None:
                bucket.level = max(0.0, bucket.level - 1)
            if self.shared is not None:
                self.shared.refund(subject)

    def reset(self, subject: str) -> None:
        """Forget every failure of a subject."""
        with self._lock:
            self._buckets.pop(subject, None)
            if self.shared is not None:
                self.shared.reset(subject)

    def forget(self) -> None:
        """Forget every subject, as in a new process."""
        with self._lock:
            self._buckets.clear()

    def _leaked(self, subject: str, backoff: Backoff, now: float) -> _Bucket:
        """The bucket of a subject as it is now."""
        bucket = self._buckets.get(subject)
        if bucket is None:
            return _Bucket(0.0, backoff.interval_seconds, now)
        bucket.level = max(0.0, bucket.level - (now - bucket.at) / bucket.interval_seconds)
        bucket.at = now
        if bucket.level == 0:
            bucket.interval_seconds = backoff.interval_seconds
        return bucket


def _wait_seconds(bucket: _Bucket, backoff: Backoff) -> float:
    # The tolerance is for floating point: a level of 4.0000000001 has room for a fifth failure.
    missing = bucket.level + 1 - backoff.burst - 1e-9
    return missing * bucket.interval_seconds


def _fill(bucket: _Bucket, backoff: Backoff) -> None:
    bucket.level += 1
    if bucket.level + 1 > backoff.burst:
        doubled = min(bucket.interval_seconds * 2, backoff.interval_seconds_max)
        bucket.interval_seconds = max(backoff.interval_seconds, doubled)


FAILURE_THROTTLE: Final = FailureThrottle(SHARED)
caches.register(FAILURE_THROTTLE.forget)


def network_of(address: str) -> str:
    """The network that one client can choose addresses from: an IPv4 address itself, the /64 of an IPv6 address."""
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    parsed = getattr(parsed, "ipv4_mapped", None) or parsed
    return str(IPv6Network((parsed, 64), strict=False)) if isinstance(parsed, IPv6Address) else str(parsed)


def guess_subject(kind: GuessKind, address: object) -> str:
    """The subject of the limit `guess` for a network. Kinds are counted apart: an agent that sends an old key does not
    use up the limit of anything else in its network."""
    return f"{kind} {network_of(str(address))}"


def consume(name: LimitKind, subject: str, *, cost: int = 1) -> None:
    """Count one call, as `cost` of them, against the limit of the setting RATE_LIMITS. Raises `RateLimited`."""
    rate = settings.RATE_LIMITS.get(name)
    if rate is not None:
        RATE_LIMITER.consume(name, subject, count=rate.count, seconds=rate.seconds, cost=cost)


def is_exhausted(name: LimitKind, subject: str) -> bool:
    """Whether the next call would be refused."""
    rate = settings.RATE_LIMITS.get(name)
    return rate is not None and RATE_LIMITER.is_exhausted(name, subject, count=rate.count, seconds=rate.seconds)
