"""A registry is backed up while it is written to, and goes on elsewhere: in a new database, of either kind."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.factories import bundle
from tests.integration.conftest import Site, new_database, on_postgresql
from tests.servers import ROOT, Studio, copy_migrated, run_manage, start_studio, studio_environment

pytestmark = pytest.mark.slow

DESK = str(Path(__file__).with_name("backup_desk.py"))
LIST, LOAD = "/api/v1/capability_registry_list", "/api/v1/capability_skill_load"


def _site(kind: str, request: pytest.FixtureRequest, folder: Path) -> Site:
    """A migrated, empty registry."""
    folder.mkdir()
    if kind == "sqlite":
        copy_migrated(folder / "studio.sqlite3")
        return Site(kind, studio_environment(folder, AGENT_API_PUBLIC_READ="off", EXAMPLES="off"))
    template = request.getfixturevalue("migrated_postgresql")
    url = new_database(request.getfixturevalue("postgresql_url"), template)
    settings = {**on_postgresql(url), "AGENT_API_PUBLIC_READ": "off"}
    return Site(kind, studio_environment(folder, **settings))


@pytest.fixture(params=["sqlite", "postgresql"])
def old(request: pytest.FixtureRequest, tmp_path: Path) -> Site:
    return _site(request.param, request, tmp_path / "old")


@pytest.fixture(params=["sqlite", "postgresql"])
def new(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Studio]:
    """A running server whose own registry, with its first operator and key, is about to be replaced."""
    site = _site(request.param, request, tmp_path / "new")
    names = ("DATABASE_URL", "SECRET_KEY", "ALLOWED_HOSTS", "AGENT_API_PUBLIC_READ", "EXAMPLES")
    settings = {name: site.env[name] for name in names if name in site.env}
    studio = start_studio(Path(site.env["DATA_DIR"]), **settings)
    yield studio
    studio.stop()


def _backup_while_busy(old: Site, path: Path) -> dict[str, Any]:
    """Back up between the first and the last revision of `busy`."""
    writer = subprocess.Popen(
        [sys.executable, DESK, "busy"], env=old.env, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert writer.stdout is not None
    assert writer.stdout.readline() == "begun\n"
    done = run_manage("backup", "create", "--to", str(path), "--format", "json", env=old.env)
    time.sleep(0.3)
    printed, _ = writer.communicate("", timeout=60)
    assert json.loads(printed)["published"] > 3
    manifest: dict[str, Any] = json.loads(done.stdout)
    return manifest


def _listed(env: dict[str, str]) -> dict[str, Any]:
    rows = json.loads(run_manage("bundle", "list", "--format", "json", env=env).stdout)["capabilities"]
    return {row.pop("capability_id"): row for row in rows}


def _read(studio: Studio, key: str) -> httpx2.Client:
    return httpx2.Client(base_url=studio.url, headers={"Authorization": f"Bearer {key}"}, timeout=30)


# Within one engine nothing is translated that these two do not show.
@pytest.mark.parametrize(
    ("old", "new"),
    [("sqlite", "postgresql"), pytest.param("postgresql", "sqlite", marks=pytest.mark.rare)],
    indirect=True,
)
def test_a_backup_of_a_busy_registry_goes_on_elsewhere(old: Site, new: Studio, tmp_path: Path) -> None:
    key = old.run("backup_desk.py", "fill")["key"]
    path = tmp_path / "backup.zip"
    manifest = _backup_while_busy(old, path)
    assert json.loads(run_manage("backup", "verify", str(path), "--format", "json", env=old.env).stdout)
    with _read(new, key) as client:
        assert client.get(LIST).status_code == 401
        assert "--force" in run_manage("backup", "restore", str(path), env=new.env, check=False).stderr
        done = json.loads(run_manage("backup", "restore", str(path), "--force", "--format", "json", env=new.env).stdout)
        assert (done["damaged"], done["audit_broken_at"]) == ([], None)
        _await(client)
        _agrees(old, new, client, manifest)
        _goes_on(client, done["registry_revision"])
    # Not one of the registry that was replaced.
    assert "admin" in {name for name, _ in Site("", new.env).run("backup_desk.py", "state")["operators"]}


def _await(client: httpx2.Client) -> None:
    """The server was running all the time, and notices by itself."""
    deadline = time.monotonic() + 10
    while client.get(LIST).status_code != 200:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _agrees(old: Site, new: Studio, client: httpx2.Client, manifest: dict[str, Any]) -> None:
    before, after = _listed(old.env), _listed(new.env)
    were, are = old.run("backup_desk.py", "state"), Site("", new.env).run("backup_desk.py", "state")
    restored_busy = after.pop("busy")
    before.pop("busy")
    assert after == before
    # One moment between the first and the last of them, the same for all tables.
    assert 3 <= restored_busy["revision"] < len(were["busy"])
    assert are["busy"] == {number: were["busy"][number] for number in are["busy"]}
    assert len(are["busy"]) == restored_busy["revision"]
    assert manifest["rows"]["auditevent"] == are["audit_rows"] - 1
    assert are["audit_holds"]
    same = ("drafts", "incidents", "operators", "last_of_alpha")
    assert {name: are[name] for name in same} == {name: were[name] for name in same}
    for entry in client.get(LIST).json()["capabilities"]:
        loaded = client.get(LOAD, params={"capability_id": entry["capability_id"]}).json()
        assert loaded["digest"] == entry["digest"] == {**after, "busy": restored_busy}[entry["capability_id"]]["digest"]
    assert client.get(LOAD, params={"capability_id": "alpha", "revision": 1}).status_code == 200
    assert client.get(LOAD, params={"capability_id": "gamma"}).status_code == 404


def _goes_on(client: httpx2.Client, registry_revision: int) -> None:
    """Keys of rows and numbers of revisions go on where they were."""
    assert client.get(LIST).json()["registry_revision"] == registry_revision > 1_000_000
    changed = client.get(LIST, params={"updated_since_revision": 500}).json()
    assert len(changed["capabilities"]) == len(client.get(LIST).json()["capabilities"])
    for capability_id, revision in (("omega", 1), ("alpha", 4)):
        body = {"bundles": [{"path": "x", "files": bundle(capability_id, body="After it.")}]}
        (row,) = client.post("/api/v1/operator/bundle_publish", json=body).json()["results"]
        assert (row["status"], row["revision"]) == ("published", revision)
    assert client.get(LIST).json()["registry_revision"] == registry_revision + 2


@pytest.mark.rare
@pytest.mark.parametrize("old", ["sqlite"], indirect=True)
def test_six_hundred_capabilities(old: Site, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """More rows than are read or written at once."""
    old.run("backup_desk.py", "many", "600")
    path = tmp_path / "backup.zip"
    run_manage("backup", "create", "--to", str(path), env=old.env)
    new = _site(old.kind, request, tmp_path / "new")
    run_manage("backup", "restore", str(path), env=new.env)
    assert _listed(new.env) == _listed(old.env)


@pytest.mark.parametrize("database", [pytest.param("sqlite", marks=pytest.mark.rare), "postgresql"])
def test_a_key_that_a_restore_removed_writes_nothing_after_it(
    database: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """The server runs, and takes a second to notice; a publish that comes in it finds no key in its transaction."""
    site = _site(database, request, tmp_path / "site")
    names = ("DATABASE_URL", "SECRET_KEY", "ALLOWED_HOSTS", "AGENT_API_PUBLIC_READ", "EXAMPLES")
    settings = {name: site.env[name] for name in names if name in site.env}
    studio = start_studio(Path(site.env["DATA_DIR"]), RATE_LIMITS="off", **settings)
    try:
        backup = tmp_path / "before.zip"
        studio.manage("backup", "create", "--to", str(backup))
        key = studio.manage("agent_key", "create", "later", "--scopes", "read,publish").stdout.strip()
        stop, published = threading.Event(), []

        def publish_on() -> None:
            with _read(studio, key) as client:
                for number in itertools.count():
                    if stop.is_set():
                        return
                    body = {"bundles": [{"path": "x", "files": bundle(f"late_{number}")}]}
                    answer = client.post("/api/v1/operator/bundle_publish", json=body)
                    if answer.status_code == 200:
                        published.append(answer.json()["results"][0]["status"])

        threads = [threading.Thread(target=publish_on) for _ in range(3)]
        for thread in threads:
            thread.start()
        deadline = time.monotonic() + 60
        while len(published) < 5:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        studio.manage("backup", "restore", str(backup), "--force")
        time.sleep(3)
        stop.set()
        for thread in threads:
            thread.join()
        # What was published before is gone with the registry that had the key, and nothing came after.
        assert not [name for name in _listed(studio.env) if name.startswith("late_")]
    finally:
        studio.stop()
