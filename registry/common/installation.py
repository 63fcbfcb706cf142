"""What this runs from: a checkout, or wheels that were installed, whose data is in `studio/_data`.

The standard library alone: `run.py` reads it before anything is installed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

# The folder that the packages are in.
PACKAGES_DIR: Final = Path(__file__).resolve().parents[2]
IS_CHECKOUT: Final = (PACKAGES_DIR / "manage.py").is_file()
# The folder that `templates/` and `examples/` are in.
RESOURCES_DIR: Final = PACKAGES_DIR if IS_CHECKOUT else PACKAGES_DIR / "studio" / "_data"
# Where a registry is kept that no DATA_DIR names: in the checkout, or in the folder where the command is given.
DATA_DIR_PARENT: Final = PACKAGES_DIR if IS_CHECKOUT else Path.cwd()
DATA_DIR_NAME: Final = ".data" if IS_CHECKOUT else "capability-studio-data"
# How an operator calls us, as messages write it.
PROGRAM: Final = "python3 run.py" if IS_CHECKOUT else "capability-studio"
# Folders of `features/` that are steps of a publish: always installed.
PARTS: Final = ("acceptances",)


def list_leaf_names() -> tuple[str, ...]:
    """The features that can be left out: the folders of `features/` but for `PARTS`."""
    names = {path.parent.name for path in (PACKAGES_DIR / "features").glob("*/feature.py")}
    return tuple(sorted(names.difference(PARTS)))


def install_command(extra: str) -> str:
    """How the packages of an extra are installed, `otel` for example."""
    if IS_CHECKOUT:
        return "pip install --require-hashes --no-deps -r requirements-extras.lock"
    return f"pip install 'capability-studio[{extra}]'"
