"""The real `clawhub` client against the product, and beside it `skills` and an agent by MCP: three doors, one skill."""

from __future__ import annotations

import json
import os
import subprocess
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.npm import install
from tests.servers import Studio, start_studio

pytestmark = [pytest.mark.rare, pytest.mark.system, pytest.mark.node]
CLAWHUB = "clawhub@0.23.3"
SKILLS = "skills@1.7.4"
SKILL = """---
name: {name}
description: Times {name}. Use when somebody brews it.
---
# {name}

## When to use

When somebody brews it.

## Default behavior

Say {answer} minutes.
"""


@dataclass(frozen=True)
class Done:
    """How a program ended, and all that it said."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Terminal:
    """Somebody's terminal: a home, and the programs that were installed."""

    home: Path
    node: Path
    modules: Path
    registry: str

    def clawhub(self, *arguments: str, by_site: bool = False) -> Done:
        where = ("--site", self.registry.removesuffix("/clawhub")) if by_site else ("--registry", self.registry)
        program = self.modules / "clawhub" / "bin" / "clawdhub.js"
        return self._run(program, "--no-input", "--workdir", str(self.home), *where, *arguments)

    def skills(self, *arguments: str, api: str = "") -> Done:
        return self._run(self.modules / "skills" / "bin" / "cli.mjs", *arguments, SKILLS_API_URL=api)

    def _run(self, program: Path, *arguments: str, **more: str) -> Done:
        quiet = {"DISABLE_TELEMETRY": "1", "DO_NOT_TRACK": "1", "CI": "1", "NO_COLOR": "1", "HOME": str(self.home)}
        own = {"CLAWHUB_CONFIG_PATH": str(self.home / "clawhub.json"), "CLAWHUB_DISABLE_TELEMETRY": "1"}
        done = subprocess.run(
            [self.node, program, *arguments],
            cwd=self.home, env={**os.environ, **quiet, **own, **more}, stdin=subprocess.DEVNULL, capture_output=True,
            text=True, check=False, timeout=120,
        )  # fmt: skip
        return Done(done.returncode, done.stdout, done.stderr)

    def login(self, studio: Studio, name: str, scopes: str) -> Done:
        made = studio.manage("agent_key", "create", name, "--scopes", scopes, "--format", "json")
        return self.clawhub("login", "--token", json.loads(made.stdout)["key"], "--no-browser")

    def skill(self, name: str, answer: str) -> Path:
        folder = self.home / "work" / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "SKILL.md").write_text(SKILL.format(name=name, answer=answer))
        (folder / "notes.txt").write_text("For me alone.")
        return folder


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("npm")
    return install(folder, CLAWHUB, SKILLS), folder / "node_modules"


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    studio = start_studio(tmp_path_factory.mktemp("studio"), AGENT_API_PUBLIC_READ="on")
    yield studio
    studio.stop()


@pytest.fixture
def terminal(programs: tuple[Path, Path], studio: Studio, tmp_path: Path) -> Terminal:
    home = tmp_path / "home"
    home.mkdir()
    return Terminal(home, *programs, f"{studio.url}/clawhub")


def test_a_visitor_searches_looks_and_installs(terminal: Terminal) -> None:
    for by_site in (False, True):
        found = terminal.clawhub("search", "weight", by_site=by_site)
        assert found.out.startswith("weights v1.0.1"), found
        assert "@studio" in found.out
    assert [line.split()[0] for line in terminal.clawhub("search", "we", "--prefix").out.splitlines()] == ["weights"]
    assert len(terminal.clawhub("explore").out.splitlines()) == 7
    assert len(json.loads(terminal.clawhub("explore", "--json", "--limit", "3").out)["items"]) == 3
    assert "weights  Weight Tracking" in terminal.clawhub("inspect", "weights").out
    assert "1.0.1" in terminal.clawhub("inspect", "weights", "--versions").out
    assert "references/tools.json" in terminal.clawhub("inspect", "@studio/weights", "--files").out
    assert terminal.clawhub("inspect", "weights", "--tag", "latest").code == 0
    text = terminal.clawhub("inspect", "weights", "--file", "SKILL.md").out
    assert terminal.clawhub("install", "weights").code == 0
    installed = terminal.home / "skills" / "weights"
    assert (installed / "SKILL.md").read_text() == text
    assert "weights up to date v1.0.1" in terminal.clawhub("update", "--all").out
    missing = terminal.clawhub("install", "nothing")
    assert (missing.code, "Skill not found: nothing" in missing.err) == (1, True)


def test_a_publisher_publishes_and_others_update(terminal: Terminal, studio: Studio) -> None:
    assert "Logged in as @ci" in terminal.login(studio, "ci", "read,publish").out
    assert terminal.clawhub("whoami").out.strip() == "ci"
    folder = str(terminal.skill("mate-timer", "three"))
    first = terminal.clawhub(
        "skill", "publish", folder, "--slug", "mate-timer", "--name", "Mate", "--version", "1.0.1", "--changelog", "New"
    )
    assert "Published mate-timer@1.0.1 (mate-timer@1.0.1)" in first.out, first
    assert "mate-timer  Mate" in terminal.clawhub("inspect", "mate-timer").out
    assert "is already published" in terminal.clawhub("skill", "publish", folder).out
    assert "Installed mate-timer v1.0.1" in terminal.clawhub("install", "mate-timer").out
    terminal.skill("mate-timer", "four")
    tagged = terminal.clawhub("skill", "publish", folder, "--tags", "beta")
    assert (tagged.code, "leave --tags out" in tagged.err) == (1, True), tagged
    second = json.loads(terminal.clawhub("skill", "publish", folder, "--name", "Mate", "--json").out)
    assert (second["status"], second["versionId"]) == ("published", "mate-timer@1.0.2")
    assert "Updated mate-timer -> v1.0.2" in terminal.clawhub("update", "--all").out
    assert "four minutes" in (terminal.home / "skills" / "mate-timer" / "SKILL.md").read_text()
    assert "mate-timer up to date v1.0.2" in terminal.clawhub("update", "mate-timer").out
    assert "New" in terminal.clawhub("inspect", "mate-timer", "--versions").out
    old = terminal.clawhub("install", "mate-timer", "--version", "1.0.1", "--force")
    assert "Installed mate-timer v1.0.1" in old.out, old
    assert "three minutes" in (terminal.home / "skills" / "mate-timer" / "SKILL.md").read_text()


def test_refusals_are_read_as_sentences(terminal: Terminal, studio: Studio) -> None:
    bad = terminal.clawhub("login", "--token", "nonsense", "--no-browser")
    assert (bad.code, "The key is unknown" in bad.err) == (1, True)
    terminal.login(studio, "reader", "read")
    folder = terminal.skill("rude-timer", "three")
    refused = terminal.clawhub("skill", "publish", str(folder))
    assert "'propose' or 'publish'" in refused.err, refused
    terminal.login(studio, "bad-skills", "read,publish")
    (folder / "SKILL.md").write_text("---\nname: rude-timer\n---\nNothing.\n")
    unreadable = terminal.clawhub("skill", "publish", str(folder))
    assert "cannot be read as a skill" in unreadable.err, unreadable
    assert "{" not in unreadable.err


def _mcp_text(studio: Studio, capability_id: str) -> str:
    """What an agent is given by MCP, without a session, as the newest protocol has it."""
    call: dict[str, Any] = {"name": "capability_skill_load", "arguments": {"capability_id": capability_id}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    request = urllib.request.Request(f"{studio.url}/mcp", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=30) as response:
        return str(json.load(response)["result"])


def test_published_in_one_terminal_approved_installed_in_another_and_loaded_by_a_third(
    terminal: Terminal, studio: Studio, tmp_path: Path
) -> None:
    terminal.login(studio, "author", "read,propose")
    folder = terminal.skill("sencha-timer", "two")
    handed_in = json.loads(terminal.clawhub("skill", "publish", str(folder), "--json").out)
    assert handed_in["status"] == "pending-publication"
    # Nobody has it yet: an operator decides.
    assert "Skill not found" in terminal.clawhub("inspect", "sencha-timer").err
    studio.manage("proposal", "accept", handed_in["attemptId"])
    studio.manage("bundle", "publish", "--draft", "sencha_timer")

    second = Terminal(tmp_path / "second", terminal.node, terminal.modules, terminal.registry)
    second.home.mkdir()
    found = second.skills("find", "sencha", api=studio.url).out
    assert f"{studio.url}@sencha-timer" in found
    added = second.skills("add", studio.url, "--skill", "sencha-timer", "--agent", "claude-code", "--yes", "--copy")
    assert added.code == 0, added
    installed = (second.home / ".claude" / "skills" / "sencha-timer" / "SKILL.md").read_text()
    assert "Say two minutes." in installed
    assert "Say two minutes." in _mcp_text(studio, "sencha_timer")
    # And back at the author's own terminal.
    assert "Installed sencha-timer v1.0.1" in terminal.clawhub("install", "sencha-timer").out
    assert (terminal.home / "skills" / "sencha-timer" / "SKILL.md").read_text() == installed
