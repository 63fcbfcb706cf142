"""`launcher.py`: what `python3 run.py` does once everything is installed, with this interpreter."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import cast

from studio.environment import read_environment
from studio.launch.installing import Setup
from studio.launch.serving import serve
from tests.servers import ROOT


class Installed:
    """A set-up that has nothing to do."""

    root = ROOT

    def ensure(self, _lock: object) -> Path:
        return Path(sys.executable)


if __name__ == "__main__":
    sys.exit(serve(cast("Setup", Installed()), read_environment(os.environ, base_dir=ROOT)))
