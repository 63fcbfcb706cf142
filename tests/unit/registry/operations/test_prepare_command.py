"""What `prepare` prints: the password and the key once, and how to replace a lost one at later starts."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command

pytestmark = pytest.mark.django_db


def _prepared() -> str:
    out = StringIO()
    call_command("prepare", stdout=out)
    return out.getvalue()


def test_a_lost_password_is_only_spoken_of_at_a_later_start(settings: Any) -> None:
    settings.EXAMPLES = False
    first, second = _prepared(), _prepared()
    assert "password: " in first
    assert "Agent key: csk_" in first
    assert "Password lost?" not in first
    assert "admin has not signed in yet. Password lost? python3 run.py manage operator passwd admin" in second
    assert "password: " not in second
