"""A first start that ends at any moment is completed by the next one, and locks nobody out: the password and the key
that are good were printed by the start that stored them."""

from __future__ import annotations

import re
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.integration.conftest import Site
from tests.integration.launch import Launch
from tests.servers import ROOT, copy_prepared, run_manage, studio_environment

pytestmark = pytest.mark.slow

EXAMPLES = sorted(path.name for path in (ROOT / "examples").iterdir() if path.is_dir())
DESK = Path(__file__).with_name("first_start_desk.py")
STEPS = (
    "operator after 1", "key after 1", "example before 1", "example after 4", "example after 7", "print before 2",
    "print after 3", "commit before 1", "commit after 1",
)  # fmt: skip


def secrets_in(text: str) -> list[str]:
    """The passwords and keys that a start has printed."""
    return re.findall(r"(?:password:|Agent key:) (\S+)", text)


def _is_complete(site: Site, said: list[str]) -> None:
    found = site.run("first_start_desk.py", "facts", *[secret for text in said for secret in secrets_in(text)])
    assert found["published"] == EXAMPLES
    assert (found["operators"], found["keys"], found["audit_broken"]) == (1, 1, False)
    # One password and one key, by one start.
    assert len(found["good"]) == 2, said
    assert any(secrets_in(text)[-2:] == found["good"] for text in said)


# The same code runs on either database; what differs is what becomes of a transaction whose process is killed.
STEPS_EACH_TIME = ("operator after 1", "example after 4", "print before 2", "commit after 1")
STEPS_ON_POSTGRESQL = ("example after 4", "commit before 1", "commit after 1")


@pytest.mark.parametrize(
    ("site", "step"),
    [("sqlite", step) for step in STEPS_EACH_TIME]
    + [pytest.param("sqlite", step, marks=pytest.mark.rare) for step in STEPS if step not in STEPS_EACH_TIME]
    + [pytest.param("postgresql", step, marks=pytest.mark.rare) for step in STEPS_ON_POSTGRESQL],
    indirect=["site"],
)
def test_a_first_start_that_is_killed_is_completed_by_the_next(site: Site, step: str) -> None:
    env = {**site.env, "EXAMPLES": "on"}
    command = [sys.executable, str(DESK), "kill", *step.split()]
    killed = subprocess.run(command, env=env, capture_output=True, text=True, check=False, timeout=120, cwd=ROOT)
    assert killed.returncode == -signal.SIGKILL, killed.stdout + killed.stderr
    said = [killed.stdout, run_manage("prepare", env=env).stdout]
    _is_complete(site, said)
    assert not secrets_in(run_manage("prepare", env=env).stdout)


def count(database: Path, table: str) -> int:
    """How many rows another process sees; 0 without the table or the file."""
    try:
        with closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)) as connection:
            number: int = connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            return number
    except sqlite3.Error:
        return 0


# Each state that a table can be found in once, and each signal while tables are made and while examples are published.
@pytest.mark.parametrize(
    ("table", "rows", "number"),
    [
        pytest.param("django_migrations", 5, signal.SIGKILL, id="few tables, killed"),
        pytest.param("django_migrations", 16, signal.SIGINT, id="most tables, interrupted", marks=pytest.mark.rare),
        pytest.param("registry_operator", 1, signal.SIGKILL, id="operator, killed", marks=pytest.mark.rare),
        pytest.param("registry_capability", 2, signal.SIGKILL, id="examples, killed", marks=pytest.mark.rare),
        pytest.param("registry_capability", 2, signal.SIGINT, id="examples, interrupted"),
    ],
)
def test_a_start_that_ends_at_any_state_of_the_database(
    tmp_path: Path, table: str, rows: int, number: signal.Signals
) -> None:
    data = tmp_path / "data"
    env = studio_environment(data, PYTHONUNBUFFERED="1")
    first = Launch(env, tmp_path / "first")
    first.wait_until(lambda: count(data / "studio.sqlite3", table) >= rows)
    first.end(number)
    second = Launch(env, tmp_path / "second")
    second.wait_until(second.is_answering)
    second.end(signal.SIGINT)
    _is_complete(Site("sqlite", env), [first.text, second.text])
    if number == signal.SIGINT:
        assert "Traceback" not in first.text


def test_a_database_that_is_gone_is_no_first_start(tmp_path: Path) -> None:
    env = studio_environment(tmp_path)
    copy_prepared(tmp_path)
    run_manage("backup", "create", "--to", str(tmp_path / "backup.zip"), env=env)
    for path in tmp_path.glob("studio.sqlite3*"):
        path.unlink()
    for loss in ("missing", "empty"):
        if loss == "empty":
            (tmp_path / "studio.sqlite3").touch()
        refused = run_manage("prepare_site", env=env, check=False)
        assert (refused.returncode, refused.stdout) == (2, "")
        assert f"its database studio.sqlite3 is {loss}" in refused.stderr
        assert "Traceback" not in refused.stderr
    # Both ways out, as the sentence names them.
    run_manage("migrate", "--verbosity", "0", env=env)
    run_manage("backup", "restore", str(tmp_path / "backup.zip"), env=env)
    assert not secrets_in(run_manage("prepare_site", env=env).stdout)
    for path in [*tmp_path.glob("studio.sqlite3*"), tmp_path / "first_start_done"]:
        path.unlink()
    assert len(secrets_in(run_manage("prepare_site", env=env).stdout)) == 2
