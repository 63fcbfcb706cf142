"""`manage.py connection`."""

from __future__ import annotations

from typing import Any

import pytest

from features.oauth.models import Connection
from features.oauth.tests.assistant import Assistant
from registry.models import AuditEvent
from tests.unit.studio.conftest import SignIn

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("issuer")]


def test_connections_are_listed_without_a_secret_and_ended(manage: Any, signed_in: SignIn) -> None:
    assistant = Assistant(signed_in("author"))
    token = assistant.sign_in()["access_token"]
    row = Connection.objects.get()
    (listed,) = manage("connection", "list", "--format", "json").document["connections"]
    assert (listed["id"], listed["member"], listed["via"]) == (row.pk, "the-author", "assistant.example")
    printed = manage("connection", "list").out
    assert printed.split() == [str(row.pk), "the-author", "assistant.example", "read,feedback,propose"]
    for secret in (row.code_hash, row.family_hash, row.refresh_hash, row.access_hash):
        assert str(secret) not in printed + str(listed)

    done = manage("connection", "end", str(row.pk))
    assert (done.code, done.err) == (0, "")
    assert assistant.call(token).status_code == 401
    assert AuditEvent.objects.get(verb="connection.end").actor_kind == "command_line"
    assert manage("connection", "list", "--format", "json").document == {"connections": []}


def test_one_that_has_ended_or_never_was_is_refused(manage: Any, signed_in: SignIn) -> None:
    Assistant(signed_in("author")).sign_in()
    key = str(Connection.objects.get().pk)
    manage("connection", "end", key)
    for gone in (key, "9999"):
        done = manage("connection", "end", gone, "--format", "json")
        assert (done.code, done.document["error"]["code"]) == (1, "NOT_FOUND")
