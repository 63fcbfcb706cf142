"""From a private repository that is followed to one that releases are pushed to; at its end a fresh clone is read."""

from __future__ import annotations

import json
import subprocess
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest

from features.credentials import credential_store
from features.git_mirrors import mirror_push, mirror_store
from features.sources import source_sync
from registry.common.actors import Actor
from registry.publishing import publication, quarantine
from tests.bundle_files import bundle
from tests.git_https import commit, git, make_certificate, served
from tests.pypi import install as install_python

pytestmark = [pytest.mark.django_db, pytest.mark.rare]
COMMAND = Actor("command_line", "root")
CHECK = """
import json, pathlib, sys
from skills_ref.validator import validate
print(json.dumps({each.name: validate(each) for each in pathlib.Path(sys.argv[1]).iterdir()}))
"""


def test_each_step_is_seen_by_a_fresh_clone(tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    python = install_python(tmp_path / "venv", "skills-ref==0.1.1")
    certificate = make_certificate(tmp_path)
    settings.IMPORT_ALLOWED_NETWORKS = (ip_network("127.0.0.0/8"),)
    settings.PUBLIC_URL = "https://studio.example"
    monkeypatch.setenv("GIT_SSL_CAINFO", str(certificate[0]))
    private, bare = tmp_path / "private", tmp_path / "there.git"
    private.mkdir()
    git(private, "init", "-q", "-b", "main")
    for name in ("alpha", "beta"):
        commit(private, {f"{name}/{path}": text for path, text in bundle(name).items()})
    git(tmp_path, "init", "-q", "--bare", "-b", "main", str(bare))
    git(bare, "config", "http.receivepack", "true")

    def seen() -> dict[str, str]:
        """The skills of a fresh clone, each of them valid."""
        mirror_push.push_mirror(mirror.pk)
        place = tmp_path / f"clone {len(list(tmp_path.iterdir()))}"
        git(tmp_path, "clone", "-q", str(bare), str(place))
        command = [str(python), "-c", CHECK, str(place / "skills")]
        found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout)
        assert not any(found.values()), found
        return {name: (place / "skills" / name / "SKILL.md").read_text() for name in found}

    with (
        served(private, certificate, login="x-access-token:in") as source_url,
        served(bare, certificate, login="x-access-token:out") as url,
    ):
        for name, address, secret in (("read", source_url, "in"), ("write", url, "out")):
            host = address.removeprefix("https://").partition("/")[0]
            credential_store.create_credential(name=name, hosts=[host], secret=secret, by=COMMAND)
        source = source_sync.add_git_source(
            spec=source_url, credential="read", mode="publish", every_minutes=60, by=COMMAND
        )
        source_sync.sync_source(source_id=source.pk, by=COMMAND)
        mirror = mirror_store.create_mirror(url=url, branch="main", credential="write", by=COMMAND)
        # The branch is not there yet.
        mirror_store.start_mirror(mirror_id=mirror.pk, head="", by=COMMAND)
        assert set(seen()) == {"alpha", "beta"}
        commit(private, {f"alpha/{path}": text for path, text in bundle("alpha", body="Another way.").items()})
        source_sync.sync_source(source_id=source.pk, by=COMMAND)
        assert "Another way." in seen()["alpha"]
        publication.rollback(capability_id="alpha", to=1, by=COMMAND)
        assert "Another way." not in seen()["alpha"]
        quarantine.quarantine(capability_id="beta", by=COMMAND)
        assert set(seen()) == {"alpha"}
        assert len(git(bare, "log", "--format=%h").split()) == 4
