"""Events reach a receiver at least once, with one id, whatever dies in between. Workers and receivers are real."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.factories import bundle
from tests.integration.test_worker import CELERY, EMBEDDED, Desk, _desk, on_either_database, on_one_database, wait_until
from tests.receivers import Receiver, hang, status
from tests.servers import run_manage

pytestmark = pytest.mark.slow

SETTINGS = {"WEBHOOK_ALLOWED_NETWORKS": "127.0.0.0/8"}


@on_either_database
def desk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Desk]:
    yield from _desk(request.param, request, tmp_path, **SETTINGS)


@pytest.fixture
def redis_desk(request: pytest.FixtureRequest, tmp_path: Path, redis_url: str) -> Iterator[Desk]:
    yield from _desk("postgresql", request, tmp_path, REDIS_URL=redis_url, **SETTINGS)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    receiver = Receiver()
    yield receiver
    receiver.stop()


def _hook(desk: Desk, name: str, receiver: Receiver) -> None:
    run_manage("webhook", "create", name, "--url", receiver.url, env=desk.site.env)


def _publish(desk: Desk, capability_id: str = "alpha") -> None:
    folder = desk.folder / capability_id
    folder.mkdir()
    for name, text in bundle(capability_id).items():
        (folder / name).write_text(text)
    run_manage("bundle", "publish", str(folder), env=desk.site.env)


def _states(desk: Desk) -> list[str]:
    return [state for (state,) in desk.rows("SELECT state FROM registry_webhookdelivery ORDER BY id")]


def _ids(receiver: Receiver) -> set[str]:
    return {request.headers["webhook-id"] for request in receiver.requests}


def _pid(desk: Desk, number: int) -> int:
    """The worker behind its keeper."""
    keeper = desk.started[number].pid
    return int(Path(f"/proc/{keeper}/task/{keeper}/children").read_text().split()[0])


def test_a_worker_that_is_killed_in_the_middle_of_a_delivery(desk: Desk, receiver: Receiver) -> None:
    _hook(desk, "chat", receiver)
    _publish(desk)
    receiver.replies = [hang]
    desk.start(*EMBEDDED)
    wait_until(lambda: len(receiver.requests) == 1, 20, desk)
    os.kill(_pid(desk, 0), signal.SIGKILL)
    desk.start(*EMBEDDED)
    wait_until(lambda: _states(desk) == ["delivered"], 20, desk)
    assert (len(receiver.requests), len(_ids(receiver))) == (2, 1)
    assert json.loads(receiver.requests[0].body)["type"] == "capability.published"


@on_one_database
def test_a_receiver_that_is_down_and_then_up(desk: Desk, receiver: Receiver) -> None:
    _hook(desk, "chat", receiver)
    receiver.stop()
    desk.start(*EMBEDDED)
    _publish(desk)
    wait_until(lambda: "queued, try 2" in desk.words(), 20, desk)
    again = Receiver(port=receiver.port)
    try:
        wait_until(lambda: _states(desk) == ["delivered"], 30, desk)
        assert len(again.requests) == 1
    finally:
        again.stop()


@on_one_database
def test_a_receiver_that_hangs_delays_neither_another_nor_a_job(desk: Desk, receiver: Receiver) -> None:
    slow = Receiver(reply=hang)
    _hook(desk, "a slow one", slow)
    _hook(desk, "chat", receiver)
    names = [f"alpha_{number}" for number in range(6)]
    for name in names:
        _publish(desk, name)
    try:
        desk.start(*EMBEDDED)
        wait_until(lambda: len(slow.requests) == 1, 30, desk)
        began = time.monotonic()
        _publish(desk, "beta")
        job_id = desk.enqueue()
        desk.wait_for(job_id, "done")
        wait_until(lambda: len(receiver.requests) == len(names) + 1, 40, desk)
        # The slow one is given 10 s for each of its seven deliveries.
        assert time.monotonic() - began < 45
        assert _states(desk).count("delivered") == len(names) + 1
    finally:
        slow.stop()


@on_one_database
def test_a_worker_that_is_asked_to_leave_ends_its_delivery_first(desk: Desk, receiver: Receiver) -> None:
    def slowly(connection: object) -> None:
        time.sleep(2)
        status(200)(connection)  # type: ignore[arg-type]

    _hook(desk, "chat", receiver)
    _publish(desk)
    receiver.reply = slowly
    desk.start(*EMBEDDED)
    wait_until(lambda: len(receiver.requests) == 1, 20, desk)
    os.kill(_pid(desk, 0), signal.SIGTERM)
    assert desk.started[0].wait(12) == 0
    assert (_states(desk), len(receiver.requests)) == (["delivered"], 1)


@pytest.mark.rare
@pytest.mark.redis
def test_a_lost_message_is_made_up_for_in_order(redis_desk: Desk, receiver: Receiver, redis_url: str) -> None:
    import redis

    _hook(redis_desk, "chat", receiver)
    _publish(redis_desk)
    with redis.Redis.from_url(redis_url) as client:
        assert client.delete("studio.webhooks") == 1
    log = redis_desk.start(*CELERY)
    wait_until(lambda: " ready." in log.read_text(), 30, redis_desk)
    _publish(redis_desk, "beta")
    wait_until(lambda: _states(redis_desk) == ["delivered", "delivered"], 20, redis_desk)
    assert len(_ids(receiver)) == len(receiver.requests) == 2
    told = [json.loads(request.body)["data"]["capability_id"] for request in receiver.requests]
    assert told == ["alpha", "beta"]


def test_a_web_process_loads_no_http_client(tmp_path: Path) -> None:
    import subprocess
    import sys

    from tests.servers import ROOT, studio_environment

    program = "import sys, studio.wsgi; print(sorted({'httpx2', 'httpcore2', 'anyio', 'asyncio'} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", program], env=studio_environment(tmp_path), capture_output=True, text=True, check=True,
        cwd=ROOT,
    )  # fmt: skip
    assert "httpx2" not in done.stdout
    assert "httpcore2" not in done.stdout
