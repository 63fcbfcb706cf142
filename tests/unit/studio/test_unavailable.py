"""A database that is away is told as such, on every page."""

from __future__ import annotations

import sqlite3

import pytest
from django.db import OperationalError
from django.test import Client

from registry import queries
from registry.models import Operator


def raise_locked(**_: object) -> None:
    """As Django does for a file that another connection holds."""
    error = sqlite3.OperationalError("database is locked")
    error.sqlite_errorcode = sqlite3.SQLITE_BUSY
    raise OperationalError("database is locked") from error


@pytest.mark.django_db
def test_a_page_says_that_the_database_is_away(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    client.force_login(Operator.objects.create(username="ada", role="viewer"))

    def away(**_: object) -> None:
        raise OperationalError("database is locked")

    monkeypatch.setattr(queries, "capability_rows", away)
    answer = client.get("/capabilities/")
    assert answer.status_code == 503
    assert answer["Retry-After"] == "5"
    assert "still in the browser" in answer.content.decode()


@pytest.mark.django_db
def test_a_page_says_that_somebody_else_is_writing(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    client.force_login(Operator.objects.create(username="ada", role="viewer"))
    monkeypatch.setattr(queries, "capability_rows", raise_locked)
    answer = client.get("/capabilities/")
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert "The registry is busy" in answer.content.decode()
