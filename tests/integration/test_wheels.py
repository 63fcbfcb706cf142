"""The wheels in an empty environment: the server starts, publishes the examples, and serves them to the client.

Nothing of the checkout is importable there, and the registry is in the folder where the command is given.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.pypi import install
from tests.servers import ROOT, free_port

pytestmark = [pytest.mark.rare, pytest.mark.system]
PACKAGES = ("agent_api", "features", "registry", "studio")
STANDALONE = ("capability_client", "capability_kit", "capability_rules")
# Nothing of the settings that the suite itself runs with.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LANG")}
ENVIRONMENT["EMBEDDER"] = "none"
NOT_IN_A_WHEEL = {"README.md", "CHANGELOG.md", "LICENSE", "pyproject.toml"}


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Of the server and of the packages that stand alone, built from a copy: building writes beside the sources."""
    folder = tmp_path_factory.mktemp("wheels")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).exists():
            (folder / "source" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / "source" / name, follow_symlinks=False)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder / "dist")]
    for source in (folder / "source", *(folder / "source" / name for name in STANDALONE)):
        done = subprocess.run([*command, str(source)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-3000:]
    return sorted((folder / "dist").glob("*.whl"))


@pytest.fixture(scope="module")
def programs(wheels: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the console commands."""
    return install(tmp_path_factory.mktemp("installed") / "venv", *map(str, wheels)).parent


def test_a_wheel_has_every_file_of_its_packages_and_nothing_else_at_the_top(wheels: list[Path]) -> None:
    found: dict[frozenset[str], set[str]] = {}
    for wheel in wheels:
        with ZipFile(wheel) as archive:
            assert any(name.endswith("/LICENSE") for name in archive.namelist())
            names = {name for name in archive.namelist() if ".dist-info/" not in name}
        found[frozenset(name.partition("/")[0] for name in names)] = names
    assert set(found) == {frozenset(PACKAGES), *(frozenset([package]) for package in STANDALONE)}
    for packages, names in found.items():
        tracked = subprocess.run(["git", "ls-files", *packages], cwd=ROOT, capture_output=True, text=True, check=True)
        files = {name for name in tracked.stdout.split() if (ROOT / name).is_file() and "/tests/" not in name}
        wanted = {name for name in files if Path(name).name not in NOT_IN_A_WHEEL}
        assert wanted <= names, sorted(wanted - names)
    schemas = {name for name in found[frozenset(["capability_rules"])] if name.endswith(".schema.json")}
    assert len(schemas) == len(list((ROOT / "schemas").rglob("*.schema.json")))


@pytest.fixture
def served(programs: Path, tmp_path: Path) -> Iterator[tuple[str, str]]:
    """`(address, what was printed)` of a server that the command has started in an empty folder."""
    port = free_port()
    log = tmp_path / "log.txt"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [str(programs / "capability-studio")],
            cwd=tmp_path,
            env=ENVIRONMENT | {"PORT": str(port)},
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        deadline = time.monotonic() + 120
        while "Ctrl-C stops it" not in log.read_text("utf-8"):
            assert process.poll() is None, log.read_text("utf-8")
            assert time.monotonic() < deadline, log.read_text("utf-8")
            time.sleep(0.2)
        yield f"http://127.0.0.1:{port}", log.read_text("utf-8")
    finally:
        process.terminate()
        assert process.wait(30) == 0


def test_one_command_starts_the_server_and_publishes_the_examples(
    programs: Path, served: tuple[str, str], tmp_path: Path
) -> None:
    address, printed = served
    assert re.search(r"Operator: +admin +password: \S+", printed)
    found = re.search(r"Agent key: (csk_\S+)", printed)
    assert found is not None
    with urllib.request.urlopen(f"{address}/sign-in/", timeout=20) as page:
        assert b"Capability Studio" in page.read()
    # Pages, pictures and schemas are beside the packages there.
    for path, words in (
        ("/docs/authors/tools/", b"lost_item_report"),
        ("/docs/files/img/tools-light.webp", b"WEBP"),
        ("/schemas/tools.schema.json", b"args_schema"),
    ):
        with urllib.request.urlopen(f"{address}{path}", timeout=20) as page:
            assert words in page.read()
    client = [str(programs / "capability-client"), "--url", address, "skills", "list"]
    env = ENVIRONMENT | {"CAPABILITY_STUDIO_KEY": found[1]}
    listed = subprocess.run(client, cwd=tmp_path, env=env, capture_output=True, text=True, check=True, timeout=60)
    assert "weights" in listed.stdout
    assert (tmp_path / "capability-studio-data" / "studio.sqlite3").is_file()
    backup = [str(programs / "capability-studio"), "backup", "create", "--to", "registry.zip", "--format", "json"]
    made = subprocess.run(backup, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, check=True, timeout=60)
    assert json.loads(made.stdout)
    assert (tmp_path / "registry.zip").is_file()
