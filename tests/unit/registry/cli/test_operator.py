"""`manage.py operator`."""

from __future__ import annotations

from typing import Any

import pytest
from allauth.mfa.models import Authenticator

from registry.models import AuditEvent, Operator
from tests.second_factors import enable_app

pytestmark = pytest.mark.django_db

PASSWORD = "a-long-passphrase"


def _create(manage: Any, name: str = "vera", role: str = "viewer", password: str = PASSWORD, *more: str) -> Any:
    return manage("operator", "create", name, "--role", role, "--password-stdin", *more, stdin=password + "\n")


@pytest.mark.parametrize("role", ["admin", "publisher", "author", "viewer"])
def test_create(manage: Any, role: str) -> None:
    done = _create(manage, role=role)
    assert (done.code, done.out) == (0, "vera: created\n")
    operator = Operator.objects.get()
    assert (operator.role, operator.check_password(PASSWORD)) == (role, True)


def test_a_password_may_hold_anything_but_its_own_line_end(manage: Any) -> None:
    for password in ("  spaces around it  ", "größe und 👋 drin", "tab\tin the middle"):
        Operator.objects.all().delete()
        _create(manage, password=password)
        assert Operator.objects.get().check_password(password)


def test_no_terminal_is_told(manage: Any) -> None:
    for verb in (["create", "vera", "--role", "viewer"], ["passwd", "vera"]):
        done = manage("operator", *verb)
        assert (done.code, done.out) == (1, "")
        assert "--password-stdin" in done.err


def test_a_weak_password_an_odd_name_and_a_taken_one_are_refused(manage: Any) -> None:
    for arguments in (("vera", "viewer", "short"), ("vera", "viewer", ""), ("a b", "viewer", PASSWORD)):
        done = _create(manage, *arguments)
        assert (done.code, "INVALID_REQUEST" in done.err) == (1, True)
    _create(manage)
    assert "NAME_TAKEN" in _create(manage).err
    assert _create(manage, "other", "root").code == 2
    assert manage("operator", "create", "other", "--password-stdin").code == 2


def test_list_passwd_disable(manage: Any) -> None:
    _create(manage)
    done = manage("operator", "list", "--format", "json")
    assert done.document == {"operators": [{"name": "vera", "role": "viewer", "is_active": True}]}
    assert manage("operator", "passwd", "vera", "--password-stdin", stdin="another-passphrase\n").code == 0
    assert Operator.objects.get().check_password("another-passphrase")
    assert manage("operator", "disable", "vera").out == "vera: disabled\n"
    assert manage("operator", "list").out == "vera  viewer  disabled\n"
    done = manage("operator", "disable", "nobody", "--format", "json")
    assert (done.code, done.document["error"]["code"]) == (1, "NOT_FOUND")


def test_a_lost_device(manage: Any) -> None:
    _create(manage)
    enable_app(Operator.objects.get())
    done = manage("operator", "reset-second-factor", "vera")
    assert (done.code, done.out) == (0, "vera: 1 second factors removed, sessions ended\n")
    assert not Authenticator.objects.exists()
    assert AuditEvent.objects.last().actor_kind == "command_line"  # type: ignore[union-attr]
    done = manage("operator", "reset-second-factor", "vera", "--format", "json")
    assert done.document == {"name": "vera", "role": "viewer", "is_active": True, "removed": 0}
    assert manage("operator", "reset-second-factor", "nobody").code == 1
