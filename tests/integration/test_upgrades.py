"""This version starts on a site that an earlier one made, and everything that people made there goes on.

`tests/release_sites.py` stored each site once, with the code of its release.
"""

from __future__ import annotations

import gzip
import itertools
import json
import sqlite3
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
import psycopg
import pytest

from tests.release_sites import AGENT_KEY_NAME, DUE, OPERATOR, PASSWORD, SECRET_KEY, SOURCE, signing_key
from tests.servers import Studio, start_studio

pytestmark = pytest.mark.rare

SITES = Path(__file__).parent / "upgrades"
RELEASES = ("42eca922", "0.2.0", "69368c53", "0.3.0")


def _read(release: str, vendor: str) -> tuple[str, str]:
    """The agent key and the statements, with the planned release next year."""
    text = gzip.decompress((SITES / f"{release}.{vendor}.sql.gz").read_bytes()).decode()
    first, _, statements = text.partition("\n")
    due = DUE.replace(year=datetime.now(UTC).year + 1)
    return first.removeprefix("-- "), statements.replace(f"{DUE:%Y-%m-%d %H}", f"{due:%Y-%m-%d %H}")


@pytest.fixture
def upgraded(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[tuple[Studio, httpx2.Client]]:
    release, vendor = request.param
    key, statements = _read(release, vendor)
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    pem = tmp_path / "signing.pem"
    pem.touch(mode=0o600)
    pem.write_bytes(signing_key())
    settings = {"SECRET_KEY": SECRET_KEY, "SIGNING_KEY_FILE": str(pem), "EMBEDDER": "none", "EXAMPLES": "off"}
    if vendor == "sqlite":
        with closing(sqlite3.connect(data / "studio.sqlite3")) as database:
            database.executescript(f"PRAGMA foreign_keys = OFF;\n{statements}")
    else:
        url = request.getfixturevalue("postgresql_url")
        name = f"site_{uuid.uuid4().hex[:12]}"
        with psycopg.connect(url, autocommit=True) as server:
            server.execute(f'CREATE DATABASE "{name}"')
        settings |= {"DATABASE_URL": url.replace("/postgres?", f"/{name}?"), "ALLOWED_HOSTS": "127.0.0.1"}
        with psycopg.connect(settings["DATABASE_URL"], autocommit=True) as database:
            database.execute(statements)
    studio = start_studio(data, **settings)
    with httpx2.Client(base_url=studio.url, headers={"Authorization": f"Bearer {key}"}, timeout=60) as client:
        yield studio, client
    studio.stop()


@pytest.mark.parametrize(
    "upgraded", [*itertools.product(RELEASES, ("sqlite", "postgresql"))], indirect=True, ids="-".join
)
def test_a_site_of_an_earlier_release_goes_on(upgraded: tuple[Studio, httpx2.Client], tmp_path: Path) -> None:
    studio, agent = upgraded
    # The key opens what it opened; texts are those that were signed.
    listed = agent.get("/api/v1/capability_registry_list").json()["capabilities"]
    assert {row["capability_id"]: row["status"] for row in listed} == {"weather": "published", "climate": "deprecated"}
    for revision, line in ((1, "First answer."), (2, "Second answer.")):
        loaded = agent.get(f"/api/v1/capability_skill_load?capability_id=weather&revision={revision}")
        assert loaded.status_code == 200, loaded.text
        assert line in loaded.json()["skill_doc"]
    assert "雨" in agent.get("/api/v1/capability_file_load?capability_id=weather&path=references/rain.md").text
    # Signatures, checkpoints and the chain of the audit log, row by row.
    verified = studio.manage("registry", "verify", check=False)
    assert verified.returncode == 0, verified.stdout + verified.stderr

    assert AGENT_KEY_NAME in studio.manage("agent_key", "list").stdout
    assert "https://hooks.example.com/x" in studio.manage("webhook", "list").stdout
    assert SOURCE in studio.manage("git_source", "list").stdout
    drafts = _ask(
        studio, "[(d.capability.capability_id, d.version) for d in Draft.objects.all()]", "registry.models", "Draft"
    )
    assert sorted(name for name, _ in drafts) == ["draft_alone", "weather"]
    plans = _ask(
        studio, "[(p.state, p.note) for p in ScheduledRelease.objects.all()]", "registry.models", "ScheduledRelease"
    )
    assert plans == [["waiting", "In autumn"]]
    _sign_in(studio)

    # And it goes on: a publish of the draft, and a backup of all of it.
    published = studio.manage("bundle", "publish", "--draft", "draft_alone", check=False)
    assert published.returncode == 0, published.stdout + published.stderr
    studio.manage("backup", "create", "--to", str(tmp_path / "site.zip"))
    assert studio.manage("registry", "verify").returncode == 0


def _ask(studio: Studio, expression: str, module: str, name: str) -> Any:
    program = f"import json; from {module} import {name}; print(json.dumps({expression}))"
    done: subprocess.CompletedProcess[str] = studio.manage("shell", "-v", "0", "-c", program)
    return json.loads(done.stdout.splitlines()[-1])


def _sign_in(studio: Studio) -> None:
    with httpx2.Client(base_url=studio.url, follow_redirects=True, timeout=60) as browser:
        page = browser.get("/sign-in/")
        token = page.text.partition('name="csrfmiddlewaretoken" value="')[2].partition('"')[0]
        form = {"username": OPERATOR, "password": PASSWORD, "login": OPERATOR, "csrfmiddlewaretoken": token}
        answer = browser.post(str(page.url), data=form, headers={"Referer": str(page.url)})
        assert (answer.status_code, "/sign-in/" in str(answer.url)) == (200, False)
        assert browser.get("/capabilities/weather/").status_code == 200
