"""The editor's functions that need no page, run by Node's own test runner; and its build, which is committed."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest

from tests import npm
from tests.servers import ROOT

VENDOR: Final = Path("studio/static/studio/vendor")
pytestmark = [pytest.mark.slow, pytest.mark.node]


def _copy_sources(folder: Path) -> Path:
    return shutil.copytree(ROOT / "frontend", folder / "frontend", ignore=shutil.ignore_patterns("node_modules"))


@pytest.mark.rare
def test_a_build_gives_the_committed_scripts(tmp_path: Path) -> None:
    """Their first line names the sources, and could stand above any others."""
    folder = _copy_sources(tmp_path)
    npm.install_locked(folder, is_to_build=True)
    built = tmp_path / VENDOR
    built.mkdir(parents=True)
    subprocess.run(["node", "build.mjs"], cwd=folder, check=True, timeout=300)
    made = {path.name: path.read_bytes() for path in built.iterdir()}
    assert set(made) == {"editor.js", "a2ui-surface.js", "NOTICES.txt"}
    differing = [name for name, content in made.items() if content != (ROOT / VENDOR / name).read_bytes()]
    assert not differing, "run `npm ci && npm run build` in frontend/ and commit what it makes"


def test_completion_positions_edits_and_saving(tmp_path: Path) -> None:
    folder = _copy_sources(tmp_path)
    npm.install_locked(folder)
    node = shutil.which("node")
    assert node is not None, "npm comes with it"
    command = [node, "--test", "--test-reporter=tap"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout[-5000:]
    passed = re.search(r"^# pass (\d+)$", done.stdout, re.MULTILINE)
    assert passed is not None
    assert int(passed[1]) >= 20, "every file was found"
