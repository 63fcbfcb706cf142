"""Phrases of the description on the page of a capability, which one click takes into the draft."""

from __future__ import annotations

import json

import pytest
from django.test import Client

from registry.models import Draft
from tests.factories import publish
from tests.unit.studio.conftest import SignIn
from tests.unit.studio.forms import forms_in

pytestmark = pytest.mark.django_db

PAGE = "/capabilities/trips/"
SKILL = "Plan trips by train. Use for 'night train' or \"book a seat in a night train\"."


def test_a_suggested_phrase_is_taken_into_the_draft_with_one_click(signed_in: SignIn) -> None:
    client: Client = signed_in("author")
    publish("trips", description=SKILL)
    offered = {form.values["sentence"]: form for form in forms_in(client.get(PAGE)) if "Take" in form.buttons}
    form = offered["book a seat in a night train"]
    answer = client.post(form.action, form.values)
    assert (answer.status_code, answer["Location"]) == (302, PAGE)
    taken = json.loads(Draft.objects.get().capability_json or "")["utterances"]["should_match"]
    assert taken[-1] == "book a seat in a night train"


def test_phrases_are_suggested_to_those_who_may_edit(signed_in: SignIn) -> None:
    publish("trips", description=SKILL)
    assert "Suggested from the description" not in signed_in("viewer").get(PAGE).text
