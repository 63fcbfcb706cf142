"""What `prepare` prints: the password and the key once, and how to replace a lost one at later starts."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from django.core import checks
from django.core.management import CommandError, call_command

from registry.common import caches

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


def test_a_signing_key_that_cannot_be_used_stops_the_start(settings: Any, tmp_path: Path) -> None:
    settings.EXAMPLES, settings.SIGNING_KEY_FILE = False, tmp_path / "signing_key.pem"
    settings.SIGNING_KEY_FILE.write_text("lost")
    caches.reset_all()
    with pytest.raises(CommandError, match=r"signing_key.pem, does not begin with an Ed25519 private key"):
        _prepared()
    settings.SIGNING_KEY_FILE.unlink()
    assert "password: " in _prepared()
    assert settings.SIGNING_KEY_FILE.stat().st_mode & 0o777 == 0o600


def test_migrate_imports_no_view(monkeypatch: pytest.MonkeyPatch) -> None:
    run_checks = mock.Mock(return_value=[])
    monkeypatch.setattr(checks, "run_checks", run_checks)
    call_command("migrate", check_unapplied=True, skip_checks=False)
    (asked,) = run_checks.call_args_list
    assert asked.kwargs["tags"] == (checks.Tags.database, checks.Tags.models)
    assert asked.kwargs["databases"] == ["default"]
