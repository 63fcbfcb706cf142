"""Why a use failed: what is taken, what is kept of it, who reads it, and where it never gets to."""

from __future__ import annotations

import json
import logging
import zipfile
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import pytest
from django.core.serializers import serialize
from django.utils import timezone

from capability_rules.errors import InvalidRequest
from registry.access import operators, teams
from registry.catalog.exporter import export_capability
from registry.common.actors import Actor
from registry.common.errors import Forbidden, NotFound
from registry.core.queries import get_capability
from registry.models import AuditEvent, FeedbackEvent, IdempotencyRecord, Incident, Job, OutcomeReport
from registry.operations.backup.create import create_backup
from registry.usage import outcome_reports
from registry.usage.feedback import FeedbackResult, record_outcome
from registry.usage.outcome_reports import ReportedReason, erase_report, list_groups, prune_reports, read_reason
from tests.factories import OLGA, publish

pytestmark = pytest.mark.django_db
AGENT: Final = Actor("agent_key", "agent")
CANARY: Final = "violoncello"
TALK: Final[list[dict[str, Any]]] = [
    {"role": "user", "text": f"Tune my {CANARY}, jo@example.com"},
    {"role": "agent", "text": "", "calls": [{"tool": "alpha_save", "arguments": {"who": "jo@example.com", "n": 1}}]},
    {"role": "tool", "text": '{"error": {"code": "NOT_FOUND"}}'},
]


@pytest.fixture(autouse=True)
def _alpha() -> None:
    publish()


def tell(outcome: str = "confirmed_failure", **said: Any) -> FeedbackResult:
    given = {"reason": None, "failed_call": None, "conversation": None} | said
    return record_outcome(capability_id="alpha", outcome=outcome, by=AGENT, said=read_reason(**given))


def test_a_sentence_and_the_failed_call_are_kept_scrubbed() -> None:
    tell(reason="No slot for jo@example.com", failed_call={"tool": "alpha_save", "code": "NOT_FOUND"})
    report = OutcomeReport.objects.get()
    assert (report.reason, report.tool, report.code, report.missing) == (
        *("No slot for [address]", "alpha_save", "NOT_FOUND"),
        "",
    )
    tell()
    assert OutcomeReport.objects.count() == 1


def test_a_conversation_needs_the_setting_and_is_scrubbed(settings: Any) -> None:
    tell(reason="No slot", conversation=TALK)
    assert OutcomeReport.objects.get().conversation is None
    settings.KEEP_CONVERSATIONS = True
    tell(conversation=TALK)
    kept = OutcomeReport.objects.latest("event_id").conversation
    assert kept is not None
    assert kept[0] == {"role": "user", "text": f"Tune my {CANARY}, [address]"}
    assert kept[1]["calls"] == [{"tool": "alpha_save", "arguments": {"who": "[address]", "n": 1}}]


@pytest.mark.parametrize(
    "given",
    [
        {"reason": "x" * 501},
        {"reason": 7},
        {"failed_call": "alpha_save"},
        {"failed_call": {"tool": "alpha_save"}},
        {"failed_call": {"tool": "two words", "code": "X"}},
        {"failed_call": {"tool": "t", "code": "X", "missing": "<b>"}},
        {"conversation": {}},
        {"conversation": [{"role": "system", "text": ""}]},
        {"conversation": [{"role": "user"}]},
        {"conversation": [{"role": "agent", "text": "", "calls": [{"tool": "t", "arguments": []}]}]},
        {"conversation": [{"role": "user", "text": ""}] * 201},
        {"conversation": [{"role": "user", "text": "x" * 65_536}]},
    ],
)
def test_another_form_is_refused_and_nothing_is_counted(given: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequest):
        tell(**given)
    assert not AuditEvent.objects.filter(verb="feedback.record").exists()


def test_failures_stand_together_by_what_they_share() -> None:
    tell("confirmed_success", reason="It went well")
    tell(reason="the slot was not free")
    for _ in range(3):
        tell(failed_call={"tool": "alpha_save", "code": "ARGUMENTS_INVALID", "missing": "date"}, reason="no day")
    for reason in ("They wanted a cello lesson", "cello lesson, they wanted"):
        tell(reason=reason)
    tell(failed_call={"tool": "alpha_save", "code": "NOT_FOUND"})
    groups = list_groups(get_capability("alpha"))
    assert [(one.tool, one.code, one.missing, one.failures) for one in groups] == [
        ("alpha_save", "ARGUMENTS_INVALID", "date", 3),
        ("", "", "", 2),
        ("alpha_save", "NOT_FOUND", "", 1),
        ("", "", "", 1),
        ("", "", "", 0),
    ]
    publish(body="Two.")
    tell(reason="the slot was not free")
    assert [one.failures for one in list_groups(get_capability("alpha"), revision=2)] == [1]


def test_no_word_of_it_gets_anywhere_else(settings: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    settings.KEEP_CONVERSATIONS = True
    with caplog.at_level(logging.DEBUG):
        for _ in range(9):
            tell(reason=f"No slot for a {CANARY}", conversation=TALK)
    assert Incident.objects.filter(kind="use").count() == 1
    rows = [one for model in (AuditEvent, Incident, Job, IdempotencyRecord) for one in model._default_manager.all()]
    assert CANARY not in serialize("json", rows)
    assert CANARY not in caplog.text
    assert CANARY not in json.dumps(export_capability(get_capability("alpha")).files)
    create_backup(to=tmp_path / "backup.zip")
    with zipfile.ZipFile(tmp_path / "backup.zip") as archive:
        assert CANARY.encode() not in b"".join(archive.read(name) for name in archive.namelist())
    assert CANARY not in repr(ReportedReason(conversation=TALK))


def test_it_is_forgotten_after_days_and_with_the_setting(settings: Any) -> None:
    settings.KEEP_CONVERSATIONS = True
    tell(reason="kept", conversation=TALK)
    tell(conversation=TALK)
    tell(reason="old")
    OutcomeReport.objects.filter(reason="old").update(at=timezone.now() - timedelta(days=31))
    assert sum(len(one.reports) for one in list_groups(get_capability("alpha"))) == 2
    settings.KEEP_CONVERSATIONS = False
    prune_reports(None)()  # type: ignore[arg-type]
    assert [(one.reason, one.conversation) for one in OutcomeReport.objects.all()] == [("kept", None)]


@pytest.mark.both_databases
def test_what_a_members_assistants_said_is_erased_with_the_member(settings: Any) -> None:
    settings.KEEP_CONVERSATIONS = True
    operators.create_operator(username="vera", password="Correct-horse-battery-9", role="viewer", by=OLGA)
    for by in (Actor("operator", "vera"), Actor("agent_key", "vera"), Actor("operator", "olga")):
        said = read_reason("no slot", None, TALK)
        record_outcome(capability_id="alpha", outcome="confirmed_failure", by=by, said=said)
    operators.disable_operator(username="vera", by=OLGA)
    assert sorted(OutcomeReport.objects.values_list("member", flat=True)) == ["", "olga"]
    assert FeedbackEvent.objects.count() == 3
    operators.enable_operator(username="vera", by=OLGA)
    assert OutcomeReport.objects.count() == 2


def test_who_may_edit_erases_it() -> None:
    done = tell(reason="why")
    operators.create_operator(username="vera", password="Correct-horse-battery-9", role="author", by=OLGA)
    team = teams.create_team(name="Others", by=OLGA)
    teams.set_owning_team(capability_id="alpha", key=team.pk, by=OLGA)
    with pytest.raises(Forbidden):
        erase_report(event_id=done.event_id, by=Actor("operator", "vera"))
    erase_report(event_id=done.event_id, by=Actor("command_line", "root"))
    assert not OutcomeReport.objects.exists()
    assert AuditEvent.objects.get(verb="feedback.erase").detail == {"event_id": str(done.event_id)}
    with pytest.raises(NotFound):
        outcome_reports.get_report(done.event_id)
