"""`run.py` in copies of this tree, started as an operator starts it.

Tests for other interpreters and for another user exist only where those are: a skip would say that something is missing
that nobody need have. Each copy shares pip's cache, so that packages come over the network once.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.servers import OURSELVES, Identity, answers, unprivileged
from tests.system.checkouts import SETUP_SECONDS, Run, Tree, assert_gone, children_of, copy_tree

pytestmark = [pytest.mark.system, pytest.mark.slow]

# A second start takes about two seconds; a busy machine is given time, since a clock must not decide a test.
SECOND_START_SECONDS = 40


def interpreters(*series: str) -> list[str]:
    """The Pythons of these series that can be started here, one of each."""
    found = []
    for wanted in series:
        managed = sorted(Path.home().glob(f".pyenv/versions/{wanted}.*/bin/python"))
        on_path = shutil.which(f"python{wanted}")
        for candidate in [*map(str, managed), *([on_path] if on_path else [])]:
            if reported_series(candidate) == wanted:
                found.append(candidate)
                break
    return found


def reported_series(python: str, identity: Identity = OURSELVES) -> str | None:
    """Such as `3.11`, or None where it cannot be started or cannot make a venv."""
    program = "import sys; print('%d.%d' % sys.version_info[:2]); sys.version_info < (3, 5) or __import__('ensurepip')"
    try:
        done = subprocess.run(
            [python, "-c", program], capture_output=True, text=True, check=False, cwd="/", **identity.popen_arguments
        )
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def python_for(identity: Identity) -> str | None:
    """An interpreter that this user may start."""
    candidates = [sys.executable, shutil.which("python3", path="/usr/bin:/usr/local/bin")]
    return next((path for path in candidates if path and reported_series(path, identity) in SUPPORTED), None)


SUPPORTED = ("3.11", "3.12", "3.13", "3.14")
TOO_OLD = interpreters("2.7", "3.6", "3.8", "3.10")
OTHERS = [python for python in interpreters(*SUPPORTED) if reported_series(python) != reported_series(sys.executable)]
NOBODY = unprivileged()
NOBODYS_PYTHON = python_for(NOBODY) if NOBODY.uid is not None else None


@pytest.fixture
def tree(tmp_path: Path) -> Iterator[Tree]:
    """A copy that was never started."""
    tree = copy_tree(tmp_path / "studio")
    yield tree
    tree.stop_all()


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tree]:
    """A copy that was started once, and stopped."""
    tree = copy_tree(tmp_path_factory.mktemp("started") / "studio")
    run = tree.start()
    run.await_answer()
    assert run.stop() == 0, run.text
    yield tree
    tree.stop_all()


@pytest.fixture
def again(started: Tree) -> Iterator[Tree]:
    """The started copy, for one test's own starts."""
    yield started
    started.stop_all()
    started.runs.clear()


def assert_is_sentence(run: Run, code: int, *words: str) -> None:
    """It ended with this code and said these words, without a traceback and before anything was made."""
    assert run.wait(60) == code, run.text
    assert "Traceback" not in run.text
    for word in words:
        assert word in run.text


@pytest.mark.parametrize("python", TOO_OLD)
def test_an_old_python_is_refused(tree: Tree, python: str) -> None:
    run = tree.start(python=python)
    assert_is_sentence(run, 1, "Capability Studio needs Python 3.11 to 3.14, and this is Python ", "Fix: ")
    assert not (tree.root / ".venv").exists()


def test_a_taken_port_is_refused_before_the_setup(tree: Tree) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        run = tree.start(PORT=str(port))
        assert_is_sentence(run, 1, f"Port {port} on 127.0.0.1 is taken by another program. Fix: PORT=")
    assert re.search(r"PORT=\d+ python3 run\.py", run.text)
    assert not (tree.root / ".venv").exists()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"PORT": "eighty", "DEBUG": "maybe"}, ("PORT is 'eighty'", "DEBUG is 'maybe'")),
        ({"DATABASE_URL": "postgresql://u:p@h/db"}, ("SECRET_KEY is missing", "ALLOWED_HOSTS is missing")),
        ({"HOST": "0.0.0.0", "DEBUG": "on"}, ("DEBUG is on while HOST is '0.0.0.0'",)),
        ({"HOST": "192.0.2.1"}, ("HOST is '192.0.2.1', which is not an address of this machine",)),
        ({"DATA_DIR": "/dev/null/data"}, ("DATA_DIR is '/dev/null/data', which cannot be used",)),
    ],
)
def test_an_odd_setting_is_a_sentence(tree: Tree, settings: dict[str, str], words: tuple[str, ...]) -> None:
    assert_is_sentence(tree.start(**settings), 2, *words)
    assert not (tree.root / ".venv").exists()


def test_an_unknown_command_is_a_sentence(tree: Tree) -> None:
    assert_is_sentence(tree.start("serv"), 2, "Unknown command 'serv'", "python3 run.py test")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_second_start_is_quick_and_changes_nothing(again: Tree, number: int) -> None:
    before = _state(again.root)
    run = again.start()
    assert run.await_answer() < SECOND_START_SECONDS
    children = children_of(run.process.pid)
    assert children
    assert run.stop(number) == 0, run.text
    assert_gone(children)
    assert _state(again.root) == before
    assert "Preparing" not in run.text
    # Each second of a start is one of a step that is named; the address comes at once after the last.
    assert "Starting the server: done" in run.text


def _state(root: Path) -> dict[str, int]:
    """When each file that a start could rewrite was written."""
    kept = [root / ".venv" / "capability-studio.json", *(root / ".data").rglob("*")]
    # The write-ahead log comes and goes with whoever has the database open.
    return {
        str(path): path.stat().st_mtime_ns
        for path in kept
        if path.is_file() and not path.name.endswith(("-wal", "-shm", ".lock"))
    }


def test_a_restored_database_is_prepared_again(again: Tree) -> None:
    for path in (again.root / ".data").glob("studio.sqlite3*"):
        path.unlink()
    refused = again.start()
    assert refused.wait(60) == 1, refused.text
    assert "its database studio.sqlite3 is missing" in refused.text
    assert "Traceback" not in refused.text
    assert again.start("manage", "migrate", "--verbosity", "0").wait() == 0
    run = again.start()
    run.await_answer()
    assert "Preparing" in run.text
    assert run.stop() == 0


def child_with(run: Run, word: str) -> int:
    """The id of the process below this one that has the word on its command line."""
    for pid in children_of(run.process.pid):
        with contextlib.suppress(OSError):
            if word in Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0"):
                return pid
    return 0


def test_a_server_that_dies_is_started_again(again: Tree) -> None:
    """The gateway, with the application behind it; the worker goes on."""
    run = again.start()
    run.await_answer()
    deadline = time.monotonic() + 60
    while not (worker := child_with(run, "worker")):
        assert time.monotonic() < deadline, run.text
    before = children_of(run.process.pid)
    os.kill(child_with(run, "studio.gateway"), signal.SIGKILL)
    assert_gone([pid for pid in before if pid != worker], timeout_seconds=60)
    while not answers(f"{run.url}/readyz"):
        assert time.monotonic() < deadline, run.text
        time.sleep(0.05)
    assert child_with(run, "worker") == worker
    assert "The server was ended by signal 9. It is started again in 0 s" in run.text
    assert "Traceback" not in run.text
    children = children_of(run.process.pid)
    assert run.stop() == 0, run.text
    assert_gone(children)


def test_a_worker_that_dies_is_started_again(again: Tree) -> None:
    run = again.start()
    run.await_answer()
    deadline = time.monotonic() + 60
    while not (worker := child_with(run, "worker")):
        assert time.monotonic() < deadline, run.text
    os.kill(worker, signal.SIGKILL)
    while child_with(run, "worker") in (0, worker):
        assert time.monotonic() < deadline, run.text
        assert answers(f"{run.url}/healthz")
        time.sleep(0.05)
    assert "The worker was ended by signal 9. It is started again in 1 s" in run.text
    children = children_of(run.process.pid)
    assert run.stop() == 0, run.text
    assert_gone(children)


if sys.platform == "linux":

    def test_a_killed_run_leaves_nothing_behind(again: Tree) -> None:
        """Only Linux tells children that their parent died."""
        run = again.start()
        run.await_answer()
        children = children_of(run.process.pid)
        run.process.kill()
        assert_gone(children)


def test_manage_answers_on_stdout_alone(again: Tree) -> None:
    run = again.start("manage", "shell", "-c", "import os; print(os.getcwd())", "--no-imports")
    assert run.wait() == 0, run.text
    assert run.out == [f"{again.root}\n"]
    failed = again.start("manage", "no_such_command")
    assert failed.wait() == 1


def test_a_full_disk_is_a_sentence(again: Tree) -> None:
    import resource

    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        # No file may grow past this, which to a writer looks as a full disk does.
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limit[1]))
        run = again.start()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert_is_sentence(run, 2, "DATA_DIR is '", "which cannot be used")


@pytest.mark.rare
def test_an_interrupted_setup_starts_again(tree: Tree) -> None:
    """Killed outright, first while .venv is made, then while packages are unpacked."""
    for moment in (".venv/capability-studio.json", ".venv/lib/python*/site-packages/django"):
        run = tree.start()
        deadline = time.monotonic() + SETUP_SECONDS
        while not list(tree.root.glob(moment)):
            assert time.monotonic() < deadline, run.text
            assert run.process.poll() is None, run.text
            time.sleep(0.002)
        os.killpg(run.process.pid, signal.SIGKILL)
        run.wait()
        assert not json.loads((tree.root / ".venv/capability-studio.json").read_text())["finished"]
    last = tree.start()
    last.await_answer()
    assert "unfinished" in last.text
    assert last.stop() == 0


@pytest.mark.rare
def test_a_setup_whose_files_are_gone_is_made_again(again: Tree) -> None:
    """A file that pip's own record names; tests/unit/studio/launcher/test_virtualenv.py has every way to be gone."""
    (packages,) = (again.root / ".venv/lib").glob("python*/site-packages")
    (packages / "django/http/request.py").unlink()
    run = again.start()
    run.await_answer()
    assert "damaged" in run.text
    assert run.stop() == 0


def test_a_setup_that_is_stopped_says_so(tree: Tree) -> None:
    run = tree.start()
    while not (tree.root / ".venv").exists():
        time.sleep(0.01)
    assert run.stop(signal.SIGTERM) == 130
    assert "Interrupted" in run.text
    assert "Traceback" not in run.text


@pytest.mark.rare
def test_two_first_starts_at_once(tree: Tree) -> None:
    """One sets up while the other waits, and both prepare the same data one after the other."""
    runs = [tree.start(), tree.start()]
    for run in runs:
        run.await_answer()
    assert [run.stop() for run in runs] == [0, 0]
    assert sum("waiting for it" in run.text for run in runs) == 1
    assert sum("Making .venv" in run.text for run in runs) == 1


# The one that is furthest away: each costs a whole installation.
@pytest.mark.rare
@pytest.mark.parametrize("python", OTHERS[-1:])
def test_another_python_makes_its_own_venv(again: Tree, python: str) -> None:
    run = again.start(python=python)
    run.await_answer()
    assert "made by another Python" in run.text
    assert run.stop() == 0
    stamp = json.loads((again.root / ".venv/capability-studio.json").read_text())
    assert stamp["python"] == f"cpython {reported_series(python)}"


if NOBODYS_PYTHON is not None:

    @pytest.mark.rare
    def test_an_ordinary_user_in_a_path_with_a_space(tmp_path_factory: pytest.TempPathFactory) -> None:
        # Below the system's directory, since pytest's own is closed to others.
        scratch = Path("/tmp") / f"studio test {os.getpid()}"
        scratch.mkdir(mode=0o755)
        tree = copy_tree(scratch / "a path" / "studio", NOBODY)
        try:
            run = tree.start(python=str(NOBODYS_PYTHON))
            run.await_answer()
            assert run.stop() == 0, run.text
            second = tree.start(python=str(NOBODYS_PYTHON))
            assert second.await_answer() < SECOND_START_SECONDS
            assert second.stop() == 0, second.text
        finally:
            tree.stop_all()
            shutil.rmtree(scratch)
