"""CPU seconds of commands, the least of five runs each: `DATA_DIR=... python bench/commands.py` on a filled directory.

Bytecode is kept in a folder of its own, as an installation keeps it, whatever the environment says.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from bundles import bundle

ROOT = Path(__file__).resolve().parent.parent


def main(folder: Path) -> None:
    for name, text in bundle(5, 8).items():
        (folder / name).write_text(str(text))
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    env["PYTHONPYCACHEPREFIX"] = str(folder / "bytecode")
    commands = (["agent_key", "list"], ["bundle", "list"], ["bundle", "validate", str(folder)])
    for command in (*commands, ["bundle", "publish", str(folder)]):
        # The first one writes bytecode.
        seconds = [_cpu_seconds(command, env) for _ in range(6)][1:]
        print(json.dumps({"command": " ".join(command[:2]), "cpu_seconds": round(min(seconds), 2)}))


def _cpu_seconds(command: list[str], env: dict[str, str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, str(ROOT / "manage.py"), *command], env=env, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as found:
        main(Path(found))
