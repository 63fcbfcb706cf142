"""Why the database cannot be used is read from the driver's own codes and from the disk, never from words."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from django.db import DatabaseError, OperationalError, connection, transaction

from registry.common import database_errors
from registry.common.database_errors import (
    AWAY,
    BUSY,
    DAMAGED,
    FULL,
    KNOWN_OUTAGES,
    READ_ONLY,
    DatabaseOutage,
    classify_error,
    record_outage,
)


@pytest.fixture(autouse=True)
def _new_process() -> Iterator[None]:
    KNOWN_OUTAGES.forget()
    yield
    KNOWN_OUTAGES.forget()


def raised(act: Callable[[], object]) -> DatabaseError:
    """As Django raises what the driver did."""
    with pytest.raises((sqlite3.Error, psycopg.Error)) as caught:
        act()
    error = DatabaseError(str(caught.value))
    error.__cause__ = caught.value
    return error


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """A file of 200 pages."""
    path = tmp_path / "x.sqlite3"
    with closing(sqlite3.connect(path)) as one:
        one.execute("CREATE TABLE a (b)")
        one.executemany("INSERT INTO a VALUES (?)", [("x" * 3000,)] * 200)
        one.commit()
    return path


def test_a_file_that_another_holds_is_busy(database: Path) -> None:
    with closing(sqlite3.connect(database)) as one, closing(sqlite3.connect(database, timeout=0)) as other:
        one.execute("BEGIN EXCLUSIVE")
        assert classify_error(raised(lambda: other.execute("BEGIN IMMEDIATE"))) is BUSY


def test_a_file_without_room_is_full(database: Path) -> None:
    with closing(sqlite3.connect(database)) as one:
        one.execute("PRAGMA max_page_count = 1")
        error = raised(lambda: one.execute("INSERT INTO a VALUES (?)", ["x" * 100_000]))
    assert classify_error(error) is FULL


@pytest.mark.parametrize(("start", "end"), [(0, 100), (100, 4096), (8192, 400_000)], ids=["head", "schema", "middle"])
def test_a_file_that_was_overwritten_is_damaged(database: Path, start: int, end: int) -> None:
    content = bytearray(database.read_bytes())
    content[start:end] = b"\x5a" * (end - start)
    database.write_bytes(content)
    with closing(sqlite3.connect(database)) as one:
        assert classify_error(raised(lambda: one.execute("SELECT sum(length(b)) FROM a").fetchall())) is DAMAGED


def test_a_file_that_was_cut_is_damaged(database: Path) -> None:
    database.write_bytes(database.read_bytes()[:200_000])
    with closing(sqlite3.connect(database)) as one:
        assert classify_error(raised(lambda: one.execute("SELECT sum(length(b)) FROM a").fetchall())) is DAMAGED


def test_a_file_that_may_not_be_written_is_read_only(database: Path) -> None:
    with closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)) as one:
        assert classify_error(raised(lambda: one.execute("DELETE FROM a"))) is READ_ONLY


def test_a_file_that_cannot_be_opened_is_away(tmp_path: Path) -> None:
    assert classify_error(raised(lambda: sqlite3.connect(tmp_path / "none" / "x.sqlite3"))) is AWAY
    assert classify_error(OperationalError("database is locked")) is AWAY


def test_what_sqlite_calls_an_io_error_is_looked_up_on_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    cause = sqlite3.OperationalError("disk I/O error")
    cause.sqlite_errorcode = sqlite3.SQLITE_IOERR_WRITE
    monkeypatch.setattr(database_errors, "find_disk_outage", lambda: FULL)
    assert classify_error(raised_from(cause)) is FULL
    monkeypatch.setattr(database_errors, "find_disk_outage", lambda: None)
    assert classify_error(raised_from(cause)) is AWAY


def raised_from(cause: BaseException) -> DatabaseError:
    error = DatabaseError(str(cause))
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("cause", "outage"),
    [
        (psycopg.errors.DiskFull(), FULL),
        (psycopg.errors.DataCorrupted(), DAMAGED),
        (psycopg.errors.IndexCorrupted(), DAMAGED),
        (psycopg.errors.ReadOnlySqlTransaction(), READ_ONLY),
        (psycopg.errors.LockNotAvailable(), BUSY),
        (psycopg.errors.AdminShutdown(), AWAY),
        (psycopg.OperationalError("connection refused"), AWAY),
    ],
)
def test_postgresql_says_it_by_its_codes(cause: psycopg.Error, outage: DatabaseOutage) -> None:
    assert classify_error(raised_from(cause)) is outage


@pytest.mark.parametrize(
    ("number", "outage"), [(errno.ENOSPC, FULL), (errno.EDQUOT, FULL), (errno.EROFS, READ_ONLY), (errno.EACCES, AWAY)]
)
def test_the_system_says_it_by_its_numbers(number: int, outage: DatabaseOutage) -> None:
    assert classify_error(OSError(number, "no")) is outage


def test_what_lasts_is_kept_and_what_passes_is_not() -> None:
    record_outage(raised_from(psycopg.OperationalError("connection refused")))
    assert (KNOWN_OUTAGES.unwritable, KNOWN_OUTAGES.is_damaged) == (None, False)
    record_outage(raised_from(psycopg.errors.DiskFull()))
    record_outage(raised_from(psycopg.errors.DataCorrupted()))
    assert (KNOWN_OUTAGES.unwritable, KNOWN_OUTAGES.is_damaged) == (FULL, True)
    database_errors.record_write()
    assert (KNOWN_OUTAGES.unwritable, KNOWN_OUTAGES.is_damaged) == (None, True)


def test_each_says_what_it_is_and_what_to_do() -> None:
    assert FULL.words.startswith("The disk is full")
    assert "restore a backup with `manage.py backup restore`" in DAMAGED.words
    assert "read-only" in READ_ONLY.words
    assert FULL.sentences(OSError("no space")) == f"{FULL.words} (no space). {FULL.fix}"


@pytest.mark.postgres
@pytest.mark.django_db
def test_a_statement_that_is_cut_is_busy() -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = 100")
        with pytest.raises(OperationalError) as caught, transaction.atomic():
            cursor.execute("SELECT pg_sleep(5)")
    assert classify_error(caught.value) is BUSY
