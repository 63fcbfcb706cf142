"""Each constraint of the tables bites."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from features.evaluations.models import EvaluationResult, EvaluationRule, EvaluationRun, SavedCase
from registry.models import Capability
from tests.factories import publish

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def _run(**columns: Any) -> EvaluationRun:
    alpha = Capability.objects.get()
    given = {"capability": alpha, "side": "live", "model": "m", "total": 1, "created_by": "x", **columns}
    return EvaluationRun.objects.create(**given)


def _case(name: str) -> SavedCase:
    return SavedCase.objects.create(capability=Capability.objects.get(), name=name, document={}, updated_by="x")


def _result() -> object:
    run = EvaluationRun.objects.get()
    return EvaluationResult.objects.create(run=run, case="a", case_digest="d", repetition=1)


def _twice(make: Callable[[], object]) -> None:
    make()
    make()


BITES: dict[str, Callable[[], object]] = {
    "evaluation_case_once": lambda: _twice(lambda: _case("a")),
    "evaluation_case_name_not_empty": lambda: _case(""),
    "evaluation_run_side_known": lambda: _run(side="other"),
    "evaluation_run_state_known": lambda: _run(state="other"),
    "evaluation_run_end_fits_state": lambda: _run(finished_at=timezone.now()),
    "evaluation_result_once": lambda: _twice(_result),
    "evaluation_rule_share_is_percent": lambda: EvaluationRule.objects.create(share=101, updated_by="x"),
}


@pytest.mark.parametrize("name", BITES)
def test_a_constraint_bites(name: str) -> None:
    publish()
    _run()
    with pytest.raises(IntegrityError), transaction.atomic():
        BITES[name]()


def test_every_constraint_has_a_case_here() -> None:
    models = (SavedCase, EvaluationRun, EvaluationResult, EvaluationRule)
    assert {constraint.name for model in models for constraint in model._meta.constraints} == set(BITES)
