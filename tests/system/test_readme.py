"""The README: its commands print what it shows, its agent runs, and a newcomer can read it in minutes."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.servers import Studio

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")

pytestmark = [pytest.mark.system]


def _console_blocks() -> list[tuple[str, str]]:
    """`(command, what it prints)` of every console block, in order."""
    steps = []
    for block in re.findall(r"```console\n(.*?)```", README, re.DOTALL):
        for step in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, printed = step.partition("\n")
            steps.append((command, printed))
    return steps


@pytest.mark.slow
def test_the_tour_prints_what_the_readme_shows(live_studio: Studio, tmp_path: Path) -> None:
    if shutil.which("curl") is None:
        pytest.skip("needs curl: apt install curl")
    (tmp_path / "schemas").symlink_to(ROOT / "schemas")
    steps = _console_blocks()
    assert len(steps) >= 5
    manage = f"'{sys.executable}' '{ROOT / 'manage.py'}'"
    for shown, expected in steps:
        command = shown.replace("http://127.0.0.1:8000", live_studio.url).replace("python3 run.py manage", manage)
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=tmp_path,
            env=live_studio.env,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.stdout == expected, f"$ {command}\n{done.stderr}"


@pytest.mark.slow
def test_the_agent_of_the_readme_runs(live_studio: Studio) -> None:
    found = re.search(r"```python\n(.*?)```", README, re.DOTALL)
    assert found is not None
    program = found[1].replace("http://127.0.0.1:8000", live_studio.url)
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.startswith("weights\n")
    assert "# Weight Tracking" in done.stdout
    assert "weights__weight_entry_list" in done.stdout


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) <= 150
