"""Other people's Python packages from the ordinary index, pinned, in an environment of their own."""

from __future__ import annotations

import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from tests.servers import ROOT


def copy_package(name: str, folder: Path) -> Path:
    """A package of ours below a folder, to build from: building writes beside the sources."""
    ignored = shutil.ignore_patterns("__pycache__", "build", "*.egg-info")
    return Path(shutil.copytree(ROOT / name, folder / name, ignore=ignored))


def install(folder: Path, *requirements: str) -> Path:
    """A new environment with these; answers its Python. Skips where the index is away."""
    # The suite's own pip: to unpack another one, and to compile what is never imported, takes half of the time.
    venv.create(folder, with_pip=False)
    python = folder / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "--disable-pip-version-check"]
    command = [*pip, "install", "--quiet", "--no-compile", *requirements]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=400)
    if done.returncode != 0:
        pytest.skip(f"needs the Python package index, for {', '.join(requirements)}: {done.stderr.strip()[-200:]}")
    return python
