"""Home and the first-run tour."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from registry.catalog import drafts, incidents
from registry.common.actors import Actor
from registry.models import Job, LoadCount, MatchCount, Revision
from registry.publishing import publication, quarantine
from registry.usage import usage_counters
from studio.pages.charts import HEIGHT, WIDTH, build_bar_chart
from tests.factories import OLGA, bundle, publish
from tests.unit.studio.conftest import SignIn
from tests.unit.studio.forms import form_with

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def test_an_empty_registry_says_what_will_be_here_and_offers_one_action(signed_in: SignIn) -> None:
    page = signed_in("author").get("/").content.decode()
    assert "No capabilities yet" in page
    assert page.count("Create capability</a>") == 1
    assert 'class="card stat"' not in page
    assert "Create capability</a>" not in signed_in("viewer").get("/").content.decode()


def test_it_tells_what_needs_a_person(signed_in: SignIn) -> None:
    publication.publish(files=bundle(name="<b>First</b>"), by=OLGA, note="a <i>note</i>")
    author = signed_in("author")
    by = Actor("operator", author.get("/").context["user"].get_username())
    drafts.save_draft(capability_id="alpha", files={"skill.md": ""}, based_on=None, by=by)
    incidents.open_incident(revision=Revision.objects.get(), message="m", details="what <is> wrong", findings=())
    usage_counters.count_miss("sleep_<x>")
    usage_counters.count_load("alpha", 1, key_name="")
    usage_counters.flush()
    page = author.get("/").content.decode()
    titles = re.findall(r'class="inbox__title" href="([^"]*)">([^<]*)<', page)
    assert titles == [
        ("/capabilities/alpha/", "&lt;b&gt;First&lt;/b&gt; is failing for agents"),
        ("/capabilities/alpha/edit/", "Your draft of &lt;b&gt;First&lt;/b&gt; has errors"),
    ]
    assert "what &lt;is&gt; wrong" in page
    assert "a &lt;i&gt;note&lt;/i&gt;" in page
    assert "Published as revision 1" in page
    assert "sleep_&lt;x&gt;" in page
    assert "1 load in the last 30 days" in page
    assert "New capability" in page


def test_a_viewer_sees_the_figures_and_nothing_to_do(signed_in: SignIn) -> None:
    publish()
    incidents.open_incident(revision=Revision.objects.get(), message="m", details="d", findings=())
    page = signed_in("viewer").get("/").content.decode()
    assert "all caught up" in page
    assert page.count('class="card stat"') == 4
    assert "New capability" not in page


def test_figures_are_compared_with_the_period_before(signed_in: SignIn) -> None:
    publish()
    today = datetime.now(UTC).date()
    for day, count in ((today, 12_480), (today - timedelta(days=40), 11_534)):
        LoadCount.objects.create(day=day, capability_id="alpha", revision=1, count=count)
    for day, decision, count in ((today, "match", 9), (today, "none", 1), (today - timedelta(days=40), "match", 1)):
        MatchCount.objects.create(day=day, decision=decision, count=count)
    loads, matched, published, failing = signed_in("viewer").get("/").context["figures"]
    assert (loads.value, loads.delta, loads.trend, loads.note) == ("12,480", "8.2%", "up", "from 11,534")
    assert (matched.label, matched.value, matched.delta, matched.trend) == ("Match rate", "90.0%", "10.0 pt", "down")
    assert (matched.is_worse, matched.note) == (True, "from 100.0%")
    assert (published.value, published.delta, published.trend) == ("1", "1", "up")
    assert (failing.value, failing.delta, failing.is_worse) == ("0", "", False)


def test_a_long_list_begins_with_the_worst_and_shows_all_on_request(signed_in: SignIn) -> None:
    author = signed_in("author")
    by = Actor("operator", author.get("/").context["user"].get_username())
    for number in range(12):
        drafts.save_draft(capability_id=f"c{number}", files={"skill.md": ""}, based_on=None, by=by)
    page = author.get("/")
    assert (len(page.context["rows"]), page.context["count"]) == (8, 12)
    assert 'href="?show=all"' in page.content.decode()
    assert len(author.get("/?show=all").context["rows"]) == 12


def test_it_says_that_no_worker_runs(signed_in: SignIn) -> None:
    assert "Background jobs are delayed" not in signed_in("viewer").get("/").content.decode()
    Job.objects.create(kind="revalidate", run_after=timezone.now() - timedelta(minutes=5))
    page = signed_in("viewer").get("/").content.decode()
    assert "Background jobs are delayed" in page
    assert "5\xa0minutes ago" in page


def test_the_number_of_queries_does_not_grow(signed_in: SignIn) -> None:
    client = signed_in()

    def count() -> int:
        with CaptureQueriesContext(connection) as queries:
            client.get("/")
        return len(queries)

    publish()
    few = count()
    for number in range(10):
        publish(f"c{number}")
        drafts.save_draft(capability_id=f"c{number}", files={"skill.md": ""}, based_on=None, by=OLGA)
    assert count() == few <= 29


@pytest.mark.parametrize(("query", "days"), [("", 30), ("?days=90", 90), ("?days=30", 30), ("?days=7", 30)])
def test_the_chart_shows_30_or_90_days(query: str, days: int, signed_in: SignIn) -> None:
    publish()
    today = datetime.now(UTC).date()
    for back, count in ((0, 5), (40, 7), (80, 11), (120, 13)):
        LoadCount.objects.create(
            day=today - timedelta(days=back), capability_id="alpha", revision=1, key_name="k", count=count
        )
    page = signed_in("viewer").get(f"/{query}")
    chart = page.context["chart"]
    assert (len(chart.bars), chart.total) == (days, 5 if days == 30 else 23)
    assert sum(bar.before for bar in chart.bars) == (7 if days == 30 else 13)
    assert page.context["figures"][0].value == "5"
    assert f'href="?days={days}#home-loads"' in page.content.decode()
    assert f"Loads, last {days} days" in page.content.decode()


@pytest.mark.parametrize(("role", "steps"), [("viewer", 3), ("author", 4), ("publisher", 5), ("admin", 6)])
def test_the_tour_has_the_steps_of_a_role(role: str, steps: int, signed_in: SignIn) -> None:
    tour = signed_in(role).get("/").context["tour"]
    assert (len(tour.steps), tour.done) == (steps, 1)


def test_the_tour_knows_what_was_looked_at_and_what_was_written(signed_in: SignIn) -> None:
    client = signed_in("author")
    assert client.post("/tour/to/example/")["Location"] == "/capabilities/"
    assert client.post("/tour/to/playground/")["Location"] == "/playground/"
    tour = client.get("/").context["tour"]
    assert [(step.key, done) for step, done in tour.steps][1:] == [
        ("example", True), ("playground", True), ("make", False),
    ]  # fmt: skip
    client.post(
        "/new-capability/",
        {"name": "N", "capability_id": "mine", "description": "d", "skill_profile": "capability"},
    )
    page = client.get("/")
    assert page.context["tour"].is_over
    assert "Dismiss" in page.content.decode()
    # It collapses by itself.
    assert '<details class="tour-done">' in page.content.decode()


def test_a_page_that_was_found_without_the_tour_counts(signed_in: SignIn) -> None:
    client = signed_in("viewer")
    publish("alpha")
    for page in ("/playground/", "/capabilities/alpha/"):
        mark = re.search('data-tour-visit="([^"]+)"', client.get(page).content.decode())
        assert mark is not None
        client.post(mark[1])
    assert client.get("/").context["tour"].done == 3
    assert "data-tour-visit" not in client.get("/playground/").content.decode()


def test_the_tour_is_kept_with_the_account(signed_in: SignIn) -> None:
    signed_in("viewer").post("/tour/leave/")
    elsewhere = signed_in("viewer")
    assert elsewhere.get("/").context["tour"] is None
    assert "data-tour-visit" not in elsewhere.get("/playground/").content.decode()


def test_hiding_the_tour_can_be_undone(signed_in: SignIn) -> None:
    client = signed_in("viewer")
    client.post("/tour/leave/")
    form_with(client.get("/"), "Undo").submit(client)
    assert client.get("/").context["tour"] is not None


def test_the_tour_can_be_left_and_found_again(signed_in: SignIn) -> None:
    client = signed_in("viewer")
    client.post("/tour/to/example/")
    assert form_with(client.get("/"), "Skip").submit(client)["Location"] == "/"
    assert client.get("/").context["tour"] is None
    client.post("/tour/show/")
    assert client.get("/").context["tour"].done == 2


@pytest.mark.parametrize("step", ["make", "nothing", "sign-in"])
def test_a_step_that_is_not_looked_at_has_no_address(step: str, signed_in: SignIn) -> None:
    assert signed_in("viewer").post(f"/tour/to/{step}/").status_code == 404


@pytest.mark.parametrize(
    ("counts", "top"),
    [([0], 1), ([1], 1), ([2], 2), ([7], 8), ([11, 3], 15), ([150], 150), ([151], 200), ([10**12 + 1], 15 * 10**11)],
)
def test_a_chart_ends_at_a_round_number(counts: list[int], top: int) -> None:
    day = date(2026, 1, 1)
    drawn = build_bar_chart([(day + timedelta(days=place), count) for place, count in enumerate(counts)])
    assert (drawn.top, drawn.total) == (top, sum(counts))
    for bar in drawn.bars:
        assert 0 <= bar.x < bar.x + bar.width <= WIDTH
        assert 0 <= bar.y <= bar.y + bar.height <= HEIGHT
        assert (bar.height > 0) == (bar.count > 0)


def test_an_author_is_shown_what_readers_lost_of_their_text(signed_in: SignIn) -> None:
    author = signed_in("author")
    publish(name="Front desk")
    publication.publish(files=bundle(name="Front desk", body="Two."), by=Actor("operator", "the-author"))
    publication.rollback(capability_id="alpha", to=1, by=OLGA, note="Says <b>twice</b>")
    page = author.get("/").content.decode()
    assert "olga rolled Front desk back from revision 2 to 1" in page
    assert "Says &lt;b&gt;twice&lt;/b&gt;" in page
    quarantine.quarantine(capability_id="alpha", by=OLGA, note="Leaks")
    page = author.get("/").content.decode()
    assert "olga quarantined Front desk" in page
    assert "rolled Front desk back" not in page
    publication.retire(capability_id="alpha", by=OLGA)
    assert "olga retired Front desk" in author.get("/").content.decode()
    assert "retired Front desk" not in signed_in("viewer").get("/").content.decode()
