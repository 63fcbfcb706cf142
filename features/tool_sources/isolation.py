"""Reads a document in a process of its own, which is ended where it takes too long or too much memory.

A text of 10 MB can keep a parser busy for as long as its author likes, and a web process has other readers.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Final

from capability_rules.errors import SourceUnreadable
from features.tool_sources.readers.limits import BYTES_MAX, SECONDS_MAX
from features.tool_sources.source_tools import ToolCatalog, read_tools

_PACKAGES_DIR: Final = Path(__file__).resolve().parents[2]
_COMMAND: Final = (sys.executable, "-c", "from features.tool_sources.isolation import main; main()")
# What an interpreter needs, and nothing of ours: it reads texts of strangers.
_VARIABLES: Final = ("PATH", "LANG", "LC_ALL", "VIRTUAL_ENV", "PYTHONHOME", "LD_LIBRARY_PATH")
_MEMORY_BYTES_MAX: Final = 2 * 1024 * 1024 * 1024
# The limit is of work; a machine that is busy otherwise gets more time for it.
_WAIT_SECONDS_MAX: Final = 3 * SECONDS_MAX


def read_tools_isolated(content: bytes, *, seconds_max: int = SECONDS_MAX) -> ToolCatalog:
    """The tools of a document. Raises `SourceUnreadable` with the reason, and the number of a limit."""
    if len(content) > BYTES_MAX:
        raise SourceUnreadable(f"The document has {len(content):,} bytes; at most {BYTES_MAX:,} are read")
    env = {name: os.environ[name] for name in _VARIABLES if name in os.environ} | {"PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            [*_COMMAND, str(seconds_max)], input=content, capture_output=True, cwd=_PACKAGES_DIR, env=env,
            timeout=_WAIT_SECONDS_MAX, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise SourceUnreadable(_too_long(seconds_max)) from None
    if done.returncode < 0:
        raise SourceUnreadable(_too_long(seconds_max))
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        raise SourceUnreadable("The document could not be read") from None
    if "error" in answer:
        raise SourceUnreadable(answer["error"])
    return ToolCatalog.from_dict(answer)


def _too_long(seconds_max: int) -> str:
    return f"Reading the document takes more than {seconds_max} s of work, or too much memory"


def main() -> None:
    """The process: the document is its input, a `ToolCatalog` or `{"error": ...}` as JSON its output."""
    seconds_max = int(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_CPU, (seconds_max, seconds_max))
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES_MAX, _MEMORY_BYTES_MAX))
    try:
        answer = read_tools(sys.stdin.buffer.read()).as_dict()
    except SourceUnreadable as error:
        answer = {"error": error.message}
    except MemoryError:
        answer = {"error": _too_long(seconds_max)}
    sys.stdout.write(json.dumps(answer))
