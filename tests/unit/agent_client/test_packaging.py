"""The client by itself: built from its own pyproject.toml, imported where nothing of the server is."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.servers import ROOT

CLIENT = ROOT / "agent_client"
ALLOWED = {"agent_client", "httpx", "httpcore", "jsonschema_rs", "rfc8785", "yaml"}
REQUIRED = ("httpx", "jsonschema_rs", "rfc8785", "yaml")
# What those packages bring with them.
BROUGHT = (
    "httpx",
    "httpcore",
    "h11",
    "anyio",
    "idna",
    "certifi",
    "sniffio",
    "typing_extensions",
    "jsonschema_rs",
    "rfc8785",
    "yaml",
    "_yaml",
)


def test_nothing_but_the_standard_library_and_four_packages_is_imported() -> None:
    faults = []
    # Adapters are loaded only where their framework is, and cryptography where keys are trusted: each has an extra.
    optional = {*CLIENT.glob("integrations/*.py"), CLIENT / "signatures" / "dsse.py"}
    for path in sorted(set(CLIENT.rglob("*.py")) - optional):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            roots = {name.partition(".")[0] for name in names}
            faults += [f"{path.name}: {root}" for root in roots - ALLOWED if root not in sys.stdlib_module_names]
    assert not faults, faults


@pytest.mark.parametrize(
    "module",
    [
        "text.trigger_matching",
        "text.tokenizer",
        "bundles.digest",
        "prompt",
        "environment.readiness",
        "json_schema.coercion",
        "json_schema.graph",
    ],
)
def test_what_the_server_imports_brings_no_http_client(module: str) -> None:
    script = f"import sys, agent_client.{module}; sys.exit('httpx' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=False).returncode == 0


@pytest.fixture
def built(tmp_path: Path) -> Path:
    """The package as an installation has it, and the four packages with what they bring, alone on the path."""
    source = tmp_path / "source"
    shutil.copytree(CLIENT, source, ignore=shutil.ignore_patterns("__pycache__", "build", "*.egg-info"))
    target = tmp_path / "site"
    command = [sys.executable, "-c", "from setuptools import setup; setup()", "-q", "build_py"]
    # setuptools warns of its own age; the build is what counts.
    subprocess.run([*command, "--build-lib", str(target)], cwd=source, check=True, capture_output=True)
    import httpx

    packages = Path(httpx.__file__).parent.parent
    for name in {*BROUGHT, *REQUIRED}:
        for found in (packages / name, packages / f"{name}.py"):
            if found.exists():
                (target / found.name).symlink_to(found)
    return target


@pytest.mark.slow
def test_the_built_package_is_whole_and_works_from_elsewhere(built: Path, tmp_path: Path) -> None:
    kept = {path.relative_to(CLIENT).as_posix() for path in CLIENT.rglob("*.py")} | {"py.typed"}
    made = {path.relative_to(built / "agent_client").as_posix() for path in (built / "agent_client").rglob("*")}
    assert kept <= made
    _check_pages(built)
    script = (
        "import sys; sys.path.insert(0, sys.argv[1]); import agent_client\n"
        "for name in agent_client.__all__: getattr(agent_client, name)\n"
        "assert agent_client.__file__.startswith(sys.argv[1])\n"
        "assert callable(agent_client.check_readiness) and callable(agent_client.ask)\n"
        "from agent_client.__main__ import main\n"
        "sys.exit(main(['--skills-dir', sys.argv[2], 'match', 'I just weighed 187.6 lbs']))\n"
    )
    # -I and -S: no checkout, no environment, no site-packages.
    command = [sys.executable, "-I", "-S", "-c", script, str(built), str(ROOT / "examples")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "weights" in done.stdout


def _check_pages(built: Path) -> None:
    """The pages come along as texts, and `docs` finds them; their links lead to one of them, or into the repository."""
    pages = sorted((built / "agent_client" / "docs").iterdir())
    assert {path.stem for path in pages} >= {"agents", "contract", "tutorial"}
    for path in pages:
        assert not path.is_symlink()
        assert path.read_bytes() == (ROOT / "docs" / path.name).read_bytes()
    script = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from agent_client.__main__ import main\n"
        "sys.exit(main(sys.argv[2:]))"
    )
    command = [sys.executable, "-I", "-S", "-c", script, str(built), "docs"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert [line.split()[-1] for line in done.stdout.splitlines()] == [str(path) for path in pages]
    page = subprocess.run([*command, "agents"], capture_output=True, text=True, check=True).stdout
    assert page.startswith("# Agent client guide\n")
    refused = subprocess.run([*command, "nothing"], capture_output=True, text=True, check=False)
    assert (refused.returncode, "there are: agents, contract" in refused.stderr) == (1, True)
    assert "python -m agent_client docs" in (CLIENT / "README.md").read_text("utf-8")


def test_an_unknown_name_is_an_attribute_error() -> None:
    import agent_client

    with pytest.raises(AttributeError, match="nonsense"):
        agent_client.nonsense  # noqa: B018
