"""A folder is filled once, however many processes ask for it at the same time."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests import shared_folders
from tests.commands import ROOT, run_script
from tests.shared_folders import make_folder_once


@pytest.fixture(autouse=True)
def _root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STUDIO_TEST_FOLDERS", str(tmp_path))


def test_it_is_filled_once_for_each_key_and_again_after_a_failure(tmp_path: Path) -> None:
    def fail(folder: Path) -> None:
        (folder / "half").touch()
        raise LookupError

    with pytest.raises(LookupError):
        make_folder_once("a", fail)
    filled = []

    def fill(folder: Path) -> None:
        filled.append(folder)
        (folder / "whole").touch()

    found = [make_folder_once(key, fill) for key in ("a", "a", "b")]
    assert found[0] == found[1] != found[2]
    assert len(filled) == 2
    assert [path.name for path in found[0].iterdir()] == ["whole"]


@pytest.mark.slow
def test_processes_share_it(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import os, time; from tests.shared_folders import make_folder_once\n"
        "def fill(folder):\n    time.sleep(0.2); (folder / str(os.getpid())).touch()\n"
        "print(*[path.name for path in make_folder_once('a', fill).iterdir()])"
    )
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    with ThreadPoolExecutor(3) as pool:
        done = list(pool.map(lambda _: run_script(program, env=env), range(3)))
    assert len({one.stdout for one in done}) == 1, done
    assert done[0].stdout.strip().isdigit(), done


def test_the_first_process_removes_the_root(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("from tests.shared_folders import shared_root; print(shared_root())")
    env = {name: value for name, value in os.environ.items() if name != shared_folders._VARIABLE}
    made = run_script(program, env={**env, "PYTHONPATH": str(ROOT)}).stdout.strip()
    assert made
    assert not Path(made).exists()
