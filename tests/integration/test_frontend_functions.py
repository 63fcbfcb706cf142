"""The editor's functions that need no page, run by Node's own test runner."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests import npm
from tests.servers import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.node]


def test_completion_positions_edits_and_saving(tmp_path: Path) -> None:
    folder = shutil.copytree(ROOT / "frontend", tmp_path / "frontend", ignore=shutil.ignore_patterns("node_modules"))
    npm.install_locked(folder)
    node = shutil.which("node")
    assert node is not None, "npm comes with it"
    command = [node, "--test", "--test-reporter=tap"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout[-5000:]
    passed = re.search(r"^# pass (\d+)$", done.stdout, re.MULTILINE)
    assert passed is not None
    assert int(passed[1]) >= 20, "every file was found"
