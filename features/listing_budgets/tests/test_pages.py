"""The page of listings, and what pages of the core say of them."""

from __future__ import annotations

import json
import re

import pytest
from django.core.cache import cache
from django.test import Client

from features.listing_budgets.catalog import compare_release
from features.sets import set_store
from registry import snapshot
from registry.catalog import drafts
from registry.common.actors import Actor
from tests.factories import bundle, publish, unlisted
from tests.unit.studio.conftest import SignIn

pytestmark = pytest.mark.django_db
COMMAND = Actor("command_line", "root")
LONG = "Reads invoices of every kind and says what is due, to whom and when. " * 14


@pytest.fixture
def client(signed_in: SignIn) -> Client:
    cache.clear()
    return signed_in("viewer")


def _publish(name: str, words: str) -> None:
    publish(name, description=words[:1000])


def test_what_is_cut_or_named_alone_is_shown(client: Client) -> None:
    for number in range(20):
        _publish(f"invoices_{number:02}", f"{number} {LONG}")
    unlisted("secret_plans")
    page = client.get("/listings/").content.decode()
    assert "invoices_03" in page
    assert "secret_plans" not in page
    row = re.search(r"invoices_19.*?</tr>", page, re.DOTALL)
    assert row is not None
    cells = re.findall(r"<td data-label[^>]*>(.*?)</td>", row[0], re.DOTALL)
    assert ["Name only" in cell for cell in cells] == [True, False, True, False, False]


def test_a_set_is_listed_alone(client: Client) -> None:
    for number in range(12):
        _publish(f"invoices_{number:02}", f"{number} {LONG}")
    members = [{"capability_id": "invoices_11"}]
    document = {"set_id": "desk", "name": "Desk", "description": "x", "members": members}
    set_store.save_set(document, by=COMMAND)
    assert "Name only</span>" in client.get("/listings/").content.decode()
    page = client.get("/listings/?set=desk").content.decode()
    assert "Name only</span>" not in page
    assert "invoices_11" in page
    assert "invoices_03" not in page
    assert client.get("/listings/?set=nothing").status_code == 200


def test_nothing_published_is_said(client: Client) -> None:
    assert client.get("/listings/").status_code == 200


def test_a_capability_says_which_clients_do_not_list_it_whole(client: Client) -> None:
    for number in range(12):
        _publish(f"invoices_{number:02}", f"{number} {LONG}")
    assert "Name only</span>" in client.get("/capabilities/invoices_11/").content.decode()
    publish("alpha")
    assert "Name only</span>" not in client.get("/capabilities/alpha/").content.decode()


def test_the_publish_page_says_what_a_release_pushes_out(signed_in: SignIn) -> None:
    for number in range(8):
        _publish(f"invoices_{number:02}", f"{number} {LONG}")
    files = bundle("accounts", description=LONG[:1000])
    text = json.loads(files["capability.json"])
    drafts.save_draft(capability_id="accounts", files=files, based_on=None, by=COMMAND)
    held = snapshot.current_snapshot()
    changes = {change.budget.id: change for change in compare_release(held, "accounts", text)}
    # It is the first by name, so that the last of the others gives way.
    assert changes["claude_code"].losers == ("invoices_07",)
    assert changes["claude_code"].own.is_whole
    page = signed_in("publisher").get("/capabilities/accounts/publish/").content.decode()
    assert "invoices_07" in page

    files = bundle("accounts", description="Short.")
    version = drafts.get_draft("accounts").version
    drafts.save_draft(capability_id="accounts", files=files, based_on=version, by=COMMAND)
    changed = compare_release(held, "accounts", text | {"description": "Short."})
    assert "claude_code" not in {change.budget.id for change in changed}


def test_a_draft_that_cannot_be_read_changes_no_list(signed_in: SignIn) -> None:
    files = bundle("alpha") | {"capability.json": "{"}
    drafts.save_draft(capability_id="alpha", files=files, based_on=None, by=COMMAND)
    assert signed_in("publisher").get("/capabilities/alpha/publish/").status_code == 200
