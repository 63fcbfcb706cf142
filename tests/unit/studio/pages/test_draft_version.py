"""Draft history: the list, one version against the current draft, and restoring it without scripts."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from registry.catalog import drafts
from registry.common.actors import Actor
from registry.models import AuditEvent, Draft
from tests.factories import OLGA, Files, bundle, publish
from tests.unit.studio.conftest import SignIn
from tests.unit.studio.forms import ask_and_confirm, form_with, forms_in

pytestmark = pytest.mark.django_db

LIST = "/capabilities/alpha/draft/history/"
EDIT = "/capabilities/alpha/edit/"
SECTION = "## Core capabilities\n\n" + "One more line.\n" * 155
VERA = Actor("operator", "vera")


@pytest.fixture
def client(signed_in: SignIn) -> Client:
    return signed_in("author")


def _save(files: Files, by: Actor = OLGA) -> int:
    found = Draft.objects.filter(discarded_at__isnull=True).first()
    based_on = found.version if found else None
    return drafts.save_draft(capability_id="alpha", files=files, based_on=based_on, by=by).version


def _remove_a_section() -> None:
    _save(bundle(body=SECTION))
    _save(bundle(body="Short."))


def _page(client: Client, address: str = LIST) -> str:
    answer = client.get(address)
    assert answer.status_code == 200
    return answer.content.decode()


def _restore(client: Client, number: int = 1, **changes: Any) -> str:
    form = form_with(client.get(f"{LIST}{number}/"), "Restore version")
    return client.get(form.submit(client, **changes)["Location"]).content.decode()


def test_it_lists_who_saved_what_and_what_the_next_save_removed(client: Client) -> None:
    _remove_a_section()
    page = _page(client)
    assert "1 section removed, 156 lines removed, 1 line added" in page
    assert "Current draft: version 2." in page
    assert f'href="{LIST}1/"' in page


def test_without_an_earlier_text_it_says_what_will_be_here(client: Client) -> None:
    publish()
    page = _page(client)
    assert "Previous versions of the draft appear here when you save changes." in page
    assert f'href="{EDIT}">Edit draft</a>' in page


def test_it_says_how_long_versions_are_kept(client: Client) -> None:
    publish()
    assert "versions for 30 days, at most 50 per capability" in " ".join(_page(client).split())


@pytest.mark.parametrize("address", [EDIT, "/capabilities/alpha/", "/capabilities/alpha/history/"])
def test_editor_overview_and_history_lead_to_it(address: str, client: Client) -> None:
    _remove_a_section()
    assert f'href="{LIST}"' in _page(client, address)


def test_who_may_only_read_is_not_led_there(signed_in: SignIn) -> None:
    _remove_a_section()
    viewer = signed_in("viewer")
    assert LIST not in _page(viewer, "/capabilities/alpha/") + _page(viewer, "/capabilities/alpha/history/")
    assert viewer.get(f"{LIST}1/").status_code == 403


def test_a_version_is_shown_against_the_current_draft(client: Client) -> None:
    _remove_a_section()
    page = _page(client, f"{LIST}1/")
    assert "Differences from the current draft" in page
    assert '<span class="diff-added">+15' in page


def test_restoring_brings_the_text_back_and_leads_to_the_editor(client: Client) -> None:
    _remove_a_section()
    page = _restore(client)
    assert "Draft version 1 restored." in page
    assert drafts.get_draft("alpha").files == bundle(body=SECTION)
    event = AuditEvent.objects.latest("id")
    assert (event.verb, event.actor_name) == ("draft.restore", "the-author")
    assert "Draft restored" in _page(client, "/capabilities/alpha/history/")


def test_what_was_restored_over_can_be_restored_in_turn(client: Client) -> None:
    _remove_a_section()
    _restore(client)
    _restore(client, 2)
    assert drafts.get_draft("alpha").files == bundle(body="Short.")


def test_a_discarded_draft_can_be_restored(client: Client) -> None:
    _save(bundle(body=SECTION))
    ask_and_confirm(client, "/capabilities/alpha/draft/discard/")
    assert "Published, discarded or replaced" in _page(client)
    assert "There is no draft." in _page(client, f"{LIST}1/")
    _restore(client)
    assert drafts.get_draft("alpha").files == bundle(body=SECTION)


def test_a_draft_that_moved_on_meanwhile_is_not_replaced(client: Client) -> None:
    _remove_a_section()
    form = form_with(client.get(f"{LIST}1/"), "Restore version")
    _save(bundle(body="Somebody else's."), by=VERA)
    answer = form.submit(client)
    assert answer["Location"] == f"{LIST}1/"
    assert "The draft has changed since you opened this page." in _page(client, f"{LIST}1/")
    assert drafts.get_draft("alpha").files == bundle(body="Somebody else's.")


def test_the_same_text_offers_no_restoring(client: Client) -> None:
    _remove_a_section()
    _save(bundle(body=SECTION))
    answer = client.get(f"{LIST}1/")
    assert "No changes" in answer.content.decode()
    assert not [form for form in forms_in(answer) if "Restore version" in form.buttons]


@pytest.mark.parametrize("number", ["0", "2", "99", "9" * 18])
def test_a_version_that_is_not_kept_is_not_found(number: str, client: Client) -> None:
    _remove_a_section()
    assert client.get(f"{LIST}{number}/").status_code == 404
    page = client.post(f"{LIST}{number}/restore/", {"based_on": "2"}, follow=True).content.decode()
    assert "has no earlier draft" in page
    assert drafts.get_draft("alpha").version == 2


@pytest.mark.parametrize("based_on", ["", "x", "-1", "1", "9" * 30])
def test_an_odd_draft_version_restores_nothing(based_on: str, client: Client) -> None:
    _remove_a_section()
    assert client.post(f"{LIST}1/restore/", {"based_on": based_on})["Location"] == f"{LIST}1/"
    assert drafts.get_draft("alpha").version == 2


def test_its_queries_do_not_grow_and_read_no_texts(client: Client) -> None:
    counts = []
    for amount in (2, 12):
        for number in range(amount):
            _save(bundle(body=f"Text {amount} {number}."), by=VERA if number % 2 else OLGA)
        drafts.discard_draft(capability_id="alpha", by=OLGA)
        with CaptureQueriesContext(connection) as queries:
            client.get(LIST)
        counts.append(len(queries))
        assert not [query for query in queries if '"content"' in query["sql"]]
    assert counts[0] == counts[1]


def test_a_text_is_shown_as_text(client: Client) -> None:
    _save(bundle(body="<script>alert(1)</script>"))
    _save(bundle(body="Gone."), by=VERA)
    assert "<script>alert(1)" not in _page(client, f"{LIST}1/")
