"""A registry of its own on either database, for tests with processes of their own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.servers import ROOT, ServerError, run_manage, studio_environment


@dataclass(frozen=True)
class Site:
    """A migrated, empty registry; `env` leads every process there."""

    kind: str
    env: dict[str, str]

    def run(self, script: str, *arguments: str) -> Any:
        """Run a script beside these tests on this registry; answers the JSON document that it prints."""
        command = [sys.executable, str(Path(__file__).with_name(script)), *arguments]
        done = subprocess.run(command, env=self.env, capture_output=True, text=True, check=False, timeout=120, cwd=ROOT)
        if done.returncode != 0:
            raise ServerError(f"{script} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        return json.loads(done.stdout)


def new_database(url: str) -> str:
    """An empty database on the server of `url`."""
    import psycopg

    name = f"site_{uuid4().hex[:12]}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    before, _, after = url.partition("?")
    return f"{before.rpartition('/')[0]}/{name}" + (f"?{after}" if after else "")


def settings_for(kind: str, request: pytest.FixtureRequest) -> dict[str, str]:
    """The settings that an operator gives for a database of this kind."""
    if kind == "sqlite":
        return {}
    url = new_database(request.getfixturevalue("postgresql_url"))
    return {
        "DATABASE_URL": url,
        "SECRET_KEY": "for-these-tests-alone-" + "x" * 40,
        "ALLOWED_HOSTS": "127.0.0.1",
        "AGENT_API_PUBLIC_READ": "on",
    }


@pytest.fixture(params=["sqlite", "postgresql"])
def site(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Site]:
    env = studio_environment(tmp_path, **settings_for(request.param, request))
    run_manage("migrate", "--verbosity", "0", env=env)
    yield Site(request.param, env)
