"""A database that is away is told as such, on every page."""

from __future__ import annotations

import pytest
from django.db import OperationalError
from django.test import Client

from registry import queries
from registry.models import Operator


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
