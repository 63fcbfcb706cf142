"""`run.py` without its set-up, for tests that end it, or what it started, in the middle."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tests.servers import ROOT, answers, descendants

LAUNCHER = Path(__file__).with_name("launcher.py")


@dataclass
class Launch:
    """It runs from here on; the processes that it starts are in sessions of their own."""

    env: dict[str, str]
    out: Path
    process: subprocess.Popen[bytes] = field(init=False)

    def __post_init__(self) -> None:
        with self.out.open("wb") as out:
            self.process = subprocess.Popen(
                [sys.executable, str(LAUNCHER)],
                env=self.env,
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @property
    def text(self) -> str:
        return self.out.read_text(errors="replace")

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.env['PORT']}"

    def wait_until(self, is_true: Callable[[], bool], seconds: float = 60) -> None:
        deadline = time.monotonic() + seconds
        while not is_true():
            assert time.monotonic() < deadline, self.text
            assert self.process.poll() is None, self.text
            time.sleep(0.002)

    def is_answering(self) -> bool:
        """Whether it has printed its address and is there."""
        return self.url in self.text and answers(f"{self.url}/healthz")

    def child(self, word: str) -> int:
        """The id of its process that has this word on its command line."""
        for pid in descendants(self.process.pid):
            with contextlib.suppress(OSError):
                if word in Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0"):
                    return pid
        return 0

    def end(self, number: int) -> int:
        """Send the signal to all of its group, as a terminal does."""
        os.killpg(self.process.pid, number)
        return self.process.wait(60)
