"""What is refused before anything is made, and what a stamp is worth. tests/system starts the real thing."""

from __future__ import annotations

import ast
import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import run
from studio.launcher import virtualenv
from studio.launcher.console import Refusal
from studio.launcher.virtualenv import LOCKS, RUNTIME_LOCK, TEST_LOCK, Virtualenv
from tests.servers import ROOT


@pytest.fixture
def setup(tmp_path: Path) -> Virtualenv:
    for lock in LOCKS:
        (tmp_path / lock).write_text("a==1\n")
    (tmp_path / "run.py").touch()
    return Virtualenv(tmp_path)


def finish(setup: Virtualenv, **changes: Any) -> None:
    """A .venv as a finished set-up leaves it."""
    setup.python.parent.mkdir(parents=True)
    setup.python.touch()
    series = f"cpython {sys.version_info[0]}.{sys.version_info[1]}"
    locks = setup._digests(TEST_LOCK)
    stamp = {"python": series, "place": str(setup.venv), "locks": locks, "finished": True, **changes}
    setup.stamp.write_text(json.dumps(stamp))


def test_a_finished_setup_is_left_alone(setup: Virtualenv) -> None:
    finish(setup)
    assert setup.ensure(RUNTIME_LOCK) == setup.ensure(TEST_LOCK) == setup.python


@pytest.mark.parametrize(
    "changes", [{"finished": False}, {"python": "cpython 3.9"}, {"place": "/elsewhere/.venv"}, {"locks": {}}]
)
def test_any_other_is_not(setup: Virtualenv, changes: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    finish(setup, **changes)
    asked: list[str] = []
    monkeypatch.setattr(Virtualenv, "_set_up", lambda _, lock: asked.append(lock))
    setup.ensure(RUNTIME_LOCK)
    assert asked == [RUNTIME_LOCK]


def package(setup: Virtualenv, name: str) -> Path:
    """A package of two files, as pip leaves it."""
    folder = setup._packages / name
    folder.mkdir(parents=True)
    (folder / "__init__.py").touch()
    (folder / "a, b.py").touch()
    info = setup._packages / f"{name}-1.0.dist-info"
    info.mkdir()
    names = [
        f"{name}/__init__.py,,",
        f'"{name}/a, b.py",,',
        f"{name}/__pycache__/x.pyc,,",
        f"{name}-1.0.dist-info/RECORD,,",
    ]
    (info / "RECORD").write_text("\n".join(names) + "\n")
    return folder


@pytest.mark.parametrize("gone", ["one/a, b.py", "one", "one-1.0.dist-info", "one*"])
def test_a_package_whose_files_are_gone_is_installed_again(
    setup: Virtualenv, gone: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    finish(setup, packages=["one", "two"])
    package(setup, "one")
    package(setup, "two")
    asked: list[str] = []
    monkeypatch.setattr(Virtualenv, "_set_up", lambda _, lock: asked.append(lock))
    setup.ensure(RUNTIME_LOCK)
    assert asked == []
    for path in setup._packages.glob(gone):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    setup.ensure(RUNTIME_LOCK)
    assert asked == [RUNTIME_LOCK]


def test_a_changed_lock_is_installed(setup: Virtualenv, monkeypatch: pytest.MonkeyPatch) -> None:
    finish(setup)
    (setup.root / TEST_LOCK).write_text("a==2\n")
    asked: list[str] = []
    monkeypatch.setattr(Virtualenv, "_set_up", lambda _, lock: asked.append(lock))
    setup.ensure(RUNTIME_LOCK)
    assert asked == []
    setup.ensure(TEST_LOCK)
    assert asked == [TEST_LOCK]


@pytest.mark.parametrize("missing", ["venv", "ensurepip"])
def test_a_python_without_venv_is_refused(setup: Virtualenv, missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == missing else found(name))
    with pytest.raises(Refusal, match=rf"This Python has no {missing}\. Fix: apt install python3-venv"):
        setup.ensure(RUNTIME_LOCK)
    assert not setup.venv.exists()


def test_a_full_disk_is_refused(setup: Virtualenv, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(virtualenv, "NEEDED_BYTES", 2**62)
    with pytest.raises(Refusal, match=r"MiB left and the set-up needs"):
        setup.ensure(RUNTIME_LOCK)


@pytest.mark.parametrize("version", [(2, 7, 18), (3, 8, 0), (3, 10, 13), (3, 15, 0), (4, 0, 0)])
def test_other_pythons_are_refused(version: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    came = ".".join(map(str, version))
    refusal = run.python_refusal(version)  # type: ignore[no-untyped-call] # Python 2.7 reads that file
    assert refusal == (
        f"Capability Studio needs Python 3.11 to 3.14, and this is Python {came}. Fix: install one "
        "(Debian 12, Ubuntu: apt install python3 python3-venv) and start it with: python3.11 run.py"
    )


@pytest.mark.parametrize("version", [(3, 11, 0), (3, 12, 9), (3, 13, 99)])
def test_ours_are_not(version: tuple[int, ...]) -> None:
    assert run.python_refusal(version) is None  # type: ignore[no-untyped-call] # as above


def test_old_pythons_can_read_the_door() -> None:
    """tests/system starts real ones where there are any; this holds everywhere."""
    tree = ast.parse((ROOT / "run.py").read_text())
    modern = (ast.JoinedStr, ast.AnnAssign, ast.NamedExpr, ast.AsyncFunctionDef, ast.Match, ast.Nonlocal)
    for node in ast.walk(tree):
        assert not isinstance(node, modern), ast.dump(node)
        if isinstance(node, ast.FunctionDef):
            assert node.returns is None
            assert not node.args.kwonlyargs
            assert all(argument.annotation is None for argument in node.args.args)


def test_nothing_installed_is_needed_before_the_setup() -> None:
    modules = "commands, lockfiles, readiness_stamp, serving, test_runner"
    program = f"from studio.launcher import {modules}; import studio.config.secret_key"
    done = subprocess.run([sys.executable, "-S", "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
