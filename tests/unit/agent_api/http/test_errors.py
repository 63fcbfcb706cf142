"""What an error of a view comes to."""

from __future__ import annotations

import pytest
from django.db import connection

from agent_api.http.errors import exception_handler


@pytest.mark.slow
def test_what_memory_cannot_hold_is_to_be_sent_again() -> None:
    answer = exception_handler(MemoryError(), {})
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert answer.data["error"]["code"] == "REGISTRY_UNAVAILABLE"


@pytest.mark.django_db
@pytest.mark.both_databases
@pytest.mark.parametrize("name", ["OperationalError", "InterfaceError", "InternalError", "Error"])
def test_an_error_of_the_driver_that_django_did_not_translate_is_the_databases(name: str) -> None:
    answer = exception_handler(getattr(connection.Database, name)("away"), {})  # type: ignore[attr-defined]
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert answer.data["error"]["code"] == "REGISTRY_UNAVAILABLE"
