"""Numerical libraries have one thread in each program; test_plain_install.py counts those of a running product."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from capability_rules.numeric_threads import SINGLE_THREAD
from tests.servers import ROOT

# What a process begins with; the first line of each program.
PROGRAMS = {
    "celery": "import studio.celery",
    "command": "import studio.launcher.manage",
    "gateway": "import studio.gateway.__main__",
    "linter": "import capability_rules.lint.command_line",
}
COUNT = """
import os, threading
import numpy
square = numpy.ones((400, 400), dtype=numpy.float32)
square @ square
print(len(os.listdir("/proc/self/task")) - len(threading.enumerate()))
"""


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="threads are counted as Linux shows them")
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_has_no_thread_of_a_numerical_library(program: str, tmp_path: Path) -> None:
    """Nothing is imported by a line before it: where numpy is there already, the variable comes too late."""
    env = {name: value for name, value in os.environ.items() if name not in SINGLE_THREAD}
    env |= {
        "DATA_DIR": str(tmp_path),
        "REDIS_URL": "redis://127.0.0.1:1/0",
        "DJANGO_SETTINGS_MODULE": "studio.settings",
    }
    done = subprocess.run(
        [sys.executable, "-c", PROGRAMS[program] + COUNT],
        cwd=ROOT,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "0"


def test_what_is_given_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    from capability_rules.numeric_threads import limit_numeric_threads

    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "3")
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    limit_numeric_threads()
    assert (os.environ["OPENBLAS_NUM_THREADS"], os.environ["OMP_NUM_THREADS"]) == ("3", "1")


def test_a_command_that_reads_no_text_does_not_load_them() -> None:
    script = "import sys, capability_rules.validation.security as _; print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
