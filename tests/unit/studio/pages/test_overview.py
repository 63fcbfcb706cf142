"""The overview of a published capability: forms, tools, instructions, its use, and how to load it."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from registry.common.actors import Actor
from registry.models import LoadCount
from registry.publishing import publication
from registry.selectors.capability_overview import CapabilityUse
from registry.usage import feedback
from registry.usage.confidence import ConfidenceScore
from registry.usage.revision_health import OutcomeCounts
from studio.pages.drawn_forms import without_samples
from tests.factories import OLGA, publish, unlisted
from tests.servers import ROOT
from tests.unit.studio.conftest import SignIn

pytestmark = pytest.mark.django_db

PAGE = "/capabilities/alpha/"
AGENT = Actor("agent_key", "agent")


@pytest.fixture
def client(signed_in: SignIn) -> Client:
    return signed_in("viewer")


def _publish_weights() -> None:
    folder = ROOT / "examples" / "weights"
    names = ("capability.json", "skill.md", "tools.json", "ui_schemas.json")
    files = {name: (folder / name).read_text("utf-8") for name in names}
    assert publication.publish(files=files, by=OLGA).status == "published"


def test_forms_are_drawn_empty_and_listed_for_browsers_without_scripts(client: Client) -> None:
    _publish_weights()
    answer = client.get("/capabilities/weights/")
    page = answer.content.decode()
    assert page.count("data-drawn-form=") == 2
    assert "inert" in page
    for label in ("Date", "Weight", "Unit", "Note (optional)"):
        assert f"<bdi>{label}</bdi>" in page
    sent = json.dumps(answer.context["form_data"])
    assert '"checks"' not in sent
    data = answer.context["form_data"][0]["messages"][1]["updateDataModel"]["value"]
    assert not any(data["entries"][0].values())


def test_samples_leave_their_structure() -> None:
    data = {"entries": [{"on": True, "kg": 80.5, "tags": ["a"]}, {"on": False}], "source": "scale", "n": None}
    assert without_samples(data) == {"entries": [{"on": False, "kg": "", "tags": []}], "source": "", "n": ""}


def test_instructions_are_a_page_without_elements_of_the_text(client: Client) -> None:
    publish(body="Use **one** sentence.\n\n<b id=evil>x</b>\n\n[there](https://evil.example/)")
    page = client.get(PAGE).content.decode()
    assert "<strong>one</strong>" in page
    assert "<b id" not in page
    assert 'href="https://evil.example' not in page
    # The page has one heading of the first level, and the text begins below those of the page.
    assert page.count("<h1") == 1
    assert "<h3>Alpha</h3>" in page


def test_the_rail_says_how_it_is_used(client: Client) -> None:
    publish()
    today = datetime.now(UTC).date()
    for ago, key, count in ((0, "agent", 1200), (29, "", 34), (30, "agent", 600), (59, "other", 17), (60, "agent", 9)):
        LoadCount.objects.create(
            day=today - timedelta(days=ago), capability_id="alpha", revision=1, key_name=key, count=count
        )
    for outcome in ("confirmed_success", "confirmed_success", "confirmed_success", "likely_failure"):
        feedback.record_outcome(capability_id="alpha", outcome=outcome, by=AGENT)
    answer = client.get(PAGE)
    use: CapabilityUse = answer.context["use"]
    assert (use.loads, use.before, use.keys, use.change_percent) == (1234, 617, 1, 100)
    assert (use.succeeded_percent, use.level) == (75, "high")
    page = answer.content.decode()
    for words in ("1,234", "100%", "from 617", "75%", "High</span> · 0.75"):
        assert words in page


@pytest.mark.parametrize(("percent", "level"), [(0, "low"), (39, "low"), (40, "medium"), (69, "medium"), (70, "high")])
def test_confidence_is_a_word(percent: int, level: str) -> None:
    assert CapabilityUse([], 0, 0, 0, OutcomeCounts(), ConfidenceScore(percent)).level == level


def test_its_calls_name_this_server_and_this_capability(client: Client, settings: Any) -> None:
    settings.AGENT_API_PUBLIC_READ = False
    publish()
    snippets = dict(client.get(PAGE).context["snippets"])
    assert snippets["curl"].startswith("curl -G http://testserver/api/v1/capability_skill_load")
    assert "$CAP_KEY" in snippets["curl"]
    assert 'registry.load("alpha")' in snippets["Python"]
    assert json.loads(snippets["MCP"])["mcpServers"]["capability-studio"]["url"] == "http://testserver/mcp"
    publication.retire(capability_id="alpha", by=OLGA)
    assert "Use it" not in client.get(PAGE).content.decode()


@pytest.mark.parametrize(("is_open", "is_unlisted"), [(True, False), (True, True), (False, False)])
def test_its_calls_have_a_key_where_one_is_needed(
    client: Client, settings: Any, is_open: bool, is_unlisted: bool
) -> None:
    settings.AGENT_API_PUBLIC_READ = is_open
    (unlisted if is_unlisted else publish)("alpha")
    context = client.get(PAGE).context
    assert context["needs_key"] == (is_unlisted or not is_open)
    for text in dict(context["snippets"]).values():
        assert ("CAP_KEY" in text) == context["needs_key"]


def test_its_queries_stay_the_same(client: Client) -> None:
    counts = []
    for amount in (1, 8):
        for number in range(amount):
            publish(body=f"Text {amount} {number}.")
            publish(f"other_{amount}_{number}")
            LoadCount.objects.create(
                day=datetime.now(UTC).date(), capability_id="alpha", revision=1, key_name=f"{amount} {number}", count=1
            )
        client.get(PAGE)
        with CaptureQueriesContext(connection) as queries:
            client.get(PAGE)
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 23, counts


def test_it_lists_what_the_live_revision_may_do(client: Client) -> None:
    publish("alpha", body="See https://old.example/ first.")
    publish("alpha", body="See https://new.example/ first.")
    page = " ".join(client.get("/capabilities/alpha/").content.decode().split())
    assert '<span class="badge badge--warning">New</span> <code><bdi>new.example</bdi></code>' in page
    assert "skill.md:" in page
