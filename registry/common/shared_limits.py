"""Limits that all processes share, where there is a Redis; each call is one round trip, and none waits for a dead one.

Connections are made by a thread of their own: a call uses the connection that is there, for `TIMEOUT_SECONDS` at most,
or returns None, and its caller counts in memory (`rate_limits`). After a failure nobody asks for `PAUSE_SECONDS`.
"""

from __future__ import annotations

import hashlib
import logging
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from django.conf import settings

from registry.common import caches
from registry.common.redis_clients import open_redis

if TYPE_CHECKING:
    from redis import Redis
    from redis.commands.core import Script

logger = logging.getLogger(__name__)

# Of one answer: a caller waits this long for a Redis that hangs, once in `PAUSE_SECONDS`.
TIMEOUT_SECONDS: Final = 0.05
PAUSE_SECONDS: Final = 2.0
# Of a new connection, which no caller waits for.
_CONNECT_SECONDS: Final = 2.0

# Run by Redis, each as a whole.
_SCRIPTS: Final = Path(__file__).parent / "limit_scripts"


@dataclass
class SharedLimits:
    """One connection per process; its calls follow each other."""

    _scripts: dict[str, Script] | None = None
    _client: Redis | None = None
    _url: str = ""
    _retry_at: float = 0.0
    _is_connecting: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def is_connected(self) -> bool:
        """Whether the next call is counted in Redis, as far as is known."""
        return self._scripts is not None

    def window(self, name: str, subject: str, *, count: int, seconds: float, is_counted: bool = True) -> float | None:
        """Count a call in the window of a subject: the seconds to wait where it is full, else 0; None without Redis.

        Where it is not `is_counted`, the window is only looked at.
        """
        arguments = [count, max(1, int(seconds * 1000)), int(is_counted)]
        return self._seconds("window", [_key(name, subject)], arguments)

    def begin_attempt(self, backoffs: Mapping[str, Sequence[float]]) -> float | None:
        """Count an attempt against each subject, `{subject: (burst, interval, longest interval)}`: the seconds to wait,
        and nothing is counted, or 0; None without Redis."""
        if not backoffs:
            return 0.0
        arguments = [number for numbers in backoffs.values() for number in numbers]
        return self._seconds("attempt", [_key("attempt", subject) for subject in backoffs], arguments)

    def refund(self, subject: str) -> None:
        """Take back one attempt of a subject."""
        self._run("refund", [_key("attempt", subject)], [])

    def reset(self, subject: str) -> None:
        """Forget every attempt of a subject."""
        self._run("reset", [_key("attempt", subject)], [])

    def connect_in_background(self) -> None:
        """Begin to connect, unless that is under way or was tried a moment ago. Returns at once."""
        with self._lock:
            if not settings.REDIS_URL or self._is_connecting or time.monotonic() < self._retry_at:
                return
            self._is_connecting = True
        threading.Thread(target=self._connect, args=[settings.REDIS_URL], name="limits", daemon=True).start()

    def forget(self) -> None:
        """Without a connection, as in a new process; what Redis has counted stays there."""
        with self._lock:
            self._scripts, self._client, self._url, self._retry_at = None, None, "", 0.0

    def _seconds(self, name: str, keys: list[str], arguments: list[Any]) -> float | None:
        found = self._run(name, keys, arguments)
        return None if found is None else int(found) / 1000

    def _run(self, name: str, keys: list[str], arguments: list[Any]) -> Any:
        """What a script returns; None where Redis is not there now."""
        if not settings.REDIS_URL:
            return None
        scripts = self._scripts if self._url == settings.REDIS_URL else None
        if scripts is None:
            self.connect_in_background()
            return None
        try:
            return scripts[name](keys=keys, args=arguments)
        except Exception as error:  # noqa: BLE001 (whatever a client raises: the limits are counted in memory then)
            self._fail(error)
            return None

    def _connect(self, url: str) -> None:
        try:
            client, scripts = _connected(url)
            with self._lock:
                self._client, self._scripts, self._url = client, scripts, url
            logger.info("rate limits are counted in Redis, for all processes together")
        except Exception as error:  # noqa: BLE001 (as above)
            self._fail(error)
        finally:
            self._is_connecting = False

    def _fail(self, error: Exception) -> None:
        with self._lock:
            client, self._client, self._scripts = self._client, None, None
            self._retry_at = time.monotonic() + PAUSE_SECONDS
        if client is not None:
            client.close()
            logger.warning("rate limits are counted in the memory of each process, until Redis is back: %s", error)


def _connected(url: str) -> tuple[Redis, dict[str, Script]]:
    # Imported with the first connection: no process without REDIS_URL needs it.
    from redis.backoff import NoBackoff
    from redis.retry import Retry

    client = open_redis(
        url,
        socket_connect_timeout=_CONNECT_SECONDS,
        socket_timeout=TIMEOUT_SECONDS,
        single_connection_client=True,
        retry=Retry(NoBackoff(), 0),
        client_name="capability-studio-limits",
    )
    scripts = {path.stem: client.register_script(path.read_text("utf-8")) for path in _SCRIPTS.glob("*.lua")}
    for script in scripts.values():
        client.script_load(script.script)
    return client, scripts


def _key(name: str, subject: str) -> str:
    """Of a fixed length, whatever a caller has typed, and without the name or address itself."""
    return f"studio:limit:{name}:{hashlib.blake2b(subject.encode(errors='replace'), digest_size=16).hexdigest()}"


SHARED: Final = SharedLimits()
caches.register(SHARED.forget)
