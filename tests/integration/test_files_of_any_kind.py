"""A template and a font, from a folder to everyone who gets them: one story over real products."""

from __future__ import annotations

import base64
import io
import json
import random
import urllib.request
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from capability_client import LocalSkills, Registry
from capability_client.cli.install import install
from tests.office_files import docx
from tests.servers import Studio, copy_prepared, run_manage, start_studio, studio_environment

pytestmark = [pytest.mark.slow, pytest.mark.system]

FONT = b"wOF2" + random.Random(7).randbytes(300_000)
FILES = {"assets/letter.docx": docx("Dear Ms Alvarez, your order has shipped."), "assets/face.woff2": FONT}
_HEAD = "name: letters\ndescription: Writes letters to customers in the house style"
SKILL = f"---\n{_HEAD}\n---\n# Letters\n\nUse the template.\n"


@pytest.fixture
def upstream(tmp_path: Path) -> Iterator[Studio]:
    (tmp_path / "upstream").mkdir()
    studio = start_studio(tmp_path / "upstream", WEBHOOK_ALLOWED_NETWORKS="127.0.0.0/8")
    yield studio
    studio.stop()


def _get(studio: Studio, path: str, body: dict[str, Any] | None = None) -> bytes:
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    data = json.dumps(body).encode() if body is not None else None
    with urllib.request.urlopen(urllib.request.Request(f"{studio.url}{path}", data, headers)) as answer:
        found: bytes = answer.read()
    return found


def _unpacked(archive: bytes) -> dict[str, bytes]:
    """The two files of a zip, wherever they are in it."""
    with zipfile.ZipFile(io.BytesIO(archive)) as found:
        return {name[name.index("assets/") :]: found.read(name) for name in found.namelist() if "assets/" in name}


def test_every_byte_arrives_by_every_way(upstream: Studio, tmp_path: Path) -> None:
    folder = tmp_path / "letters"
    (folder / "assets").mkdir(parents=True)
    (folder / "SKILL.md").write_text(SKILL)
    for path, content in FILES.items():
        (folder / path).write_bytes(content)
    done = upstream.manage("bundle", "import", str(folder), "--publish", "--format", "json")
    assert json.loads(done.stdout)["results"][0]["status"] == "published"

    with Registry(upstream.url, cache_dir=tmp_path / "cache") as registry:
        bundle = registry.load("letters")
        assert {one.path: one.type for one in bundle.files}["assets/face.woff2"] == "font/woff2"
        for _ in range(2):
            assert {path: registry.content(bundle, path) for path in FILES} == FILES
        skills = LocalSkills(tmp_path / "skills")
        install("letters", skills, registry)
        local = skills.load("letters")
        assert {path: skills.content(local, path) for path in FILES} == FILES

    for path, content in FILES.items():
        asked = {"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": f"skill://letters/{path}"}}
        (found,) = json.loads(_get(upstream, "/mcp", asked))["result"]["contents"]
        assert base64.b64decode(found["blob"]) == content
    assert _unpacked(_get(upstream, "/clawhub/api/v1/download?slug=letters")) == FILES
    wish = {"set_id": "desk", "name": "Desk", "description": "Letters", "members": [{"capability_id": "letters"}]}
    (tmp_path / "set.json").write_text(json.dumps(wish))
    upstream.manage("set", "save", str(tmp_path / "set.json"))
    upstream.manage("set", "plugin", "desk", "--form", "claude", "--to", str(tmp_path / "plugin.zip"))
    assert _unpacked((tmp_path / "plugin.zip").read_bytes()) == FILES

    downstream = start_studio(tmp_path / "downstream", IMPORT_ALLOWED_NETWORKS="127.0.0.0/8", EXAMPLES="off")
    try:
        downstream.manage("git_source", "add", upstream.url, "--registry", "--publish")
        downstream.manage("git_source", "sync", "1")
        assert _unpacked(_get(downstream, "/clawhub/api/v1/download?slug=letters")) == FILES
    finally:
        downstream.stop()

    backup = tmp_path / "backup.zip"
    upstream.manage("backup", "create", "--to", str(backup))
    copy_prepared(tmp_path / "restored")
    env = studio_environment(tmp_path / "restored")
    run_manage("backup", "restore", str(backup), "--force", env=env)
    assert json.loads(run_manage("registry", "verify", "--format", "json", env=env).stdout)["problems"] == []
    run_manage("bundle", "export", "letters", "--to", str(tmp_path / "out"), env=env)
    exported = {path: next((tmp_path / "out").rglob(path)).read_bytes() for path in FILES}
    assert exported == FILES
