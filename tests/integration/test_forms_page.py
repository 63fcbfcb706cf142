"""docs/agents/forms as its page says: built with npm, served, used in a real browser."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.npm import install
from tests.pypi import copy_package
from tests.servers import ROOT, Studio

pytestmark = [pytest.mark.rare, pytest.mark.system, pytest.mark.node, pytest.mark.browser]
PACKAGES = ("@a2ui/lit@0.11.0", "@a2ui/web_core@0.11.0", "esbuild@0.28.2")


@pytest.fixture
def address(live_studio: Studio, tmp_path: Path) -> Iterator[str]:
    """A checkout of what the example needs, built, and its server running."""
    folder = tmp_path / "docs" / "agents" / "forms"
    built = shutil.ignore_patterns("node_modules", "form.js")
    shutil.copytree(ROOT / "docs" / "agents", tmp_path / "docs" / "agents", ignore=built)
    for package in ("capability_kit", "capability_client"):
        copy_package(package, tmp_path)
    node = install(folder, *PACKAGES)
    script = (folder / "package.json").read_text()
    assert '"build": "esbuild page.js' in script
    esbuild = ["node_modules/.bin/esbuild", "page.js", "--bundle", "--minify", "--format=esm"]
    # npm put the program itself there where it could; else a script for Node.
    env = os.environ | {"PATH": f"{node.parent}:{os.environ['PATH']}"}
    command = [*esbuild, "--target=es2022", "--outfile=form.js"]
    subprocess.run(command, cwd=folder, env=env, check=True, capture_output=True)
    command = [sys.executable, "-m", "docs.agents.forms.serve", live_studio.url, "weights", "WeightEntryForm.v1", "0"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().strip()
        finally:
            process.kill()


def test_a_form_is_filled_sent_and_approved(address: str, page: Any) -> None:
    page.goto(address)
    page.locator("a2ui-surface input[type=number]").fill("186.4")
    page.get_by_role("button", name="Save weigh-in").click()
    page.get_by_text("Waits for you: weight_entry_save_batch").wait_for()
    assert '"weight": 186.4' in page.locator("#said").inner_text(), "the text became a number"
    page.get_by_role("button", name="Approve").click()
    page.get_by_text('Done: {"saved": 1}').wait_for()
