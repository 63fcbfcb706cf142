"""The checks that a contributor runs before a commit, so that none is forgotten."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CHECKS = {
    "ruff check": ["ruff", "check", "."],
    "ruff format": ["ruff", "format", "--check", "."],
    # A cache of another version of the tree has made mypy fail.
    "mypy": ["mypy", "--cache-dir=/dev/null", "."],
    "djlint": ["djlint", "templates", "features", "--check", "--quiet"],
    "import-linter": ["importlinter.cli", "lint", "--no-cache"],
}

pytestmark = [pytest.mark.system, pytest.mark.slow]


@pytest.mark.parametrize("name", CHECKS)
def test_static_check(name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *CHECKS[name]], cwd=ROOT, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
