"""The pipelines of docs/gitops.md do what the page says: every command in them is run, as it stands there."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.factories import bundle
from tests.git_https import commit, git
from tests.pypi import copy_package, install
from tests.servers import ROOT, Studio, start_studio, studio_environment

pytestmark = [pytest.mark.slow, pytest.mark.system]
FOLDER = ROOT / "docs" / "gitops"
PIPELINES = ("github-actions.yml", "gitlab-ci.yml")
ACTION = ROOT / "deploy" / "lint-action" / "action.yml"
WORKFLOWS = ROOT / ".github" / "workflows"
SCHEMAS = {
    "github-actions": (ACTION,),
    "github-workflows": (FOLDER / "github-actions.yml", WORKFLOWS / "ci.yml", WORKFLOWS / "release.yml"),
    "gitlab-ci": (FOLDER / "gitlab-ci.yml",),
}
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]


def _steps(name: str, job: str) -> list[str]:
    document = yaml.safe_load((FOLDER / name).read_text("utf-8"))
    if name == "gitlab-ci.yml":
        return list(document[job]["script"])
    return [step["run"] for step in document["jobs"][job]["steps"] if "run" in step]


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    studio = start_studio(tmp_path_factory.mktemp("studio"), EXAMPLES="off")
    yield studio
    studio.stop()


@pytest.fixture(scope="module")
def key(studio: Studio) -> str:
    made = studio.manage("agent_key", "create", "pipeline", "--scopes", "publish", "--format", "json")
    return str(json.loads(made.stdout)["key"])


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    return folder


def _put(folder: Path, name: str, **fields: Any) -> None:
    commit(folder, {f"bundles/{name}/{file}": text for file, text in bundle(name, **fields).items()})


def _run(steps: list[str], folder: Path, variables: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """One shell for each step, which ends at the first command that fails; and the first step that fails ends it."""
    done = subprocess.CompletedProcess[str]([], 0, "", "")
    env = studio_environment(folder / "data", **variables)
    out = ""
    for step in steps:
        command = ["bash", "-e", "-c", step]
        done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=300)
        out += done.stdout + done.stderr
        if done.returncode:
            break
    return subprocess.CompletedProcess(done.args, done.returncode, out, "")


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of what is not published yet: pip finds it there, and everything else at the index."""
    folder = tmp_path_factory.mktemp("wheels")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder / "dist")]
    for name in ("capability_kit", "capability_rules"):
        subprocess.run([*command, str(copy_package(name, folder))], check=True, capture_output=True, timeout=120)
    return folder / "dist"


@pytest.fixture
def change(repository: Path) -> Path:
    """A repository with a valid bundle on `main` and as `origin/main`; HEAD is the branch of a pull request."""
    _put(repository, "alpha")
    git(repository, "update-ref", "refs/remotes/origin/main", "HEAD")
    git(repository, "checkout", "-q", "-b", "change")
    return repository


@pytest.fixture(scope="module")
def lint_home(wheels: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the first job makes and a second one would make again: the environment with the checks."""
    home = tmp_path_factory.mktemp("lint") / "venv"
    subprocess.run([sys.executable, "-m", "venv", str(home)], check=True, timeout=120)
    command = [str(home / "bin/pip"), "install", "--quiet", "--find-links", str(wheels), f"capability-rules=={VERSION}"]
    subprocess.run(command, check=True, timeout=300)
    return home


def _pull_request(folder: Path, wheels: Path) -> dict[str, str]:
    base = git(folder, "rev-parse", "origin/main").strip()
    names = {"GITHUB_BASE_REF": "main", "CI_MERGE_REQUEST_DIFF_BASE_SHA": base, "STUDIO_VERSION": VERSION}
    (folder / "data").mkdir(exist_ok=True)
    return names | {"PIP_FIND_LINKS": str(wheels)}


@pytest.mark.rare
@pytest.mark.parametrize("name", PIPELINES)
def test_a_pull_request_is_validated_without_a_server(name: str, change: Path, wheels: Path, lint_home: Path) -> None:
    if name == PIPELINES[1]:
        # The first one shows that an empty machine can make it.
        shutil.copytree(lint_home, change.parent / "lint", symlinks=True)
    steps, variables = _steps(name, "validate"), _pull_request(change, wheels)
    done = _run(steps, change, variables)
    assert done.returncode == 0, done.stdout
    assert json.loads((change / "findings.sarif").read_text())["runs"][0]["results"] == []
    installed = {path.name.partition("-")[0] for path in change.parent.glob("lint/lib/*/site-packages/*.dist-info")}
    assert "capability_rules" in installed
    assert not {"django", "capability_studio"} & {each.lower() for each in installed}
    assert len(installed) <= 20
    _put(change, "beta", description=None)
    done = _run(steps, change, variables)
    assert done.returncode == 1
    assert "bundles/beta: not publishable" in done.stdout
    assert "bundles/alpha: ok" not in done.stdout
    (result, *_) = json.loads((change / "findings.sarif").read_text())["runs"][0]["results"]
    location = result["locations"][0]["physicalLocation"]
    assert location["artifactLocation"]["uri"] == "bundles/beta/capability.json"


@pytest.mark.rare
def test_the_action_annotates_what_a_pull_request_changes(change: Path, wheels: Path, lint_home: Path) -> None:
    shutil.copytree(lint_home, change.parent / "capability-lint", symlinks=True)
    action = yaml.safe_load(ACTION.read_text("utf-8"))
    inputs = {name: row["default"] for name, row in action["inputs"].items()}
    inputs |= {"paths": "bundles", "changed-since": "origin/main", "sarif": "findings.sarif"}
    _put(change, "beta", description=None)
    variables = _pull_request(change, wheels) | {"RUNNER_TEMP": str(change.parent)}
    for step in action["runs"]["steps"]:
        for name, value in step.get("env", {}).items():
            variables[name] = inputs[value.strip("${} ").removeprefix("inputs.")]
    done = _run([step["run"] for step in action["runs"]["steps"] if "run" in step], change, variables)
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert any(line.startswith("::error file=bundles/beta/capability.json,line=1,col=1,") for line in lines)
    assert not any("alpha" in line for line in lines)
    assert json.loads((change / "findings.sarif").read_text())["runs"][0]["results"]


@pytest.mark.rare
def test_the_hook_stops_a_commit_and_the_files_are_what_their_programs_take(
    change: Path, wheels: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    python = install(tmp_path_factory.mktemp("linters") / "venv", "check-jsonschema==0.39.0", "pre-commit==4.7.0")
    for schema, paths in SCHEMAS.items():
        command = [str(python.with_name("check-jsonschema")), "--builtin-schema", f"vendor.{schema}", *map(str, paths)]
        checked = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
        assert checked.returncode == 0, checked.stdout
    commit(change, {".pre-commit-config.yaml": (FOLDER / "pre-commit-config.yaml").read_text("utf-8")})
    env = _pull_request(change, wheels) | {"PRE_COMMIT_HOME": str(change.parent / "hooks"), "PRE_COMMIT_COLOR": "never"}
    command = [str(python.with_name("pre-commit")), "run", "--all-files"]

    def run() -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, cwd=change, env=os.environ | env, capture_output=True, text=True, check=False, timeout=300
        )

    done = run()
    assert done.returncode == 0, done.stdout + done.stderr
    (change / "bundles" / "alpha" / "capability.json").write_text("{}", "utf-8")
    done = run()
    assert done.returncode == 1
    assert "bundles/alpha: not publishable" in done.stdout


@pytest.mark.rare
@pytest.mark.parametrize("name", PIPELINES)
def test_main_is_published_once(name: str, repository: Path, studio: Studio, key: str) -> None:
    mine = name.partition("-")[0]
    _put(repository, f"{mine}_alpha")
    _put(repository, f"{mine}_beta")
    head = git(repository, "rev-parse", "HEAD").strip()
    variables = {"COMMIT": head, "CI_COMMIT_SHA": head, "STUDIO_URL": studio.url, "STUDIO_KEY": key}
    steps = _steps(name, "publish")
    (repository / "data").mkdir()
    for _ in range(2):
        # The second run is the answer of the first one: nothing is `unchanged`, because nothing is asked again.
        done = _run(steps, repository, variables)
        assert done.returncode == 0, done.stdout
        assert f"{mine}_alpha published 1" in done.stdout
        assert f"{mine}_beta published 1" in done.stdout
    _put(repository, f"{mine}_alpha", body="Two.")
    _put(repository, f"{mine}_beta", description=None)
    head = git(repository, "rev-parse", "HEAD").strip()
    done = _run(steps, repository, variables | {"COMMIT": head, "CI_COMMIT_SHA": head})
    assert done.returncode == 1
    assert f"{mine}_alpha published 2" in done.stdout
    assert f"{mine}_beta refused" in done.stdout
    rows = json.loads(studio.manage("bundle", "list", "--format", "json").stdout)["capabilities"]
    assert {row["capability_id"]: row["revision"] for row in rows if row["capability_id"].startswith(mine)} == {
        f"{mine}_alpha": 2,
        f"{mine}_beta": 1,
    }


@pytest.mark.rare
@pytest.mark.parametrize("name", PIPELINES)
def test_a_wrong_key_fails_it_with_the_reason(name: str, repository: Path, studio: Studio) -> None:
    _put(repository, "alpha")
    head = git(repository, "rev-parse", "HEAD").strip()
    variables = {"COMMIT": head, "CI_COMMIT_SHA": head, "STUDIO_URL": studio.url, "STUDIO_KEY": "nonsense"}
    (repository / "data").mkdir()
    done = _run(_steps(name, "publish"), repository, variables)
    assert done.returncode != 0
    assert "UNAUTHENTICATED" in (repository / "results.json").read_text()


def test_the_page_names_the_files_and_every_command_of_git_source() -> None:
    from features.sources.management.commands.git_source import Command

    page = (FOLDER.with_suffix(".md")).read_text("utf-8")
    parser = Command().create_parser("manage.py", "git_source")
    verbs = next(action.choices for action in parser._actions if action.dest == "verb")
    assert verbs is not None
    assert all(f"git_source {verb}" in page for verb in verbs)
    assert all(f"gitops/{name}" in page for name in (*PIPELINES, "pre-commit-config.yaml"))


def test_the_files_install_this_version() -> None:
    paths = (ACTION, *(FOLDER / name for name in (*PIPELINES, "pre-commit-config.yaml")))
    texts = [path.read_text("utf-8") for path in paths]
    found = [
        version
        for text in texts
        for version in re.findall(r"(?:capability-rules==|STUDIO_VERSION: )([0-9][0-9.]*)", text)
    ]
    assert len(found) == 4
    assert set(found) == {VERSION}
