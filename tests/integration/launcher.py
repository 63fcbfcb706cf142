"""`launcher.py`: what `python3 run.py` does once everything is installed, with this interpreter."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any
from unittest.mock import patch

from studio.launcher import commands
from tests.servers import ROOT


class Installed:
    """A set-up that has nothing to do."""

    root = ROOT

    def __init__(self, *_: Any, **__: Any) -> None:
        """Takes what `Setup` takes."""

    def ensure(self, _lock: object) -> Path:
        return Path(sys.executable)


if __name__ == "__main__":
    with patch.object(commands, "Virtualenv", Installed):
        sys.exit(commands.run([]))
