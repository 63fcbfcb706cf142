"""`/schemas/...`: the address that a schema names is the one that others find it at."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from tests.servers import ROOT

SCHEMAS = ROOT / "schemas"


@pytest.fixture
def address() -> str:
    return f"/schemas/{min(path.relative_to(SCHEMAS).as_posix() for path in SCHEMAS.rglob('*.schema.json'))}"


def test_a_schema_names_its_own_address(client: Client, address: str) -> None:
    assert client.get(address).json()["$id"] == f"http://testserver{address}"


def test_behind_a_proxy_it_names_the_public_address(client: Client, address: str, settings: Any) -> None:
    settings.PUBLIC_URL = "https://studio.example.com:8443"
    assert client.get(address).json()["$id"] == f"https://studio.example.com:8443{address}"


def test_an_unknown_schema_is_not_found(client: Client) -> None:
    assert client.get("/schemas/nothing.schema.json").status_code == 404
