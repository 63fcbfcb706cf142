"""Names that claim a rank, and names that only speak of one."""

from __future__ import annotations

from typing import Any

from capability_rules.validation.security.detectors.claimed_status import check_claimed_status
from tests.sweeps import check_each


def _places(capability: Any, tools: Any = ()) -> list[tuple[str, Any]]:
    return [(problem.file, problem.path) for problem in check_claimed_status(capability, list(tools))]


def test_names_that_claim_a_rank() -> None:
    def claims(case: tuple[dict[str, str], list[dict[str, Any]], tuple[str, Any]]) -> None:
        capability, tools, place = case
        assert _places(capability, tools) == [place]

    check_each(
        [
            ({"capability_id": "official_bank_transfer"}, [], ("capability.json", ("capability_id",))),
            ({"name": "Bank Transfer (VERIFIED)"}, [], ("capability.json", ("name",))),
            ({}, [{"name": "transfer_official"}], ("tools.json", (0, "name"))),
            ({}, [{"name": "x"}, {"name": "verified-transfer"}], ("tools.json", (1, "name"))),
        ],
        claims,
    )


def test_names_that_do_not() -> None:
    tools = [{"name": "list_verified_users"}, {"name": "unofficial"}, {"name": 7}, None]
    assert _places({"capability_id": "officials_directory", "name": "Verification"}, tools) == []
    assert _places(None) == []
