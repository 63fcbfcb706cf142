"""Usage: what is loaded, by which key, and what is not."""

from __future__ import annotations

import csv
import io
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from registry.models import LoadCount
from registry.publishing import publication
from registry.usage.usage_report import RequestedCapability, count_loads_by_day, list_usage_rows
from tests.factories import OLGA, publish
from tests.unit.studio.conftest import SignIn

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def _today() -> date:
    return datetime.now(UTC).date()


def _load(capability_id: str, count: int, key: str = "bot", revision: int = 1, days_ago: int = 0) -> None:
    day = _today() - timedelta(days=days_ago)
    LoadCount.objects.create(day=day, capability_id=capability_id, revision=revision, key_name=key, count=count)


@pytest.fixture
def client(signed_in: SignIn) -> Client:
    return signed_in("viewer")


@pytest.fixture
def loads() -> None:
    for name in ("alpha", "beta", "gamma"):
        publish(name)
    publication.deprecate(capability_id="beta", replaced_by="alpha", by=OLGA)
    _load("alpha", 3)
    _load("alpha", 2, key="", revision=2, days_ago=5)
    _load("beta", 4, key="<b>old</b>", days_ago=2)
    _load("alpha", 100, days_ago=40)


def _lines(**asked: Any) -> list[tuple[Any, ...]]:
    rows = list_usage_rows(RequestedCapability(**asked))
    return [(row.capability_id, row.revision, row.key_name, row.loads, row.others) for row in rows]


def test_an_empty_registry_says_so(client: Client) -> None:
    page = client.get("/usage/").content.decode()
    assert "No loads in this period" in page
    assert "No deprecated capability is in use" in page


@pytest.mark.usefixtures("loads")
def test_lines_by_capability_revision_and_key() -> None:
    assert _lines() == [("alpha", None, None, 5, 2), ("beta", None, None, 4, 1)]
    assert _lines(by="revision", sort="name") == [
        ("alpha", 1, None, 3, 1),
        ("alpha", 2, None, 2, 1),
        ("beta", 1, None, 4, 1),
    ]
    assert _lines(by="key", sort="-last") == [
        ("", None, "bot", 3, 1),
        ("", None, "<b>old</b>", 4, 1),
        ("", None, "", 2, 1),
    ]
    assert _lines(days=90, capability_id="alpha", key_name="bot") == [("alpha", None, None, 103, 1)]
    assert _lines(days=7, key_name="") == [("alpha", None, None, 2, 1)]


@pytest.mark.usefixtures("loads")
def test_days_and_months_add_up() -> None:
    assert sum(count for _, count in count_loads_by_day(RequestedCapability(days=7))) == 9
    assert len(count_loads_by_day(RequestedCapability(days=7))) == 7
    year = count_loads_by_day(RequestedCapability(days=365))
    assert sum(count for _, count in year) == 109
    assert all(day.day == 1 for day, _ in year)
    assert len(year) in (12, 13)


@pytest.mark.usefixtures("loads")
def test_the_page_tells_what_is_unused_and_who_loads_what_is_deprecated(client: Client) -> None:
    page = client.get("/usage/").content.decode()
    unused = page.split('id="unused"')[1]
    assert '<a href="/capabilities/gamma/"><bdi>Gamma</bdi></a>' in unused
    assert "/alpha/" not in unused
    still = page.split('id="still-loaded"')[1].split('id="unused"')[0]
    assert "&lt;b&gt;old&lt;/b&gt;" in still
    assert "replacement: alpha" in still
    assert "<b>old" not in page


@pytest.mark.usefixtures("loads")
def test_the_export_is_the_whole_table_and_no_formula(client: Client) -> None:
    _load("alpha", 1, key="=1+1")
    answer = client.get("/usage/export/?by=key&sort=name")
    assert answer["Content-Disposition"] == 'attachment; filename="usage-by-key.csv"'
    rows = list(csv.reader(io.StringIO(answer.getvalue().decode())))
    assert rows[0] == ["key_name", "loads", "capabilities", "last_day"]
    assert [row[:3] for row in rows[1:]] == [
        ["", "2", "1"],
        ["<b>old</b>", "4", "1"],
        ["'=1+1", "1", "1"],
        ["bot", "3", "1"],
    ]


@pytest.mark.parametrize("odd", ["days=x&by=y&sort=z", "days=٣٠", "page=x", "capability=%00<b>", "key=%00"])
def test_an_odd_address_breaks_nothing(odd: str, client: Client) -> None:
    for address in ("/usage/", "/usage/export/"):
        assert client.get(f"{address}?{odd}").status_code == 200


@pytest.mark.slow
@pytest.mark.parametrize("by", ["capability", "revision", "key"])
def test_the_number_of_queries_does_not_grow(by: str, client: Client) -> None:
    counts = []
    for amount in (2, 20):
        for number in range(amount):
            publish(f"c{amount}_{number}")
            _load(f"c{amount}_{number}", number + 1, key=f"k{amount} {number}")
        with CaptureQueriesContext(connection) as queries:
            client.get(f"/usage/?by={by}")
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 11
