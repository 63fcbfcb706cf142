"""Messages of one word, with the examples and the model that ship: what greets leads to the introduction."""

from __future__ import annotations

from typing import Any

import pytest

from registry.matching.index import MatchIndexCache
from registry.operations import bootstrap
from tests.servers import ROOT

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("embedder", [pytest.param("multilingual", marks=pytest.mark.slow), "minilm", "none"])
def test_a_greeting_leads_to_the_introduction_and_a_wish_does_not(settings: Any, embedder: str) -> None:
    settings.EMBEDDER = embedder
    bootstrap.create_initial_data(examples=ROOT / "examples", tell=lambda made: None)
    index = MatchIndexCache().get(vector_seconds=60)

    def needed(message: str) -> tuple[str, ...]:
        return index.match(message, top=3).needed

    greetings = ["hello", "hey", "start", "Hey!", "Start"]
    assert {said: needed(said) for said in greetings} == dict.fromkeys(greetings, ("introduction",))
    wishes = [
        "start a timer for 5 minutes",
        "start the server",
        "start my workout",
        "restart the pod",
        "please start tracking my calories",
    ]
    found = {said: needed(said) for said in wishes}
    assert "introduction" not in {name for ids in found.values() for name in ids}
    assert "weights" in needed("hey, log my weight: 82 kg")
