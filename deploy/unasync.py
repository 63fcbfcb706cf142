"""Makes the blocking half of the client of its asynchronous one, as httpcore does: `make sync`.

`python -m deploy.unasync --check` says which file is not what it would be made of, and exits with 1.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
CLIENT: Final = ROOT / "capability_client"
# (what is written by hand, what is made of it)
PAIRS: Final = (
    (CLIENT / "session" / "async_session.py", CLIENT / "session" / "session.py"),
    (CLIENT / "client" / "async_registry.py", CLIENT / "client" / "registry.py"),
)
# In this order; words first where the two halves say something else.
_SUBSTITUTIONS: Final = (
    (r", for asyncio\. What is not a coroutine function runs in a thread\.", ", for blocking programs."),
    (r", for asyncio\.", ", blocking. Several threads may share one."),
    (r"import asyncio\n", ""),
    (r"await asyncio\.to_thread\(([\w.]+)(?:, )?", r"\1("),
    (r" \| Awaitable\[ModelReply\]", ""),
    (r" \| AsyncIterator\[str \| ModelReply\]", ""),
    (r"AsyncSource \| Source", "Source"),
    (r"AsyncSource, Source", "Source"),
    (r"AsyncIterator, Awaitable, Callable, Iterable, Iterator", "Callable, Iterable, Iterator"),
    (r"AsyncGenerator\[Self, None\]", "Generator[Self, None, None]"),
    (r"asynccontextmanager", "contextmanager"),
    (r"__a(enter|exit)__", r"__\1__"),
    (r"\basync (def|for|with)\b", r"\1"),
    (r"\bawait ", ""),
    (r"\bAsyncWire\b", "SyncWire"),
    (r"\bAsync([A-Z]\w+)", r"\1"),
)


def make_blocking(text: str) -> str:
    """The blocking form of a module, formatted and its imports sorted as ours are."""
    for pattern, replacement in _SUBSTITUTIONS:
        text = re.sub(pattern, replacement, text)
    for arguments in (("check", "--select", "I,F401", "--fix", "--quiet"), ("format",)):
        command = [sys.executable, "-m", "ruff", *arguments, "--stdin-filename", str(CLIENT / "made.py"), "-"]
        text = subprocess.run(command, input=text, capture_output=True, text=True, check=True, cwd=ROOT).stdout
    return text


def main(arguments: list[str]) -> int:
    """Write what is made, or with `--check` name what is not as it should be."""
    is_check, exit_code = "--check" in arguments, 0
    for written, made in PAIRS:
        text = make_blocking(written.read_text("utf-8"))
        if not is_check:
            made.write_text(text, "utf-8")
        elif made.read_text("utf-8") != text:
            sys.stderr.write(f"{made.relative_to(ROOT)} is not what {written.name} makes: make sync\n")
            exit_code = 1
    return exit_code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
