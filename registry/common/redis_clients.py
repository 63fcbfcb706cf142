"""Clients of the Redis that `REDIS_URL` names: one server, or the master that Sentinels name at the time."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, unquote

if TYPE_CHECKING:
    from redis import Redis

SENTINEL_EXAMPLE: Final = "sentinel://:password@host1:26379,host2:26379,host3:26379/mymaster/0"
_SENTINEL: Final = re.compile(
    r"sentinel://(?:(?P<user>[^:@/]*)(?::(?P<password>[^@/]*))?@)?(?P<hosts>[^@/?#]+)/(?P<master>[\w.-]+)(?:/(?P<database>\d*))?"
)
_HOST: Final = re.compile(r"(?P<host>\[[0-9A-Fa-f:.]+\]|[\w.-]+)(?::(?P<port>\d{1,5}))?")
_PORT: Final = 26379


@dataclass(frozen=True, slots=True)
class Sentinels:
    """Who knows the master; user and password are the master's, and the Sentinels' where they ask for one."""

    hosts: tuple[tuple[str, int], ...]
    master: str
    user: str
    password: str
    database: int


def parse_sentinels(url: str) -> Sentinels | None:
    """The parts of a `sentinel://` URL (SENTINEL_EXAMPLE), None for any other; ValueError where a part is wrong."""
    if not url.startswith("sentinel://"):
        return None
    found = _SENTINEL.fullmatch(url)
    if found is None:
        raise ValueError(f"names no Sentinels and master: expected {SENTINEL_EXAMPLE}")
    hosts = []
    for text in found["hosts"].split(","):
        host = _HOST.fullmatch(text)
        if host is None or not 0 < int(host["port"] or _PORT) < 65_536:
            # Not repeated: it may be a password whose @ is missing.
            raise ValueError(f"names a Sentinel without a host or with a wrong port: expected {SENTINEL_EXAMPLE}")
        hosts.append((host["host"].strip("[]"), int(host["port"] or _PORT)))
    user, password = (unquote(found[name] or "") for name in ("user", "password"))
    return Sentinels(tuple(hosts), found["master"], user, password, int(found["database"] or 0))


def open_redis(url: str, **options: Any) -> Redis:
    """A client with these options of redis-py; a Sentinel is asked for the master at each new connection."""
    from redis import Redis
    from redis.sentinel import Sentinel

    sentinels = parse_sentinels(url)
    if sentinels is None:
        return Redis.from_url(url, **options)
    credentials = _credentials(sentinels)
    # Of an answer of the master; a Sentinel is another machine, asked once a connection.
    seconds = options.get("socket_connect_timeout")
    waiting = {"socket_timeout": seconds, "socket_connect_timeout": seconds}
    asked = Sentinel(sentinels.hosts, sentinel_kwargs={**waiting, **credentials})  # type: ignore[no-untyped-call]
    # A pool that asks Sentinels has no single connection.
    options.pop("single_connection_client", None)
    client: Redis = asked.master_for(  # type: ignore[no-untyped-call]
        sentinels.master, Redis, db=sentinels.database, **credentials, **options
    )
    return client


def celery_broker(url: str) -> tuple[str, dict[str, Any]]:
    """The broker's address and transport options, as Celery takes them."""
    sentinels = parse_sentinels(url)
    if sentinels is None:
        return url, {}
    credentials = _credentials(sentinels)
    who = f"{quote(sentinels.user, safe='')}:{quote(sentinels.password, safe='')}@" if credentials else ""
    hosts = [f"[{host}]:{port}" if ":" in host else f"{host}:{port}" for host, port in sentinels.hosts]
    address = ";".join(f"sentinel://{who}{host}/{sentinels.database}" for host in hosts)
    return address, {"master_name": sentinels.master, "sentinel_kwargs": credentials}


def _credentials(sentinels: Sentinels) -> dict[str, str]:
    given = {"username": sentinels.user, "password": sentinels.password}
    return {name: value for name, value in given.items() if value}
