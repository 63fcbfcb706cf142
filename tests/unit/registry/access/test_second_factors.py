"""Second factors: set up, used once, removed, reset; each with its row in the audit log."""

from __future__ import annotations

import pytest
from allauth.mfa.models import Authenticator

from capability_rules.errors import InvalidRequest
from registry.access import operators, second_factors
from registry.common.actors import Actor
from registry.common.errors import NotFound, StatusConflict
from registry.models import AuditEvent, Operator
from tests.factories import OLGA
from tests.second_factors import SECRET, app_code, enable_app

pytestmark = pytest.mark.django_db
ADA = Actor("operator", "ada")


@pytest.fixture
def ada() -> Operator:
    return operators.create_operator(username="ada", password="a right password", role="author", by=OLGA)


def _verbs() -> list[str]:
    return list(AuditEvent.objects.filter(subject="ada").order_by("pk").values_list("verb", flat=True))[1:]


def test_an_app_is_set_up_with_its_first_code(ada: Operator) -> None:
    with pytest.raises(InvalidRequest):
        second_factors.enable_app(username="ada", secret=SECRET, code="000000", by=ADA)
    assert not Authenticator.objects.exists()
    codes = enable_app(ada)
    assert (len(set(codes)), {len(code) for code in codes}) == (10, {8})
    found = second_factors.list_second_factors(ada)
    assert (found.has_app, found.codes_left, found.is_enabled) == (True, 10, True)
    with pytest.raises(StatusConflict):
        enable_app(ada)
    assert _verbs() == ["operator.enable_totp", "operator.new_recovery_codes"]


def test_a_code_is_good_once(ada: Operator) -> None:
    codes = enable_app(ada)
    assert second_factors.use_code(username="ada", code="000000") is None
    code = app_code()
    assert second_factors.use_code(username="ada", code=f"{code[:3]} {code[3:]}") == "totp"
    # Not again, in whichever process; nor one that is older than it.
    assert second_factors.use_code(username="ada", code=code) is None
    assert second_factors.use_code(username="ada", code=app_code(-1)) is None
    assert second_factors.use_code(username="ada", code=f"{codes[3][:4]}-{codes[3][4:]}") == "recovery_code"
    assert second_factors.use_code(username="ada", code=codes[3]) is None
    assert AuditEvent.objects.get(verb="operator.use_recovery_code").detail == {"left": 9}


def test_a_code_of_somebody_else_or_an_odd_text_is_none(ada: Operator) -> None:
    enable_app(ada)
    operators.create_operator(username="bob", password="a right password", role="author", by=OLGA)
    assert second_factors.use_code(username="bob", code=app_code()) is None
    for odd in ("", " ", "12345\0", "１２３４５６", "9" * 5000, "abcdef"):
        assert second_factors.use_code(username="ada", code=odd) is None


def test_new_codes_make_those_of_before_void(ada: Operator) -> None:
    with pytest.raises(StatusConflict):
        second_factors.replace_recovery_codes(username="ada", by=ADA)
    before = enable_app(ada)
    after = second_factors.replace_recovery_codes(username="ada", by=ADA)
    assert not set(before) & set(after)
    assert second_factors.use_code(username="ada", code=before[0]) is None
    assert second_factors.use_code(username="ada", code=after[0]) == "recovery_code"


@pytest.mark.both_databases
def test_the_codes_go_with_the_last_factor(ada: Operator) -> None:
    enable_app(ada)
    second_factors.add_passkey(username="ada", name=" Work  laptop ", credential={"id": "x"}, by=ADA)
    second_factors.disable_app(username="ada", by=ADA)
    found = second_factors.list_second_factors(ada)
    assert ([one.name for one in found.passkeys], found.codes_left) == (["Work laptop"], 10)
    assert second_factors.remove_passkey(username="ada", key=found.passkeys[0].key, by=ADA) == "Work laptop"
    assert not Authenticator.objects.exists()
    with pytest.raises(NotFound):
        second_factors.disable_app(username="ada", by=ADA)


def test_a_passkey_has_a_name_and_is_its_owners(ada: Operator) -> None:
    second_factors.add_passkey(username="ada", name="Key", credential={"id": "x"}, by=ADA)
    key = second_factors.list_second_factors(ada).passkeys[0].key
    second_factors.rename_passkey(username="ada", key=key, name="Old key", by=ADA)
    assert second_factors.list_second_factors(ada).passkeys[0].name == "Old key"
    for name in ("", " ", "x" * 81):
        with pytest.raises(InvalidRequest):
            second_factors.rename_passkey(username="ada", key=key, name=name, by=ADA)
    operators.create_operator(username="bob", password="a right password", role="author", by=OLGA)
    with pytest.raises(NotFound):
        second_factors.remove_passkey(username="bob", key=key, by=Actor("operator", "bob"))
    for number in range(second_factors.PASSKEYS_MAX - 1):
        second_factors.add_passkey(username="ada", name=f"Key {number}", credential={}, by=ADA)
    with pytest.raises(InvalidRequest):
        second_factors.add_passkey(username="ada", name="One more", credential={}, by=ADA)


@pytest.mark.both_databases
def test_a_reset_removes_all_and_ends_the_sessions(ada: Operator) -> None:
    enable_app(ada)
    before = ada.get_session_auth_hash()
    assert second_factors.reset_second_factors(username="ada", by=OLGA) == 1
    ada.refresh_from_db()
    assert not second_factors.list_second_factors(ada).is_enabled
    assert ada.get_session_auth_hash() != before
    assert _verbs()[-1] == "operator.reset_second_factor"
