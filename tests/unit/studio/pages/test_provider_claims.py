"""What an identity provider says of a person: a type and a length for each claim."""

from __future__ import annotations

from typing import Any

import pytest
from pytest_django import Settings

from capability_rules.errors import InvalidRequest
from studio.pages.provider_claims import LENGTHS, read_auth_time, read_identity

CLAIMS = {"sub": "1", "preferred_username": "ada", "name": "Ada L", "email": "ada@example.com", "groups": ["a"]}


def test_claims_become_an_identity(settings: Settings) -> None:
    found = read_identity(CLAIMS)
    assert (found.subject, found.username, found.name, found.email, found.groups) == (
        *("1", "ada", "Ada L", "ada@example.com"),
        ("a",),
    )
    assert found.provider == settings.OIDC_PROVIDER_ID
    assert read_identity({"sub": "1", "given_name": "Ada", "family_name": "L", "name": None}).name == "Ada L"


@pytest.mark.parametrize("name", ["sub", "preferred_username", "name", "given_name", "family_name", "email"])
@pytest.mark.parametrize("value", [7, 1.5, True, [], ["a"], {}, "a\0b", "a\ud83d", "a\u202eb", "a\nb"])
def test_a_claim_of_another_type_is_refused_by_its_name(name: str, value: Any) -> None:
    with pytest.raises(InvalidRequest, match=f"its claim {name} is not text"):
        read_identity({**CLAIMS, name: value})


def test_a_claim_that_is_too_long_is_refused_by_its_name() -> None:
    for name, most in LENGTHS.items():
        read_identity({**CLAIMS, name: "x" * most})
        with pytest.raises(InvalidRequest, match=f"{name} is not text of at most {most} characters"):
            read_identity({**CLAIMS, name: "x" * (most + 1)})
    # A display name is cut where it is stored.
    assert len(read_identity({**CLAIMS, "name": "x" * 5000}).name) == 5000


@pytest.mark.parametrize("subject", [None, ""])
def test_without_a_subject_nobody_is_named(subject: str | None) -> None:
    with pytest.raises(InvalidRequest, match="names no person"):
        read_identity({**CLAIMS, "sub": subject})


def test_groups_that_no_setting_could_name_are_left_out() -> None:
    odd = ["good", 7, None, ["good"], "a\0b", "x" * 1001, "\ud83d"]
    assert read_identity({**CLAIMS, "groups": odd}).groups == ("good",)
    assert read_identity({**CLAIMS, "groups": {"good": True}}).groups == ()
    assert len(read_identity({**CLAIMS, "groups": [f"g{number}" for number in range(3000)]}).groups) == 2000


@pytest.mark.parametrize("value", [None, "1700000000", True, float("nan"), float("inf"), 1e300, 10**400, []])
def test_a_time_that_is_none_says_nothing(value: Any) -> None:
    assert read_auth_time({"auth_time": value}) is None


@pytest.mark.parametrize("value", [0, 1_700_000_000, 1_700_000_000.5])
def test_a_time_is_in_seconds(value: float) -> None:
    assert read_auth_time({"auth_time": value}) == value
