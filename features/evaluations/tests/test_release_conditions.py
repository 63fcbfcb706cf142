"""Where a rule requires it, nothing is published without results of exactly these texts and cases."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from capability_rules.errors import InvalidRequest
from features.acceptances.waiver_store import create_waiver
from features.evaluations import case_store, rules
from features.evaluations.models import EvaluationResult, EvaluationRule, EvaluationRun
from registry.access.operators import create_operator
from registry.catalog import drafts
from registry.common.actors import Actor
from registry.common.errors import Forbidden, NotFound
from registry.core.queries import get_capability
from registry.models import AuditEvent
from registry.operations.absent_features import find_absent_features
from registry.operations.backup.tables import read_stored
from registry.operations.rights.comparison import find_unrecorded
from registry.publishing import publication
from tests.factories import OLGA, bearer, bundle, publish
from tests.unit.agent_api.conftest import Api
from tests.unit.studio.conftest import SignIn
from tests.unit.studio.forms import ask_and_confirm, form_with

pytestmark = pytest.mark.django_db

ADA = Actor("operator", "ada")
TERMINAL = Actor("command_line", "root")
POLICY = "/settings/publishing/"


def _draft(body: str = "Say sir.", **fields: Any) -> str:
    """A draft of alpha; its digest."""
    draft = drafts.replace_draft(capability_id="alpha", files=bundle(body=body, **fields), by=OLGA)
    return draft.digest if draft else ""


def _cases(*names: str, must: str = "") -> None:
    for name in names:
        document = {"name": name, "messages": [f"alpha {name}"], "must": name == must}
        case_store.save_case(capability=get_capability("alpha"), document=document, by=OLGA)


def _results(digest: str, passed: Mapping[str, int], *, of: int = 2, model: str = "small") -> EvaluationRun:
    """A run that was played to its end; `passed` says how many repetitions of each case."""
    run = EvaluationRun.objects.create(
        capability=get_capability("alpha"), side="draft", digest=digest, model=model, repetitions=of,
        total=of * len(passed), state="done", finished_at=timezone.now(), created_by=str(OLGA),
    )  # fmt: skip
    cases = {row.name: case_store.read_row(row) for row in case_store.list_cases(get_capability("alpha"))}
    for name, count in passed.items():
        for repetition in range(1, of + 1):
            EvaluationResult.objects.create(
                run=run, case=name, case_digest=cases[name].digest, repetition=repetition,
                failures=[] if repetition <= count else ["It did not"],
            )  # fmt: skip
    return run


def _ask(share: int = 80, group_id: str = "", model: str = "") -> None:
    rules.set_rule(group_id=group_id, share=share, model=model, by=ADA)


def _missed() -> list[tuple[str, str]]:
    """What a dry run says, which a publish then says too."""
    tried = publication.publish_draft(capability_id="alpha", by=OLGA, note="why", dry_run=True)
    found = [(one.code, one.message) for one in tried.findings if one.is_error]
    done = publication.publish_draft(capability_id="alpha", by=OLGA, note="why")
    assert [(one.code, one.message) for one in done.findings if one.is_error] == found
    assert (done.status == "refused") == bool(found)
    return found


def test_without_a_rule_no_evaluation_is_asked_for() -> None:
    _draft()
    assert _missed() == []


@pytest.mark.both_databases
def test_without_results_of_these_texts_nothing_is_published() -> None:
    _ask()
    digest = _draft()
    assert _missed() == [("EVALUATION_MISSING", "A rule requires evaluations, and there are no cases")]
    _cases("greets")
    missing = ("EVALUATION_MISSING", "There are no results of evaluations for exactly these texts")
    assert _missed() == [missing]
    run = _results(digest, {"greets": 2})
    EvaluationRun.objects.filter(pk=run.pk).update(state="running", finished_at=None)
    assert _missed() == [missing]
    EvaluationRun.objects.filter(pk=run.pk).update(state="done", finished_at=timezone.now())
    _draft("Say madam.")
    assert _missed() == [missing]
    _draft()
    assert _missed() == []


@pytest.mark.both_databases
def test_results_that_who_publishes_has_uploaded_do_not_count() -> None:
    _ask()
    digest = _draft()
    _cases("greets")
    run = _results(digest, {"greets": 2})
    for tool, by, missed in [
        ("harness", OLGA, ["EVALUATION_MISSING"]),
        ("harness", Actor("command_line", OLGA.name), ["EVALUATION_MISSING"]),
        ("harness", Actor("agent_key", "pipeline"), []),
        ("", OLGA, []),
    ]:
        EvaluationRun.objects.filter(pk=run.pk).update(tool=tool, created_by=str(by))
        tried = publication.publish_draft(capability_id="alpha", by=OLGA, note="why", dry_run=True)
        assert [one.code for one in tried.findings if one.is_error] == missed, (tool, by)
    EvaluationRun.objects.filter(pk=run.pk).update(tool="harness", created_by="operator:ada")
    create_operator(username="ada", password="Correct-horse-battery-9", role="admin", by=OLGA)
    until = timezone.now().date() + timedelta(days=9)
    waived: dict[str, Any] = {
        "code": "EVALUATION_MISSING",
        "place": "capability.json",
        "reason": "Alone.",
        "until": until,
    }
    assert create_waiver(capability_id="alpha", by=ADA, **waived).code == "EVALUATION_MISSING"


def test_results_of_other_cases_are_stale() -> None:
    _ask()
    digest = _draft()
    _cases("greets", "leaves", "stays")
    _results(digest, {"greets": 2, "leaves": 2, "stays": 2})
    greets, leaves, _stays = case_store.list_cases(get_capability("alpha"))
    changed = {"name": "greets", "messages": ["alpha hello"]}
    case_store.save_case(capability=get_capability("alpha"), document=changed, by=OLGA, number=greets.pk)
    case_store.delete_case(capability=get_capability("alpha"), number=leaves.pk, by=OLGA)
    _cases("new")
    ((code, words),) = _missed()
    assert code == "EVALUATION_MISSING"
    assert words.endswith(": “greets” changed since; “new” not played; “leaves” deleted since")


def test_too_few_that_passed_and_a_failed_must_stop_it() -> None:
    _ask(75)
    digest = _draft()
    _cases("greets", "leaves", must="greets")
    _results(digest, {"greets": 1, "leaves": 1})
    assert _missed() == [
        ("EVALUATION_FAILED", "2 of 4 evaluations passed (50 %); a rule requires 75 %"),
        ("EVALUATION_FAILED", "Of the cases that must pass, these failed: “greets”"),
    ]
    _results(digest, {"greets": 2, "leaves": 1})
    assert _missed() == []


def test_a_case_that_live_passes_may_not_always_fail() -> None:
    publish(body="Old.")
    _cases("greets", "leaves")
    live = get_capability("alpha").published_revision
    assert live is not None
    _ask(1)
    digest = _draft()
    _results(digest, {"greets": 0, "leaves": 2})
    ((code, words),) = _missed()
    assert (code, words) == (
        "EVALUATION_MISSING",
        "What is live has no results of “greets”, “leaves” with small to compare with",
    )
    _results(live.digest, {"greets": 2, "leaves": 0}, model="large")
    assert [code for code, _words in _missed()] == ["EVALUATION_MISSING"]
    _results(live.digest, {"greets": 2, "leaves": 0})
    assert _missed() == [("EVALUATION_FAILED", "These cases pass with what is live, and fail now: “greets”")]
    _results(digest, {"greets": 1, "leaves": 2})
    assert _missed() == []


@pytest.mark.both_databases
def test_a_rule_may_want_one_model_and_be_for_one_group() -> None:
    _ask(100, group_id="health", model="large")
    _draft()
    assert _missed() == []
    # The same texts in the group.
    digest = _draft("In the group.", skill_groups=["health"])
    _cases("greets")
    live = get_capability("alpha").published_revision
    assert live is not None
    _results(digest, {"greets": 2}, model="small")
    missing = "There are no results of evaluations with large for exactly these texts"
    assert _missed() == [("EVALUATION_MISSING", missing)]
    # Leaving the group in the same publish is not a way around it.
    for each in (live.digest, digest):
        _results(each, {"greets": 2}, model="large")
    assert _missed() == []
    _draft("Out of the group.")
    assert _missed() == [("EVALUATION_MISSING", missing)]


def test_the_strictest_share_of_several_rules_counts() -> None:
    _ask(50)
    _ask(90, group_id="health")
    digest = _draft(skill_groups=["health"])
    _cases("greets")
    _results(digest, {"greets": 1})
    assert _missed() == [("EVALUATION_FAILED", "1 of 2 evaluations passed (50 %); a rule requires 90 %")]


def test_going_back_needs_no_evaluation() -> None:
    publish(body="One.")
    publish(body="Two.")
    _ask()
    assert publication.rollback(capability_id="alpha", to=1, by=OLGA).status == "published"


def test_an_admin_waives_it_for_these_texts_alone() -> None:
    create_operator(username="ada", role="admin", password="correct horse battery 7", by=TERMINAL)
    create_operator(username="olga", role="publisher", password="correct horse battery 7", by=TERMINAL)
    _ask()
    _draft()
    _cases("greets")
    given: dict[str, Any] = {"capability_id": "alpha", "code": "EVALUATION_MISSING", "place": "capability.json"}
    given |= {"reason": "No model here.", "until": timezone.now().date() + timedelta(days=9)}
    with pytest.raises(Forbidden):
        create_waiver(by=OLGA, **given)
    create_waiver(by=ADA, **given)
    assert _missed() == []
    _draft("Say madam.")
    assert "EVALUATION_MISSING" in [code for code, _words in _missed()]


def test_the_api_and_the_page_of_the_gate_say_the_same(api: Api, signed_in: SignIn) -> None:
    _ask()
    _draft()
    _cases("greets")
    words = "There are no results of evaluations for exactly these texts"
    headers = bearer("publish")
    for name, body in (
        ("bundle_publish", {"bundles": [{"path": "alpha", "files": bundle(body="Say sir.")}], "dry_run": True}),
        ("bundle_publish", {"bundles": [{"path": "alpha", "files": bundle(body="Say sir.")}]}),
        ("draft_publish", {"capability_id": "alpha", "draft_version": 1}),
    ):
        answer = api.post(f"operator/{name}", body, headers=headers)
        (row,) = answer.json()["results"]
        assert (row["status"], words in [one["message"] for one in row["findings"]]) == ("refused", True)
    shown = signed_in("admin").get("/capabilities/alpha/publish/").content.decode()
    assert words in shown
    assert "code=EVALUATION_MISSING" in shown


@pytest.mark.both_databases
def test_an_admin_sets_and_removes_rules_by_forms(signed_in: SignIn) -> None:
    client = signed_in("admin")
    form = form_with(client.get(POLICY), "Save rule")
    form.submit(client, group_id="health", share="90", model="large")
    rule = EvaluationRule.objects.get()
    assert (rule.group_id, rule.share, rule.model) == ("health", 90, "large")
    form_with(client.get(POLICY), "Save rule").submit(client, group_id="Not An Id", share="90")
    assert EvaluationRule.objects.count() == 1
    assert "is not a valid group id" in client.get(POLICY).content.decode()
    ask_and_confirm(client, "/settings/publishing/evaluations/drop/", {"group_id": "health"})
    assert not EvaluationRule.objects.exists()
    verbs = AuditEvent.objects.filter(verb__startswith="evaluation_rule.").values_list("verb", flat=True)
    assert sorted(verbs) == ["evaluation_rule.drop", "evaluation_rule.set"]


@pytest.mark.parametrize(
    ("given", "words"),
    [({"share": 0}, "1 to 100"), ({"share": 101}, "1 to 100"), ({"group_id": "A b"}, "group id"),
     ({"model": "x" * 201}, "at most 200")],
)  # fmt: skip
def test_a_rule_that_cannot_be_is_refused(given: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidRequest, match=words):
        rules.set_rule(**{"group_id": "", "share": 80, "by": ADA, **given})
    with pytest.raises(NotFound):
        rules.delete_rule(group_id="health", by=ADA)


@pytest.mark.both_databases
def test_a_rule_that_nobody_set_is_found_by_the_audit_log() -> None:
    _ask()
    _ask(90, group_id="health")
    rules.delete_rule(group_id="health", by=ADA)
    assert find_unrecorded(read_stored) == ()
    EvaluationRule.objects.update(share=1)
    assert find_unrecorded(read_stored) == ("share '1' of evaluation rule ''",)


@pytest.mark.both_databases
def test_without_the_feature_a_registry_with_a_rule_does_not_start(settings: Any) -> None:
    settings.FEATURES = tuple(name for name in settings.FEATURES if name != "evaluations")
    assert find_absent_features() == []
    _ask()
    (sentence,) = find_absent_features()
    assert "FEATURES is without 'evaluations'" in sentence
