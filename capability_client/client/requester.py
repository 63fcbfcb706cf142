"""One question to a registry: its tries within one limit of time, and the circuit breaker after one that hung.

Nothing here opens a socket: what is to be sent is yielded, and client.py sends it.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urljoin, urlsplit

from capability_client.client import response_json
from capability_client.client.messages import BYTES_MAX, Outcome, Pause, Request, Response, Step, TransportError
from capability_kit.errors import RateLimited, RegistryUnreachable, ResponseRejected, Unavailable

API_PATH: Final = "/api/v1"
REDIRECTS_MAX: Final = 3
USER_AGENT: Final = "capability-client/0.1"


@dataclass(frozen=True, slots=True)
class Limits:
    """How patient the client is. Seconds throughout.

    `total` is for one question with all its tries and pauses, from the look-up of the name to the last byte; a list of
    several pages may take `tries` times as long. A `Retry-After` longer than `retry_after_max` is not waited for: the
    error says it instead. After a question that ran out of its time nothing is asked for `breaker_pause`, then one try;
    each that fails doubles the pause, up to `breaker_pause_max`. A `breaker_pause` of 0 asks each time.
    """

    total: float = 20.0
    tries: int = 3
    backoff: float = 0.25
    backoff_max: float = 4.0
    retry_after_max: float = 10.0
    bytes_max: int = BYTES_MAX
    breaker_pause: float = 30.0
    breaker_pause_max: float = 600.0


@dataclass
class RequestBreaker:
    """Keeps a registry that hangs from costing its whole limit each time. May be used by several threads."""

    limits: Limits
    timer: Callable[[], float] = time.monotonic
    _open_until: float | None = None
    _pause: float = 0.0
    _mutex: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def enter(self) -> bool:
        """Whether this question is the one that tries again. Raises `RegistryUnreachable` during a pause."""
        with self._mutex:
            if self._open_until is None:
                return False
            left = self._open_until - self.timer()
            if left > 0:
                words = f"The registry did not respond in time, and is asked again in {left:,.0f} seconds"
                raise RegistryUnreachable(words, data={"retry_after_seconds": left})
            # While this one tries, all others wait for it.
            self._open_until = self.timer() + self._pause
            return True

    def note(self, *, hung: bool) -> None:
        """How a question ended."""
        with self._mutex:
            if not hung or not self.limits.breaker_pause:
                self._open_until, self._pause = None, 0.0
                return
            self._pause = min(self._pause * 2 or self.limits.breaker_pause, self.limits.breaker_pause_max)
            self._open_until = self.timer() + self._pause


@dataclass
class Requester:
    """Sends to one registry."""

    url: str
    limits: Limits = field(default_factory=Limits)
    timer: Callable[[], float] = time.monotonic
    breaker: RequestBreaker = field(init=False)

    def __post_init__(self) -> None:
        self.breaker = RequestBreaker(self.limits, self.timer)

    def send(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]
    ) -> Generator[Step, Outcome, Response]:
        """A 2xx or 304 response. Raises the error of the last attempt."""
        tries = 1 if self.breaker.enter() else self.limits.tries
        deadline = self.timer() + self.limits.total
        outcome = yield from self._once(method, path, body, headers, deadline)
        for number in range(1, tries):
            seconds = self.wait_seconds(outcome, number)
            if seconds is None or self.timer() + seconds >= deadline or not _is_to_be_tried_again(outcome):
                break
            yield Pause(seconds)
            outcome = yield from self._once(method, path, body, headers, deadline)
        self.breaker.note(hung=isinstance(outcome, TransportError) and outcome.is_timeout)
        if not isinstance(outcome, Response) or not outcome.is_success:
            raise response_json.error_of(outcome)
        if outcome.status == 304 and "If-None-Match" not in headers:
            raise ResponseRejected("The registry answered 304 to a question without an entity tag")
        return outcome

    def _once(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str], deadline: float
    ) -> Generator[Step, Outcome, Response | TransportError]:
        """One try, with the redirects that stay at the same host."""
        url = f"{self.url}{path}" if path.startswith("/") else f"{self.url}{API_PATH}/{path}"
        sent = {"Accept": "application/json", "Accept-Encoding": "gzip", "User-Agent": USER_AGENT, **headers}
        redirects = 0
        while True:
            left = deadline - self.timer()
            if left <= 0:
                return TransportError(f"No whole answer came within {self.limits.total:g} seconds", is_timeout=True)
            # A proposal is checked before it is answered.
            may_think = path == "capability_propose"
            outcome = yield Request(method, url, sent, body, left, self.limits.bytes_max, may_think=may_think)
            if not isinstance(outcome, Response | TransportError):
                raise TypeError("a Request is answered with a Response or a TransportError")
            if isinstance(outcome, TransportError) or method != "GET":
                return outcome
            if outcome.status not in (301, 302, 303, 307, 308):
                return outcome
            target = urljoin(url, outcome.headers.get("location", ""))
            redirects += 1
            if urlsplit(target)[:2] != urlsplit(self.url)[:2] or redirects > REDIRECTS_MAX:
                return outcome
            url = target

    def wait_seconds(self, outcome: Response | TransportError, tries: int) -> float | None:
        """Seconds before the next try, after so many; None where the registry asks for more than we wait."""
        asked = response_json.retry_after(outcome)
        if asked is not None:
            return asked if asked <= self.limits.retry_after_max else None
        most = min(self.limits.backoff * float(2 ** (tries - 1)), self.limits.backoff_max)
        # Half of it by chance: clients that failed together must not come back together.
        return most / 2 + random.random() * most / 2  # noqa: S311


def _is_to_be_tried_again(outcome: Response | TransportError) -> bool:
    """Not one that said nothing: a conversation waits, and would wait as long again."""
    if outcome.is_success if isinstance(outcome, Response) else outcome.is_timeout:
        return False
    return isinstance(response_json.error_of(outcome), Unavailable | RateLimited)
