"""A disk is filled to its last byte, a file damaged, a database made read-only, below a running product and before it
starts: callers, probes and the log learn which it is, and nothing ends with a traceback."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx2
import psycopg
import pytest

from tests.factories import bundle
from tests.integration.conftest import new_database, on_postgresql
from tests.integration.launch import Launch
from tests.servers import (
    Server,
    Studio,
    copy_prepared,
    run_manage,
    serve_studio,
    start_postgresql,
    start_studio,
    studio_environment,
    unprivileged,
)

pytestmark = pytest.mark.slow


@pytest.fixture
def disk() -> Iterator[Path]:
    """A file system of 60 MB of its own, where PostgreSQL's user can go too."""
    folder = Path(tempfile.mkdtemp(prefix="disk-", dir="/tmp"))
    folder.chmod(0o755)
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=60m", "tmpfs", str(folder)], check=False)
    if mounted.returncode != 0:
        pytest.skip("needs root, to mount a tmpfs")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)
    folder.rmdir()


def fill(folder: Path) -> Path:
    """To the last byte; the file that takes it all."""
    path = folder / "ballast"
    with path.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        for size in (1024 * 1024, 4096, 1):
            with contextlib.suppress(OSError):
                while file.write(bytes(size)) == size:
                    pass
    return path


def damage(folder: Path, how: str) -> None:
    path = folder / "studio.sqlite3"
    if how == "head":
        with path.open("r+b") as file:
            file.write(b"\x5a" * 4096)
    elif how == "middle":
        with path.open("r+b") as file:
            file.seek(8192)
            file.write(os.urandom(path.stat().st_size - 16384))
    else:
        os.truncate(path, path.stat().st_size // 2)


@contextlib.contextmanager
def serving(studio: Studio) -> Iterator[httpx2.Client]:
    try:
        with httpx2.Client(base_url=studio.url, timeout=60) as client:
            yield client
    finally:
        studio.stop()


def publish(client: httpx2.Client, key: dict[str, str], name: str) -> httpx2.Response:
    """100 KB, which take room."""
    text = " ".join(f"Sentence {number} of {name} is another one." for number in range(3000))
    body = {"bundles": [{"path": name, "files": bundle(name, body=text)}]}
    answer = client.post("/api/v1/operator/bundle_publish", json=body, headers=key)
    assert not answer.is_success or answer.json()["results"][0]["status"] == "published", answer.text
    return answer


def publish_until_refused(client: httpx2.Client, key: dict[str, str]) -> str:
    """What the write-ahead log still has room for is published; the answer is why the next one is not."""
    for number in range(200):
        answer = publish(client, key, f"more_{number}")
        if not answer.is_success:
            return refusal(answer)
    raise AssertionError("there is always room")


def sign_in(client: httpx2.Client, password: str) -> httpx2.Response:
    form = client.get("/sign-in/").text
    token = re.findall(r'name="csrfmiddlewaretoken" value="([^"]+)"', form)[0]
    fields = {"csrfmiddlewaretoken": token, "username": "admin", "password": password}
    return client.post("/sign-in/", data=fields, headers={"Referer": str(client.base_url)})


def refusal(response: httpx2.Response) -> str:
    assert response.status_code == 503, response.text
    assert response.json()["error"]["code"] == "REGISTRY_UNAVAILABLE"
    assert int(response.headers["Retry-After"]) > 0
    message: str = response.json()["error"]["message"]
    return message


def ready(client: httpx2.Client) -> tuple[int, dict[str, Any]]:
    answer = client.get("/readyz")
    return answer.status_code, answer.json()


def wait_until(is_true: Callable[[], bool], seconds: float = 10) -> None:
    deadline = time.monotonic() + seconds
    while not is_true():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def pipeline_key(studio: Studio) -> dict[str, str]:
    key = studio.manage("agent_key", "create", "pipeline", "--scopes", "read,publish").stdout.strip()
    return {"Authorization": f"Bearer {key}"}


def test_a_disk_that_fills_up_is_named_everywhere(disk: Path, tmp_path: Path) -> None:
    # The tables of a model have no room there, and would be copied with the site.
    studio = start_studio(disk, tmp_path / "log", EMBEDDER="none")
    key = pipeline_key(studio)
    password = re.findall(r"password: (\S+)", studio.prepared)[0]
    with serving(studio) as client:
        wait_until(lambda: publish(client, key, "before").is_success)
        ballast = fill(disk)
        # A probe need not wait for a write that fails.
        assert ready(client) == (503, {"ready": False, "database": "full"})
        assert publish_until_refused(client, key).startswith("The disk is full")
        page = sign_in(client, password)
        assert page.status_code == 503
        assert "<h1>The disk is full</h1>" in page.text
        assert password not in page.text
        listed = client.get("/api/v1/capability_registry_list")
        assert (listed.status_code, "Warning" in listed.headers) == (200, False)
        assert client.get("/api/v1/capability_skill_load?capability_id=before").status_code == 200
        assert "The disk is full" in (tmp_path / "log").read_text()
        worker = studio.manage("worker", check=False)
        assert (worker.returncode, worker.stderr.count("The disk is full")) == (1, 1), worker.stderr
        ballast.unlink()
        wait_until(lambda: publish(client, key, "after").is_success)
        assert ready(client) == (200, {"ready": True, "database": "ok"})
        assert sign_in(client, password).status_code == 302
    for done in (worker, run_on_full(disk)):
        assert "Traceback" not in done.stderr


def run_on_full(disk: Path) -> subprocess.CompletedProcess[str]:
    fill(disk)
    done = run_manage("prepare_site", env=studio_environment(disk), check=False)
    listed = run_manage("operator", "create", "x", "--role", "admin", "--password-stdin", env=studio_environment(disk),
                        check=False, text="correct horse battery\n")  # fmt: skip
    assert "The disk is full" in listed.stderr
    return done


@pytest.mark.parametrize("how", ["head", pytest.param("half", marks=pytest.mark.rare)])
def test_a_damaged_file_ends_a_start_with_the_fix(tmp_path: Path, how: str) -> None:
    data = tmp_path / "data"
    env = studio_environment(data)
    copy_prepared(data)
    run_manage("backup", "create", "--to", str(tmp_path / "backup.zip"), env=env)
    damage(data, how)
    launch = Launch(env, tmp_path / "out")
    assert launch.process.wait(60) == 1
    commands = [["prepare_site"], ["serve"], ["worker"], ["worker", "--once"], ["operator", "list"], ["migrate"]]
    if how == "middle":
        # What is not read is not found to be damaged.
        commands = [["prepare_site"], ["operator", "list"]]
    said = [run_manage(*command, env=env, check=False, fresh=True) for command in commands]
    for code, text in [(1, launch.text), *((done.returncode, done.stderr) for done in said)]:
        assert code == 1, text
        assert "The database file is damaged" in text
        assert "backup restore" in text
        assert "Traceback" not in text
    # As the sentence says.
    for path in data.glob("studio.sqlite3*"):
        path.rename(path.with_name(f"damaged.{path.name}"))
    run_manage("migrate", "--verbosity", "0", env=env)
    run_manage("backup", "restore", str(tmp_path / "backup.zip"), env=env)
    again = Launch(env, tmp_path / "again")
    again.wait_until(again.is_answering)
    again.end(2)


def test_a_file_that_is_damaged_below_a_server_is_named(tmp_path: Path) -> None:
    studio = start_studio(tmp_path / "data", tmp_path / "log")
    key = pipeline_key(studio)
    with serving(studio) as client:
        held = client.get("/api/v1/capability_skill_load?capability_id=weights")
        damage(tmp_path / "data", "middle")
        wait_until(lambda: client.get("/api/v1/capability_skill_load?capability_id=workouts").status_code == 503)
        message = refusal(client.get("/api/v1/capability_skill_load?capability_id=meals"))
        assert message.startswith("The database file is damaged")
        assert "restore a backup with `manage.py backup restore`" in message
        assert refusal(publish(client, key, "never")).startswith("The database file is damaged")
        assert ready(client) == (503, {"ready": False, "database": "damaged"})
        assert client.get("/api/v1/capability_skill_load?capability_id=weights").content == held.content
        assert "The database file is damaged" in (tmp_path / "log").read_text()


@pytest.mark.rare
def test_a_head_that_is_damaged_below_a_server_is_seen_by_a_probe(tmp_path: Path) -> None:
    studio = start_studio(tmp_path / "data", tmp_path / "log")
    with serving(studio) as client:
        assert ready(client)[0] == 200
        damage(tmp_path / "data", "head")
        assert ready(client) == (503, {"ready": False, "database": "damaged"})


def test_a_disk_that_may_not_be_written_is_named(disk: Path, tmp_path: Path) -> None:
    run_manage("prepare_site", env=studio_environment(disk))
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    studio = serve_studio(disk, tmp_path / "log", env=studio_environment(disk))
    with serving(studio) as client:
        assert ready(client) == (503, {"ready": False, "database": "read-only"})
        assert refusal(client.get("/api/v1/capability_registry_list")).startswith("The database is read-only")
        page = client.get("/capabilities/", headers={"Cookie": f"studio_session_{studio.env['PORT']}={'x' * 32}"})
        assert page.status_code == 503
        assert "The database is read-only" in page.text
    worker = run_manage("worker", env=studio_environment(disk), check=False)
    assert worker.returncode == 1
    assert "The database is read-only" in worker.stderr
    assert "Traceback" not in worker.stderr


@pytest.fixture
def postgresql(disk: Path) -> Iterator[tuple[Server, str]]:
    """A PostgreSQL with an empty database whose tables are on the disk that a test fills."""
    unprivileged().own(disk)
    server = start_postgresql()
    try:
        url = new_database(server.url)
        name = url.partition("?")[0].rpartition("/")[2]
        with psycopg.connect(server.url, autocommit=True) as connection:
            connection.execute(f"CREATE TABLESPACE small LOCATION '{disk}'".encode())
            connection.execute(f'ALTER DATABASE "{name}" SET TABLESPACE small'.encode())
        yield server, url
    finally:
        server.stop()


@pytest.mark.rare
def test_postgresql_without_room_is_named(postgresql: tuple[Server, str], disk: Path, tmp_path: Path) -> None:
    _, url = postgresql
    studio = start_studio(tmp_path / "data", tmp_path / "log", EXAMPLES="on", **on_postgresql(url))
    key = pipeline_key(studio)
    with serving(studio) as client:
        wait_until(lambda: publish(client, key, "before").is_success)
        ballast = fill(disk)
        assert publish_until_refused(client, key).startswith("The disk is full")
        assert ready(client) in ((503, {"ready": False, "database": "full"}), (200, {"ready": True, "database": "ok"}))
        assert client.get("/api/v1/capability_registry_list").status_code == 200
        ballast.unlink()
        wait_until(lambda: publish(client, key, "after").is_success)
        assert ready(client) == (200, {"ready": True, "database": "ok"})


@pytest.mark.rare
def test_postgresql_that_takes_no_writes_is_named(postgresql_url: str, tmp_path: Path) -> None:
    url = new_database(postgresql_url)
    studio = start_studio(tmp_path / "data", tmp_path / "log", EXAMPLES="on", **on_postgresql(url))
    key = pipeline_key(studio)
    name = url.partition("?")[0].rpartition("/")[2]
    with closing(psycopg.connect(postgresql_url, autocommit=True)) as admin, serving(studio) as client:
        wait_until(lambda: publish(client, key, "before").is_success)

        def set_read_only(word: str) -> None:
            admin.execute(f'ALTER DATABASE "{name}" SET default_transaction_read_only = {word}'.encode())
            # For connections that there are, as after a failover.
            admin.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name])

        set_read_only("on")
        wait_until(lambda: ready(client) == (503, {"ready": False, "database": "read-only"}))
        wait_until(lambda: "read-only" in refusal(publish(client, key, "never")))
        assert client.get("/api/v1/capability_registry_list").status_code == 200
        set_read_only("off")
        wait_until(lambda: publish(client, key, "after").is_success)
        assert ready(client) == (200, {"ready": True, "database": "ok"})
