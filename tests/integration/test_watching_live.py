"""`bundle import --watch` as an author runs it: a process of its own, ended with Ctrl+C."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.servers import ROOT, run_manage, studio_environment

pytestmark = pytest.mark.slow

SECONDS = 30.0


def _until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SECONDS
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_each_save_is_said_and_ctrl_c_ends_it(tmp_path: Path) -> None:
    env = studio_environment(tmp_path / "data") | {"NO_COLOR": "1"}
    manage = [sys.executable, str(ROOT / "manage.py")]
    run_manage("migrate", "--verbosity", "0", env=env)
    folder, said = tmp_path / "bundles", tmp_path / "said"
    shutil.copytree(ROOT / "examples" / "weights", folder / "weights")
    with said.open("wb") as out:
        process = subprocess.Popen(
            [*manage, "bundle", "import", "--watch", str(folder)], stdout=out, stderr=out, env=env
        )
    try:
        _until(lambda: b"draft" in said.read_bytes().partition(b"\n")[2])
        (folder / "weights" / "tools.json").write_text("[")
        _until(lambda: b"JSON_INVALID" in said.read_bytes())
        process.send_signal(signal.SIGINT)
        assert process.wait(SECONDS) == 0
    finally:
        process.kill()
        process.wait()
    listed = subprocess.run(
        [*manage, "bundle", "list"], check=True, capture_output=True, text=True, env=env, timeout=60
    )
    assert "weights" in listed.stdout
    assert "draft" in listed.stdout
