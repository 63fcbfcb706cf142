"""What keeps a page to itself: its headers, a new session at the sign-in, and htmx that runs nothing of an author."""

from __future__ import annotations

from django.test import Client

from studio.pages.urls import urlpatterns
from tests.factories import publish
from tests.unit.studio.conftest import SignIn, make_operator

HOSTILE = '<a hx-get="/x" hx-trigger="load" hx-on:load="alert(1)" data-hx-get="/x">x</a>'


def test_pages_allow_nothing_that_is_not_theirs(signed_in: SignIn) -> None:
    plain = [str(pattern.pattern) for pattern in urlpatterns if "<" not in str(pattern.pattern)]
    assert len(plain) > 30
    client, seen = signed_in(), 0
    for address in plain:
        answer = client.get(f"/{address}")
        if answer.status_code != 200:
            continue
        seen += 1
        policy = answer["Content-Security-Policy"]
        assert "default-src 'none'" in policy, address
        assert "unsafe" not in policy, address
        assert "frame-ancestors 'none'" in policy, address
        headers = ("X-Frame-Options", "Cross-Origin-Opener-Policy", "Cross-Origin-Resource-Policy")
        assert [answer[name] for name in headers] == ["DENY", "same-origin", "same-origin"], address
        assert answer["X-Content-Type-Options"] == "nosniff", address
    assert seen > 20


def test_htmx_evaluates_nothing_and_an_authors_attributes_are_text(signed_in: SignIn) -> None:
    publish(description=f"Does it. {HOSTILE}")
    client = signed_in()
    for address in ("/capabilities/", "/capabilities/alpha/"):
        page = client.get(address).content.decode()
        assert '"allowEval":false,"allowScriptTags":false,"historyCacheSize":0' in page
        assert "hx-on:load" not in page or "&lt;a hx-get" in page
        assert HOSTILE not in page


def test_a_planted_session_is_none_after_signing_in(db: None) -> None:
    make_operator("viewer")
    client = Client()
    client.get("/sign-in/")
    session = client.session
    session["planted"] = "by somebody else"
    session.save()
    planted = session.session_key
    client.post("/sign-in/", {"username": "the-viewer", "password": "Correct-horse-battery-9"})
    assert client.session.session_key != planted
    assert client.get("/").status_code == 200
