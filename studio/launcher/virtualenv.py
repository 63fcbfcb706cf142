"""Make `.venv` beside `run.py` and install the locked requirements into it.

A stamp inside `.venv` says what was finished: it is marked unfinished before anything changes and written last, so a
set-up that was interrupted at any moment is recognized and starts again from nothing (pip keeps what it downloaded).
So does one of which files are gone.
A `.venv` without a stamp was made by hand: it is used as it is where it can be.
"""

from __future__ import annotations

import contextlib
import csv
import hashlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from studio.config.environment import StudioEnvironment
from studio.launcher.console import ProgressLine, Refusal, say, show_step
from studio.launcher.processes import end_process

RUNTIME_LOCK = "requirements.lock"
# With all extras, which some settings need; images have them.
EXTRAS_LOCK = "requirements-extras.lock"
TEST_LOCK = "requirements-test.lock"
# Each holds all of those before it, pin by pin.
LOCKS = (RUNTIME_LOCK, EXTRAS_LOCK, TEST_LOCK)


def choose_lock(environment: StudioEnvironment) -> str:
    """The lock to start with: the first that has what these settings need."""
    issuers = environment.oidc_issuer or environment.oauth_issuer
    needs_extras = environment.traces_url or environment.traces_own_url or issuers
    return EXTRAS_LOCK if needs_extras else RUNTIME_LOCK


STAMP = "capability-studio.json"
# What a full set-up for the tests takes, with room to spare.
NEEDED_BYTES = 700 * 1024 * 1024
_KEPT_LINES = 15


@dataclass(frozen=True)
class Virtualenv:
    """Where a set-up lives; `verbose` shows all that pip says."""

    root: Path
    verbose: bool = False

    @property
    def venv(self) -> Path:
        return self.root / ".venv"

    @property
    def python(self) -> Path:
        return self.venv / ("Scripts/python.exe" if os.name == "nt" else "bin/python")

    @property
    def stamp(self) -> Path:
        return self.venv / STAMP

    def ensure(self, lock: str) -> Path:
        """The interpreter inside `.venv`, with every requirement of `lock` installed.

        Does nothing when the stamp says so. Raises Refusal with the fix when it cannot be done.
        """
        if self._is_finished(lock):
            return self.python
        with self._guard():
            # The process that held the guard before us may have done the work.
            if not self._is_finished(lock):
                self._set_up(lock)
        return self.python

    def _is_finished(self, lock: str) -> bool:
        stamp = self._read_stamp()
        return self._is_ours(stamp) and stamp.get("locks", {}).get(lock) == self._digests(lock)[lock]

    def _digests(self, lock: str) -> dict[str, str]:
        """What is installed with this lock: each lock holds all of those before it, pin by pin."""
        locks = LOCKS[: LOCKS.index(lock) + 1] if lock in LOCKS else [lock]
        return {name: hashlib.sha256((self.root / name).read_bytes()).hexdigest() for name in locks}

    def _read_stamp(self) -> dict[str, Any]:
        try:
            stamp = json.loads(self.stamp.read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return stamp if isinstance(stamp, dict) else {}

    def _is_ours(self, stamp: Mapping[str, Any]) -> bool:
        """Finished once, here, by this Python version, and nothing of it is gone."""
        return bool(stamp.get("finished")) and self._fits(stamp) and self.python.exists() and self._is_whole(stamp)

    def _is_whole(self, stamp: Mapping[str, Any]) -> bool:
        """Whether every package is there with every file that it came with. Their content is not read."""
        records = {record.parent.name.split("-")[0]: record for record in self._packages.glob("*.dist-info/RECORD")}
        return records.keys() >= set(stamp.get("packages", ())) and all(map(_has_its_files, records.values()))

    @property
    def _packages(self) -> Path:
        if os.name == "nt":
            return self.venv / "Lib" / "site-packages"
        return self.venv / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"

    def _fits(self, stamp: Mapping[str, Any]) -> bool:
        return stamp.get("python") == _python_series() and stamp.get("place") == str(self.venv)

    def _set_up(self, lock: str) -> None:
        self._check_room()
        stamp = self._read_stamp()
        if not self._is_ours(stamp):
            stamp = {"python": _python_series(), "place": str(self.venv), "locks": {}}
            if not self._is_made_by_hand():
                self._make_venv(stamp)
        self._write_stamp(stamp, finished=False)
        count = sum(1 for line in (self.root / lock).read_text("utf-8").splitlines() if "==" in line)
        with show_step(f"Installing {count} packages ({lock})") as current:
            self._pip_install(lock, current)
        packages = sorted(path.name.split("-")[0] for path in self._packages.glob("*.dist-info"))
        locks = {**stamp["locks"], **self._digests(lock)}
        self._write_stamp({**stamp, "locks": locks, "packages": packages}, finished=True)

    def _write_stamp(self, stamp: Mapping[str, Any], *, finished: bool) -> None:
        _write_whole(self.stamp, json.dumps({**stamp, "finished": finished}, indent=2) + "\n")

    def _is_made_by_hand(self) -> bool:
        """No stamp of ours, and a pip of this Python version answers in it."""
        if self.stamp.exists() or not self.python.exists():
            return False
        program = "import pip, sys; print(sys.implementation.name, '%d.%d' % sys.version_info[:2], sys.prefix)"
        done = subprocess.run([str(self.python), "-I", "-c", program], capture_output=True, text=True, check=False)
        return done.stdout.strip() == f"{_python_series()} {self.venv}"

    def _check_room(self) -> None:
        if not os.access(self.root, os.W_OK):
            raise Refusal(f"{self.root} cannot be written, and .venv is made there. Fix: give this user the directory.")
        free = shutil.disk_usage(self.root).free
        if free < NEEDED_BYTES:
            raise Refusal(
                f"The disk of {self.root} has {free // 2**20} MiB left and the set-up needs "
                f"{NEEDED_BYTES // 2**20} MiB. Fix: make room and start again."
            )

    def _make_venv(self, stamp: Mapping[str, Any]) -> None:
        _check_venv_module()
        if self.venv.exists() or self.venv.is_symlink():
            say(f"{self.venv.name} is unfinished, damaged, moved or made by another Python: making it again")
            _remove(self.venv)
        # Before anything else stands in it, so that half a .venv is never taken for one that was made by hand.
        self.venv.mkdir()
        self._write_stamp(stamp, finished=False)
        with show_step(f"Making {self.venv.name} with Python {sys.version.split()[0]}"):
            base = getattr(sys, "_base_executable", None) or sys.executable
            done = subprocess.run(
                [base, "-I", "-m", "venv", str(self.venv)], capture_output=True, text=True, check=False
            )
            if done.returncode != 0:
                raise Refusal(f"Python could not make {self.venv}:\n{_tail(done.stdout + done.stderr)}\n{_VENV_FIX}")

    def _pip_install(self, lock: str, current: ProgressLine) -> None:
        command = [
            *[str(self.python), "-I", "-m", "pip", "install", "--require-hashes", "--no-deps", "--no-input"],
            # What is imported is compiled then; compiling everything first would double the time.
            *["--only-binary=:all:", "--no-compile", "--disable-pip-version-check", "--progress-bar=off"],
            *["--no-warn-script-location", "-r", str(self.root / lock)],
        ]
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env=_pip_environment(),
        )
        try:
            last_lines = self._follow(process, current)
            if process.wait() != 0:
                raise Refusal("\n".join(["pip could not install the requirements:", *last_lines, _PIP_FIX]))
        finally:
            end_process(process)

    def _follow(self, process: subprocess.Popen[str], current: ProgressLine) -> deque[str]:
        """Show what pip is busy with; the answer is the end of its words."""
        last_lines: deque[str] = deque(maxlen=_KEPT_LINES)
        collected = 0
        assert process.stdout is not None  # noqa: S101 (opened as a pipe)
        for line in process.stdout:
            last_lines.append(line.rstrip())
            collected += line.startswith("Collecting ")
            if self.verbose:
                say(line.rstrip())
            elif line.startswith("Collecting "):
                current.show(f"{collected}, {line.split()[1].partition('==')[0]}")
            elif line.startswith("Installing collected packages"):
                current.show("unpacking")
        return last_lines

    @contextlib.contextmanager
    def _guard(self) -> Iterator[None]:
        """One set-up at a time in this directory. The lock is on run.py itself and ends with the process."""
        try:
            import fcntl
        except ImportError:
            # Windows: two first starts at the same moment are on their own.
            yield
            return
        with (self.root / "run.py").open("rb") as door:
            try:
                fcntl.flock(door, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                say("Another start is setting up .venv here: waiting for it")
                fcntl.flock(door, fcntl.LOCK_EX)
            yield


_VENV_FIX = "Fix: apt install python3-venv (as root), then start again."
_PIP_FIX = (
    "Fix: see pip's last lines above. Without a way to the package index, set HTTPS_PROXY or PIP_INDEX_URL; "
    "then start again, with --verbose for all that pip says."
)


def _check_venv_module() -> None:
    """Debian ships Python without the two modules that make a venv."""
    missing = [name for name in ("venv", "ensurepip") if importlib.util.find_spec(name) is None]
    if missing:
        raise Refusal(f"This Python has no {' and no '.join(missing)}. {_VENV_FIX}")


def _has_its_files(record: Path) -> bool:
    """Whether each file that a package's RECORD names is there, but for compiled ones, which come and go."""
    packages = record.parent.parent
    with record.open(encoding="utf-8", newline="") as file:
        names = (row[0] for row in csv.reader(file) if row)
        # No Path for each of 15,000: a second start has no time for them.
        return all(name.endswith(".pyc") or os.path.exists(f"{packages}/{name}") for name in names)  # noqa: PTH110


def _pip_environment() -> dict[str, str]:
    """The operator's own pip settings (index, proxy, cache), without those that install elsewhere or other files."""
    elsewhere = {
        "PIP_TARGET",
        "PIP_PREFIX",
        "PIP_ROOT",
        "PIP_CONSTRAINT",
        "PIP_REQUIREMENT",
        "PIP_EDITABLE",
        "PIP_PYTHON",
    }
    env = {name: value for name, value in os.environ.items() if name not in elsewhere and name != "PYTHONHOME"}
    return {**env, "PIP_USER": "0", "PYTHONUNBUFFERED": "1"}


def _python_series() -> str:
    return f"{sys.implementation.name} {sys.version_info[0]}.{sys.version_info[1]}"


def _remove(path: Path) -> None:
    if path.is_symlink() or path.is_file():
        path.unlink()
        return
    # Renamed first: should the removal be interrupted, nothing half-removed stands under the name.
    doomed = path.with_name(f"{path.name}.old")
    shutil.rmtree(doomed, ignore_errors=True)
    path.rename(doomed)
    shutil.rmtree(doomed, ignore_errors=True)


def _write_whole(path: Path, text: str) -> None:
    draft = path.with_suffix(".new")
    with draft.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


def _tail(text: str) -> str:
    return "\n".join(text.strip().splitlines()[-_KEPT_LINES:])
