"""Workers as processes: killed, suspended and asked to end in the middle of a job, with and without Redis."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from registry.operations.housekeeping import DAILY_JOBS
from tests.factories import bundle
from tests.integration.conftest import Site, new_site
from tests.servers import ROOT, ServerError, keep, run_manage, studio_environment

pytestmark = pytest.mark.slow

EMBEDDED = ("manage.py", "worker")
CELERY = ("-m", "celery", "-A", "studio", "worker", "--concurrency", "1", "--loglevel", "INFO")


@dataclass
class Desk:
    """A registry with jobs, and the workers that were started on it."""

    site: Site
    folder: Path
    started: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def trace(self) -> Path:
        return self.folder / "trace"

    def enqueue(self, kind: str = "slow", **payload: Any) -> int:
        payload = {"trace": str(self.trace), **payload}
        job_id: int = self.site.run("job_desk.py", "enqueue", kind, json.dumps(payload))["job_id"]
        return job_id

    def start(self, *command: str) -> Path:
        """Start a worker; answers its log."""
        log = self.folder / f"worker {len(self.started)}.log"
        # PYTHONPATH stands for the working directory that manage.py and -A would be looked for in.
        process = keep([sys.executable, *command], log=log, env=self.site.env, cwd=ROOT)
        self.started.append(process)
        return log

    def begun(self) -> list[int]:
        """The ids of the processes that began the slow job, in that order."""
        text = self.trace.read_text() if self.trace.exists() else ""
        return [int(pid) for pid in re.findall(r"begin (\d+)\n", text)]

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Asked of the database itself: a process of ours for each look would take the workers' time."""
        if self.site.kind == "sqlite":
            with closing(sqlite3.connect(Path(self.site.env["DATA_DIR"]) / "studio.sqlite3", timeout=20)) as database:
                return database.execute(query).fetchall()
        import psycopg

        with psycopg.connect(self.site.env["DATABASE_URL"]) as connection:
            return connection.execute(query.encode()).fetchall()

    def insert(self, **columns: Any) -> int:
        """A row of `registry_job` as somebody writes it by hand, at its last try."""
        past = datetime.now(UTC).replace(tzinfo=None) - timedelta(minutes=1)
        row = {
            "kind": "slow",
            "payload": "{}",
            "state": "queued",
            "dedupe_key": "",
            "concurrency_key": "",
            "run_after": past,
        }
        row |= {"attempts": 4, "max_attempts": 5, "fencing_token": 0, "last_error": "", "created_at": past, **columns}
        words = f"INSERT INTO registry_job ({', '.join(row)}) VALUES ({{}}) RETURNING id"
        if self.site.kind == "sqlite":
            values = [str(value) if isinstance(value, datetime) else value for value in row.values()]
            with closing(sqlite3.connect(Path(self.site.env["DATA_DIR"]) / "studio.sqlite3", timeout=20)) as database:
                (job_id,) = database.execute(words.format(", ".join("?" * len(row))), values).fetchone()
                database.commit()
                return int(job_id)
        import psycopg

        with psycopg.connect(self.site.env["DATABASE_URL"]) as connection:
            query = words.format(", ".join(["%s"] * len(row))).encode()
            found = connection.execute(query, list(row.values())).fetchone()
            assert found is not None
            return int(found[0])

    def row(self, job_id: int) -> dict[str, Any]:
        columns = ("state", "attempts", "fencing_token", "last_error")
        (row,) = self.rows(f"SELECT {', '.join(columns)} FROM registry_job WHERE id = {int(job_id)}")
        return dict(zip(columns, row, strict=True))

    @property
    def written(self) -> int:
        """How often a slow job wrote what comes of it."""
        return sum(
            count
            for (count,) in self.rows(
                "SELECT count FROM registry_unknowncapabilityrequest WHERE capability_id = 'slow'"
            )
        )

    def wait_for(self, job_id: int, state: str, seconds: float = 20) -> dict[str, Any]:
        wait_until(lambda: self.row(job_id)["state"] == state, seconds, self)
        return self.row(job_id)

    def words(self) -> str:
        return "".join(log.read_text(errors="replace") for log in sorted(self.folder.glob("worker *.log")))

    def stop(self) -> None:
        for process in self.started:
            if process.stdin is not None:
                process.stdin.close()
        for process in self.started:
            process.wait(30)


def wait_until(is_true: Callable[[], bool], seconds: float, desk: Desk) -> None:
    deadline = time.monotonic() + seconds
    while not is_true():
        if time.monotonic() > deadline:
            raise ServerError(f"nothing came of it within {seconds} s:\n{desk.words()}")
        time.sleep(0.1)


def _desk(kind: str, request: pytest.FixtureRequest, folder: Path, **settings: str) -> Iterator[Desk]:
    settings["DJANGO_SETTINGS_MODULE"] = "tests.integration.job_settings"
    desk = Desk(new_site(kind, request, folder, **settings), folder)
    yield desk
    desk.stop()


# What a database can change is how a job is claimed and kept: the rest is tried on one.
on_one_database = pytest.mark.parametrize("desk", ["sqlite"], indirect=True)


# The worker of every other test that starts the product is one on SQLite.
on_either_database = pytest.fixture(params=[pytest.param("sqlite", marks=pytest.mark.rare), "postgresql"])


@on_either_database
def desk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Desk]:
    """Without Redis, on either database."""
    yield from _desk(request.param, request, tmp_path)


@pytest.fixture
def redis_desk(request: pytest.FixtureRequest, tmp_path: Path, redis_url: str) -> Iterator[Desk]:
    """With a Redis, on PostgreSQL, as in production."""
    yield from _desk("postgresql", request, tmp_path, REDIS_URL=redis_url)


def test_the_embedded_worker_does_a_job_and_leaves_when_asked(desk: Desk) -> None:
    log = desk.start(*EMBEDDED)
    job_id = desk.enqueue()
    desk.wait_for(job_id, "done")
    assert desk.written == 1
    assert re.search(rf"INFO registry.core.jobs.queue: job {job_id} slow done, try 1", log.read_text())
    os.kill(desk.begun()[0], signal.SIGTERM)
    assert desk.started[0].wait(10) == 0


@on_one_database
def test_published_capabilities_are_checked_by_command(desk: Desk) -> None:
    folder = desk.folder / "alpha"
    folder.mkdir()
    for name, text in bundle().items():
        (folder / name).write_text(text)
    run_manage("bundle", "publish", str(folder), env=desk.site.env)
    queued = run_manage("registry", "revalidate", "--format", "json", env=desk.site.env).stdout
    assert json.loads(queued) == {"queued": 1, "already_queued": 0}
    said = run_manage("worker", "--once", env=desk.site.env).stderr
    done = re.findall(r"job \d+ (\S+) done", said)
    # The publish is learned from a moment later: before or after the others.
    assert [kind for kind in done if kind != "matching.learn"] == ["revalidate", *DAILY_JOBS]


def test_a_job_whose_worker_is_killed_is_done_once_by_another(desk: Desk) -> None:
    desk.start(*EMBEDDED)
    job_id = desk.enqueue(seconds=1.5)
    wait_until(lambda: len(desk.begun()) == 1, 15, desk)
    os.kill(desk.begun()[0], signal.SIGKILL)
    killed_at = time.monotonic()
    desk.start(*EMBEDDED)
    row = desk.wait_for(job_id, "done")
    assert (row["attempts"], row["fencing_token"]) == (2, 2)
    assert len(set(desk.begun())) == 2
    assert desk.written == 1
    # Not before the lease of 2 s was over.
    assert time.monotonic() - killed_at > 1.5


def test_a_worker_that_wakes_up_after_its_lease_writes_nothing(desk: Desk) -> None:
    """Suspended in the middle, as a machine that hangs: another does the job, and the first finds itself late."""
    log = desk.start(*EMBEDDED)
    job_id = desk.enqueue(seconds=1)
    wait_until(lambda: len(desk.begun()) == 1, 15, desk)
    first = desk.begun()[0]
    os.kill(first, signal.SIGSTOP)
    try:
        desk.start(*EMBEDDED)
        desk.wait_for(job_id, "done")
    finally:
        os.kill(first, signal.SIGCONT)
    wait_until(lambda: f"job {job_id} slow lost" in log.read_text(), 15, desk)
    assert desk.written == 1
    assert desk.row(job_id)["state"] == "done"


def test_a_job_that_takes_longer_than_a_lease_renews_it(desk: Desk) -> None:
    for _ in range(2):
        desk.start(*EMBEDDED)
    job_id = desk.enqueue(seconds=4, renew=True)
    row = desk.wait_for(job_id, "done")
    assert (row["attempts"], len(desk.begun()), desk.written) == (1, 1, 1)


@on_one_database
def test_a_worker_that_is_asked_to_leave_ends_its_job_first(desk: Desk) -> None:
    desk.start(*EMBEDDED)
    job_id = desk.enqueue(seconds=1.5)
    wait_until(lambda: len(desk.begun()) == 1, 15, desk)
    os.kill(desk.begun()[0], signal.SIGTERM)
    assert desk.started[0].wait(10) == 0
    assert desk.row(job_id)["state"] == "done"


@on_one_database
def test_a_worker_that_is_asked_to_leave_does_not_wait_for_ever(desk: Desk) -> None:
    log = desk.start(*EMBEDDED)
    job_id = desk.enqueue(seconds=60)
    wait_until(lambda: len(desk.begun()) == 1, 15, desk)
    asked_at = time.monotonic()
    os.kill(desk.begun()[0], signal.SIGTERM)
    # Before the job's sixty seconds, after the four that it is given.
    assert desk.started[0].wait(40) == 0
    assert 3.5 < time.monotonic() - asked_at < 20
    assert "leaves a job behind" in log.read_text()
    assert desk.row(job_id)["state"] == "running"


@on_one_database
def test_a_poison_job_is_parked_after_its_tries(desk: Desk) -> None:
    desk.start(*EMBEDDED)
    poison, after = desk.enqueue("poison", word="hemlock"), desk.enqueue()
    row = desk.wait_for(poison, "parked")
    assert row["attempts"] == 5
    assert "RuntimeError: poisoned by hemlock" in row["last_error"]
    assert desk.site.run("job_desk.py", "parked") == {"parked": [f"job {poison}"], "audit_broken": False}
    desk.wait_for(after, "done")


# What no handler, no follower, no audit row or no JSON of Python's can take.
ODD_PAYLOADS = (
    "{}", "[]", "null", '"x"', '{"import": {}}', '{"import": 90071992547409930}', '{"import": 1e400}',
    '{"import": "\\ud800"}', '{"import": %s}' % ("9" * 5000),
)  # fmt: skip
FOLLOWED = ("import.git", "git_source.sync", "release.publish", "webhook.deliver")


@pytest.mark.parametrize(
    ("desk", "concurrency_key"),
    [("sqlite", ""), ("sqlite", "import"), ("postgresql", "")],
    indirect=["desk"],
    ids=["sqlite", "sqlite, with a concurrency key", "postgresql"],
)
def test_a_job_that_cannot_be_read_is_parked_and_ends_no_worker(desk: Desk, concurrency_key: str) -> None:
    odd_payloads = ODD_PAYLOADS if desk.site.kind == "sqlite" else [one for one in ODD_PAYLOADS if "ud800" not in one]
    odd = [
        desk.insert(kind=kind, payload=payload, concurrency_key=concurrency_key)
        for kind in FOLLOWED
        for payload in odd_payloads
    ]
    until = datetime.now(UTC).replace(tzinfo=None) - timedelta(minutes=1)
    # As a worker leaves it that died at its last try.
    died = {"concurrency_key": concurrency_key, "state": "running", "attempts": 5, "lease_expires_at": until}
    odd += [desk.insert(kind=kind, **died) for kind in FOLLOWED]
    log = desk.start(*EMBEDDED)
    after = desk.enqueue()
    is_over = desk.started[0].poll
    wait_until(lambda: is_over() is not None or desk.row(after)["state"] == "done", 60, desk)
    ends = {"parked", "done"}
    wait_until(lambda: is_over() is not None or {desk.row(job_id)["state"] for job_id in odd} <= ends, 90, desk)
    assert is_over() is None, log.read_text()
    for job_id in odd:
        row = desk.row(job_id)
        assert row["state"] == "done" or (row["last_error"] and f"job {job_id} " in log.read_text()), row
    parked = desk.site.run("job_desk.py", "parked")
    assert not parked["audit_broken"]
    assert len(parked["parked"]) == sum(desk.row(job_id)["state"] == "parked" for job_id in odd)


def _celery(desk: Desk, *options: str) -> Path:
    log = desk.start(*CELERY, *options)
    wait_until(lambda: " ready." in log.read_text(), 30, desk)
    return log


@pytest.mark.redis
def test_celery_does_a_job_that_it_is_told_of(redis_desk: Desk) -> None:
    log = _celery(redis_desk)
    job_id = redis_desk.enqueue()
    row = redis_desk.wait_for(job_id, "done")
    assert (row["attempts"], redis_desk.written) == (1, 1)
    assert f"job {job_id} slow done" in log.read_text()


@pytest.mark.redis
def test_the_sweep_leaves_to_celery_what_celery_does(redis_desk: Desk) -> None:
    log = _celery(redis_desk)
    redis_desk.start(*EMBEDDED)
    job_ids = [redis_desk.enqueue() for _ in range(3)]
    for job_id in job_ids:
        redis_desk.wait_for(job_id, "done")
        assert f"job {job_id} slow done" in log.read_text()
    assert redis_desk.written == 3


@pytest.mark.redis
def test_a_kind_is_done_by_the_worker_of_its_queue(redis_desk: Desk) -> None:
    """A job that holds one queue keeps none of another waiting."""
    others = _celery(redis_desk, "--queues", "studio", "--hostname", "others@%h")
    mails = _celery(redis_desk, "--queues", "studio.mail", "--hostname", "mails@%h")
    held = redis_desk.enqueue(seconds=4)
    job_id = redis_desk.enqueue("mail.send")
    redis_desk.wait_for(job_id, "done")
    assert redis_desk.row(held)["state"] == "running"
    assert f"job {job_id} mail.send done" in mails.read_text()
    redis_desk.wait_for(held, "done")
    assert f"job {held} slow done" in others.read_text()
    assert f"job {job_id} " not in others.read_text()


@pytest.mark.rare
@pytest.mark.redis
def test_a_job_past_its_soft_limit_fails_and_is_tried_again(redis_desk: Desk) -> None:
    log = _celery(redis_desk)
    job_id = redis_desk.enqueue("hang", seconds=60, renew=True)
    wait_until(lambda: redis_desk.row(job_id)["last_error"] != "", 15, redis_desk)
    assert "SoftTimeLimitExceeded" in redis_desk.row(job_id)["last_error"]
    assert redis_desk.row(job_id)["state"] == "queued"
    # The process is there for the next job.
    redis_desk.wait_for(redis_desk.enqueue(), "done")
    assert f"job {job_id} hang queued, try 1" in log.read_text()


@pytest.mark.rare
@pytest.mark.redis
def test_a_message_that_is_lost_costs_delay_alone(redis_desk: Desk, redis_url: str) -> None:
    import redis

    job_id = redis_desk.enqueue()
    with redis.Redis.from_url(redis_url) as client:
        assert client.delete("studio") == 1, client.keys()
    _celery(redis_desk)
    time.sleep(1)
    assert redis_desk.row(job_id)["state"] == "queued"
    redis_desk.start(*EMBEDDED)
    redis_desk.wait_for(job_id, "done")
    assert redis_desk.written == 1


@pytest.mark.rare
@pytest.mark.redis
def test_a_celery_worker_that_is_killed_leaves_its_job_to_the_sweep(redis_desk: Desk) -> None:
    _celery(redis_desk)
    job_id = redis_desk.enqueue(seconds=1.5)
    wait_until(lambda: len(redis_desk.begun()) == 1, 15, redis_desk)
    # The child that works; its parent would tell the broker.
    parent = int(Path(f"/proc/{redis_desk.begun()[0]}/stat").read_text().rpartition(")")[2].split()[1])
    for pid in (parent, redis_desk.begun()[0]):
        os.kill(pid, signal.SIGKILL)
    redis_desk.start(*EMBEDDED)
    row = redis_desk.wait_for(job_id, "done")
    assert (row["attempts"], redis_desk.written) == (2, 1)


def test_a_redis_that_is_away_refuses_no_write(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    for desk in _desk("sqlite", request, tmp_path, REDIS_URL="redis://127.0.0.1:1/0"):
        began = time.monotonic()
        job_id = desk.enqueue()
        assert time.monotonic() - began < 40
        desk.start(*EMBEDDED)
        desk.wait_for(job_id, "done")


def test_celery_without_redis_says_what_is_missing(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, *CELERY],
        env=studio_environment(tmp_path),
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert done.returncode != 0
    assert "REDIS_URL is not set" in done.stdout + done.stderr


def test_a_web_process_loads_neither_celery_nor_redis(tmp_path: Path) -> None:
    program = "import sys, studio.wsgi; print(sorted({'celery', 'kombu', 'redis'} & set(sys.modules)))"
    env = studio_environment(tmp_path, REDIS_URL="redis://127.0.0.1:1/0")
    done = subprocess.run(
        [sys.executable, "-c", program], env=env, capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout == "[]\n"
