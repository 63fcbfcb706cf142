"""The real `skills` client installs from our discovery index, sees updates, and drops nothing without a word."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from capability_rules.bundles.archives import write_zip
from tests.factories import bundle
from tests.npm import install
from tests.servers import Studio, start_studio

pytestmark = [pytest.mark.rare, pytest.mark.system, pytest.mark.node]
PACKAGE = "skills@1.7.4"


@dataclass(frozen=True)
class Client:
    """`client(folder, "add", URL)`: the program in a project and a home of its own."""

    program: tuple[str, str]

    def __call__(self, folder: Path, *arguments: str) -> str:
        home = folder / "home"
        home.mkdir(exist_ok=True)
        quiet = {"DISABLE_TELEMETRY": "1", "DO_NOT_TRACK": "1", "CI": "1", "NO_COLOR": "1", "HOME": str(home)}
        done = subprocess.run(
            [*self.program, *arguments],
            cwd=folder, env={**os.environ, **quiet}, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            check=False, timeout=120,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Client:
    folder = tmp_path_factory.mktemp("npm")
    node = install(folder, PACKAGE)
    return Client((str(node), str(folder / "node_modules" / "skills" / "bin" / "cli.mjs")))


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    """Nothing is read here without a key, but below the share link."""
    studio = start_studio(tmp_path_factory.mktemp("studio"), AGENT_API_PUBLIC_READ="off")
    yield studio
    studio.stop()


@pytest.fixture(scope="module")
def share(studio: Studio) -> str:
    token = studio.manage("share_link", "create", "partner").stdout.strip().rpartition("/")[2]
    return f"{studio.url}/share/{token}"


def _published(studio: Studio) -> list[str]:
    rows = json.loads(studio.manage("bundle", "list", "--format", "json").stdout)["capabilities"]
    return sorted(row["capability_id"].replace("_", "-") for row in rows if row["status"] == "published")


def _add(client: Client, folder: Path, url: str, skill: str = "*") -> list[str]:
    client(folder, "add", url, "--skill", skill, "--agent", "claude-code", "--yes", "--copy")
    return sorted(path.name for path in (folder / ".claude" / "skills").iterdir())


def test_every_skill_is_installed_with_what_was_published(
    client: Client, studio: Studio, share: str, tmp_path: Path
) -> None:
    installed = _add(client, tmp_path, share)
    assert installed == _published(studio)
    weights = tmp_path / ".claude" / "skills" / "weights"
    text = (weights / "SKILL.md").read_text("utf-8")
    source = (Path(__file__).parents[2] / "examples" / "weights" / "skill.md").read_text("utf-8")
    assert text.endswith(source)
    assert len(json.loads((weights / "references" / "tools.json").read_text("utf-8"))) >= 1
    # Back again: what a client has installed is the bundle that was published.
    done = studio.manage("bundle", "import", str(weights), "--format", "json", check=False)
    (row,) = json.loads(done.stdout)["results"]
    assert (row["capability_id"], row["status"]) == ("weights", "draft")


def test_one_skill_and_the_list(client: Client, share: str, tmp_path: Path) -> None:
    assert "weights" in client(tmp_path, "add", share, "--list")
    assert _add(client, tmp_path, share, "meals") == ["meals"]


def test_use_prints_the_skill(client: Client, share: str, tmp_path: Path) -> None:
    assert "Weight Tracking" in client(tmp_path, "use", share, "--skill", "weights")


def test_an_update_is_seen_and_nothing_else(client: Client, studio: Studio, share: str, tmp_path: Path) -> None:
    files = bundle("zebra", body="One.")
    archive = tmp_path / "zebra.zip"
    archive.write_bytes(write_zip({name: text.encode() for name, text in files.items()}))
    studio.manage("bundle", "publish", str(archive))
    _add(client, tmp_path, share)
    skill = tmp_path / ".claude" / "skills" / "zebra" / "SKILL.md"
    assert "One." in skill.read_text()
    before = client(tmp_path, "update", "--project", "--yes")
    assert "Checking 8 skill(s)" in before
    assert "Updat" not in before.replace("Updating for", "")
    archive.write_bytes(write_zip({name: text.replace("One.", "Two.").encode() for name, text in files.items()}))
    studio.manage("bundle", "publish", str(archive))
    after = client(tmp_path, "update", "--project", "--yes")
    assert "Updated 1 skill(s)" in after
    assert "Two." in skill.read_text()


def test_a_revoked_link_gives_nothing(client: Client, studio: Studio, tmp_path: Path) -> None:
    token = studio.manage("share_link", "create", "short").stdout.strip().rpartition("/")[2]
    studio.manage("share_link", "revoke", "short")
    with pytest.raises(AssertionError):
        client(tmp_path, "add", f"{studio.url}/share/{token}", "--list")
