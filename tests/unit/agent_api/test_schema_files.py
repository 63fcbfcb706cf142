"""`/schemas/...`: the address that a schema names is the one that others find it at."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import pytest
from django.test import Client

from tests.servers import ROOT
from tests.sweeps import check_each

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


def test_every_schema_is_at_the_path_of_its_id(client: Client) -> None:
    """And the schemas that it refers to are where the references lead."""

    def check(path: Path) -> None:
        declared = json.loads(path.read_text("utf-8"))["$id"]
        answer = client.get(urlsplit(declared).path)
        assert answer.status_code == 200
        assert answer["Content-Type"] == "application/schema+json"
        assert answer["Access-Control-Allow-Origin"] == "*"
        assert urlsplit(answer.json()["$id"]).path == urlsplit(declared).path
        for reference in re.findall(r'"\$ref": "([^#"][^"]*)"', answer.content.decode()):
            assert client.get(urlsplit(urljoin(answer.json()["$id"], reference)).path).status_code == 200, reference

    check_each(sorted(SCHEMAS.rglob("*.schema.json")), check, name=str)


def test_a_copy_that_is_current_is_not_sent_again(client: Client, address: str) -> None:
    answer = client.get(address)
    again = client.get(address, headers={"If-None-Match": answer["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert [again[name] for name in ("ETag", "Cache-Control", "Access-Control-Allow-Origin")] == [
        answer["ETag"],
        answer["Cache-Control"],
        "*",
    ]
    assert client.get(address, headers={"If-None-Match": '"another"'}).status_code == 200
    assert client.head(address)["ETag"] == answer["ETag"]


@pytest.mark.parametrize(
    "name",
    [
        "nothing.schema.json",
        "README.md",
        "findings.toml",
        "api/",
        "../pyproject.toml",
        "..%2fpyproject.toml",
        "api/../../manage.py",
        "%2e%2e/manage.py",
        "capability.schema.json/",
        "capability.schema.json%00",
    ],
)
def test_a_name_that_is_not_there_is_refused_in_the_envelope(name: str, client: Client) -> None:
    answer = client.get(f"/schemas/{name}")
    assert answer.status_code == 404
    assert answer.json()["error"]["code"] == "NOT_FOUND"
    assert answer["Access-Control-Allow-Origin"] == "*"
    assert answer["Cache-Control"] == "no-store"


def test_a_schema_is_read_alone(client: Client, address: str) -> None:
    for method in ("post", "put", "patch", "delete"):
        answer = getattr(client, method)(address)
        assert answer.status_code == 405
        assert answer.json()["error"]["code"] == "METHOD_NOT_ALLOWED"
        assert answer["Allow"] == "GET, HEAD"
