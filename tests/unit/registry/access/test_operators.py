"""Operators: who may sign in, and with what rights."""

from __future__ import annotations

import pytest

from capability_rules.errors import InvalidRequest
from registry.access import operators
from registry.common.errors import NameConflict, NotFound
from registry.models import AuditEvent, Operator
from tests.factories import OLGA

pytestmark = pytest.mark.django_db

PASSWORD = "a-long-passphrase"


def _create(username: str = "vera", role: str = "viewer", password: str = PASSWORD) -> Operator:
    return operators.create_operator(username=username, role=role, password=password, by=OLGA)


@pytest.mark.parametrize(
    ("role", "rights"),
    [
        ("viewer", (False, False, False)),
        ("author", (True, False, False)),
        ("publisher", (True, True, False)),
        ("admin", (True, True, True)),
    ],
)
def test_each_role_has_its_rights(role: str, rights: tuple[bool, bool, bool]) -> None:
    operator = _create(role=role)
    assert (operator.can_edit, operator.can_publish, operator.can_administer) == rights
    assert operator.is_superuser == operator.is_staff == (role == "admin")
    assert operator.check_password(PASSWORD)
    assert AuditEvent.objects.get().detail == {"role": role}


@pytest.mark.parametrize("username", ["", "a b", "a/b", "a" * 151, "a\n", "<b>"])
def test_an_odd_name_is_refused(username: str) -> None:
    with pytest.raises(InvalidRequest):
        _create(username)


@pytest.mark.parametrize("role", ["", "root", "Admin"])
def test_an_odd_role_is_refused(role: str) -> None:
    with pytest.raises(InvalidRequest):
        _create(role=role)


@pytest.mark.parametrize(
    "password", ["", "short", "123456789012", "password1234", "vera-vera-vera", "1234VERA-vera-vera"]
)
def test_a_weak_password_is_refused(password: str) -> None:
    with pytest.raises(InvalidRequest):
        _create("vera-vera-vera", password=password)
    assert not Operator.objects.exists()


def test_a_name_is_used_once() -> None:
    _create()
    with pytest.raises(NameConflict):
        _create()


@pytest.mark.both_databases
@pytest.mark.parametrize("name", ["Vera", "VERA", "v\u0435ra", "\uff56era"])
def test_a_name_that_can_be_taken_for_a_members_is_refused(name: str) -> None:
    """However the account comes to be; one that is deactivated is in the audit log still."""
    _create()
    operators.disable_operator(username="vera", by=OLGA)
    for make in (
        lambda: operators.create_operator(username=name, password=PASSWORD, role="viewer", by=OLGA),
        lambda: operators.invite_operator(username=name, role="viewer", by=OLGA),
        lambda: operators.create_passwordless(username=name, role="viewer", by=OLGA),
    ):
        with pytest.raises(NameConflict, match="can be taken for 'vera', who has an account here"):
            make()
    assert [one.username for one in Operator.objects.all()] == ["vera"]


def test_a_new_password_takes_the_place_of_the_old() -> None:
    _create()
    operators.set_password(username="vera", password="another-passphrase", by=OLGA)
    operator = Operator.objects.get()
    assert operator.check_password("another-passphrase")
    assert not operator.check_password(PASSWORD)
    assert PASSWORD not in str(list(AuditEvent.objects.values()))


def test_a_disabled_operator_is_shut_out() -> None:
    _create()
    assert not operators.disable_operator(username="vera", by=OLGA).is_active
    assert not Operator.objects.get().is_active


def test_nobody_is_told() -> None:
    with pytest.raises(NotFound):
        operators.disable_operator(username="nobody", by=OLGA)
    with pytest.raises(NotFound):
        operators.set_password(username="nobody", password=PASSWORD, by=OLGA)


def test_a_password_with_the_username_is_refused() -> None:
    """Similarity alone let `admin1234567` be the password of `admin`."""
    with pytest.raises(InvalidRequest, match="username"):
        _create("admin", password="admin1234567")
    _create("bo", password="bo-and-a-long-one")
