"""Other people's checks of a plugin: Claude Code's own, and the reference library of Agent Skills."""

from __future__ import annotations

import io
import json
import os
import subprocess
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from features.sets.plugin_forms import FORMS
from tests.npm import install_files
from tests.pypi import install as install_python
from tests.servers import Studio, start_studio

pytestmark = [pytest.mark.rare, pytest.mark.system, pytest.mark.node]
CLAUDE_CODE = "@anthropic-ai/claude-code-linux-x64@2.1.332"
CHECK = """
import sys
from pathlib import Path
from skills_ref.validator import validate
import json
print(json.dumps({skill.name: validate(skill) for skill in Path(sys.argv[1]).iterdir()}))
"""


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    studio = start_studio(tmp_path_factory.mktemp("studio"))
    yield studio
    studio.stop()


@pytest.fixture(scope="module")
def plugins(studio: Studio, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All examples as one set, in each form, unpacked below a folder of its name."""
    folder = tmp_path_factory.mktemp("plugins")
    listed = json.loads(studio.manage("bundle", "list", "--format", "json").stdout)["capabilities"]
    members = [{"capability_id": each["capability_id"]} for each in listed]
    document = {"set_id": "all_of_them", "name": "All", "description": "Every example.", "members": members}
    (folder / "set.json").write_text(json.dumps(document))
    studio.manage("set", "save", str(folder / "set.json"))
    for form in FORMS:
        studio.manage("set", "plugin", "all_of_them", "--form", form, "--to", str(folder / "plugin.zip"))
        with zipfile.ZipFile(io.BytesIO((folder / "plugin.zip").read_bytes())) as archive:
            archive.extractall(folder / form)
    return folder


def test_claude_code_takes_every_form_strictly(plugins: Path, tmp_path: Path) -> None:
    program = install_files(tmp_path, CLAUDE_CODE) / "@anthropic-ai" / "claude-code-linux-x64" / "claude"
    for form in FORMS:
        folder = plugins / form / ("plugins/all-of-them" if form == "codex" else "")
        done = subprocess.run(
            [str(program), "plugin", "validate", "--strict", str(folder)],
            env={**os.environ, "HOME": str(tmp_path)}, capture_output=True, text=True, check=False, timeout=120,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout
        if form == "claude":
            assert done.stdout.count("skills: all-of-them:") == 7


def test_every_skill_of_a_plugin_is_valid_by_the_reference_library(plugins: Path, tmp_path: Path) -> None:
    python = install_python(tmp_path / "venv", "skills-ref==0.1.1")
    done = subprocess.run(
        [str(python), "-c", CHECK, str(plugins / "agent-plugin" / "skills")],
        capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    found = json.loads(done.stdout)
    assert found
    assert {name: errors for name, errors in found.items() if errors} == {}
