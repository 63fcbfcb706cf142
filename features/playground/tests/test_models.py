"""Each constraint of the tables bites."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.db import IntegrityError, transaction

from features.playground.models import PlaygroundChat, PlaygroundStep

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def _step_twice() -> None:
    chat = PlaygroundChat.objects.create(created_by="x", model="m")
    for _time in range(2):
        PlaygroundStep.objects.create(chat=chat, number=1, kind="message")


BITES: dict[str, Callable[[], object]] = {
    "playground_chat_state_known": lambda: PlaygroundChat.objects.create(created_by="x", model="m", state="other"),
    "playground_step_once": _step_twice,
    "playground_step_kind_known": lambda: PlaygroundStep.objects.create(number=1, kind="other"),
}


@pytest.mark.parametrize("name", BITES)
def test_a_constraint_bites(name: str) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        BITES[name]()


def test_every_constraint_has_a_case_here() -> None:
    models = (PlaygroundChat, PlaygroundStep)
    assert {constraint.name for model in models for constraint in model._meta.constraints} == set(BITES)
