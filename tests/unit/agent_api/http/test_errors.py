"""What an error of a view comes to."""

from __future__ import annotations

import pytest

from agent_api.http.errors import exception_handler


@pytest.mark.slow
def test_what_memory_cannot_hold_is_to_be_sent_again() -> None:
    answer = exception_handler(MemoryError(), {})
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert answer.data["error"]["code"] == "REGISTRY_UNAVAILABLE"
