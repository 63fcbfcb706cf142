"""`python -m deploy.site [FOLDER]`: build the static site, strictly; FOLDER is `.data/site` where none is given."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from deploy.site.staging import stage_site


def main(arguments: list[str]) -> int:
    """Returns the exit code of the generator: 1 where a link or a picture leads nowhere."""
    folder = Path(arguments[0] if arguments else ".data/site").resolve()
    shutil.rmtree(folder, ignore_errors=True)
    config = stage_site(folder)
    command = [sys.executable, "-m", "zensical", "build", "--strict", "--config-file", str(config)]
    code = subprocess.run(command, cwd=folder, check=False).returncode
    if code == 0:
        print(f"The site is in {folder / 'site'}")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
