"""What the tests of the chart share."""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.shared_folders import make_folder_once
from tests.system.chart_values import REFUSED, SETS
from tests.system.cluster import examine


@pytest.fixture(scope="session")
def examined() -> dict[str, Any]:
    """What the chart is with each set of values, once for a run of pytest."""

    def fill(folder: Path) -> None:
        sets = {**SETS, **{name: values for name, (values, _) in REFUSED.items()}}
        (folder / "found.json").write_text(json.dumps(examine(sets, folder)), "utf-8")

    found: dict[str, Any] = json.loads((make_folder_once("chart", fill) / "found.json").read_text("utf-8"))
    return found


@pytest.fixture
def database_url(postgresql_url: str) -> str:
    """An empty database of its own."""
    name = f"pods_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(postgresql_url, autocommit=True) as server:
        server.execute(f'CREATE DATABASE "{name}"')
    return postgresql_url.replace("/postgres?", f"/{name}?")
