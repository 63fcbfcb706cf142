"""What is kept is started again, more and more slowly."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from studio.launcher import processes
from studio.launcher.processes import Processes, RestartSchedule, how_ended

PROGRAM = "import pathlib, sys; file = pathlib.Path(sys.argv[1]); file.open('a').write('x'); sys.exit(3)"


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Processes]:
    monkeypatch.setattr(processes, "PAUSES_SECONDS", (0.1, 0.2, 0.4))
    kept = Processes(os.environ, tmp_path)
    yield kept
    kept.stop_all()


@pytest.mark.depends_on_speed("counts the processes that are started within four seconds")
def test_one_that_ends_at_once_is_tried_slowly_and_for_ever(
    kept: Processes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stop = threading.Event()
    kept.keep("worker", [sys.executable, "-S", "-c", PROGRAM, str(tmp_path / "starts")])
    threading.Timer(4, stop.set).start()
    kept.wait(stop)
    said = capsys.readouterr().err.splitlines()
    pauses = [line.split("again in ")[1].split(" s")[0] for line in said]
    assert pauses[:4] == ["0.1", "0.2", "0.4", "0.4"]
    assert set(pauses[3:]) == {"0.4"}
    assert said[0].startswith("The worker ended with exit code 3. ")
    assert len((tmp_path / "starts").read_text()) >= 4


@pytest.mark.depends_on_speed("counts the processes that are started within seconds")
def test_one_that_ran_for_long_begins_with_the_first_pause(
    kept: Processes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(processes, "STEADY_SECONDS", 0.0)
    stop = threading.Event()
    kept.keep("worker", [sys.executable, "-S", "-c", PROGRAM, str(tmp_path / "starts")])
    threading.Timer(2, stop.set).start()
    kept.wait(stop)
    assert capsys.readouterr().err.count("again in 0.1 s") >= 2


@pytest.mark.depends_on_speed("counts the processes that are started within seconds")
def test_one_that_cannot_be_started_is_tried_again(kept: Processes, capsys: pytest.CaptureFixture[str]) -> None:
    stop = threading.Event()
    kept.keep("worker", ["/no/such/program"])
    threading.Timer(1, stop.set).start()
    kept.wait(stop)
    assert capsys.readouterr().err.count("could not be started (No such file or directory)") >= 2


def test_one_that_is_not_kept_is_named_when_it_ends(kept: Processes, tmp_path: Path) -> None:
    command = [sys.executable, "-S", "-c", PROGRAM, str(tmp_path / "starts")]
    kept.start("server", command)
    kept.running["server"].wait(30)
    ended = kept.find_ended()
    assert ended is not None
    assert how_ended(ended) == "ended with exit code 3"
    # From now on it is started again.
    kept.keep("server", command)
    assert kept.find_ended() is None


def test_one_that_runs_is_kept_without_a_second_start(kept: Processes) -> None:
    command = [sys.executable, "-S", "-c", "import time; time.sleep(60)"]
    kept.start("server", command)
    first = kept.running["server"].pid
    kept.keep("server", command)
    assert kept.running["server"].pid == first


def test_pauses_grow_until_it_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    monkeypatch.setattr("studio.launcher.processes.time.monotonic", lambda: now[0])
    for at_once, first in ((False, []), (True, [0.0])):
        schedule = RestartSchedule(at_once=at_once)
        pauses = [schedule.get_pause_seconds() for _ in range(10)]
        assert pauses == [*first, 1.0, 2.0, 4.0, 8.0, *[10.0] * (6 - at_once)]
        schedule.record_start()
        now[0] += processes.STEADY_SECONDS
        assert schedule.get_pause_seconds() == pauses[0]
        schedule.record_start()
        now[0] += processes.STEADY_SECONDS - 1
        assert schedule.get_pause_seconds() == pauses[1]
