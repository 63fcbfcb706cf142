"""Other people's MCP clients against the running product: two Python clients, the Inspector, the conformance suite."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.npm import install
from tests.pypi import install as install_python
from tests.servers import Studio, start_studio

pytestmark = [pytest.mark.rare, pytest.mark.system, pytest.mark.node]
PACKAGES = (
    "@modelcontextprotocol/inspector@2.12.0",
    "@modelcontextprotocol/conformance@0.2.0-alpha.12",
    # The newest that is not a preview. Its scenarios of authorization are for clients alone.
    "@modelcontextprotocol/conformance-released@npm:@modelcontextprotocol/conformance@0.1.16",
)
# The others need tools of the suite's own, which no product has.
SCENARIOS = (
    "server-initialize", "ping", "tools-list", "resources-list", "dns-rebinding-protection", "http-header-validation",
    "caching", "sep-2164-resource-not-found", "sep-2640-skills-enumeration", "sep-2640-skills-manifest",
    "sep-2640-skills-directory",
)  # fmt: skip
RELEASED = (
    "server-initialize", "ping", "tools-list", "resources-list", "prompts-list", "dns-rebinding-protection",
)  # fmt: skip


@pytest.fixture(scope="module")
def npm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("npm")
    install(folder, *PACKAGES)
    return folder


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    studio = start_studio(tmp_path_factory.mktemp("studio"))
    yield studio
    studio.stop()


def _run(npm: Path, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    node = next((npm / "node_modules").glob("node-linux-*")) / "bin" / "node"
    path = npm / "node_modules" / "@modelcontextprotocol" / program
    environment = {**os.environ, "HOME": str(npm), "CI": "1"}
    return subprocess.run(
        [str(node), str(path), *arguments],
        cwd=npm, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip


def test_the_official_python_sdk_and_fastmcp(studio: Studio, tmp_path: Path) -> None:
    python = install_python(tmp_path / "venv", "mcp==2.3.0", "fastmcp==4.1.2")
    link = studio.manage("share_link", "create", "partner").stdout.strip()
    token = link.rpartition("/")[2]
    for address in (f"{studio.url}/mcp", f"{studio.url}/share/{token}/mcp"):
        command = [str(python), str(Path(__file__).parent / "mcp_python_clients.py"), address]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
        assert done.returncode == 0, done.stderr[-3000:]
        found = json.loads(done.stdout)
        assert found.pop("fastmcp") == {"skills": 7, "skill": "weights", "loaded": "weights"}
        assert set(found) == {"legacy", "auto", "2026-07-28"}
        for seen in found.values():
            assert len(seen["tools"]) == 8
            assert (seen["loaded"], seen["refused"]) == ("weights", [True, "CAPABILITY_NOT_FOUND"])
            assert (seen["prompts"], seen["prompt"], seen["resources"]) == (7, True, 24)


@pytest.mark.parametrize(
    ("suite", "scenario"),
    [*(("conformance", one) for one in SCENARIOS), *(("conformance-released", one) for one in RELEASED)],
)
def test_a_scenario_of_the_conformance_suite(npm: Path, studio: Studio, suite: str, scenario: str) -> None:
    done = _run(npm, f"{suite}/dist/index.js", "server", "--url", f"{studio.url}/mcp", "--scenario", scenario)
    assert done.returncode == 0, done.stdout[-3000:]
    assert "0 failed" in done.stdout


@pytest.mark.parametrize("era", ["legacy", "modern"])
@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("tools/list", ["--strict"]),
        ("resources/list", []),
        ("skills/list", ["--verify", "--require-digests"]),
        ("tools/call", ["--tool-name", "capability_skill_load", "--tool-args-json", '{"capability_id": "weights"}']),
    ],
)
def test_the_inspector(npm: Path, studio: Studio, era: str, method: str, options: list[str]) -> None:
    arguments = ["--cli", f"{studio.url}/mcp", "--transport", "http", "--protocol-era", era, "--format", "json"]
    done = _run(npm, "inspector/clients/launcher/build/index.js", *arguments, "--method", method, *options)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    if "--verify" in options:
        assert "Verified 7 skills and 24 files: no conformance errors" in done.stdout + done.stderr
    else:
        assert json.loads(done.stdout)
