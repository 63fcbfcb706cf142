"""Each constraint of the table bites, for the kind that it is about."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from features.acceptances.models import Acceptance, AcceptanceManager

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

NOW = datetime(2025, 1, 1, tzinfo=UTC)
ACCEPTED: dict[str, Any] = {"reason": "r", "accepted_at": NOW, "accepted_by": "operator:olga"}
BOTH: dict[str, Any] = {"capability_id": "alpha", "file": "skill.md", "fingerprint": "sha256:0", "message": "m"}
WAIVER: dict[str, Any] = BOTH | ACCEPTED | {"code": "SEC_SECRET", "severity": "error", "until": date(2025, 1, 1)}
PASSAGE: dict[str, Any] = BOTH | {"seen_at": NOW, "passage": "p"}
ENDED = PASSAGE | ACCEPTED | {"ended_at": NOW}
BITES: list[tuple[str, AcceptanceManager, dict[str, Any]]] = [
    ("acceptance_severity_known", Acceptance.waivers, WAIVER | {"severity": "note"}),
    ("acceptance_fingerprint_form", Acceptance.waivers, WAIVER | {"fingerprint": "abc"}),
    ("acceptance_fingerprint_form", Acceptance.passages, PASSAGE | {"fingerprint": "abc"}),
    ("acceptance_decision_paired", Acceptance.passages, PASSAGE | {"accepted_by": "operator:olga"}),
    ("acceptance_reason_paired", Acceptance.passages, PASSAGE | ACCEPTED | {"reason": ""}),
    ("acceptance_reason_paired", Acceptance.waivers, WAIVER | {"reason": ""}),
    ("acceptance_end_fits_kind", Acceptance.waivers, WAIVER | {"ended_at": NOW}),
    ("acceptance_end_fits_kind", Acceptance.waivers, WAIVER | {"ended_by": "operator:olga"}),
    ("acceptance_end_fits_kind", Acceptance.passages, PASSAGE | {"ended_at": NOW}),
    ("acceptance_end_fits_kind", Acceptance.passages, ENDED | {"ended_by": "x"}),
    ("acceptance_fits_kind", Acceptance.waivers, WAIVER | {"until": None}),
    ("acceptance_fits_kind", Acceptance.waivers, WAIVER | {"code": ""}),
    ("acceptance_fits_kind", Acceptance.waivers, BOTH | {"code": "SEC_SECRET", "until": date(2025, 1, 1)}),
    ("acceptance_fits_kind", Acceptance.passages, PASSAGE | ACCEPTED | {"until": date(2025, 1, 1)}),
    ("acceptance_fits_kind", Acceptance.passages, PASSAGE | {"severity": "error"}),
    ("acceptance_fits_kind", Acceptance.passages, PASSAGE | {"code": "SEC_SECRET"}),
    ("acceptance_passage_once", Acceptance.passages, PASSAGE),
]


@pytest.mark.parametrize(("name", "rows", "given"), BITES)
def test_a_constraint_bites(name: str, rows: AcceptanceManager, given: dict[str, Any]) -> None:
    # What has ended keeps nothing out.
    for kind, row in (("waiver", WAIVER), ("held_passage", PASSAGE), ("held_passage", ENDED)):
        Acceptance(kind=kind, **row).save()
    with pytest.raises(IntegrityError) as caught, transaction.atomic():
        rows.create(**given)  # type: ignore[misc] # the plugin takes the dictionary for a value
    told = str(caught.value)
    assert name in told or (name == "acceptance_passage_once" and "fingerprint" in told)


def test_a_kind_that_nobody_knows_is_refused() -> None:
    with pytest.raises(IntegrityError, match=r"acceptance_(end_)?fits_kind"):
        Acceptance(**WAIVER | {"kind": "other"}).save()


def test_every_constraint_has_a_case_here() -> None:
    assert {constraint.name for constraint in Acceptance._meta.constraints} == {name for name, _, _ in BITES}
