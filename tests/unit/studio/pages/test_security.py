"""The page Security: second factors, and where one is signed in."""

from __future__ import annotations

import re
from typing import Any

import pytest
from allauth.usersessions.models import UserSession
from django.test import Client

from registry.access import second_factors
from registry.common.actors import Actor
from registry.models import AuditEvent, Operator
from studio.pages.views.security import device_words
from tests.second_factors import app_code
from tests.unit.studio.conftest import PASSWORD, SignIn, make_operator

pytestmark = pytest.mark.django_db
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0"


def _sign_in(name: str = "the-author", **extra: Any) -> Client:
    client = Client(**extra)
    assert client.post("/sign-in/", {"username": name, "password": PASSWORD}).status_code == 302
    return client


def test_an_app_is_set_up_on_the_page(signed_in: SignIn) -> None:
    client = signed_in("author")
    assert client.get("/security/app/")["Location"] == "/security/"
    page = client.post("/security/app/").content.decode()
    found = re.search(r'<code class="secret mono"[^>]*>([A-Z2-7 ]+)</code>', page)
    assert found is not None
    assert "data:image/svg+xml;base64," in page
    wrong = client.post("/security/app/", {"code": "000000"})
    assert wrong.status_code == 400
    # The same secret, which the app has already.
    assert found[1] in wrong.content.decode()
    done = client.post("/security/app/", {"code": app_code(secret=found[1])})
    codes = re.findall(r"<li>(\d{4}) (\d{4})</li>", done.content.decode())
    assert (done.status_code, len(codes), "no-store" in done["Cache-Control"]) == (200, 10, True)
    assert second_factors.use_code(username="the-author", code="".join(codes[0])) == "recovery_code"
    # Not shown again.
    assert codes[1][0] + " " + codes[1][1] not in client.get("/security/").content.decode()


def test_one_sees_where_one_is_signed_in_and_ends_it() -> None:
    make_operator("author")
    here = _sign_in(HTTP_USER_AGENT=FIREFOX, REMOTE_ADDR="2001:db8::7")
    there, third = _sign_in(REMOTE_ADDR="192.0.2.9"), _sign_in()
    page = here.get("/security/").content.decode()
    assert page.count("Firefox on Linux") == 1
    assert "2001:db8::/64" in page
    assert page.count(">This one<") == 1
    key = UserSession.objects.get(ip="192.0.2.9").pk
    here.post("/security/session/end/", {"key": key})
    assert [client.get("/security/").status_code for client in (here, there, third)] == [200, 302, 200]
    here.post("/security/session/end-others/")
    assert [client.get("/security/").status_code for client in (here, third)] == [200, 302]
    details = [event.detail for event in AuditEvent.objects.filter(verb="operator.end_sessions").order_by("pk")]
    assert [detail["sessions"] for detail in details] == [1, 1]
    assert details[0]["networks"] == ["192.0.2.9"]


def test_a_session_of_somebody_else_is_not_ended(signed_in: SignIn) -> None:
    make_operator("author")
    theirs = _sign_in()
    key = UserSession.objects.get().pk
    client = signed_in("admin")
    for odd in (str(key), "x", "", "9" * 18):
        client.post("/security/session/end/", {"key": odd})
    assert theirs.get("/security/").status_code == 200
    assert not AuditEvent.objects.filter(verb="operator.end_sessions").exists()


def test_a_new_password_ends_the_others_and_keeps_this_one_in_the_list() -> None:
    make_operator("author")
    here, there = _sign_in(), _sign_in()
    new = "another right password"
    changed = here.post("/password/", {"current": PASSWORD, "new": new, "again": new})
    assert changed.status_code == 302
    assert there.get("/security/").status_code == 302
    assert here.get("/security/").content.decode().count(">This one<") == 1


def test_a_name_of_a_passkey_is_text(signed_in: SignIn) -> None:
    client = signed_in("author")
    operator = Operator.objects.get()
    by = Actor("operator", operator.username)
    second_factors.add_passkey(username="the-author", name="<b>key", credential={}, by=by)
    assert "<b>key" not in client.get("/security/").content.decode()
    key = second_factors.list_second_factors(operator).passkeys[0].key
    client.post("/security/passkey/rename/", {"key": key, "name": "Laptop"})
    assert "Laptop" in client.get("/security/").content.decode()


def test_devices_in_words() -> None:
    assert device_words(FIREFOX) == "Firefox on Linux"
    assert (
        device_words("Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18 Safari/605")
        == "Safari on iPhone"
    )
    assert device_words("Mozilla/5.0 (Windows NT 10.0) Chrome/140 Safari/537 Edg/140") == "Edge on Windows"
    assert device_words("curl/8.0 <script>") == "curl/8.0 script"
    assert device_words("") == "Unknown device"
