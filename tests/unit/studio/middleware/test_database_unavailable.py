"""A database that is away is told as such, on every page."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import pytest
from django.contrib.sessions.backends.db import SessionStore
from django.db import OperationalError, connection
from django.test import Client
from pytest_django import Settings

from capability_rules.validation.isolation.pool import ChecksBusy
from registry.catalog import drafts
from registry.common.database_errors import KNOWN_OUTAGES
from registry.core import queries
from registry.models import Operator
from tests.factories import publish


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

    monkeypatch.setattr(queries, "list_capabilities", away)
    answer = client.get("/capabilities/")
    assert answer.status_code == 503
    assert answer["Retry-After"] == "5"
    page = answer.content.decode()
    assert "The database cannot be reached" in page
    # Nothing was written on a page that was only opened.
    assert "What you wrote" not in page


@pytest.mark.django_db
def test_a_page_whose_driver_fails_says_so_too(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Django translates most errors of the driver, and not all."""
    client.force_login(Operator.objects.create(username="ada", role="viewer"))

    def away(**_: object) -> None:
        raise connection.Database.OperationalError("away")  # type: ignore[attr-defined]

    monkeypatch.setattr(queries, "list_capabilities", away)
    assert client.get("/capabilities/").status_code == 503


@pytest.mark.django_db
def test_a_page_says_that_somebody_else_is_writing(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    client.force_login(Operator.objects.create(username="ada", role="viewer"))
    monkeypatch.setattr(queries, "list_capabilities", raise_locked)
    answer = client.get("/capabilities/")
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert "The registry is busy" in answer.content.decode()


def raise_full(*_: object, **__: object) -> None:
    error = sqlite3.OperationalError("database or disk is full")
    error.sqlite_errorcode = sqlite3.SQLITE_FULL
    raise OperationalError("database or disk is full") from error


@pytest.fixture
def author(client: Client) -> Iterator[Client]:
    publish()
    client.force_login(Operator.objects.create(username="ada", role="author"))
    yield client
    KNOWN_OUTAGES.forget()


SENT = {"skill.md": "# My <b>words</b>\nand more", "based_on": "", "capability.json": "", "new_password": "hemlock"}


@pytest.mark.django_db
def test_a_form_that_was_sent_is_in_the_page(author: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drafts, "save_draft", raise_full)
    answer = author.post("/capabilities/alpha/draft/save/", SENT)
    page = answer.content.decode()
    assert answer.status_code == 503
    assert "The disk is full" in page
    assert "# My &lt;b&gt;words&lt;/b&gt;\nand more</textarea>" in page
    assert "Your text is below" in page
    assert "hemlock" not in page


@pytest.mark.django_db
def test_a_fragment_says_why_and_leaves_the_text_where_it_is(author: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drafts, "save_draft", raise_full)
    page = author.post("/capabilities/alpha/draft/save/", SENT, headers={"HX-Request": "true"}).content.decode()
    assert '<p id="why">The disk is full' in page
    assert "<textarea" not in page


@pytest.mark.django_db
def test_a_session_that_cannot_be_stored_is_a_503(
    author: Client, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It fails behind the view, where no middleware is asked."""
    author.raise_request_exception = False
    settings.SESSION_SAVE_EVERY_REQUEST = True
    monkeypatch.setattr(SessionStore, "save", raise_full)
    answer = author.get("/capabilities/")
    assert answer.status_code == 503
    assert "The disk is full" in answer.content.decode()


@pytest.mark.django_db
def test_busy_checks_are_a_503_that_keeps_what_was_sent(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    publish("alpha")
    client.force_login(Operator.objects.create(username="ada", role="publisher"))

    def busy(*_: object, **__: object) -> None:
        raise ChecksBusy

    monkeypatch.setattr(drafts, "validate_bundle", busy)
    response = client.post("/capabilities/alpha/draft/save/", {"skill.md": "# Kept words", "based_on": ""})
    assert (response.status_code, response["Retry-After"]) == (503, "5")
    assert "Kept words" in response.content.decode()
