"""The pipelines of docs/gitops.md do what the page says: every command in them is run, as it stands there."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.factories import bundle
from tests.git_https import commit, git
from tests.servers import ROOT, Studio, start_studio, studio_environment

pytestmark = [pytest.mark.slow, pytest.mark.system]
FOLDER = ROOT / "docs" / "gitops"
PIPELINES = ("github-actions.yml", "gitlab-ci.yml")


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
        done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=120)
        out += done.stdout + done.stderr
        if done.returncode:
            break
    return subprocess.CompletedProcess(done.args, done.returncode, out, "")


def _validate(name: str, folder: Path, where: Path) -> subprocess.CompletedProcess[str]:
    """Studio is cloned from a repository of its own here; its Python is ours, which has what it needs."""
    source = where / "studio-source"
    if not source.exists():
        source.mkdir()
        git(source, "init", "-q", "-b", "v1")
        commit(source, {"README.md": "Capability Studio"})
    manage = f"{sys.executable} {ROOT / 'manage.py'}"
    variables = {"MANAGE": manage, "STUDIO_REPOSITORY": f"file://{source}", "STUDIO_VERSION": "v1"}
    (folder / "data").mkdir(exist_ok=True)
    return _run(_steps(name, "validate"), folder, variables)


@pytest.mark.parametrize("name", PIPELINES)
def test_a_pull_request_is_validated(name: str, repository: Path, tmp_path: Path) -> None:
    _put(repository, "alpha")
    done = _validate(name, repository, tmp_path)
    assert done.returncode == 0, done.stdout
    assert (tmp_path / "studio" / "README.md").is_file()
    assert json.loads((repository / "findings.sarif").read_text())["runs"][0]["results"] == []


@pytest.mark.parametrize("name", PIPELINES)
def test_a_fault_fails_it_and_is_told_with_its_place(name: str, repository: Path, tmp_path: Path) -> None:
    _put(repository, "alpha", description=None)
    done = _validate(name, repository, tmp_path)
    assert done.returncode == 1
    assert "not publishable" in done.stdout
    (result, *_) = json.loads((repository / "findings.sarif").read_text())["runs"][0]["results"]
    location = result["locations"][0]["physicalLocation"]
    assert location["artifactLocation"]["uri"] == "bundles/alpha/capability.json"


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
    from registry.management.commands.git_source import Command

    page = (FOLDER.with_suffix(".md")).read_text("utf-8")
    parser = Command().create_parser("manage.py", "git_source")
    verbs = next(action.choices for action in parser._actions if action.dest == "verb")
    assert verbs is not None
    assert all(f"git_source {verb}" in page for verb in verbs)
    assert all(f"gitops/{name}" in page for name in PIPELINES)
