"""Accounts and roles of people whom an identity provider signs in."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from allauth.socialaccount.models import SocialAccount
from pytest_django import Settings

from registry.access import operators, single_sign_on
from registry.access.single_sign_on import Identity
from registry.common.errors import Forbidden, StatusConflict
from registry.models import AuditEvent, Operator
from registry.operations.backup.tables import read_stored
from registry.operations.rights.comparison import find_unrecorded
from tests.factories import OLGA

pytestmark = pytest.mark.django_db
ADA = Identity("oidc-1", "subject-1", "ada", "Ada L", "ada@example.com", ("admins",))


@pytest.fixture(autouse=True)
def _roles(settings: Settings) -> None:
    settings.OIDC_ROLES = {"admins": "admin", "authors": "author", "staff": "viewer"}


def _last(verb: str) -> dict[str, Any]:
    event = AuditEvent.objects.filter(verb=verb).order_by("pk").last()
    assert event is not None, verb
    return dict(event.detail)


def test_the_highest_role_of_the_groups_counts() -> None:
    assert single_sign_on.get_role(["staff", "x", "authors"]) == "author"
    assert single_sign_on.get_role(["x"]) == ""


@pytest.mark.both_databases
def test_the_first_sign_in_makes_an_account() -> None:
    ada = single_sign_on.admit(ADA)
    assert (ada.username, ada.role, ada.get_full_name(), ada.email) == ("ada", "admin", "Ada L", "ada@example.com")
    assert ada.is_superuser
    assert not ada.has_usable_password()
    assert single_sign_on.admit(ADA).pk == ada.pk
    assert SocialAccount.objects.get().extra_data == {}
    row = operators.list_operators()[0]
    assert (row.is_invited, row.single_sign_on) == (False, True)
    # What a link would make is a second way in.
    with pytest.raises(StatusConflict):
        operators.reset_password(username="ada", by=OLGA)
    assert find_unrecorded(read_stored) == ()
    SocialAccount.objects.create(user=ada, provider="oidc-1", uid="somebody else", extra_data={})
    assert find_unrecorded(read_stored) == ("identity 'somebody else' of operator 'ada'",)


def test_a_lower_group_lowers_the_role_and_ends_sessions() -> None:
    operators.create_operator(username="root", password="a right password", role="admin", by=OLGA)
    before = single_sign_on.admit(ADA).get_session_auth_hash()
    ada = single_sign_on.admit(replace(ADA, groups=("authors",)))
    assert (ada.role, ada.is_superuser) == ("author", False)
    assert ada.get_session_auth_hash() != before
    changed = {"before": {"role": "admin"}, "after": {"role": "author"}}
    assert _last("operator.set_role") == {"was": "admin", "role": "author"} | changed


def test_without_a_group_nobody_is_let_in() -> None:
    with pytest.raises(Forbidden, match="None of your groups"):
        single_sign_on.admit(replace(ADA, groups=("x",)))
    assert not Operator.objects.exists()
    assert _last("operator.sign_in_refused")["groups"] == ["x"]
    before = single_sign_on.admit(ADA).get_session_auth_hash()
    with pytest.raises(Forbidden):
        single_sign_on.admit(replace(ADA, groups=()))
    ada = Operator.objects.get()
    assert (ada.role, ada.get_session_auth_hash() == before) == ("admin", False)


def test_the_last_admin_is_not_demoted_and_not_let_in() -> None:
    single_sign_on.admit(ADA)
    with pytest.raises(Forbidden, match="you are the last one"):
        single_sign_on.admit(replace(ADA, groups=("authors",)))
    assert Operator.objects.get().role == "admin"


def test_a_deactivated_account_stays_out() -> None:
    operators.create_operator(username="root", password="a right password", role="admin", by=OLGA)
    single_sign_on.admit(ADA)
    operators.disable_operator(username="ada", by=OLGA)
    with pytest.raises(Forbidden, match="deactivated"):
        single_sign_on.admit(ADA)


def test_a_local_account_is_not_taken_over() -> None:
    operators.create_operator(username="ada", password="a right password", role="viewer", by=OLGA)
    with pytest.raises(Forbidden, match="There is a member named 'ada'"):
        single_sign_on.admit(ADA)
    assert Operator.objects.get().role == "viewer"


@pytest.mark.parametrize("name", ["Ada", "\u0430da", "\uff41da"])
def test_a_name_that_can_be_taken_for_a_member_is_refused(name: str) -> None:
    operators.create_operator(username="ada", password="a right password", role="viewer", by=OLGA)
    with pytest.raises(Forbidden, match="can be taken for the member 'ada'"):
        single_sign_on.admit(replace(ADA, username=name))
    assert Operator.objects.get().username == "ada"
    assert "can be taken for" in _last("operator.sign_in_refused")["reason"]


def test_a_member_keeps_the_account_beside_a_lookalike_of_before() -> None:
    """Accounts that were made before they were compared."""
    ada = single_sign_on.admit(ADA)
    Operator.objects.create(username="Ada", role="viewer")
    assert single_sign_on.admit(ADA).pk == ada.pk


def test_another_issuer_is_another_person() -> None:
    single_sign_on.admit(ADA)
    with pytest.raises(Forbidden, match="There is a member named 'ada'"):
        single_sign_on.admit(replace(ADA, provider="oidc-2"))


def test_a_name_is_made_of_the_letters_that_a_name_may_have() -> None:
    assert single_sign_on.admit(replace(ADA, username="ada lovelace/x")).username == "ada-lovelace-x"
    second = Identity("oidc-1", "subject-2", "", "", "grace@example.com", ("staff",))
    assert single_sign_on.admit(second).username == "grace"
    third = Identity("oidc-1", "subject-3", "", "", "no address", ("staff",))
    assert (single_sign_on.admit(third).username, Operator.objects.get(username="no-address").email) == (
        "no-address",
        "",
    )
