"""What is kept is started again, more and more slowly; everything else ends the rest."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from studio.launcher import processes
from studio.launcher.processes import Processes

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
    assert kept.wait_for_end(stop) is None
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
    kept.wait_for_end(stop)
    assert capsys.readouterr().err.count("again in 0.1 s") >= 2


@pytest.mark.depends_on_speed("counts the processes that are started within seconds")
def test_one_that_cannot_be_started_is_tried_again(kept: Processes, capsys: pytest.CaptureFixture[str]) -> None:
    stop = threading.Event()
    kept.keep("worker", ["/no/such/program"])
    threading.Timer(1, stop.set).start()
    assert kept.wait_for_end(stop) is None
    assert capsys.readouterr().err.count("could not be started (No such file or directory)") >= 2


def test_any_other_that_ends_is_the_reason_to_end(kept: Processes, tmp_path: Path) -> None:
    kept.start("server", [sys.executable, "-S", "-c", PROGRAM, str(tmp_path / "starts")])
    reason = kept.wait_for_end(threading.Event())
    assert reason == "The server ended with exit code 3; see its last lines above."
