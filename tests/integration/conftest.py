"""A registry of its own on either database, for tests with processes of their own."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.commands import run_script
from tests.servers import ROOT, ServerError, copy_migrated, run_manage, studio_environment


@dataclass(frozen=True)
class Site:
    """A migrated, empty registry; `env` leads every process there."""

    kind: str
    env: dict[str, str]

    def run(self, script: str, *arguments: str) -> Any:
        """Run a script beside these tests on this registry; answers the JSON document that it prints."""
        done = run_script(Path(__file__).with_name(script), *arguments, env=self.env, cwd=ROOT)
        if done.returncode != 0:
            raise ServerError(f"{script} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        return json.loads(done.stdout)


def new_database(url: str, template: str = "template1") -> str:
    """A database on the server of `url`, like the template."""
    import psycopg

    name = f"site_{uuid4().hex[:12]}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
    before, _, after = url.partition("?")
    return f"{before.rpartition('/')[0]}/{name}" + (f"?{after}" if after else "")


def on_postgresql(url: str) -> dict[str, str]:
    """The settings that an operator gives for it."""
    return {
        "DATABASE_URL": url,
        "SECRET_KEY": "for-these-tests-alone-" + "x" * 40,
        "ALLOWED_HOSTS": "127.0.0.1",
        "AGENT_API_PUBLIC_READ": "on",
    }


@pytest.fixture(scope="session")
def migrated_postgresql(tmp_path_factory: pytest.TempPathFactory, postgresql_url: str) -> str:
    """The name of a migrated database to be copied."""
    url = new_database(postgresql_url)
    env = studio_environment(tmp_path_factory.mktemp("migrated"), **on_postgresql(url))
    run_manage("migrate", "--verbosity", "0", env=env)
    return url.partition("?")[0].rpartition("/")[2]


def new_site(kind: str, request: pytest.FixtureRequest, folder: Path, **settings: str) -> Site:
    """A migrated, empty registry of its own, copied from one that was migrated once."""
    if kind == "sqlite":
        copy_migrated(folder / "studio.sqlite3")
        return Site(kind, studio_environment(folder, **settings))
    template = request.getfixturevalue("migrated_postgresql")
    url = new_database(request.getfixturevalue("postgresql_url"), template)
    return Site(kind, studio_environment(folder, **on_postgresql(url), **settings))


@pytest.fixture(params=["sqlite", "postgresql"])
def site(request: pytest.FixtureRequest, tmp_path: Path) -> Site:
    return new_site(request.param, request, tmp_path)
