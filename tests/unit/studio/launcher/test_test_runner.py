"""How two runs of pytest become one outcome."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from studio.launcher.test_runner import closing_line, count_processes, exit_code, run_tests

# Waits for the process of the other database, as only one that runs beside it can.
PROGRAM = """#!/bin/sh
echo "$TEST_DATABASE with $4 processes"
echo '{"passed": 2}' > "$STUDIO_TEST_COUNTS"
touch "$TEST_DATABASE"
for turn in $(seq 600); do
    if [ -e sqlite ] && [ -e postgresql ]; then exit "$(cat "code-$TEST_DATABASE")"; fi
    sleep 0.1
done
exit 9
"""


def test_the_closing_line_is_as_pytest_writes_it() -> None:
    line = closing_line({"passed": 12, "skipped": 1, "failed": 2, "error": 3, "deselected": 4}, 61.234)
    assert line.strip("=") == " 2 failed, 12 passed, 1 skipped, 4 deselected, 3 errors in 61.23s "
    assert len(line) == 80
    assert "1 error in" in closing_line({"error": 1}, 1)
    assert "no tests ran in" in closing_line({}, 1)


@pytest.mark.parametrize(
    ("codes", "expected"),
    [
        ([0, 0], 0),
        ([1, 0], 1),
        ([0, 1], 1),
        ([0, 5], 0),
        ([5, 0], 0),
        ([5, 5], 5),
        ([2], 2),
        ([5, 1], 1),
        ([0, -9], -9),
    ],
)
def test_either_failure_is_one(codes: Sequence[int], expected: int) -> None:
    assert exit_code(codes) == expected


@pytest.mark.parametrize("argument", ["--pdb", "-n4", "-n", "-s", "--numprocesses=3"])
def test_who_asks_for_the_terminal_gets_one_process(argument: str) -> None:
    assert count_processes(["tests/unit", argument]) == 0


@pytest.mark.parametrize(("cores", "count"), [(1, 0), (2, 4), (16, 4)])
def test_more_than_one_core_gets_four_processes(monkeypatch: pytest.MonkeyPatch, cores: int, count: int) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: cores)
    assert count_processes(["--all", "-x"]) == count


@pytest.fixture
def setup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A virtual environment whose Python is the program above, on two cores."""
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    monkeypatch.delenv("TEST_DATABASE", raising=False)
    program = tmp_path / "python"
    program.write_text(PROGRAM)
    program.chmod(0o755)
    return SimpleNamespace(root=tmp_path, ensure=lambda lock: program)


@pytest.mark.parametrize(("codes", "expected"), [((0, 0), 0), ((0, 1), 1), ((1, 0), 1)])
def test_the_databases_run_side_by_side(
    setup: Any, capfd: pytest.CaptureFixture[str], codes: tuple[int, int], expected: int
) -> None:
    for database, code in zip(("sqlite", "postgresql"), codes, strict=True):
        (setup.root / f"code-{database}").write_text(str(code))
    assert run_tests(setup, ["--all"]) == expected
    lines = capfd.readouterr().out.splitlines()
    # What runs beside is shown when it has ended, and whole.
    assert lines[:2] == ["sqlite with 3 processes", "postgresql with 1 processes"]
    assert "4 passed in" in lines[-1]


def test_who_asks_for_the_terminal_gets_one_database_after_the_other(
    setup: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    (setup.root / "postgresql").touch()
    for database, code in (("sqlite", 1), ("postgresql", 5)):
        (setup.root / f"code-{database}").write_text(str(code))
    assert run_tests(setup, ["-s"]) == 1
    assert [line.split()[0] for line in capfd.readouterr().out.splitlines()[:2]] == ["sqlite", "postgresql"]
