"""Help, what findings mean, and the gallery."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.test import Client

from capability_rules.validation import Finding
from capability_rules.validation.codes import list_codes
from registry.catalog import incidents
from registry.models import Revision
from tests.factories import publish
from tests.sweeps import check_each, rolled_back
from tests.unit.studio.conftest import SignIn
from tests.unit.studio.forms import form_with
from tests.unit.studio.translation import TEMPLATES

pytestmark = pytest.mark.django_db


@pytest.fixture
def client(signed_in: SignIn) -> Client:
    return signed_in("viewer")


@pytest.mark.slow
def test_every_code_has_a_page_that_says_what_the_docs_say(client: Client) -> None:
    for code, row in list_codes().items():
        answer = client.get(f"/help/findings/{code}/")
        assert answer.status_code == 200
        assert answer.context["row"] == row
        assert row in answer.context["family"].codes


def test_the_list_has_every_code_and_is_searched(client: Client) -> None:
    page = client.get("/help/findings/").content.decode()
    assert set(re.findall(r"/help/findings/(\w+)/", page)) == set(list_codes())
    found = client.get("/help/findings/", {"q": "UTF-8 bytes"}).content.decode()
    assert set(re.findall(r"/help/findings/(\w+)/", found)) == {"TEXT_NOT_UTF8"}
    assert "No results" in client.get("/help/findings/?q=%3Cb%3E%00").content.decode()


@pytest.mark.parametrize("code", ["NOTHING", "file_missing", "%3Cb%3E", "x" * 500])
def test_a_code_that_does_not_exist_has_no_page(code: str, client: Client) -> None:
    assert client.get(f"/help/findings/{code}/").status_code == 404


def test_a_finding_leads_to_its_page(client: Client) -> None:
    publish()
    finding = Finding("FILE_MISSING", "error", "skill.md", "", None, None, "m", "h")
    incidents.open_incident(revision=Revision.objects.get(), message="m", details="d", findings=[finding])
    assert 'href="/help/findings/FILE_MISSING/"' in client.get("/incidents/").content.decode()


def test_help_brings_the_tour_back(client: Client) -> None:
    assert "The first steps are on Home." in client.get("/help/").content.decode()
    client.post("/tour/leave/")
    assert form_with(client.get("/help/"), "Show first steps").submit(client)["Location"] == "/"
    assert client.get("/").context["tour"] is not None


def test_the_gallery_shows_every_component_twice(client: Client) -> None:
    page = client.get("/gallery/").content.decode()
    for part in ('class="issue ', 'class="card diff"', 'class="chart"', 'pagination-bar"', "field__error", "empty"):
        assert page.count(part) % 2 == 0
        assert part in page
    assert 'data-theme="dark"' in page
    ids = re.findall(r'\sid="([^"]+)"', page)
    assert len(set(ids)) == len(ids)


def test_what_is_translated_can_be_read() -> None:
    """`{% translate %}` without i18n is an error that only the first reader would see."""

    def check(path: Path) -> None:
        text = path.read_text("utf-8")
        if re.search(r"{% (blocktranslate|translate) ", text):
            assert re.search(r"{% load [^%]*\bi18n\b", text)

    check_each(TEMPLATES, check, isolate=rolled_back)


def test_moments_say_their_zone(client: Client) -> None:
    page = client.get("/gallery/").content.decode()
    assert (
        '<time datetime="2026-01-31T09:30:00+00:00" title="2026-01-31 09:30 UTC">Jan 31, 2026, 9:30 AM UTC</time>'
        in page
    )
    assert 'title="Jan 31, 2026, 9:30 AM UTC"' in page
