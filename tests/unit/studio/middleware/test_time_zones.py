"""One clock: each time is shown and read in the reader's zone, by its name."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.http import QueryDict
from django.test import Client
from django.utils import timezone

from capability_rules.errors import InvalidRequest
from registry.access import agent_keys
from registry.catalog import drafts
from registry.core.jobs import queue
from registry.models import AgentKey, AuditEvent, Job, ScheduledRelease
from registry.publishing.scheduled_releases import schedule_release
from studio.middleware.time_zones import (
    COOKIE,
    day_start,
    find_zone,
    moment_words,
    stored_moment_words,
    time_sent,
    zone_words,
)
from studio.pages.formatting import local_time, relative_time
from studio.templatetags.formatting import time_zone
from tests.factories import OLGA, bundle, tampering
from tests.sweeps import check_each
from tests.unit.studio.conftest import SignIn
from tests.unit.studio.forms import form_with

NEW_YORK = "America/New_York"
AT = datetime(2026, 11, 23, 3, 15, tzinfo=UTC)


def _sent(text: str, zone: str = NEW_YORK) -> QueryDict:
    given = QueryDict(mutable=True)
    given.update({"at": text, "at_zone": zone})
    return given


@pytest.mark.parametrize("name", [NEW_YORK, "UTC", "Etc/GMT+5", "Asia/Kolkata"])
def test_a_zone_is_found_by_its_name(name: str) -> None:
    zone = find_zone(name)
    assert zone is not None
    assert zone.key == name


def test_anything_else_is_not_a_zone() -> None:
    def check(name: str) -> None:
        assert find_zone(name) is None

    check_each(
        [
            "",
            "America",
            "america/new_york",
            "../../etc/passwd",
            "/etc/localtime",
            "localtime",
            "Factory",
            "posix/UTC",
            "EST5EDT,M3.2.0",
            "America/New_York\0",
            "<script>",
            "A" * 5000,
            "zone.tab",
            "tzdata.zi",
        ],
        check,
    )


@pytest.mark.parametrize(
    ("zone", "shown", "beside"),
    [
        (NEW_YORK, "Nov 22, 2026, 10:15 PM EST", "America/New_York (UTC−5)"),
        ("Asia/Kolkata", "Nov 23, 2026, 8:45 AM IST", "Asia/Kolkata (UTC+5:30)"),
        ("America/Sao_Paulo", "Nov 23, 2026, 12:15 AM UTC−3", "America/Sao_Paulo (UTC−3)"),
        ("Europe/London", "Nov 23, 2026, 3:15 AM GMT", "Europe/London (UTC+0)"),
        ("UTC", "Nov 23, 2026, 3:15 AM UTC", "UTC"),
    ],
)
def test_a_time_is_shown_with_the_name_of_its_zone(zone: str, shown: str, beside: str) -> None:
    with timezone.override(zone):
        assert moment_words(AT) == shown
        assert zone_words(AT) == beside
        assert local_time(AT) == (
            f'<time datetime="2026-11-23T03:15:00+00:00" title="2026-11-23 03:15 UTC">{shown}</time>'
        )  # fmt: skip
        assert f'title="{shown}' in relative_time(AT)
        assert time_zone("at", AT) == {"field": "at_zone", "name": zone, "words": beside}


def test_a_typed_time_is_read_in_the_zone_that_the_form_names() -> None:
    assert time_sent(_sent("2026-11-22T22:20"), "at") == AT + timedelta(minutes=5)
    assert time_sent(_sent("2026-11-23T03:15", "UTC"), "at") == AT
    # A form of a page that was opened before forms named their zone.
    assert time_sent(_sent("2026-11-23T03:15", ""), "at") == AT
    assert time_sent(_sent("2026-11-23T04:15+01:00"), "at") == AT


@pytest.mark.parametrize(
    ("text", "zone", "words"),
    [
        ("", NEW_YORK, "Enter a day and a time"),
        ("tomorrow", NEW_YORK, "Enter a day and a time"),
        ("0001-01-01T00:00", "Asia/Tokyo", "Enter a day and a time"),
        ("9999-12-31T23:59", NEW_YORK, "Enter a day and a time"),
        ("2026-11-22T22:20", "Mars/Olympus", "unknown time zone"),
        ("2027-03-14T02:30", NEW_YORK, "Mar 14, 2027, 2:30 AM does not exist in America/New_York"),
        ("2026-11-01T01:30", NEW_YORK, "Nov 1, 2026, 1:30 AM happens twice in America/New_York"),
    ],
)
def test_a_time_that_names_no_moment_is_refused_in_words(text: str, zone: str, words: str) -> None:
    with pytest.raises(InvalidRequest, match=re.escape(words)):
        time_sent(_sent(text, zone), "at")


def test_the_hours_around_a_change_of_the_clocks_are_read() -> None:
    read = [time_sent(_sent(f"2026-11-01T{hour}"), "at").hour for hour in ("00:59", "02:00")]
    assert read == [4, 7]
    read = [time_sent(_sent(f"2027-03-14T{hour}"), "at").hour for hour in ("01:59", "03:00")]
    assert read == [6, 7]


def test_a_day_begins_in_its_zone_even_where_midnight_is_skipped() -> None:
    assert day_start(date(2026, 11, 22), ZoneInfo(NEW_YORK)) == datetime(2026, 11, 22, 5, tzinfo=UTC)
    # In Beirut the clocks go from 0:00 to 1:00.
    assert day_start(date(2026, 3, 29), ZoneInfo("Asia/Beirut")) == datetime(2026, 3, 28, 22, tzinfo=UTC)


@pytest.fixture
def client(signed_in: SignIn) -> Client:
    client = signed_in("admin")
    client.cookies[COOKIE] = NEW_YORK
    return client


def _planned() -> ScheduledRelease:
    drafts.replace_draft(capability_id="alpha", files=bundle(), by=OLGA)
    draft = drafts.get_draft("alpha")
    # To come, a year ahead at most, and in winter whenever this runs.
    now = timezone.now()
    at = AT.replace(year=now.year)
    at = at if at > now + timedelta(hours=1) else at.replace(year=now.year + 1)
    release = ScheduledRelease.objects.create(
        capability=draft.capability, draft_version=draft.version, files_digest="sha256:" + "0" * 64,
        due_at=at, note="n", scheduled_by=str(OLGA),
    )  # fmt: skip
    queue.enqueue(
        "release.publish", {"scheduled_id": release.pk}, run_after=at, dedupe_key=f"release.publish:{release.pk}"
    )
    return release


def test_a_planned_release_has_one_clock(client: Client) -> None:
    release = _planned()
    answer = client.get("/releases/")
    page, year = answer.content.decode(), release.due_at.year
    assert f"Nov 22, {year}, 10:15 PM EST</time>" in page
    form = form_with(answer, "Reschedule")
    assert (form.values["due_at"], form.values["due_at_zone"]) == (f"{year}-11-22T22:15", NEW_YORK)
    assert "Time zone: America/New_York (UTC−5)" in page
    answer = form.submit(client, due_at=f"{year}-11-22T22:20")
    release.refresh_from_db()
    assert release.due_at == AT.replace(year=year, minute=20)
    assert Job.objects.get(dedupe_key=f"release.publish:{release.pk}").run_after == release.due_at
    assert f"goes live on Nov 22, {year}, 10:20 PM EST." in client.get("/releases/").content.decode()


def test_the_form_keeps_its_zone_whatever_the_cookie_says_later(client: Client) -> None:
    release = _planned()
    form = form_with(client.get("/releases/"), "Reschedule")
    client.cookies[COOKIE] = "Asia/Tokyo"
    form.submit(client, due_at=f"{release.due_at.year}-11-22T22:20")
    release.refresh_from_db()
    assert release.due_at == AT.replace(year=release.due_at.year, minute=20)


def test_what_was_typed_at_the_gate_comes_back_in_the_zone_in_which_it_was_typed(client: Client) -> None:
    drafts.replace_draft(capability_id="alpha", files=bundle(), by=OLGA)
    gate = "/capabilities/alpha/publish/"
    form = form_with(client.get(gate), "Schedule release")
    form.action = f"{gate}later/"
    client.cookies[COOKIE] = "Asia/Tokyo"
    answer = form.submit(client, note="n", due_at="2001-01-01T00:00")
    assert "The time is in the past" in answer.content.decode()
    again = form_with(answer, "Schedule release").values
    assert (again["due_at"], again["due_at_zone"]) == ("2001-01-01T00:00", NEW_YORK)


@pytest.mark.parametrize("cookie", ["", "../../etc/passwd", "UTC\\054", "Mars/Olympus", "A" * 4000])
def test_an_odd_cookie_means_utc(cookie: str, client: Client) -> None:
    release = _planned()
    client.cookies[COOKIE] = cookie
    page = client.get("/releases/").content.decode()
    assert f"Nov 23, {release.due_at.year}, 3:15 AM UTC</time>" in page
    assert "Time zone: UTC<" in page


def test_a_page_is_made_for_one_reader_and_the_next_one_has_their_own_zone(client: Client, signed_in: SignIn) -> None:
    release = _planned()
    answer = client.get("/releases/")
    assert "Cookie" in answer["Vary"]
    assert "private" in answer["Cache-Control"]
    assert "ETag" not in answer
    assert timezone.get_current_timezone_name() == "UTC"
    assert f"Nov 23, {release.due_at.year}, 3:15 AM UTC" in signed_in("viewer").get("/releases/").content.decode()


def test_no_answer_of_the_api_depends_on_the_cookie(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    zones: list[Any] = []
    monkeypatch.setattr("django.utils.timezone.activate", zones.append)
    client.get("/api/v1/capabilities/")
    client.get("/healthz")
    assert zones == []
    client.get("/releases/")
    assert zones == [ZoneInfo(NEW_YORK)]


def test_days_of_the_audit_log_are_days_of_the_zone_that_is_shown(client: Client) -> None:
    drafts.replace_draft(capability_id="alpha", files=bundle(), by=OLGA)
    with tampering():
        AuditEvent.objects.update(at=AT)
    form = form_with(client.get("/audit/"), "Show")
    assert form.values["from_zone"] == NEW_YORK
    for day, rows in (("2026-11-22", True), ("2026-11-23", False)):
        answer = form.submit(client, **{"from": day, "to": day})
        assert bool(answer.context["page"].paginator.count) is rows
        query = answer.context["query"]
        assert f"from_zone={NEW_YORK.replace('/', '%2F')}" in query
        assert (b"draft" in b"".join(client.get(f"/audit/export/?{query}&format=jsonl"))) is rows
    # An address that somebody passed on: one clock for its days and its rows.
    client.cookies[COOKIE] = "Asia/Tokyo"
    page = client.get(f"/audit/?from=2026-11-22&from_zone={NEW_YORK}").content.decode()
    assert "Nov 22, 2026, 10:15 PM EST</time>" in page
    assert "JST" not in page
    assert client.get("/audit/?from=2026-11-23&to=2026-11-23").context["page"].paginator.count


def test_a_moment_that_a_row_keeps_as_text_is_shown_by_the_same_clock(client: Client) -> None:
    at = timezone.now().replace(microsecond=0) + timedelta(days=30)
    drafts.replace_draft(capability_id="alpha", files=bundle(), by=OLGA)
    schedule_release(capability_id="alpha", draft_version=1, due_at=at, by=OLGA, note="n")
    agent_keys.create_key(name="bot", by=OLGA, expires_at=at)
    with timezone.override(NEW_YORK):
        words = moment_words(at)
    page = client.get("/audit/").content.decode()
    assert page.count(words) == 2
    assert page.count(f'title="{at.isoformat()}"') == 2
    assert f"Release scheduled for {words}" in client.get("/capabilities/alpha/history/").content.decode()


@pytest.mark.parametrize("text", ["", "soon", "2026-11-23", "2026-11-23T03:15:00", "0001-01-01T00:00:00+00:00", "a\0"])
def test_a_text_that_is_not_a_moment_stays_as_it_is(text: str) -> None:
    assert stored_moment_words(text) == text


def test_a_key_ends_with_the_day_of_the_zone_that_is_shown(client: Client) -> None:
    day = timezone.now().date() + timedelta(days=30)
    form = form_with(client.get("/keys/"), "Create key")
    form.submit(client, name="bot", last_day=day.isoformat())
    row = AgentKey.objects.get(name="bot")
    assert row.expires_at == day_start(day + timedelta(days=1), ZoneInfo(NEW_YORK))
    form = form_with(client.get(f"/keys/{row.pk}/"), "Save")
    assert (form.values["last_day"], form.values["last_day_zone"]) == (day.isoformat(), NEW_YORK)


def test_saving_other_rights_does_not_move_the_end_of_a_key(client: Client) -> None:
    ends = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=9)
    row, _key = agent_keys.create_key(name="bot", by=OLGA, expires_at=ends)
    form = form_with(client.get(f"/keys/{row.pk}/"), "Save")
    assert form.submit(client, preview=["on"]).status_code == 302
    row.refresh_from_db()
    assert (row.preview, row.expires_at) == (True, ends)
