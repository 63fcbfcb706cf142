"""Probes tell the truth."""

from __future__ import annotations

import pytest
from django.db import DatabaseError
from django.test import Client
from pytest_django import Settings

from registry.common.database_errors import DAMAGED, FULL, READ_ONLY, DatabaseOutage
from registry.core import storage
from studio.middleware import health_endpoints


def test_healthz_asks_nobody(client: Client) -> None:
    assert client.get("/healthz").status_code == 200


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "TRACE"])
def test_another_method_is_told_those_that_there_are(method: str, path: str) -> None:
    answer = Client(enforce_csrf_checks=True).generic(method, path)
    assert (answer.status_code, answer["Allow"]) == (405, "GET, HEAD")
    assert answer.json()["error"]["code"] == "METHOD_NOT_ALLOWED"


@pytest.mark.django_db
def test_readyz_is_ready_with_a_database(client: Client) -> None:
    answer = client.get("/readyz")
    assert answer.status_code == 200
    assert answer.json() == {"ready": True, "database": "ok"}


@pytest.mark.django_db
def test_readyz_says_that_the_database_is_away(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    class Away:
        vendor = "sqlite"

        def cursor(self) -> None:
            raise DatabaseError("gone")

        def close(self) -> None: ...

    monkeypatch.setattr(storage, "connection", Away())
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json() == {"ready": False, "database": "away"}


@pytest.mark.django_db
@pytest.mark.parametrize("outage", [FULL, DAMAGED, READ_ONLY])
def test_readyz_names_what_is_wrong(outage: DatabaseOutage, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health_endpoints, "find_storage_outage", lambda: outage)
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()) == (503, {"ready": False, "database": outage.state})


@pytest.mark.django_db
def test_readyz_says_that_redis_is_away(client: Client, settings: Settings) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["redis"] == "away"


@pytest.mark.django_db
def test_readyz_is_ready_with_redis(client: Client, settings: Settings, redis_url: str) -> None:
    settings.REDIS_URL = redis_url
    assert client.get("/readyz").json() == {"ready": True, "database": "ok", "redis": "ok"}
