"""A probe says what keeps the registry from being read or written, and writes only where a write has failed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import psycopg
import pytest
from django.db import OperationalError, connection

from registry.common.database_errors import DAMAGED, FULL, KNOWN_OUTAGES, READ_ONLY, KnownOutages
from registry.core.storage import find_storage_outage
from registry.core.transactions import write_transaction
from registry.models import RegistryState


@pytest.fixture(autouse=True)
def _new_process() -> Iterator[None]:
    KNOWN_OUTAGES.forget()
    yield
    KNOWN_OUTAGES.forget()


def refuse_writes(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
    if sql.startswith(("UPDATE", "INSERT")):
        raise OperationalError("could not extend file") from psycopg.errors.DiskFull()
    return execute(sql, params, many, context)


def write() -> None:
    with write_transaction() as state:
        state.save(update_fields=["access_revision"])


@pytest.mark.django_db
def test_nothing_is_wrong_and_nothing_is_written() -> None:
    with connection.execute_wrapper(refuse_writes):
        assert find_storage_outage() is None


@pytest.mark.django_db(transaction=True)
def test_a_write_that_failed_is_remembered_until_one_succeeds() -> None:
    RegistryState.objects.get_or_create(id=1)
    with connection.execute_wrapper(refuse_writes), pytest.raises(OperationalError):
        write()
    with connection.execute_wrapper(refuse_writes):
        # The probe has tried it.
        assert find_storage_outage() is FULL
    assert find_storage_outage() is None
    assert KnownOutages() == KNOWN_OUTAGES
    KNOWN_OUTAGES.unwritable = READ_ONLY
    write()
    assert KnownOutages() == KNOWN_OUTAGES


@pytest.mark.django_db
def test_damage_is_remembered() -> None:
    KNOWN_OUTAGES.is_damaged = True
    assert find_storage_outage() is DAMAGED


@pytest.mark.sqlite
@pytest.mark.django_db
@pytest.mark.parametrize(
    ("flags", "blocks", "outage"),
    [(0, 10_000, None), (0, 1000, FULL), (0, 0, FULL), (os.ST_RDONLY, 10_000, READ_ONLY)],
)
def test_the_disk_is_asked(flags: int, blocks: int, outage: object, monkeypatch: pytest.MonkeyPatch) -> None:
    found = SimpleNamespace(f_flag=flags, f_bavail=blocks, f_frsize=4096)
    monkeypatch.setattr(os, "statvfs", lambda _: found)
    assert find_storage_outage() is outage


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_a_session_that_may_not_write_is_read_only() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET default_transaction_read_only = on")
    try:
        assert find_storage_outage() is READ_ONLY
    finally:
        connection.close()
