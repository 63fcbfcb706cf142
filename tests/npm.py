"""Other people's clients from the ordinary npm registry, pinned."""

from __future__ import annotations

import platform
import shutil
import subprocess
from pathlib import Path

import pytest

# Newer than Debian's and than what the clients need; npm carries the program itself as a package.
NODE = "22.23.3"
_MACHINES = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}


def install(folder: Path, *packages: str) -> Path:
    """Install packages and a new Node; answers Node's program. Skips where npm or its registry is away."""
    npm = shutil.which("npm")
    machine = _MACHINES.get(platform.machine().lower())
    if npm is None or machine is None:
        pytest.skip("needs npm: apt install npm")
    node = f"node-linux-{machine}"
    _install(npm, folder, f"{node}@{NODE}", *packages)
    return folder / "node_modules" / node / "bin" / "node"


def install_files(folder: Path, *packages: str) -> Path:
    """Install packages for the files in them, and run nothing; answers `node_modules`. Skips as `install` does."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("needs npm: apt install npm")
    _install(npm, folder, "--ignore-scripts", *packages)
    return folder / "node_modules"


def _install(npm: str, folder: Path, *arguments: str) -> None:
    command = [npm, "install", "--no-audit", "--no-fund", "--loglevel=error", "--prefix", str(folder)]
    done = subprocess.run([*command, *arguments], cwd=folder, capture_output=True, text=True, check=False, timeout=300)
    if done.returncode != 0:
        pytest.skip(f"needs the npm registry, for {', '.join(arguments)}: {done.stderr.strip()[-200:]}")


def install_locked(folder: Path, *, is_to_build: bool = False) -> None:
    """Install what the lock file of a folder pins; what only a build needs if it `is_to_build`. Skips as `install`."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("needs npm: apt install npm")
    command = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    command += [] if is_to_build else ["--omit=dev"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=300)
    if done.returncode != 0:
        pytest.skip(f"needs the npm registry, for {folder.name}/: {done.stderr.strip()[-200:]}")
