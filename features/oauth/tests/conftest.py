"""Fixtures of the core's tests, and a registry to which assistants may sign in."""

from __future__ import annotations

from typing import Any

import pytest

from features.oauth.tests.assistant import HOST, ISSUER
from tests.feature_fixtures import api, closed, fresh_process, manage, signed_in

__all__ = ["api", "closed", "fresh_process", "manage", "signed_in"]


@pytest.fixture
def issuer(settings: Any, closed: None) -> str:
    """The registry is at an HTTPS address, and nobody reads without credentials."""
    settings.PUBLIC_URL = ISSUER
    settings.ALLOWED_HOSTS = ["testserver", HOST]
    return ISSUER
