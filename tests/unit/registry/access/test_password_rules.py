"""What a password must not be: its account."""

from __future__ import annotations

import pytest

from capability_rules.errors import InvalidRequest
from registry.access import operators
from tests.factories import OLGA

pytestmark = pytest.mark.django_db

REFUSED = [
    "admin1234567", "x-ADMIN-x-quite-long", "Lovelace2026-Grace", "gracelovelace!9!9", "99-grace.lovelace-99",
    "countess-is-me-1843",
    "my!!grace..lovelace!!1843 and much more", "countess@example.com", "short one", "password1234", "123456789012345",
]  # fmt: skip
TAKEN = ["a right password", "correct horse battery staple", "graceful-exit-of-2026", "ünïcode is fine too"]


@pytest.mark.both_databases
def test_a_password_like_the_account_is_refused_and_a_long_one_is_taken() -> None:
    operators.create_operator(username="admin", password="a right password", role="admin", by=OLGA)
    operators.set_name(username="admin", name="Grace Lovelace", by=OLGA)
    operators.set_email(username="admin", email="countess@example.com", by=OLGA)
    for password in TAKEN:
        operators.set_password(username="admin", password=password, by=OLGA)
    for password in REFUSED:
        with pytest.raises(InvalidRequest):
            operators.set_password(username="admin", password=password, by=OLGA)


def test_a_short_name_may_be_in_a_password_by_chance() -> None:
    operators.create_operator(username="ann", password="the cannon is loud", role="viewer", by=OLGA)
