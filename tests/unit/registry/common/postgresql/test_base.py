"""Waits for PostgreSQL end: by the server's limits, and by ours where the server says nothing."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from django.db import OperationalError, connection, transaction
from pytest_django import Settings

from registry.common.postgresql.circuit_breaker import CIRCUIT_BREAKER

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    connection.close()
    yield
    CIRCUIT_BREAKER.is_serving = CIRCUIT_BREAKER.is_away = False
    connection.close()


def shown(name: str) -> str:
    with connection.cursor() as cursor:
        cursor.execute(f"SHOW {name}")
        value: str = cursor.fetchone()[0]
        return value


def test_a_process_that_serves_has_limits() -> None:
    CIRCUIT_BREAKER.is_serving = True
    assert (shown("statement_timeout"), shown("lock_timeout")) == ("30s", "20s")
    assert shown("idle_in_transaction_session_timeout") == "1min"


def test_commands_and_migrations_may_take_their_time() -> None:
    assert (shown("statement_timeout"), shown("lock_timeout")) == ("0", "0")
    assert shown("idle_in_transaction_session_timeout") == "1min"


def test_nothing_is_sent_to_a_pooler_that_knows_no_options(settings: Settings) -> None:
    settings.DATABASE_STATEMENT_TIMEOUT_SECONDS = settings.DATABASE_LOCK_TIMEOUT_SECONDS = 0
    CIRCUIT_BREAKER.is_serving = True
    assert CIRCUIT_BREAKER.server_options() == ""
    assert "options" not in connection.get_connection_params()


def test_the_operators_own_options_win(settings: Settings) -> None:
    CIRCUIT_BREAKER.is_serving = True
    connection.settings_dict["OPTIONS"]["options"] = "-c lock_timeout=2000"
    try:
        assert (shown("statement_timeout"), shown("lock_timeout")) == ("30s", "2s")
    finally:
        del connection.settings_dict["OPTIONS"]["options"]


def test_a_server_that_says_nothing_is_not_waited_for() -> None:
    with (
        CIRCUIT_BREAKER.within(0.3),
        pytest.raises(OperationalError, match="said nothing"),
        connection.cursor() as cursor,
    ):
        cursor.execute("SELECT pg_sleep(4)")
    connection.close()
    # The server finds out when it has slept enough; the test database is dropped after that.
    time.sleep(2)
    assert shown("server_encoding") == "UTF8"


def test_once_it_is_known_to_be_away_only_one_thread_asks() -> None:
    assert shown("server_encoding") == "UTF8"
    CIRCUIT_BREAKER.is_away = True
    with pytest.raises(OperationalError, match="away"):
        shown("server_encoding")
    connection.close()
    with pytest.raises(OperationalError, match="away"):
        shown("server_encoding")
    with CIRCUIT_BREAKER.within(5, is_probe=True):
        assert shown("server_encoding") == "UTF8"
    CIRCUIT_BREAKER.is_away = False


@pytest.mark.parametrize("is_debugged", [False, True])
def test_closing_a_cursor_of_a_server_that_is_away_raises_djangos_error(is_debugged: bool, settings: Settings) -> None:
    """A server-side cursor, as `iterator()` has: closing it asks the server."""
    settings.DEBUG = is_debugged
    with transaction.atomic():
        cursor = connection.chunked_cursor()
        cursor.execute("SELECT generate_series(1, 100)")
        assert len(cursor.fetchmany(2)) == 2
        CIRCUIT_BREAKER.is_away = True
        with pytest.raises(OperationalError, match="away"):
            cursor.close()
        CIRCUIT_BREAKER.is_away = False
        cursor.close()
        transaction.set_rollback(True)


def test_an_error_in_cleaning_up_hides_no_other() -> None:
    with connection.chunked_cursor() as cursor:
        cursor.execute("SELECT generate_series(1, 100)")
        CIRCUIT_BREAKER.is_away = True
    CIRCUIT_BREAKER.is_away = False
    cursor.close()
