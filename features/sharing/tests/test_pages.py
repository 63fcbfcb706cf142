"""Who can see a capability: listed or not, install code, share links, the first run."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from features.sharing import share_links
from features.sharing.models import ShareLink
from registry.catalog.first_run import get_first_run
from registry.models import AuditEvent, Capability
from tests.factories import OLGA, publish
from tests.unit.studio.conftest import SignIn
from tests.unit.studio.forms import ask_and_confirm, form_with, forms_in

pytestmark = pytest.mark.django_db

PAGE = "/capabilities/alpha/share/"


@pytest.fixture
def client(signed_in: SignIn) -> Client:
    publish(skill_groups=["health"])
    return signed_in("admin")


def _alpha() -> Capability:
    return Capability.objects.get(capability_id="alpha")


@pytest.mark.both_databases
def test_unlisting_asks_first_and_listing_does_not(client: Client) -> None:
    asked = form_with(client.get(PAGE), "Unlist capability").submit(client)
    assert "can no longer find or load it" in asked.content.decode()
    assert _alpha().visibility == "listed"
    ask_and_confirm(client, f"{PAGE}visibility/", {"visibility": "unlisted"})
    assert _alpha().visibility == "unlisted"
    page = client.get(PAGE)
    assert "Share links don't show unlisted capabilities." in page.content.decode()
    assert form_with(page, "List capability").submit(client)["Location"] == PAGE
    assert _alpha().visibility == "listed"
    assert list(AuditEvent.objects.filter(verb="capability.visibility").values_list("actor_name", flat=True)) == [
        "the-admin",
        "the-admin",
    ]


def test_an_install_code_is_replaced(client: Client) -> None:
    before = _alpha().install_code
    assert before in client.get(PAGE).content.decode()
    ask_and_confirm(client, f"{PAGE}code/")
    assert _alpha().install_code != before
    assert AuditEvent.objects.filter(verb="install_code.rotate", actor_name="the-admin").count() == 1


def test_a_share_link_is_shown_once_works_and_ends(client: Client) -> None:
    asked = client.get(PAGE)
    assert '<option value="health"' in asked.content.decode()
    page = form_with(asked, "Create link").submit(client, name="partner", group="health", days="7")
    found = re.search(r"/share/([\w-]{40,})", page.content.decode())
    assert found
    assert found[1] not in client.get(PAGE).content.decode()
    link = ShareLink.objects.get()
    assert (link.name, link.skill_group) == ("partner", "health")
    assert link.expires_at is not None
    ask_and_confirm(client, f"{PAGE}link/revoke/", {"name": "partner"})
    assert ShareLink.objects.get().revoked_at is not None
    client.get(PAGE)
    assert "partner" not in client.get(PAGE).content.decode()
    verbs = AuditEvent.objects.filter(verb__startswith="share_link").values_list("verb", flat=True)
    assert list(verbs) == ["share_link.create", "share_link.revoke"]


@pytest.mark.parametrize(
    "typed", [{"name": ""}, {"days": "0"}, {"days": "x"}, {"days": "9" * 9}, {"group": "No group"}]
)
def test_what_a_link_cannot_have_is_refused_with_what_was_typed(typed: dict[str, str], client: Client) -> None:
    form = form_with(client.get(PAGE), "Create link")
    page = form.submit(client, **({"name": "partner", "group": "health", "days": ""} | typed))
    assert page.status_code == 400
    assert "banner--danger" in page.content.decode()
    assert not ShareLink.objects.exists()
    share_links.create_link(name="partner", by=OLGA)
    assert form.submit(client, name="partner").status_code == 400


def test_new_sessions_start_with_it_and_without(client: Client) -> None:
    form_with(client.get(PAGE), "Start sessions here").submit(client)
    assert get_first_run() == "alpha"
    form_with(client.get(PAGE), "Turn off").submit(client)
    assert get_first_run() == ""


def test_each_role_is_offered_what_it_may_do(signed_in: SignIn) -> None:
    publish()
    offered = {}
    for role in ("viewer", "author", "publisher", "admin"):
        page = signed_in(role).get(PAGE)
        offered[role] = [button for form in forms_in(page) for button in form.buttons if button != "Sign out"]
        assert (_alpha().install_code in page.content.decode()) == (role != "viewer")
    # The first two are of the menu of a capability.
    changes = ["Quarantine", "Retire", "Unlist capability", "Replace code"]
    assert [" ".join(one) for one in (offered["viewer"], offered["author"])] == ["", ""]
    assert offered["publisher"] == changes
    assert offered["admin"] == [*changes, "Create link", "Start sessions here"]
