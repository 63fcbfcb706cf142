"""Each constraint of the table bites."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from features.acceptances.models import Waiver
from registry.models import Capability
from tests.factories import publish

pytestmark = pytest.mark.django_db

BITES: dict[str, dict[str, Any]] = {
    "waiver_severity_known": {"severity": "note"},
    "waiver_reason_not_empty": {"reason": ""},
    "waiver_fingerprint_form": {"fingerprint": "abc"},
    "waiver_end_paired": {"ended_by": "operator:olga"},
}


@pytest.mark.both_databases
@pytest.mark.parametrize("name", BITES)
def test_a_constraint_bites(name: str) -> None:
    publish()
    given = {"capability": Capability.objects.get(), "code": "SEC_SECRET", "severity": "error", "file": "skill.md"}
    given |= {"fingerprint": "sha256:0", "message": "m", "reason": "r", "until": date(2025, 1, 1), "created_by": "x"}
    Waiver.objects.create(**given)
    with pytest.raises(IntegrityError) as caught, transaction.atomic():
        Waiver.objects.create(**given | BITES[name])
    assert name in str(caught.value)


def test_every_constraint_has_a_case_here() -> None:
    assert {constraint.name for constraint in Waiver._meta.constraints} == set(BITES)
