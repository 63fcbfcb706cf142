"""Other sites cannot load pages of the Studio; what agents load is left to CORS."""

from __future__ import annotations

import pytest
from django.test import Client

pytestmark = pytest.mark.django_db


def test_pages_are_for_their_own_origin(client: Client) -> None:
    assert client.get("/sign-in/").headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert client.get("/").headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert "Cross-Origin-Resource-Policy" not in client.get("/api/v1/capability_registry_list").headers
