"""The product without each of its features: it starts, publishes, and every page of the core answers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from registry.common.installation import list_leaf_names
from registry.feature import find_feature
from tests.servers import ROOT, lay_out, run_manage, studio_environment

pytestmark = pytest.mark.slow

_ALL = list_leaf_names()


def _without(name: str) -> str:
    """All of them but this one and those that need it."""
    gone = {name}
    while more := {one for one in _ALL if one not in gone and gone.intersection(find_feature(one).requires)}:
        gone |= more
    return ",".join(one for one in _ALL if one not in gone) or "none"


CHOICES = {"none": "none", **{f"without {name}": _without(name) for name in _ALL}}
_PROGRAM = ROOT / "tests" / "integration" / "feature_program.py"


# To have none of them is to be without each.
@pytest.mark.parametrize(
    "features",
    [
        choice if choice == "none" else pytest.param(choice, marks=pytest.mark.rare)
        for choice in dict.fromkeys(CHOICES.values())
    ],
)
def test_the_core_works_without(features: str, tmp_path: Path) -> None:
    env = studio_environment(tmp_path, FEATURES=features, EXAMPLES="off", AGENT_API_PUBLIC_READ="on")
    lay_out(env)
    run_manage("prepare_site", env=env)
    done = run_manage("shell", "-c", _PROGRAM.read_text("utf-8"), env=env)
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["features"] == ([] if features == "none" else features.split(","))
    assert found["load"] == 200
    assert len(found["pages"]) > 70
    assert (found["mcp"], found["offered"]) == ((200, True) if "mcp" in found["features"] else (404, False))


def test_a_registry_that_follows_a_source_does_not_start_without(tmp_path: Path) -> None:
    env = studio_environment(tmp_path, EXAMPLES="off")
    lay_out(env)
    run_manage("git_source", "add", "https://git.example/skills", env=env)
    refused = run_manage("prepare_site", env={**env, "FEATURES": "none"}, check=False)
    assert refused.returncode == 2
    assert "There are followed sources, and FEATURES is without 'sources'" in refused.stderr
    assert run_manage("migrate", env={**env, "FEATURES": "none"}, check=False).returncode == 1
