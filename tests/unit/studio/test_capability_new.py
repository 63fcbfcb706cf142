"""A new capability from a working skeleton."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from registry import drafts
from registry.models import Capability
from registry.skeletons import PROFILE_CHOICES
from tests.factories import publish
from tests.unit.studio.conftest import SignIn
from tests.unit.studio.forms import form_with

pytestmark = pytest.mark.django_db

GIVEN = {"name": "Sleep Tracking", "capability_id": "sleep_tracking", "description": "Logs sleep.\nUse it at night."}


@pytest.fixture
def client(signed_in: SignIn) -> Client:
    return signed_in("author")


def _create(client: Client, **changes: str) -> Any:
    return form_with(client.get("/new-capability/"), "Create the draft").submit(client, **GIVEN | changes)


@pytest.mark.parametrize("profile", [name for name, _ in PROFILE_CHOICES])
def test_every_kind_begins_without_a_fault(profile: str, client: Client) -> None:
    answer = _create(client, skill_profile=profile)
    assert answer["Location"] == "/capabilities/sleep_tracking/edit/"
    draft = drafts.get_draft("sleep_tracking")
    assert drafts.draft_report(draft).errors == ()
    assert "\\r" not in draft.files["capability.json"]
    assert "\r" not in draft.files["skill.md"]
    assert client.get(answer["Location"]).status_code == 200


@pytest.mark.parametrize("name", ["new", "keys", "0"])
def test_any_good_id_has_its_pages(name: str, client: Client) -> None:
    assert client.get(_create(client, capability_id=name)["Location"]).status_code == 200
    assert client.get(f"/capabilities/{name}/").context["capability"].capability_id == name


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"capability_id": "Sleep Tracking"}, "Use lower-case words"),
        ({"capability_id": "_a"}, "Use lower-case words"),
        ({"capability_id": "a\n"}, None),
        ({"capability_id": "x" * 65}, "at most 64 characters"),
        ({"capability_id": "a\0"}, "Null characters are not allowed."),
        ({"name": ""}, "This field is required."),
        ({"name": "x" * 81}, "at most 80 characters"),
        ({"description": "x" * 1025}, "at most 1024 characters"),
        ({"skill_profile": "odd"}, "Select a valid choice."),
    ],
)
def test_an_odd_field_is_said_beside_it(changes: dict[str, str], words: str | None, client: Client) -> None:
    answer = _create(client, **changes)
    if words is None:
        assert answer.status_code == 302
        return
    assert answer.status_code == 400
    assert words in answer.content.decode()
    assert Capability.objects.count() == 0


def test_an_id_that_exists_is_refused_and_left_alone(client: Client) -> None:
    publish("sleep_tracking")
    answer = _create(client)
    assert answer.status_code == 400
    assert "A capability with this id exists already." in answer.content.decode()
    assert "Logs sleep." in answer.content.decode()
    assert not Capability.objects.get().drafts.exists()


def test_names_are_text_whatever_they_hold(client: Client) -> None:
    nasty = '{x} %s "</textarea><script>alert(1)</script>\\'
    answer = _create(client, name=nasty, description=nasty)
    page = client.get(answer["Location"]).content.decode()
    assert "<script>alert" not in page
    assert nasty in drafts.get_draft("sleep_tracking").files["skill.md"]
