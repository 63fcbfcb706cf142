"""The client by itself: built from its own pyproject.toml, imported where nothing of the server is."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.pypi import copy_package
from tests.servers import ROOT

CLIENT = ROOT / "capability_client"
KIT = ROOT / "capability_kit"
REQUIRED = ("httpx2", "jsonschema_rs", "rfc8785", "snowballstemmer", "yaml")
# What those packages bring with them.
BROUGHT = (
    "httpx2",
    "httpcore2",
    "h11",
    "anyio",
    "idna",
    "truststore",
    "typing_extensions",
    "jsonschema_rs",
    "rfc8785",
    "snowballstemmer",
    "yaml",
    "_yaml",
)


@pytest.mark.parametrize("package", ["capability_client", "capability_kit", "capability_rules"])
def test_a_pyproject_lists_every_folder_of_its_package_and_the_license_comes_along(package: str) -> None:
    listed = set(
        tomllib.loads((ROOT / package / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]["packages"]
    )
    modules = (path.relative_to(ROOT) for path in (ROOT / package).rglob("*.py"))
    folders = {path.parent for path in modules if "tests" not in path.parts}
    assert listed == {".".join(folder.parts) for folder in folders}
    assert (ROOT / package / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


@pytest.fixture
def built(tmp_path: Path) -> Path:
    """Client and kit as an installation has them, and the four packages with what they bring, alone on the path."""
    target = tmp_path / "site"
    command = [sys.executable, "-c", "from setuptools import setup; setup()", "-q", "build_py"]
    for package in (CLIENT, KIT):
        source = copy_package(package.name, tmp_path / "source")
        # setuptools warns of its own age; the build is what counts.
        subprocess.run([*command, "--build-lib", str(target)], cwd=source, check=True, capture_output=True)
    import httpx2

    packages = Path(httpx2.__file__).parent.parent
    for name in {*BROUGHT, *REQUIRED}:
        # Some ask for their own version.
        for found in (packages / name, packages / f"{name}.py", *packages.glob(f"{name}-*.dist-info")):
            if found.exists():
                (target / found.name).symlink_to(found)
    return target


@pytest.mark.rare
def test_the_built_package_is_whole_and_works_from_elsewhere(built: Path, tmp_path: Path) -> None:
    modules = {path.relative_to(CLIENT).as_posix() for path in CLIENT.rglob("*.py")}
    package = built / "capability_client"
    made = {path.relative_to(package).as_posix() for path in package.rglob("*")}
    assert {path for path in modules if not path.startswith("tests/")} | {"py.typed"} <= made
    assert not [path for path in made if path.startswith("tests")]
    _check_pages(built)
    script = (
        "import sys; sys.path.insert(0, sys.argv[1]); import capability_client\n"
        "for name in capability_client.__all__: getattr(capability_client, name)\n"
        "assert capability_client.__file__.startswith(sys.argv[1])\n"
        "assert callable(capability_client.check_readiness) and callable(capability_client.ask)\n"
        "from capability_client.__main__ import main\n"
        "sys.exit(main(['--skills-dir', sys.argv[2], 'match', 'I just weighed 187.6 lbs']))\n"
    )
    # -I and -S: no checkout, no environment, no site-packages.
    command = [sys.executable, "-I", "-S", "-c", script, str(built), str(ROOT / "examples")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "weights" in done.stdout


def _check_pages(built: Path) -> None:
    """The pages come along as texts, and `docs` finds them."""
    docs = built / "capability_client" / "docs"
    pages = sorted(docs.rglob("*.md"))
    assert {path.stem for path in pages} >= {"agents", "contract", "tutorial", "first-agent", "signatures"}
    for path in pages:
        assert not path.is_symlink()
        assert path.read_bytes() == (ROOT / "docs" / path.relative_to(docs)).read_bytes()
    script = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from capability_client.__main__ import main\n"
        "sys.exit(main(sys.argv[2:]))"
    )
    command = [sys.executable, "-I", "-S", "-c", script, str(built), "docs"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert [line.split()[-1] for line in done.stdout.splitlines()] == [str(path) for path in pages]
    page = subprocess.run([*command, "agents"], capture_output=True, text=True, check=True).stdout
    assert page.startswith("# Agent client guide\n")
    refused = subprocess.run([*command, "nothing"], capture_output=True, text=True, check=False)
    assert (refused.returncode, "there are: agent-tutorial/approval, " in refused.stderr) == (1, True)
    assert "python -m capability_client docs" in (CLIENT / "README.md").read_text("utf-8")


def test_an_unknown_name_is_an_attribute_error() -> None:
    import capability_client

    with pytest.raises(AttributeError, match="nonsense"):
        capability_client.nonsense  # type: ignore[attr-defined]  # noqa: B018
