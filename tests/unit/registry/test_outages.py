"""Away or busy: told by the driver's own codes, never by words."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from django.db import OperationalError, connection, transaction

from registry.outages import AWAY, BUSY, is_busy, words_for


def test_a_file_that_another_holds_is_busy(tmp_path: Path) -> None:
    path = tmp_path / "x.sqlite3"
    with closing(sqlite3.connect(path)) as one, closing(sqlite3.connect(path, timeout=0)) as other:
        one.execute("CREATE TABLE a (b)")
        one.execute("BEGIN EXCLUSIVE")
        with pytest.raises(sqlite3.OperationalError) as caught:
            other.execute("BEGIN IMMEDIATE")
    error = OperationalError("database is locked")
    error.__cause__ = caught.value
    assert is_busy(error)
    assert words_for(error) == BUSY


def test_a_file_that_cannot_be_opened_is_away(tmp_path: Path) -> None:
    with pytest.raises(sqlite3.OperationalError) as caught:
        sqlite3.connect(tmp_path / "none" / "x.sqlite3")
    error = OperationalError("unable to open database file")
    error.__cause__ = caught.value
    assert words_for(error) == AWAY
    assert words_for(OperationalError("database is locked")) == AWAY


@pytest.mark.postgres
@pytest.mark.django_db
def test_a_statement_that_is_cut_is_busy() -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = 100")
        with pytest.raises(OperationalError) as caught, transaction.atomic():
            cursor.execute("SELECT pg_sleep(5)")
    assert is_busy(caught.value)
