"""A rolling upgrade as the chart does it: pods of the version before are replaced one by one by pods of this one, on
one PostgreSQL and one Redis, while agents go on reading."""

from __future__ import annotations

import asyncio
import gzip
import itertools
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import psycopg
import pytest

from tests.factories import bundle
from tests.release_sites import SECRET_KEY, signing_key
from tests.servers import ROOT
from tests.system.cluster import HOST, Cluster

pytestmark = [pytest.mark.rare, pytest.mark.system]

# The version before, by the commit that gave it its number, and a site of it. It runs upon the packages of this one.
BEFORE = "92bf0596"
SITE = ROOT / "tests" / "integration" / "upgrades" / "0.3.0.postgresql.sql.gz"
# Endpoints and proxies learn so much later that a pod ends.
ENDPOINT_SECONDS = 2.0
READS: tuple[tuple[str, str, dict[str, Any] | None, str], ...] = (
    ("GET", "/api/v1/capability_registry_list", None, "climate"),
    ("GET", "/api/v1/capability_skill_load?capability_id=weather", None, "Second answer."),
    ("GET", "/api/v1/capability_skill_load?capability_id=weather&revision=1", None, "First answer."),
    ("POST", "/api/v1/capability_match", {"message": "weather tomorrow"}, "weather"),
    ("POST", "/api/v1/capability_skill_reload", {"capability_id": "climate"}, "Second answer."),
    ("GET", "/api/v1/capability_file_load?capability_id=weather&path=references/rain.md", None, "It is wet"),
    ("POST", "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, "capability_match"),
)
QUARANTINED = (423, "CAPABILITY_QUARANTINED")


class Service:
    """As a Service: each new connection goes to one of the pods that are ready, in turn."""

    def __init__(self) -> None:
        self.ports: tuple[int, ...] = ()
        self.served: Counter[int] = Counter()
        self._turns = itertools.count()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        begun = asyncio.run_coroutine_threadsafe(asyncio.start_server(self._forward, "127.0.0.1", 0), self._loop)
        self._server = begun.result(10)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        port = self.ports[next(self._turns) % len(self.ports)]
        try:
            there_reader, there_writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            writer.close()
            return
        self.served[port] += 1
        await asyncio.gather(_pump(reader, there_writer), _pump(there_reader, writer))

    def close(self) -> None:
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    async def _end(self) -> None:
        self._server.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()


@dataclass
class Readers:
    """Agents that list, load and match all the time; half of them over one connection, half over one for each call."""

    url: str
    key: str
    answered: Counter[str] = field(default_factory=Counter)
    failed: list[str] = field(default_factory=list)
    _stop: threading.Event = field(default_factory=threading.Event)
    _threads: list[threading.Thread] = field(default_factory=list)

    def start(self) -> None:
        self._threads = [threading.Thread(target=self._read, args=(number % 2 == 0,)) for number in range(4)]
        for thread in self._threads:
            thread.start()

    def _read(self, keeps: bool) -> None:
        headers = {"Authorization": f"Bearer {self.key}", "Host": HOST} | ({} if keeps else {"Connection": "close"})
        with httpx2.Client(base_url=self.url, headers=headers, timeout=20) as client:
            for method, path, body, word in itertools.cycle(READS):
                if self._stop.is_set():
                    return
                try:
                    answer = client.request(method, path, json=body)
                except httpx2.HTTPError as error:
                    self.failed.append(f"{time.strftime('%X')} {method} {path} {keeps=}: {error!r}")
                    continue
                if answer.status_code != 200 or word not in answer.text:
                    self.failed.append(
                        f"{time.strftime('%X')} {method} {path}: {answer.status_code} {answer.text[:300]}"
                    )
                self.answered[path] += 1
                time.sleep(0.01)

    def end(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(30)


@dataclass
class Upgrade:
    """The pods of both versions, and the Services in front of them."""

    pods: Cluster
    old: Path
    agents: Service
    studio: Service

    def start(self, name: str, kind: str, *, is_old: bool = False) -> None:
        """Without what the version before does not know."""
        root = self.old if is_old else ROOT
        self.pods.start(name, kind, root, without="--metrics-port" if is_old and kind == "worker" else "")

    def enter(self, service: Service, *names: str) -> None:
        """Once they are ready."""
        self.pods.await_ready(*names)
        service.ports += tuple(self.pods.ports[name] for name in names)

    def leave(self, service: Service, name: str) -> None:
        """As a node ends a pod: the hook before, then SIGTERM, while its connections still come for some seconds."""
        timer = threading.Timer(ENDPOINT_SECONDS, self._forget, args=(service, name))
        timer.start()
        hook = self.pods.container_of(name)["lifecycle"]["preStop"]["exec"]
        assert self.pods.execute(name, hook["command"]).returncode == 0
        timer.join()
        self.end(name)

    def _forget(self, service: Service, name: str) -> None:
        service.ports = tuple(port for port in service.ports if port != self.pods.ports[name])

    def end(self, name: str) -> None:
        """What it is given is what the manifest has left after the hook."""
        process = self.pods.running[name]
        process.terminate()
        assert process.wait(30) == 0, self.pods.logs()

    def replace(self, service: Service, old: str, new: str, kind: str) -> None:
        """None goes before another one is ready."""
        self.start(new, kind)
        self.enter(service, new)
        self.leave(service, old)


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """The code of the version before."""
    folder = tmp_path / "before"
    folder.mkdir()
    archive = subprocess.run(["git", "archive", BEFORE], cwd=ROOT, capture_output=True, check=False)
    if archive.returncode != 0:
        pytest.skip(f"needs the history of this repository, back to {BEFORE}")
    subprocess.run(["tar", "-x", "-C", str(folder)], input=archive.stdout, check=True)
    return folder


@pytest.fixture
def upgrade(
    old: Path, database_url: str, redis_url: str, examined: dict[str, Any], tmp_path: Path
) -> Iterator[Upgrade]:
    _, _, statements = gzip.decompress(SITE.read_bytes()).decode().partition("\n")
    with psycopg.connect(database_url, autocommit=True) as database:
        database.execute(statements)
    pem = tmp_path / "signing.pem"
    pem.touch(mode=0o600)
    pem.write_bytes(signing_key())
    secrets = {"SECRET_KEY": SECRET_KEY, "DATABASE_URL": database_url, "REDIS_URL": redis_url}
    manifests = examined["sets"]["a secret of one's own"]["manifests"]
    more = {"SIGNING_KEY_FILE": str(pem), "CHECK_PROCESSES": "1", "RATE_LIMITS": "off", "EMBEDDER": "none"}
    pods = Cluster(manifests, tmp_path / "pods", secrets, **more)
    services = Service(), Service()
    try:
        pods.build(old)
        pods.build()
        yield Upgrade(pods, old, *services)
    finally:
        pods.stop()
        for service in services:
            service.close()


def _answers(client: httpx2.Client, capability_id: str, expected: tuple[int, str]) -> Callable[[], bool]:
    """Whether a load is answered like this."""

    def is_so() -> bool:
        answer = client.get(f"/api/v1/capability_skill_load?capability_id={capability_id}")
        return (answer.status_code, answer.json().get("error", {}).get("code", "")) == expected

    return is_so


def _publish(client: httpx2.Client, name: str) -> httpx2.Response:
    return client.post("/api/v1/operator/bundle_publish", json={"bundles": [{"path": name, "files": bundle(name)}]})


def _quarantine(client: httpx2.Client, name: str) -> httpx2.Response:
    return client.post("/api/v1/operator/capability_quarantine", json={"capability_id": name, "reason": "a test"})


def test_no_read_fails_while_pods_are_replaced_by_those_of_this_version(upgrade: Upgrade) -> None:
    pods = upgrade.pods
    for name, kind in (("agents-0", "web-agents"), ("agents-1", "web-agents"), ("studio-0", "web-studio"),
                       ("worker", "worker"), ("celery", "celery-main")):  # fmt: skip
        upgrade.start(name, kind, is_old=True)
    upgrade.enter(upgrade.agents, "agents-0", "agents-1")
    upgrade.enter(upgrade.studio, "studio-0")
    key = pods.run(upgrade.old, "agent_key", "create", "all", "--scopes", "read,publish")
    readers = Readers(upgrade.agents.url, key)
    headers = {"Authorization": f"Bearer {key}", "Host": HOST, "Connection": "close"}
    with httpx2.Client(base_url=upgrade.studio.url, headers=headers, timeout=60) as operator:
        pods.wait(lambda: _publish(operator, "early").status_code == 200)
        readers.start()
        try:
            _roll(upgrade, operator, key)
        finally:
            readers.end()
    print(f"{readers.answered.total()} reads; connections {dict(upgrade.agents.served)}")
    assert readers.failed == []
    assert min(readers.answered[path] for _, path, _, _ in READS) > 20
    assert len(upgrade.agents.served) == 4


def _roll(upgrade: Upgrade, operator: httpx2.Client, key: str) -> None:
    pods = upgrade.pods
    time.sleep(2)
    assert pods.start("migrate", "migrate").wait(120) == 0, pods.logs()

    # The Studio of the version before, on the tables of this one: what it cannot write it refuses, for a moment.
    for answer in (_quarantine(operator, "early"), _publish(operator, "late")):
        if answer.status_code != 200:
            assert (answer.status_code, answer.json()["error"]["code"]) == (503, "REGISTRY_UNAVAILABLE")
            assert int(answer.headers["Retry-After"]) > 0
    upgrade.replace(upgrade.studio, "studio-0", "studio-1", "web-studio")
    upgrade.replace(upgrade.agents, "agents-0", "agents-2", "web-agents")

    # Both versions serve: what is published is there, what is withdrawn is gone.
    with pods.client("agents-1", key) as before, pods.client("agents-2", key) as now:
        for name in ("late", "withdrawn"):
            published = _publish(operator, name)
            assert published.json()["results"][0]["status"] in {"published", "unchanged"}, published.text
            for client in (before, now):
                pods.wait(_answers(client, name, (200, "")))
        for name in ("early", "withdrawn"):
            answer = _quarantine(operator, name)
            assert answer.status_code == 200, answer.text
        for client, name in itertools.product((before, now), ("early", "withdrawn")):
            pods.wait(_answers(client, name, QUARANTINED))

    for name, kind in (("worker", "worker"), ("celery", "celery-main")):
        upgrade.end(name)
        upgrade.start(name, kind)
    upgrade.replace(upgrade.agents, "agents-1", "agents-3", "web-agents")
    with pods.client("agents-2", key) as first, pods.client("agents-3", key) as second:
        for client in (first, second):
            pods.wait(_answers(client, "late", (200, "")))
            assert _answers(client, "withdrawn", QUARANTINED)()
    time.sleep(2)
    pods.run(ROOT, "registry", "verify")
