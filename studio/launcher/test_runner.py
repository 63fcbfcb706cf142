"""Run the suite on SQLite with everything, and beside it on PostgreSQL with each test that uses the database.

The last line adds up both runs in pytest's own words, and the exit code is non-zero when either failed.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from studio.launcher.console import print_answer, say
from studio.launcher.virtualenv import TEST_LOCK, Virtualenv

DATABASES = ("sqlite", "postgresql")
NOTHING_COLLECTED = 5
# pytest's words, in pytest's order.
_WORDS = ("failed", "passed", "skipped", "deselected", "xfailed", "xpassed", "error", "rerun")
# A file to each process. Not the files with most tests first: conftest.py has an order of its own.
_SCHEDULING = ("--dist", "loadfile", "--no-loadscope-reorder")
# One process each: a debugger needs the terminal, and these say how many themselves.
_SERIAL = ("-n", "--numprocesses", "--pdb", "--trace", "--collect-only", "--co", "--where", "-s", "--capture=no")


def run_tests(setup: Virtualenv, arguments: Sequence[str]) -> int:
    """Run pytest with `arguments` on each database that `TEST_DATABASE` names, both when it names none.

    Both at once where each has processes of its own: what waits for a server leaves a core to the other. What
    PostgreSQL's says is printed when it has ended.
    """
    python = setup.ensure(TEST_LOCK)
    chosen = os.environ.get("TEST_DATABASE")
    began = time.monotonic()
    codes: list[int] = []
    processes = count_processes(arguments)
    with tempfile.TemporaryDirectory() as scratch, contextlib.ExitStack() as stack:
        folder = Path(scratch)

        def start(database: str, processes: int, output: IO[bytes] | None = None) -> subprocess.Popen[bytes]:
            env = {**os.environ, "TEST_DATABASE": database, "STUDIO_TEST_COUNTS": str(folder / database)}
            xdist = ["-n", str(processes), *_SCHEDULING] if processes else []
            command = [str(python), "-m", "pytest", *xdist, *arguments]
            started = subprocess.Popen(command, cwd=setup.root, env=env, stdout=output, stderr=output)
            # An interrupt from the keyboard reaches it too; any other end of ours does not.
            stack.callback(started.kill)
            return started

        if chosen or not processes:
            for database in [chosen] if chosen else DATABASES:
                say(f"\nThe suite on {database}")
                codes.append(start(database, processes).wait())
                if _is_interrupted(codes[-1]):
                    break
        else:
            output = stack.enter_context((folder / "output").open("w+b"))
            say("\nThe suite on sqlite, and beside it on postgresql, which is shown at the end")
            # A sixth of the work: one process of them does it in less time than the others need.
            beside = start("postgresql", 1, output)
            codes.append(start("sqlite", processes - 1).wait())
            if _is_interrupted(codes[-1]):
                beside.terminate()
            codes.append(beside.wait())
            say("\nThe suite on postgresql")
            print_answer((folder / "output").read_text("utf-8", errors="replace"))
        counts = sum((_read_counts(folder / database) for database in DATABASES), Counter[str]())
    print_answer(closing_line(counts, time.monotonic() - began))
    return exit_code(codes)


def _is_interrupted(code: int) -> bool:
    """Or wrongly called: the other database would not change that."""
    return code not in {0, 1, NOTHING_COLLECTED}


def count_processes(arguments: Sequence[str]) -> int:
    """How many processes share the files, so that module fixtures such as a live server are started once; 0 for one
    without xdist.

    Four, also on two cores: what each spends on importing the product, on collecting and on its database is less than
    the time that a test waits for a clock, a disk or a server.
    """
    one_core = (os.cpu_count() or 1) < 2
    return 0 if one_core or any(argument.startswith(_SERIAL) for argument in arguments) else 4


def _read_counts(path: Path) -> Counter[str]:
    try:
        return Counter(json.loads(path.read_text("utf-8")))
    except (OSError, ValueError):
        return Counter()


def exit_code(codes: Sequence[int]) -> int:
    """The first failure; nothing collected is one only where it holds for every database."""
    failures = [code for code in codes if code not in {0, NOTHING_COLLECTED}]
    if failures:
        return failures[0]
    return 0 if 0 in codes else NOTHING_COLLECTED


def closing_line(counts: Mapping[str, int], elapsed_seconds: float) -> str:
    """Such as `==== 123 passed, 1 skipped in 4.00s ====`, as wide as pytest's."""
    words = [f"{counts[word]} {_plural(word, counts[word])}" for word in _WORDS if counts.get(word)]
    return f" {', '.join(words) or 'no tests ran'} in {elapsed_seconds:.2f}s ".center(_width(), "=")


def _plural(word: str, count: int) -> str:
    return "errors" if word == "error" and count != 1 else word


def _width() -> int:
    return os.get_terminal_size().columns if sys.stdout.isatty() else 80
