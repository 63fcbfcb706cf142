"""How two runs of pytest become one outcome."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from studio.launcher.test_runner import closing_line, exit_code, parallel


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
    assert parallel(["tests/unit", argument]) == []


@pytest.mark.parametrize(("arguments", "count"), [([], "2"), (["-x"], "2"), (["--all"], "4"), (["--rare", "-x"], "4")])
def test_what_waits_gets_more_processes(monkeypatch: pytest.MonkeyPatch, arguments: list[str], count: str) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    assert parallel(arguments)[:2] == ["-n", count]
