"""A name that is not ours: machines are told in the envelope, people on a page."""

from __future__ import annotations

import pytest
from django.test import Client

FOREIGN = "evil.example"


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/api/v1/capability_registry_list", 400, "INVALID_REQUEST"),
        ("POST", "/api/v1/capability_match", 400, "INVALID_REQUEST"),
        ("GET", "/.well-known/agent-skills/index.json", 400, "INVALID_REQUEST"),
        ("GET", "/clawhub/api/v1/whoami", 400, "INVALID_REQUEST"),
        ("GET", "/schemas/capability.schema.json", 400, "INVALID_REQUEST"),
        ("POST", "/mcp", 403, "FORBIDDEN"),
        ("GET", "/mcp", 403, "FORBIDDEN"),
    ],
)
def test_machines_are_told_in_the_envelope(method: str, path: str, status: int, code: str) -> None:
    answer = Client(headers={"host": FOREIGN}).generic(method, path)
    assert (answer.status_code, answer["Content-Type"]) == (status, "application/json")
    assert answer.json()["error"]["code"] == code
    assert FOREIGN not in answer.text
    assert answer["Cache-Control"] == "no-store"


@pytest.mark.parametrize("path", ["/", "/sign-in/", "/apiary/"])
def test_people_are_told_on_a_page(path: str) -> None:
    answer = Client(headers={"host": FOREIGN}).get(path)
    assert answer.status_code == 400
    assert "ALLOWED_HOSTS" in answer.text
    assert FOREIGN not in answer.text
