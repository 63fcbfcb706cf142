"""Sessions that are kept between requests, for one writer at a time."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from capability_client import (
    ApprovalRequired,
    AsyncSession,
    CapabilityNotFound,
    FileSessions,
    MemorySessions,
    Session,
    SessionFileRefused,
    SessionLocked,
    SessionStore,
    User,
)
from capability_client.testing import FakeRegistry, build_bundle
from capability_client.tests.test_session import ALL
from docs.agents.redis_sessions import RedisSessions
from docs.agents.sql_sessions import SqlSessions
from tests.bundle_files import tool
from tests.event_loop import run_async
from tests.json_values import parsed
from tests.servers import ROOT


class FakeRedis:
    """The four commands of the recipe, in memory."""

    def __init__(self) -> None:
        self.values: dict[str, str] = {}

    def set(self, name: str, value: str, *, nx: bool = False, px: int | None = None) -> bool:
        if nx and name in self.values:
            return False
        self.values[name] = value
        return True

    def get(self, name: str) -> str | None:
        return self.values.get(name)

    def eval(self, script: str, count: int, *given: str) -> int:
        lock, *others = given[:count]
        token = given[count]
        if self.values.get(lock) != token:
            return 0
        if others:
            self.values[others[0]] = given[count + 1]
        else:
            del self.values[lock]
        return 1


def _sql(folder: Path) -> SqlSessions:
    return SqlSessions(lambda: sqlite3.connect(folder / "sessions.db"))


STORES: dict[str, Callable[[Path], SessionStore]] = {
    "memory": lambda folder: MemorySessions(),
    "file": FileSessions,
    "sql": _sql,
    "redis": lambda folder: RedisSessions(parsed(FakeRedis())),
}


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> SessionStore:
    return STORES[request.param](tmp_path)


def _registry() -> FakeRegistry:
    put = {**tool("put", "write"), "args_schema": {"type": "object"}}
    put["policy"] = {"kind": "write", "requires_approval": True}
    return FakeRegistry([build_bundle("alpha", tools=[put])])


def test_a_session_goes_on_where_it_was(store: SessionStore) -> None:
    registry = _registry()
    with Session.stored(store, "../c1", registry, user=User(name="Ada"), environment=ALL) as session:
        session.load("alpha")
        with pytest.raises(ApprovalRequired) as waiting:
            session.call("put", {"n": 1})
    with Session.stored(store, "../c1", registry, environment=ALL) as session:
        assert (session.session_id, session.user.name) == ("../c1", "Ada")
        session.approve(waiting.value.call_id, by="Ada")
        assert session.run_call(waiting.value.call_id, lambda call: "kept").result == "kept"
    with Session.stored(store, "c2", registry, environment=ALL) as session:
        assert not list(session.active)


def test_a_second_writer_is_refused_until_the_first_is_done(store: SessionStore) -> None:
    with Session.stored(store, "c1", _registry(), environment=ALL):
        with pytest.raises(SessionLocked, match="'c1'"), Session.stored(store, "c1", _registry(), environment=ALL):
            pass
        with Session.stored(store, "c2", _registry(), environment=ALL):
            pass
    with Session.stored(store, "c1", _registry(), environment=ALL):
        pass


def test_what_happened_before_an_error_is_written(store: SessionStore) -> None:
    def fail() -> None:
        with Session.stored(store, "c1", _registry(), environment=ALL) as session:
            session.load("alpha")
            session.load("no such skill")

    with pytest.raises(CapabilityNotFound):
        fail()
    with Session.stored(store, "c1", _registry(), environment=ALL) as session:
        assert [each.capability_id for each in session.active] == ["alpha"]


def test_an_async_session_is_stored_too_and_a_secret_protects_it(store: SessionStore) -> None:
    async def converse() -> None:
        registry = parsed(_registry())
        async with AsyncSession.stored(store, "c1", registry, secret=b"s", environment=ALL) as session:
            await session.load("alpha")
            with pytest.raises(SessionLocked):
                async with AsyncSession.stored(store, "c1", registry, environment=ALL):
                    pass
        async with AsyncSession.stored(store, "c1", registry, secret=b"s", environment=ALL) as session:
            assert len(session.active) == 1

    run_async(converse())
    with pytest.raises(SessionFileRefused), Session.stored(store, "c1", _registry(), secret=b"t", environment=ALL):
        pass


def test_a_lock_holds_between_processes(tmp_path: Path) -> None:
    code = (
        "import sys; from capability_client import FileSessions, SessionLocked\n"
        "try:\n    FileSessions(sys.argv[1]).lock('c1').__enter__()\n"
        "except SessionLocked:\n    sys.exit(3)\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    with FileSessions(tmp_path).lock("c1"):
        assert subprocess.run(command, cwd=ROOT, check=False, timeout=60).returncode == 3
    assert subprocess.run(command, cwd=ROOT, check=False, timeout=60).returncode == 0
    with pytest.raises(ValueError, match="has an id"):
        FileSessions(tmp_path).read("")


def test_a_lease_that_ran_out_is_lost_and_its_writer_learns_of_it(tmp_path: Path) -> None:
    now = [100.0]
    sessions = SqlSessions(lambda: sqlite3.connect(tmp_path / "s.db"), lease_seconds=60, clock=lambda: now[0])
    with sessions.lock("c1"):
        now[0] += 61
        other = SqlSessions(lambda: sqlite3.connect(tmp_path / "s.db"), lease_seconds=60, clock=lambda: now[0])
        with other.lock("c1"):
            other.write("c1", "theirs")
            with pytest.raises(SessionLocked):
                sessions.write("c1", "mine")
    assert sessions.read("c1") == "theirs"
