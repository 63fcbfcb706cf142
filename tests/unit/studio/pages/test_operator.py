"""Members: the way in, the role, and the way out."""

from __future__ import annotations

from html import unescape
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from registry.access import operators
from registry.common.errors import StatusConflict
from registry.models import AuditEvent, Operator
from tests.factories import OLGA
from tests.unit.studio.conftest import PASSWORD, SignIn, make_operator
from tests.unit.studio.forms import ask_and_confirm, form_with

pytestmark = pytest.mark.django_db
NEW = "Another-long-phrase-7"


@pytest.fixture
def client(signed_in: SignIn) -> Client:
    return signed_in()


def _invite(client: Client, **changes: Any) -> Any:
    form = form_with(client.get("/members/"), "Create invite link")
    return form.submit(client, **{"username": "nora", "role": "author"} | changes)


def _path(answer: Any) -> str:
    return str(urlsplit(answer.context["link"]["address"]).path)


def test_a_link_lets_somebody_choose_a_password_once(client: Client) -> None:
    answer = _invite(client)
    assert answer.context["link"]["address"] in answer.content.decode()
    assert "no-store" in answer["Cache-Control"]
    address, stranger = _path(answer), Client()
    assert address not in client.get("/members/").content.decode()
    page = stranger.get(address)
    assert page["Referrer-Policy"] == "same-origin"
    form = form_with(page, "Set password")
    assert form.submit(stranger, new=NEW, again=NEW)["Location"] == "/"
    assert "Password set. Welcome!" in stranger.get("/").content.decode()
    assert stranger.get("/new-capability/").status_code == 200
    assert form.submit(Client(), new=PASSWORD, again=PASSWORD).status_code == 404
    again = Client().get(address)
    assert (again.status_code, b"already used" in again.content) == (404, True)
    assert AuditEvent.objects.filter(verb="operator.choose_password", actor_name="nora").count() == 1


def test_a_link_names_the_public_address_whatever_the_admin_has_asked(client: Client, settings: Settings) -> None:
    settings.PUBLIC_URL = "https://studio.example.com"
    assert _invite(client).context["link"]["address"].startswith("https://studio.example.com/welcome/")


@pytest.mark.parametrize(
    ("new", "again", "words"),
    [
        ("short", "short", "too short"),
        (NEW, "different", "Passwords don't match."),
        ("", "", "This field is required."),
        ("nora-nora-nora", "nora-nora-nora", "too similar to the username"),
    ],
)
def test_a_poor_password_is_refused_and_the_link_stays_good(new: str, again: str, words: str, client: Client) -> None:
    address = _path(_invite(client, username="nora-nora-nora"))
    answer = Client().post(address, {"new": new, "again": again})
    assert (answer.status_code, words in unescape(answer.content.decode())) == (400, True)
    assert Client().get(address).status_code == 200


def test_a_link_is_void_once_somebody_is_shut_out_or_has_another_one(client: Client) -> None:
    address = _path(_invite(client))
    operators.disable_operator(username="nora", by=OLGA)
    assert Client().get(address).status_code == 404
    operators.enable_operator(username="nora", by=OLGA)
    assert Client().get(address).status_code == 200
    operators.set_password(username="nora", password=NEW, by=OLGA)
    assert Client().get(address).status_code == 404
    for odd in ("/welcome/1/x/", "/welcome/999999/abc-def/", address + "x/"):
        assert Client().get(odd).status_code == 404


@pytest.mark.parametrize("changes", [{"username": ""}, {"username": "a b"}, {"username": "the-admin"}, {"role": "x"}])
def test_an_odd_member_is_refused_beside_the_field(changes: dict[str, str], client: Client) -> None:
    answer = _invite(client, **changes)
    assert answer.status_code == 400
    assert 'class="field__error"' in answer.content.decode()
    assert Operator.objects.count() == 1


def test_a_reset_takes_the_password_and_every_session(client: Client, signed_in: SignIn) -> None:
    theirs = signed_in("author")
    assert theirs.get("/").status_code == 200
    answer = ask_and_confirm(client, "/members/reset/", {"username": "the-author"})
    assert theirs.get("/")["Location"] == "/sign-in/?next=/"
    assert not Client().login(username="the-author", password=PASSWORD)
    assert Client().post(_path(answer), {"new": NEW, "again": NEW})["Location"] == "/"
    assert Client().login(username="the-author", password=NEW)


def _role(client: Client, username: str, role: str) -> str:
    page: str = client.post("/members/role/", {"username": username, "role": role}, follow=True).content.decode()
    return page


def test_a_session_ends_when_a_role_is_lost_and_stays_when_one_is_won(client: Client, signed_in: SignIn) -> None:
    theirs = signed_in("author")
    assert "the-author is now a publisher." in _role(client, "the-author", "publisher")
    assert theirs.get("/capabilities/").status_code == 200
    _role(client, "the-author", "viewer")
    assert theirs.get("/capabilities/")["Location"].startswith("/sign-in/")
    assert theirs.post("/new-capability/", {"name": "x"}).status_code in (302, 401)
    # With the password they come in again, with less to do.
    assert theirs.login(username="the-author", password=PASSWORD)
    assert theirs.get("/new-capability/").status_code == 403
    detail = AuditEvent.objects.filter(verb="operator.set_role").order_by("-id").values_list("detail", flat=True)[0]
    assert {"was": "publisher", "role": "viewer"}.items() <= detail.items()


def test_a_session_that_was_ended_does_not_come_back_with_the_role(client: Client, signed_in: SignIn) -> None:
    theirs = signed_in("publisher")
    _role(client, "the-publisher", "author")
    _role(client, "the-publisher", "publisher")
    assert theirs.get("/")["Location"].startswith("/sign-in/")


def test_the_last_admin_stays(client: Client) -> None:
    with pytest.raises(StatusConflict, match="is the last admin"):
        operators.disable_operator(username="the-admin", by=OLGA)
    operators.create_operator(username="second", password=PASSWORD, role="admin", by=OLGA)
    operators.disable_operator(username="second", by=OLGA)
    # A deactivated admin does not count.
    with pytest.raises(StatusConflict, match="is the last admin"):
        operators.set_role(username="the-admin", role="viewer", by=OLGA)
    operators.enable_operator(username="second", by=OLGA)
    operators.set_role(username="the-admin", role="viewer", by=OLGA)
    admin = Operator.objects.get(username="the-admin")
    assert (admin.role, admin.is_superuser, admin.is_staff) == ("viewer", False, False)


def test_deactivating_and_reactivating(client: Client, signed_in: SignIn) -> None:
    theirs = signed_in("viewer")
    assert ask_and_confirm(client, "/members/disable/", {"username": "the-viewer"})["Location"] == "/members/"
    assert "the-viewer was deactivated and signed out." in client.get("/members/").content.decode()
    assert theirs.get("/")["Location"].startswith("/sign-in/")
    page = client.post("/members/reset/", {"username": "the-viewer"}, follow=True).content.decode()
    assert "reactivate them first" in page
    client.post("/members/enable/", {"username": "the-viewer"})
    assert Client().login(username="the-viewer", password=PASSWORD)


@pytest.mark.both_databases
@pytest.mark.parametrize("verb", ["reset", "role", "disable", "enable"])
@pytest.mark.parametrize("name", ["", "nobody", "a\0b", "<script>x</script>"])
def test_who_is_not_there_is_told(verb: str, name: str, client: Client) -> None:
    page = client.post(f"/members/{verb}/", {"username": name, "role": "viewer"}, follow=True).content.decode()
    assert "There is no operator named" in page
    assert "<script>x" not in page


def test_an_odd_role_is_told(client: Client) -> None:
    make_operator("viewer")
    assert "A role is one of" in _role(client, "the-viewer", "root")


def test_the_number_of_queries_does_not_grow(client: Client) -> None:
    counts = []
    for amount in (2, 20):
        for number in range(amount):
            operators.invite_operator(username=f"p{amount}.{number}", role="viewer", by=OLGA)
        with CaptureQueriesContext(connection) as queries:
            client.get("/members/")
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 9
    assert "nobody" not in client.get("/members/?q=p2.").content.decode()


def test_what_a_member_is_called_and_their_address_can_be_changed(client: Client) -> None:
    operators.create_operator(username="nora.b", password=PASSWORD, role="author", by=OLGA)
    page = client.get("/members/details/", {"username": "nora.b"})
    form = form_with(page, "Save")
    assert form.submit(client, name="Nora  Bell", email="nora@example.com").status_code == 302
    nora = Operator.objects.get(username="nora.b")
    assert (nora.get_full_name(), nora.email) == ("Nora Bell", "nora@example.com")
    verbs = list(
        AuditEvent.objects.filter(subject="nora.b", verb__startswith="operator.set").values_list("verb", flat=True)
    )
    assert sorted(verbs) == ["operator.set_email", "operator.set_name"]
    listed = client.get("/members/").content.decode()
    assert "<bdi>Nora Bell</bdi></a>" in listed
    assert "nora@example.com" in listed
    refused = form.submit(client, name="Nora", email="nowhere")
    assert refused.status_code == 400
    assert "Enter a valid email address." in refused.content.decode()
    assert Operator.objects.get(username="nora.b").get_full_name() == "Nora Bell"
    assert client.get("/members/details/", {"username": "nobody"})["Location"] == "/members/"


def test_members_are_filtered_and_sorted(client: Client) -> None:
    operators.create_operator(username="zoe.b", password=PASSWORD, role="viewer", by=OLGA)
    operators.invite_operator(username="amy.c", role="author", by=OLGA, name="Amy", email="amy@example.com")

    def found(query: str) -> list[str]:
        return [one.username for one in client.get(f"/members/?{query}").context["page"]]

    assert found("role=viewer") == ["zoe.b"]
    assert found("state=invited") == found("q=amy@example") == ["amy.c"]
    assert "amy.c" not in found("state=active")
    assert found("state=deactivated") == found("q=nobody") == []
    assert found("sort=-name")[0] == "zoe.b"
    assert found("role=odd") == found("sort=odd") == found("")
