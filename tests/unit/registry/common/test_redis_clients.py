"""Where Redis is: one server, or whichever the Sentinels call their master."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kombu.connection import Connection
from redis import Redis

from registry.common.redis_clients import Sentinels, celery_broker, open_redis, parse_sentinels
from registry.common.shared_limits import SharedLimits
from tests.servers import Server, free_port, keep

PASSWORD = "p@ss/word"


def test_parts_of_an_address() -> None:
    assert parse_sentinels("redis://h:6379/0") is None
    assert parse_sentinels("sentinel://:a%40b@one,two:1,[::1]:2/main/3") == Sentinels(
        (("one", 26379), ("two", 1), ("::1", 2)), "main", "", "a@b", 3
    )
    assert parse_sentinels("sentinel://one/main") == Sentinels((("one", 26379),), "main", "", "", 0)


def test_celery_gets_each_sentinel() -> None:
    assert celery_broker("redis://h:6379/0") == ("redis://h:6379/0", {})
    assert celery_broker("sentinel://u:a%40b@one,[::1]:2/main/3") == (
        "sentinel://u:a%40b@one:26379/3;sentinel://u:a%40b@[::1]:2/3",
        {"master_name": "main", "sentinel_kwargs": {"username": "u", "password": "a@b"}},
    )


class Cluster:
    """A master, its replica, and three Sentinels, all with PASSWORD."""

    def __init__(self, folder: Path) -> None:
        self.ports = [free_port() for _ in range(5)]
        master, replica, *sentinels = self.ports
        plain = ["--bind", "127.0.0.1", "--save", "", "--requirepass", PASSWORD, "--masterauth", PASSWORD]
        self.servers: list[Server] = []
        self._start(folder, master, ["--port", str(master), *plain])
        self._start(folder, replica, ["--port", str(replica), *plain, "--replicaof", f"127.0.0.1 {master}"])
        for port in sentinels:
            config = folder / f"sentinel-{port}.conf"
            lines = [
                f"port {port}",
                "bind 127.0.0.1",
                f'requirepass "{PASSWORD}"',
                f'sentinel sentinel-pass "{PASSWORD}"',
                f"sentinel monitor main 127.0.0.1 {master} 2",
                f'sentinel auth-pass main "{PASSWORD}"',
                "sentinel down-after-milliseconds main 1000",
                "sentinel failover-timeout main 3000",
            ]
            config.write_text("\n".join(lines) + "\n", "utf-8")
            self._start(folder, port, [str(config), "--sentinel"])
        self.url = f"sentinel://:p%40ss%2Fword@{','.join(f'127.0.0.1:{port}' for port in sentinels)}/main/0"

    def _start(self, folder: Path, port: int, arguments: list[str]) -> None:
        home = folder / str(port)
        home.mkdir()
        process = keep(["redis-server", *arguments], log=home / "log", cwd=home)
        self.servers.append(Server(f"redis://127.0.0.1:{port}/0", home / "log", process, home))
        with Redis(port=port, password=PASSWORD) as client:
            _wait_until(client.ping)


def _wait_until(is_so: Any, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while True:
        try:
            if is_so():
                return
        except Exception as error:
            if time.monotonic() > deadline:
                raise AssertionError("never came") from error
        assert time.monotonic() < deadline
        time.sleep(0.1)


@pytest.fixture
def cluster(tmp_path: Path, redis_url: str) -> Iterator[Cluster]:
    # That fixture says where there is no Redis.
    assert redis_url
    cluster = Cluster(tmp_path)
    yield cluster
    for server in cluster.servers:
        server.stop()


@pytest.mark.redis
@pytest.mark.rare
def test_limits_and_celery_follow_the_master(cluster: Cluster, settings: Any) -> None:
    settings.REDIS_URL = cluster.url
    limits = SharedLimits()

    def is_counted() -> bool:
        return limits.window("w", "subject", count=1, seconds=600) is not None

    def send(text: str) -> bool:
        address, options = celery_broker(cluster.url)
        options["socket_timeout"] = 2
        connection: Any = Connection(address, transport_options=options)  # type: ignore[no-untyped-call]
        with connection:
            connection.SimpleQueue("studio").put(text)
        return True

    def master_port() -> int:
        with open_redis(cluster.url, socket_timeout=1, socket_connect_timeout=1) as client:
            client.ping()
            return int(client.connection_pool.get_master_address()[1])

    _wait_until(is_counted)
    _wait_until(lambda: send("first"))
    old, replica = cluster.ports[:2]
    assert master_port() == old
    # A replica that is not known yet cannot take over.
    sentinel: Any
    with Redis(port=cluster.ports[2], password=PASSWORD) as sentinel:
        _wait_until(lambda: sentinel.sentinel_slaves("main") and len(sentinel.sentinel_sentinels("main")) == 2)

    cluster.servers[0].stop()
    _wait_until(lambda: master_port() == replica)
    _wait_until(is_counted)
    _wait_until(lambda: send("second"))
    with Redis(port=replica, password=PASSWORD) as client:
        assert client.llen("studio") >= 1
        # The window was counted by both masters: the second call came from the replica's copy or after it.
        assert list(client.scan_iter("studio:limit:w:*"))
    limits.forget()
