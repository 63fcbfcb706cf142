"""The audit log: filters, the chain, and what leaves the house."""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from registry.access import agent_keys
from registry.catalog import drafts
from registry.common.actors import Actor
from registry.core import audit
from registry.models import AuditEvent
from registry.selectors import audit_log
from registry.usage import feedback
from tests.factories import OLGA, bundle, publish, tampering
from tests.unit.studio.conftest import SignIn

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


@pytest.fixture
def client(signed_in: SignIn) -> Client:
    return signed_in()


@pytest.fixture
def writes(client: Client) -> None:
    publish()
    drafts.save_draft(capability_id="alpha", files=bundle(body="x"), based_on=None, by=Actor("operator", "<b>vera</b>"))
    agent_keys.create_key(name="=key", by=OLGA)


def _subjects(client: Client, query: str) -> list[tuple[str, str]]:
    return [(event.verb, event.subject) for event in client.get(f"/audit/?{query}").context["page"].object_list]


@pytest.mark.usefixtures("writes")
def test_filters_by_who_what_whom_and_when(client: Client) -> None:
    assert [verb for verb, _ in _subjects(client, "")] == [
        "agent_key.create",
        "draft.save",
        "capability.publish",
        "operator.create",
    ]
    assert _subjects(client, "who=%3Cb%3Evera%3C%2Fb%3E") == [("draft.save", "alpha")]
    assert _subjects(client, "verb=capability") == [("capability.publish", "alpha")]
    assert _subjects(client, "verb=draft.save&subject=alpha") == [("draft.save", "alpha")]
    assert _subjects(client, "subject=%3Dkey") == [("agent_key.create", "=key")]
    today = datetime.now(UTC).date()
    assert len(_subjects(client, f"from={today}&to={today}")) == 4
    assert _subjects(client, f"from={today + timedelta(days=1)}") == []
    assert _subjects(client, f"to={today - timedelta(days=1)}") == []


@pytest.mark.usefixtures("writes")
def test_people_are_listed_by_default_and_keys_on_request(client: Client) -> None:
    feedback.record_outcome(capability_id="alpha", outcome="confirmed_success", by=Actor("agent_key", "guest chat"))
    everyone = _subjects(client, "by=all")
    assert everyone[0] == ("feedback.record", "alpha")
    assert _subjects(client, "") == _subjects(client, "by=people") == everyone[1:]
    assert _subjects(client, "by=keys") == everyone[:1]
    assert _subjects(client, "by=system") == []
    # What asks for something in particular finds it, by anybody.
    assert _subjects(client, "who=guest+chat") == _subjects(client, "verb=feedback") == everyone[:1]
    assert everyone[0] in _subjects(client, "subject=alpha")
    assert _subjects(client, "subject=alpha&by=people") == [row for row in everyone[1:] if row[1] == "alpha"]


@pytest.mark.usefixtures("writes")
def test_an_export_has_everyone_unless_its_address_says_whom(client: Client) -> None:
    feedback.record_outcome(capability_id="alpha", outcome="confirmed_success", by=Actor("agent_key", "guest chat"))
    assert b"feedback.record" in client.get("/audit/export/?format=csv").getvalue()
    assert b"feedback.record" not in client.get("/audit/export/?format=csv&by=people").getvalue()
    assert "/audit/export/?by=people&amp;format=csv" in client.get("/audit/").content.decode()


@pytest.mark.parametrize(
    "odd", ["by=x", "by=%00", "from=x", "to=9999-12-31", "from=0001-01-01", "who=%00", "verb=%25", "page=x"]
)
@pytest.mark.usefixtures("writes")
def test_an_odd_filter_breaks_nothing(odd: str, client: Client) -> None:
    for address in ("/audit/", "/audit/export/"):
        assert client.get(f"{address}?{odd}").status_code == 200


@pytest.mark.usefixtures("writes")
def test_names_are_text(client: Client) -> None:
    page = client.get("/audit/").content.decode()
    assert "&lt;b&gt;vera&lt;/b&gt;" in page
    assert "<b>vera" not in page


@pytest.mark.usefixtures("writes")
def test_the_chain_is_told_and_a_changed_row_is_found(client: Client) -> None:
    assert "Log verified (4 entries)" in client.get("/audit/").content.decode()
    changed = AuditEvent.objects.get(verb="draft.save")
    with tampering():
        AuditEvent.objects.filter(pk=changed.pk).update(actor_name="somebody else")
    page = client.get("/audit/").content.decode()
    assert f"The log is broken at entry {changed.pk}." in page


@pytest.mark.usefixtures("writes")
def test_a_long_log_is_checked_where_that_is_asked_for(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit_log, "AUTO_CHECK_MAX", 2)
    page = client.get("/audit/").content.decode()
    assert "t verified yet" in page
    assert "Log verified" not in page
    assert "Log verified" in client.get("/audit/?check=all").content.decode()


@pytest.mark.usefixtures("writes")
def test_exports_follow_the_filters(client: Client) -> None:
    answer = client.get("/audit/export/?format=csv")
    rows = list(csv.DictReader(io.StringIO(answer.getvalue().decode())))
    assert [row["verb"] for row in rows][:2] == ["agent_key.create", "draft.save"]
    assert rows[0]["subject"] == "'=key"
    assert json.loads(rows[1]["detail"]) == {"draft_version": 1}
    answer = client.get("/audit/export/?format=jsonl&verb=draft")
    (line,) = answer.getvalue().decode().splitlines()
    told = json.loads(line)
    assert (told["actor"], told["subject"]) == ("operator:<b>vera</b>", "alpha")
    event = AuditEvent.objects.get(verb="draft.save")
    # What is handed out is enough to check the chain elsewhere.
    assert (told["hash"], told["previous_hash"]) == (audit.event_hash(event), event.previous_hash)


def test_the_number_of_queries_does_not_grow(client: Client) -> None:
    counts = []
    for amount in (2, 60):
        for number in range(amount):
            agent_keys.create_key(name=f"{amount} {number}", by=OLGA)
        with CaptureQueriesContext(connection) as queries:
            client.get("/audit/")
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 10


def test_a_digest_is_shown_by_its_beginning_and_what_is_empty_is_left_out(client: Client) -> None:
    whole = "sha256:" + "0123456789ab" + "c" * 52
    audit.record(
        by=OLGA, verb="capability.publish", subject="alpha", detail={"digest": whole, "acknowledged": [], "n": 0}
    )
    page = client.get("/audit/").content.decode()
    assert f'<bdi title="{whole}">sha256:0123456789ab…</bdi>' in page
    assert "acknowledged" not in page
    assert '<span class="muted" translate="no">n:</span> <bdi >0</bdi>' in page
    assert whole in b"".join(client.get("/audit/export/?format=jsonl")).decode()
