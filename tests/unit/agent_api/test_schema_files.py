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


def test_an_address_that_a_caller_made_up_is_cached_for_nobody_else(
    client: Client, address: str, settings: Any
) -> None:
    """Without PUBLIC_URL the port of `Host` is what the caller says: behind a tunnel it is another one than ours."""
    answer = client.get(address, headers={"Host": "testserver:6666"})
    assert answer.json()["$id"] == f"http://testserver:6666{address}"
    assert answer["Cache-Control"] == "private, max-age=300"
    assert "Host" in answer["Vary"]
    settings.PUBLIC_URL = "https://studio.example.com"
    answer = client.get(address, headers={"Host": "testserver:6666"})
    assert answer.json()["$id"] == f"https://studio.example.com{address}"
    assert answer["Cache-Control"] == "public, max-age=300"


def test_an_unknown_schema_is_not_found(client: Client) -> None:
    assert client.get("/schemas/nothing.schema.json").status_code == 404
