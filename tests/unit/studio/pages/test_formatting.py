"""How our own sentences are shown, and the pages that say that something is wrong."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.template.loader import render_to_string
from django.test import Client
from django.utils import timezone

from studio.pages.formatting import actor_name, breakable, inline_code, interval, time_ago
from tests.unit.studio.conftest import SignIn


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("`a` of `b` is new", "<code>a</code> of <code>b</code> is new"),
        ("`<b>`", "<code>&lt;b&gt;</code>"),
        ("<i>`a", "&lt;i&gt;`a"),
        ("``", "``"),
        ("`a\nb`", "`a\nb`"),
        ("`a``b`", "<code>a</code><code>b</code>"),
        ("'\"&", "&#x27;&quot;&amp;"),
    ],
)
def test_what_stands_in_backticks_is_code(text: str, shown: str) -> None:
    assert inline_code(text) == shown


def test_a_name_may_break_after_its_underscores_and_stays_text() -> None:
    assert breakable("order_list") == "order_<wbr>list"
    assert breakable("<b>_") == "&lt;b&gt;_<wbr>"


def test_a_moment_is_said_as_people_do() -> None:
    now = timezone.now()
    assert time_ago(now) == "just now"
    assert time_ago(now + timedelta(hours=1)) == "just now"
    assert time_ago(now - timedelta(hours=2, minutes=5, seconds=5)) == "2\xa0hours, 5\xa0minutes ago"


@pytest.mark.parametrize(
    ("minutes", "shown"),
    [(5, "every 5 minutes"), (60, "every hour"), (90, "every 90 minutes"), (180, "every 3 hours"), (1440, "every day"),
     (2880, "every 2 days")],
)  # fmt: skip
def test_a_pause_is_said_as_people_do(minutes: int, shown: str) -> None:
    assert interval(minutes) == shown


@pytest.mark.parametrize(
    ("actor", "shown"),
    [
        ("operator:olga", "olga"),
        ("agent_key:ci: two", "API key ci: two"),
        ("command_line:root", "root (CLI)"),
        ("system:registry", "Capability Studio"),
        ("", ""),
        ("odd:one", "odd:one"),
    ],
)
def test_an_actor_is_said_in_words(actor: str, shown: str) -> None:
    assert actor_name(actor) == shown


@pytest.mark.parametrize("name", ["400", "403", "403_csrf", "404", "500"])
def test_an_error_page_needs_nothing_from_the_server(name: str) -> None:
    page = render_to_string(f"{name}.html")
    assert '<html lang="en"' in page
    assert '<a href="/">' in page
    assert "go back" in page.lower() or name in ("403", "404")


@pytest.mark.django_db
def test_a_refusal_names_the_role(signed_in: SignIn) -> None:
    answer = signed_in("viewer").get("/new-capability/")
    assert answer.status_code == 403
    assert "Viewers can&#x27;t edit drafts." in answer.content.decode()


@pytest.mark.django_db
def test_a_fault_of_ours_is_a_page_too(signed_in: SignIn, monkeypatch: pytest.MonkeyPatch) -> None:
    client = signed_in("viewer")
    client.raise_request_exception = False
    monkeypatch.setattr("studio.pages.views.incident.render", lambda *_: 1 / 0)
    answer = client.get("/incidents/")
    assert answer.status_code == 500
    assert b"Something went wrong" in answer.content


@pytest.mark.django_db
@pytest.mark.parametrize("address", ["/nowhere/", "/capabilities/../x/", "/%00", "/%ff"])
def test_an_unknown_address_is_a_page_that_says_so(address: str) -> None:
    answer = Client().get(address)
    assert answer.status_code == 404
    assert b"Page not found" in answer.content
