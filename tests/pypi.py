"""Other people's Python packages from the ordinary index, pinned, in an environment of their own."""

from __future__ import annotations

import subprocess
import venv
from pathlib import Path

import pytest


def install(folder: Path, *requirements: str) -> Path:
    """A new environment with these; answers its Python. Skips where the index is away."""
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *requirements]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=400)
    if done.returncode != 0:
        pytest.skip(f"needs the Python package index, for {', '.join(requirements)}: {done.stderr.strip()[-200:]}")
    return python
