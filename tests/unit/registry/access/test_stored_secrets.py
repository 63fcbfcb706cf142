"""Secrets of second factors are encrypted in the database, and readable as long as their key is known."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from pytest_django import Settings

from registry.access import operators, second_factors
from registry.access.stored_secrets import SecretUnreadable, decrypt_secret, encrypt_secret, is_current
from registry.core.jobs.queue import run_next_job
from registry.models import Operator
from registry.operations import housekeeping
from tests.factories import OLGA
from tests.second_factors import SECRET, app_code, enable_app

pytestmark = pytest.mark.django_db
FORMER, PRESENT = "former-" + "x" * 40, "present-" + "y" * 40


@pytest.fixture
def ada() -> Operator:
    return operators.create_operator(username="ada", password="a right password", role="author", by=OLGA)


def _stored() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for row in Authenticator.objects.all():
        found |= {name: row.data[name] for name in ("secret", "seed") if name in row.data}
    return found


def _run_daily() -> None:
    housekeeping.queue_daily(datetime.now(UTC).date())
    while run_next_job() is not None:
        pass


@pytest.mark.both_databases
def test_neither_the_secret_nor_the_seed_is_readable_in_the_database(ada: Operator) -> None:
    codes = enable_app(ada)
    stored = _stored()
    assert set(stored) == {"secret", "seed"}
    assert SECRET not in str(stored)
    assert decrypt_secret(stored["secret"]) == SECRET
    assert all(value.startswith("fernet:") for value in stored.values())
    assert second_factors.use_code(username="ada", code=app_code()) == "totp"
    assert second_factors.use_code(username="ada", code=codes[0]) == "recovery_code"


@pytest.mark.both_databases
def test_rows_of_before_work_and_are_encrypted_within_a_day(ada: Operator) -> None:
    enable_app(ada)
    for row in Authenticator.objects.all():
        row.data = {name: decrypt_secret(v) if isinstance(v, str) else v for name, v in row.data.items()}
        row.save()
    assert _stored()["secret"] == SECRET
    codes_left = second_factors.list_second_factors(ada).codes_left
    assert codes_left == 10
    _run_daily()
    assert all(map(is_current, _stored().values()))
    assert second_factors.use_code(username="ada", code=app_code()) == "totp"
    assert second_factors.list_second_factors(ada).codes_left == 10


def test_a_new_key_reads_what_the_former_one_wrote_and_takes_it_over(ada: Operator, settings: Settings) -> None:
    settings.SECRET_KEY = FORMER
    codes = enable_app(ada)
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = PRESENT, [FORMER]
    assert second_factors.use_code(username="ada", code=codes[0]) == "recovery_code"
    _run_daily()
    settings.SECRET_KEY_FALLBACKS = []
    assert second_factors.use_code(username="ada", code=codes[1]) == "recovery_code"
    assert second_factors.use_code(username="ada", code=app_code()) == "totp"


def test_under_an_unknown_key_no_code_is_good_and_the_factor_is_asked_for_all_the_same(
    ada: Operator, settings: Settings
) -> None:
    settings.SECRET_KEY = FORMER
    codes = enable_app(ada)
    settings.SECRET_KEY = PRESENT
    for code in (app_code(), codes[0]):
        assert second_factors.use_code(username="ada", code=code) is None
    found = second_factors.list_second_factors(ada)
    assert (found.has_app, found.codes_left, found.is_enabled) == (True, 0, True)
    # The daily job leaves alone what it cannot read: the key may come back.
    _run_daily()
    settings.SECRET_KEY = FORMER
    assert second_factors.use_code(username="ada", code=codes[0]) == "recovery_code"
    # An admin can remove it, and the member sets up another one.
    settings.SECRET_KEY = PRESENT
    assert second_factors.reset_second_factors(username="ada", by=OLGA) == 1


def test_what_was_changed_is_not_read(settings: Settings) -> None:
    settings.SECRET_KEY = PRESENT
    stored = encrypt_secret("a secret")
    assert stored != encrypt_secret("a secret")
    for changed in (stored[:-5] + "AAAA=", "fernet:", "fernet:é"):
        with pytest.raises(SecretUnreadable):
            decrypt_secret(changed)
