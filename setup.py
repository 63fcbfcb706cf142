"""Builds the wheel: what pyproject.toml says, and in studio/_data the folders that are read at run time."""

import shutil
from pathlib import Path

from setuptools import setup  # type: ignore[import-untyped]
from setuptools.command.build_py import build_py  # type: ignore[import-untyped]

RESOURCES = ("templates", "examples", "docs")
# Of a folder that another wheel brings, the page of the docs.
PAGES = ("schemas/README.md",)


class BuildWithResources(build_py):  # type: ignore[misc]
    """Copies the folders that are beside the packages in a checkout."""

    def run(self) -> None:
        """As `build_py`; an editable installation reads the checkout itself."""
        super().run()
        if self.editable_mode:
            return
        for name in RESOURCES:
            target = Path(self.build_lib) / "studio" / "_data" / name
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree(
                name, target, ignore=shutil.ignore_patterns("__pycache__", "*.pyc", "node_modules", "moving")
            )
        for page in PAGES:
            copy = Path(self.build_lib) / "studio" / "_data" / page
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(page, copy)


setup(cmdclass={"build_py": BuildWithResources})
