"""From a case that an operator writes to results: by forms, jobs and a model's server as strict as the vendor."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from capability_client.evaluation import model_port
from capability_kit.evaluation_cases import EvaluationCase
from capability_rules.bundles.bundle_reader import SourceBundle
from capability_rules.errors import InvalidRequest, RegistryError
from features.evaluations import case_store, run_table, runs
from features.evaluations.model_settings import tokens_left
from features.evaluations.models import EvaluationResult, EvaluationRun, SavedCase
from features.evaluations.runs import RunRequest
from features.evaluations.value_lines import LineInvalid, format_lines, parse_lines
from registry.catalog import drafts, exporter
from registry.common.actors import Actor
from registry.core.jobs import admin, celery_dispatch, queue
from registry.core.queries import get_capability
from registry.models import AuditEvent, Job, UnmatchedMessage
from registry.operations.worker import Worker
from registry.publishing import batch
from tests.factories import OLGA, agent_key, bundle, publish, tool
from tests.model_servers import ModelServer, model_server
from tests.unit.studio.conftest import SignIn
from tests.unit.studio.forms import form_with
from tests.vendors import Reply, tool_names

pytestmark = pytest.mark.django_db

SAVE = {**tool("alpha_save"), "policy": {"kind": "write", "requires_approval": True}}
HERE = "/capabilities/alpha/evaluations/"


def obedient_model(body: Any) -> Reply:
    """Loads alpha where the user says its name and it is there, saves, and says what the instructions want."""
    said = json.dumps(body["messages"])
    if "alpha" not in said or "capability_skill_load" not in tool_names(body):
        return "I cannot help with that.", []
    if "alpha__alpha_save" not in tool_names(body):
        return (
            ("", [("capability_skill_load", {"capability_id": "alpha"})])
            if said.count("tool_call_id") < 1
            else ("No.", [])
        )
    if '"tool"' in said and said.count('"role": "tool"') > 1:
        return ("Saved, sir." if "Say sir." in said else "Saved."), []
    return "", [("alpha__alpha_save", {})]


@pytest.fixture
def server(settings: Any) -> Iterator[ModelServer]:
    with model_server("openai", obedient_model) as found:
        settings.MODEL_URL, settings.MODEL_NAMES, settings.MODEL_KIND = found.url, ("small", "large"), "openai"
        settings.MODEL_API_KEY, settings.MODEL_PRICE = "sk-secret", (1.0, 2.0)
        yield found


@pytest.fixture
def alpha(db: None) -> Any:
    publish(tools=[tool("alpha_list"), SAVE])
    return get_capability("alpha")


def work() -> None:
    while queue.run_next_job() is not None:
        pass
    Worker().run_due()


def case(**row: Any) -> dict[str, Any]:
    return {"name": "saves", "messages": ["alpha please save"], "expect": {"loads": "alpha"}, **row}


@pytest.mark.both_databases
def test_a_case_is_written_by_a_form_played_and_judged(signed_in: SignIn, alpha: Any, server: ModelServer) -> None:
    client = signed_in("author")
    page = form_with(client.get(f"{HERE}new/"), "Save case")
    page.values |= {
        "name": "saves after asking",
        "messages": "alpha please save",
        "loads": "alpha",
        "says": "sir",
        "tool_1_called": "on",
        "tool_1_asked": "on",
        "tool_1_answer": "ok = true",
    }
    assert page.submit(client).status_code == 302
    (row,) = case_store.list_cases(alpha)
    assert row.document["expect"] == {
        "loads": "alpha", "calls": [{"tool": "alpha_save"}], "asks_before": ["alpha_save"], "says": ["sir"],
    }  # fmt: skip
    files = bundle(tools=[tool("alpha_list"), SAVE], body="Say sir.")
    drafts.save_draft(capability_id="alpha", files=files, based_on=None, by=OLGA)

    start = form_with(client.get(HERE), "Run all cases")
    assert (
        client.post(f"{HERE}start/", start.values | {"side": ["live", "draft"], "repetitions": "2"}).status_code == 302
    )
    work()
    draft, live = EvaluationRun.objects.order_by("-id")
    assert (draft.side, draft.state, live.state) == ("draft", "done", "done")
    assert {tuple(one.failures) for one in live.results.all()} == {("It did not say “sir”",)}
    assert {tuple(one.failures) for one in draft.results.all()} == {()}
    shown = client.get(f"{HERE}runs/{draft.pk}/?case=saves+after+asking").content.decode()
    assert re.findall(r'data-state="(\w*)"', shown) == ["failed", "passed"]
    assert "Passed 2/2" in " ".join(shown.split())
    assert "Saved, sir." in shown
    assert re.findall(r'data-call="(\w*)"', shown) == ["load", ""] * 4
    assert "capability_skill_load" not in shown
    assert "sk-secret" not in shown + json.dumps(list(EvaluationResult.objects.values_list("transcript", flat=True)))


def test_a_registry_without_the_capability_is_played_too(alpha: Any, server: ModelServer) -> None:
    case_store.save_case(capability=alpha, document=case(), by=OLGA)
    runs.start_runs(capability=alpha, wanted=RunRequest(["live", "without"], ["small"]), by=OLGA)
    work()
    found = {run.side: [one.failures for one in run.results.all()] for run in EvaluationRun.objects.all()}
    assert found == {"live": [[]], "without": [["It loaded nothing; expected alpha"]]}
    assert {body["model"] for body in server.bodies} == {"small"}


def test_runs_that_were_started_together_stand_in_one_table_and_the_first_is_opened(
    signed_in: SignIn, alpha: Any, server: ModelServer
) -> None:
    case_store.save_case(capability=alpha, document=case(), by=OLGA)
    runs.start_runs(capability=alpha, wanted=RunRequest(["live"], ["small"]), by=OLGA)
    client = signed_in("author")
    start = form_with(client.get(HERE), "Run all cases")
    opened = client.post(f"{HERE}start/", start.values | {"side": ["live", "without"]})["Location"]
    without, live, alone = EvaluationRun.objects.order_by("-id")
    pages = {run.pk: f"{HERE}runs/{run.pk}/" for run in (without, live, alone)}
    assert opened == pages[live.pk]
    EvaluationRun.objects.filter(pk=live.pk).update(state="done", finished_at=timezone.now())
    shown = client.get(opened).content.decode()
    assert pages[without.pk] in shown
    assert pages[alone.pk] not in shown
    # It asks again while another one of them runs.
    assert "every 2s" in shown
    assert pages[live.pk] not in client.get(pages[alone.pk]).content.decode()


@pytest.mark.both_databases
def test_a_revision_is_played_as_if_it_were_live_by_several_models(
    signed_in: SignIn, alpha: Any, server: ModelServer
) -> None:
    case_store.save_case(capability=alpha, document=case(expect={"says": ["sir"]}), by=OLGA)
    publish(tools=[tool("alpha_list"), SAVE], body="Say sir.")
    publish(tools=[tool("alpha_list"), SAVE], body="Say it short.")
    client = signed_in("author")
    page = form_with(client.get(HERE), "Run all cases")
    assert (
        client.post(
            f"{HERE}start/", page.values | {"side": ["live"], "model": ["small", "large"], "revision": "2"}
        ).status_code
        == 302
    )
    work()
    found = {
        (run.model, run.side, run.revision): [one.failures for one in run.results.all()]
        for run in EvaluationRun.objects.all()
    }
    said = ["It did not say “sir”"]
    assert found == {
        ("small", "live", 3): [said],
        ("small", "revision", 2): [[]],
        ("large", "live", 3): [said],
        ("large", "revision", 2): [[]],
    }
    shown = client.get(HERE).content.decode()
    assert "Revision 2" in shown


def test_a_model_that_does_nothing_is_a_side_of_its_own(
    signed_in: SignIn, alpha: Any, server: ModelServer, settings: Any
) -> None:
    for name, expect in (("saves", {"loads": "alpha"}), ("stays out", {"loads": None, "no_writes": True})):
        case_store.save_case(capability=alpha, document=case(name=name, expect=expect), by=OLGA)
    settings.MODEL_TOKENS_A_DAY = 1
    wanted = RunRequest(["live", "silent"], ["small", "large"])
    runs.start_runs(capability=alpha, wanted=wanted, by=OLGA)
    silent = EvaluationRun.objects.get(side="silent")
    assert (silent.model, silent.digest, EvaluationRun.objects.count()) == ("", "", 3)
    work()
    assert {one.case: not one.failures for one in silent.results.all()} == {"saves": False, "stays out": True}
    page = signed_in("viewer").get(f"{HERE}runs/{silent.pk}/").content.decode()
    assert "1 of 2 pass without doing anything" in page


def test_what_changed_between_sides_comes_first(alpha: Any) -> None:
    live, draft = (
        EvaluationRun.objects.create(
            capability=alpha,
            side=side,
            model="m",
            total=3,
            state="done",
            finished_at=timezone.now(),
            created_by="x",
            created_at=alpha.published_revision.created_at,
        )
        for side in ("live", "draft")
    )
    for run, failed in ((live, {"b"}), (draft, {"b", "c"})):
        for name in ("a", "b", "c"):
            EvaluationResult.objects.create(
                run=run,
                case=name,
                case_digest="d",
                repetition=1,
                failures=["no"] if name in failed else [],
                seconds=0.0,
                transcript=[],
                finished_at=timezone.now(),
            )
    table = run_table.build_table(run_table.list_columns(draft, None))
    assert [(row.name, row.is_changed, [state for state, _ in row.cells]) for row in table] == [
        ("c", True, ["passed", "failed"]), ("b", False, ["failed", "failed"]), ("a", False, ["passed", "passed"]),
    ]  # fmt: skip


def test_the_publish_page_says_in_a_line_how_cases_fare(signed_in: SignIn, alpha: Any, server: ModelServer) -> None:
    case_store.save_case(capability=alpha, document=case(expect={"says": ["sir"]}), by=OLGA)
    files = bundle(tools=[tool("alpha_list"), SAVE], body="Say sir.")
    drafts.save_draft(capability_id="alpha", files=files, based_on=None, by=OLGA)
    client = signed_in("publisher")
    assert "data-evaluated" not in client.get("/capabilities/alpha/publish/").content.decode()
    runs.start_runs(capability=alpha, wanted=RunRequest(["live", "draft"], ["small"]), by=OLGA)
    work()
    page = " ".join(client.get("/capabilities/alpha/publish/").content.decode().split())
    assert "1 of 1, live 0 of 1" in page


def test_a_worker_that_dies_loses_no_case_that_was_finished(alpha: Any, server: ModelServer) -> None:
    for number in range(3):
        case_store.save_case(capability=alpha, document=case(name=f"case {number}"), by=OLGA)
    (run,) = runs.start_runs(capability=alpha, wanted=RunRequest(["live"], ["small"]), by=OLGA)
    assert queue.run_next_job() == "done"
    lease = queue.claim_job(timezone.now())
    assert lease is not None
    # It died here: its lease ends, and another one takes the job.
    Job.objects.filter(pk=lease.job_id).update(lease_expires_at=timezone.now())
    work()
    run.refresh_from_db()
    assert (run.state, run.results.count()) == ("done", 3)


@pytest.mark.both_databases
def test_a_run_is_one_job_and_a_cancel_leaves_none_queued(alpha: Any, server: ModelServer) -> None:
    for number in range(3):
        case_store.save_case(capability=alpha, document=case(name=f"case {number}"), by=OLGA)
    wanted = RunRequest(["live", "without"], ["small", "large"], repetitions=100)
    started = runs.start_runs(capability=alpha, wanted=wanted, by=OLGA)
    assert Job.objects.filter(kind=runs.KIND, state="queued").count() == 4
    assert queue.run_next_job() == "done"
    assert Job.objects.filter(kind=runs.KIND, state="queued").count() == 4
    for run in started:
        runs.cancel_run(number=run.pk, by=OLGA)
    assert not Job.objects.filter(kind=runs.KIND, state="queued").exists()
    assert EvaluationResult.objects.count() == 1


@pytest.mark.both_databases
def test_runs_of_members_are_played_beside_each_other(alpha: Any, server: ModelServer) -> None:
    for number in range(4):
        case_store.save_case(capability=alpha, document=case(name=f"case {number}"), by=OLGA)
    wanted = RunRequest(["live", "without"], ["small"])
    own = [*runs.start_runs(capability=alpha, wanted=wanted, by=OLGA)]
    own += runs.start_runs(capability=alpha, wanted=wanted, by=OLGA)
    paul = Actor("operator", "p" * 150)
    (other,) = runs.start_runs(capability=alpha, wanted=RunRequest(["live"], ["small"]), by=paul)
    # Two of olga's are at work, and paul's run waits for neither.
    held = [queue.claim_job(timezone.now()) for _ in range(4)]
    assert [lease.payload["run"] for lease in held if lease is not None] == [own[0].pk, own[1].pk, other.pk]
    Job.objects.filter(state="running").update(lease_expires_at=timezone.now())
    for _ in range(5):
        queue.run_next_job()
    # After its case a run stands behind the others.
    assert sorted(EvaluationResult.objects.values_list("run", flat=True)) == [one.pk for one in (*own, other)]
    work()
    assert set(EvaluationRun.objects.values_list("state", flat=True)) == {"done"}


def test_a_message_for_a_run_is_followed_by_one_for_its_next_case(
    alpha: Any, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(2):
        case_store.save_case(capability=alpha, document=case(name=f"case {number}"), by=OLGA)
    (run,) = runs.start_runs(capability=alpha, wanted=RunRequest(["live"], ["small"]), by=OLGA)
    job, sent = Job.objects.get(kind=runs.KIND), list[int]()
    monkeypatch.setattr(celery_dispatch, "dispatch_job", lambda job_id, _kind: sent.append(job_id))
    queue.run_dispatched_job(job.pk)
    assert sent == [job.pk]
    queue.run_dispatched_job(job.pk)
    run.refresh_from_db()
    assert (sent, run.state) == ([job.pk], "done")


@pytest.mark.both_databases
def test_a_case_that_takes_its_worker_down_fails_and_the_next_one_is_played(alpha: Any, server: ModelServer) -> None:
    for number in range(2):
        case_store.save_case(capability=alpha, document=case(name=f"case {number}"), by=OLGA)
    (run,) = runs.start_runs(capability=alpha, wanted=RunRequest(["live"], ["small"]), by=OLGA)
    for _ in range(3):
        assert queue.claim_job(timezone.now()) is not None
        Job.objects.filter(state="running").update(lease_expires_at=timezone.now())
    work()
    run.refresh_from_db()
    found = {one.case: bool(one.failures) for one in run.results.all()}
    assert (run.state, found) == ("done", {"case 0": True, "case 1": False})
    admin.retry_job(job_id=Job.objects.get(state="parked").pk, by=OLGA)
    work()
    run.refresh_from_db()
    assert (run.state, [one.failures for one in run.results.all()]) == ("done", [[], []])


def test_a_job_that_a_person_cancels_cancels_its_run(alpha: Any, server: ModelServer) -> None:
    case_store.save_case(capability=alpha, document=case(), by=OLGA)
    (run,) = runs.start_runs(capability=alpha, wanted=RunRequest(["live"], ["small"]), by=OLGA)
    admin.cancel_job(job_id=Job.objects.get(kind=runs.KIND).pk, by=OLGA)
    run.refresh_from_db()
    assert run.state == "canceled"


def test_a_case_that_was_changed_meanwhile_is_not_played_as_another(alpha: Any, server: ModelServer) -> None:
    case_store.save_case(capability=alpha, document=case(name="case 0"), by=OLGA)
    row = case_store.save_case(capability=alpha, document=case(name="case 1"), by=OLGA)
    (run,) = runs.start_runs(capability=alpha, wanted=RunRequest(["live"], ["small"]), by=OLGA)
    case_store.save_case(capability=alpha, document=case(name="case 1", must=True), by=OLGA, number=row.pk)
    work()
    assert [bool(one.failures) for one in run.results.all()] == [False, True]


def test_a_run_ends_where_its_texts_change_and_where_it_is_canceled(alpha: Any, server: ModelServer) -> None:
    case_store.save_case(capability=alpha, document=case(), by=OLGA)
    (run,) = runs.start_runs(capability=alpha, wanted=RunRequest(["live"], ["small"]), by=OLGA)
    publish(tools=[tool("alpha_list"), SAVE], body="Something else.")
    work()
    assert [one.failures for one in run.results.all()] == [["The texts have changed since the run began"]]
    (other,) = runs.start_runs(capability=alpha, wanted=RunRequest(["live"], ["small"]), by=OLGA)
    runs.cancel_run(number=other.pk, by=OLGA)
    before = len(server.bodies)
    work()
    other.refresh_from_db()
    assert (other.state, other.results.count(), len(server.bodies)) == ("canceled", 0, before)


def test_a_run_that_is_canceled_ends_a_reply_in_its_middle(
    alpha: Any, server: ModelServer, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.MODEL_TOKENS_A_DAY = 100_000
    case_store.save_case(capability=alpha, document=case(), by=OLGA)
    (run,) = runs.start_runs(capability=alpha, wanted=RunRequest(["live"], ["small"]), by=OLGA)
    server.vendor.reply = lambda body: ("word " * 2000, [])
    server.before_event = lambda: time.sleep(0.02)
    looks: list[int] = []

    def cancel(_lease: Any) -> None:
        looks.append(len(looks))
        if len(looks) == 4:
            runs.cancel_run(number=run.pk, by=OLGA)

    monkeypatch.setattr(queue, "renew_lease", cancel)
    monkeypatch.setattr(model_port, "_LOOK_SECONDS", 0.0)
    work()
    run.refresh_from_db()
    (result,) = run.results.all()
    assert (run.state, result.failures, server.hung_up.wait(5)) == ("canceled", ["The run was canceled"], True)
    assert result.prompt_tokens > 0
    assert tokens_left(str(OLGA)) == 100_000 - result.prompt_tokens - result.reply_tokens


def test_the_budget_of_a_day_is_kept(alpha: Any, server: ModelServer, settings: Any) -> None:
    settings.MODEL_TOKENS_A_DAY = 400
    for number in range(3):
        case_store.save_case(capability=alpha, document=case(name=f"case {number}"), by=OLGA)
    runs.start_runs(capability=alpha, wanted=RunRequest(["live"], ["small"]), by=OLGA)
    work()
    failures = [one.failures for one in EvaluationResult.objects.order_by("id")]
    assert failures == [[], [], ["Your budget of tokens for today is used up"]]
    with pytest.raises(RegistryError, match="budget of tokens"):
        runs.start_runs(capability=alpha, wanted=RunRequest(["live"], ["small"]), by=OLGA)
    # Nobody's runs use up another's.
    (other,) = runs.start_runs(capability=alpha, wanted=RunRequest(["live"], ["small"]), by=Actor("operator", "paul"))
    work()
    assert next(iter(other.results.order_by("id"))).failures == []


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        (RunRequest(["live"], ["other"]), "no model 'other'"),
        (RunRequest([], ["small"]), "Choose what is played"),
        (RunRequest(["live"], []), "no model ''"),
        (RunRequest(["other"], ["small"]), "Choose what is played"),
        (RunRequest(["revision-x"], ["small"]), "Choose what is played"),
        (RunRequest(["revision-9"], ["small"]), "no revision 9"),
        (RunRequest(["live"] * 6, ["small"]), "1 to 5 sides"),
        (RunRequest(["draft"], ["small"]), "No draft passes the checks"),
        (RunRequest(["live"], ["small"], 101), "1 to 100 times"),
    ],
)
def test_a_run_that_cannot_be_is_refused(alpha: Any, server: ModelServer, wanted: RunRequest, words: str) -> None:
    case_store.save_case(capability=alpha, document=case(), by=OLGA)
    with pytest.raises(RegistryError, match=words):
        runs.start_runs(capability=alpha, wanted=wanted, by=OLGA)
    assert not EvaluationRun.objects.exists()


def test_without_a_model_the_page_says_how_to_connect_one(signed_in: SignIn, alpha: Any) -> None:
    page = signed_in("author").get(HERE).content.decode()
    for name in ("Ollama", "vLLM", "llama.cpp", "OpenAI", "Anthropic", "/docs/evaluations/#in-the-studio"):
        assert name in page


@pytest.mark.both_databases
def test_cases_are_suggested_once(signed_in: SignIn) -> None:
    client = signed_in("author")
    client.get(HERE)
    publish(tools=[SAVE], utterances={"should_match": ["alpha now", "do alpha"], "should_not_match": ["beta"]})
    for number, nearest in enumerate(("alpha", "other")):
        UnmatchedMessage.objects.create(
            form=str(number), text=f"in vain {number}", decision="none", nearest=nearest, count=1
        )
    form_with(client.get(HERE), "Suggest cases").submit(client)
    names = list(SavedCase.objects.values_list("name", flat=True))
    assert names == ["alpha now", "do alpha", "in vain 0", "beta", "alpha_save, approved", "alpha_save, refused"]
    approved, refused = (row.document for row in SavedCase.objects.order_by("id")[4:])
    said = {"messages": ["Alpha: Does alpha_save."]}
    assert approved.items() >= said.items()
    assert approved["expect"] == {"loads": "alpha", "calls": [{"tool": "alpha_save"}], "asks_before": ["alpha_save"]}
    assert refused["expect"] == {"loads": "alpha", "no_writes": True, "asks_before": ["alpha_save"]}
    assert refused["approve"] is False
    form_with(client.get(HERE), "Suggest cases").submit(client)
    assert SavedCase.objects.count() == len(names)


def test_tools_of_a_draft_are_read_from_either_form_of_tools_json(alpha: Any) -> None:
    files = bundle("alpha", [SAVE])
    files["tools.json"] = json.dumps({"tools": [SAVE]})
    drafts.save_draft(capability_id="alpha", files=files, based_on=None, by=OLGA)
    assert [one["name"] for one in case_store.read_texts(alpha).tools] == ["alpha_save"]


@pytest.mark.both_databases
def test_saving_a_form_keeps_what_it_does_not_show(signed_in: SignIn, alpha: Any) -> None:
    stored = case(
        mocks=[
            {"tool": "alpha_save", "arguments": {"day": "monday"}, "error": "It is full"},
            {"tool": "alpha_save", "result": [1, 2]},
            {"tool": "other", "result": {"a": 1}},
        ],
        forms={"AlphaForm.v1": {"name": "send", "context": {}}},
        expected_output="A short answer",
        expect={
            "calls": [{"tool": "alpha_save"}, {"tool": "alpha_save", "arguments": {"n": 2}}, {"tool": "other"}],
            "asks_before": ["other"],
            "does_not_load": "beta",
            "tokens_max": 9000,
            "opens_form": "AlphaForm.v1",
        },
    )
    row = case_store.save_case(capability=alpha, document=stored, by=OLGA)
    before = case_store.read_row(row)
    address = f"{HERE}cases/{row.pk}/"
    client = signed_in("author")
    form = form_with(client.get(address), "Save case")
    assert form.submit(client).status_code == 302
    row.refresh_from_db()
    assert case_store.read_row(row) == before
    assert form.submit(client, rubric="It is short.").status_code == 302
    row.refresh_from_db()
    assert case_store.read_row(row) == replace(before, rubric="It is short.")


def test_a_file_goes_out_as_it_came(signed_in: SignIn, alpha: Any) -> None:
    client: Client = signed_in("author")
    document = {"skill_name": "alpha", "evals": [{"id": 1, **case(must=True)}]}
    upload = SimpleUploadedFile("evals.json", json.dumps(document).encode())
    assert client.post(f"{HERE}file/", {"file": upload}).status_code == 302
    assert json.loads(client.get(f"{HERE}file/").content) == document
    broken = SimpleUploadedFile("evals.json", b'{"evals": [{"messages": [7]}]}')
    page = client.post(f"{HERE}file/", {"file": broken}, follow=True).content.decode()
    assert "evals[0].messages[0]: expected a text" in page
    assert SavedCase.objects.count() == 1


@pytest.mark.both_databases
def test_an_imported_skill_brings_its_cases_and_an_export_has_them(alpha: Any) -> None:
    skill = "---\nname: pdf-tool\ndescription: Fill PDF forms.\n---\n# PDF\n\nDo it.\n"
    evals = json.dumps({"skill_name": "pdf-tool", "evals": [{"id": 1, "prompt": "Fill this form"}]})
    source = SourceBundle("pdf-tool", {"SKILL.md": skill, "evals/evals.json": evals}, folder="pdf-tool")
    (result,) = batch.import_all([source], by=OLGA, mode="draft")
    assert result.status == "draft"
    pdf = get_capability("pdf_tool")
    assert pdf.drafts.get().supporting_files == {}
    assert [row.document["messages"] for row in case_store.list_cases(pdf)] == [["Fill this form"]]
    again = json.loads(exporter.export_capability(pdf, draft=True).files["evals/evals.json"])
    assert again["evals"] == json.loads(evals)["evals"]
    assert "evals/evals.json" not in exporter.export_capability(alpha).files

    kept = {"skill_name": "pdf-tool", "author": "QA", "evals": [{"id": 1, "prompt": "Fill this form", "asks": 1}]}
    full = replace(source, files={**source.files, "evals/evals.json": json.dumps(kept)})
    (taken,) = batch.import_all([full], by=OLGA, mode="draft")
    (named,) = [one for one in taken.findings if one.file == "evals/evals.json"]
    assert (named.code, "'asks', 'author'" in named.message) == ("CASES_KEY_UNKNOWN", True)
    assert json.loads(exporter.export_capability(pdf, draft=True).files["evals/evals.json"]) == kept

    broken = replace(source, files={**source.files, "evals/evals.json": "{}"})
    batch.import_all([broken], by=OLGA, mode="draft")
    assert len(case_store.list_cases(pdf)) == 1
    event = AuditEvent.objects.get(verb="evaluation.refuse_file")
    assert "expected an object" in event.detail["reason"]


def test_draft_save_takes_what_bundle_export_writes(alpha: Any, api: Any) -> None:
    case_store.save_case(capability=alpha, document=case(), by=OLGA)
    files = exporter.export_capability(alpha).files
    assert "evals/evals.json" in files
    headers = {"Authorization": f"Bearer {agent_key('publish')}"}
    changed = files | {"evals/evals.json": files["evals/evals.json"].replace('"evals"', '"by": "QA",\n  "evals"')}
    body = {"capability_id": "alpha", "files": changed, "based_on": None}
    found = api.ok(api.post("operator/draft_save", body, headers=headers), "draft_saved")["findings"]
    assert [one["code"] for one in found] == ["CASES_KEY_UNKNOWN"]
    assert json.loads(exporter.export_capability(alpha).files["evals/evals.json"])["by"] == "QA"


@pytest.mark.parametrize("hidden", ["ghp_a8Kd03mXq71LzVb52nRt94cYwE6uHs0JpGf3", "Say\U000e0068\U000e0069 hello"])
def test_cases_are_looked_through_for_what_they_hide(alpha: Any, hidden: str) -> None:
    text = json.dumps({"evals": [{"name": "a", "messages": [hidden]}]})
    source = SourceBundle("alpha", bundle() | {"evals/evals.json": text}, folder="alpha")
    for (result,) in (
        batch.publish_all([source], by=OLGA),
        batch.import_all([source], by=OLGA, mode="publish"),
        batch.import_all([source], by=OLGA, mode="draft"),
    ):
        (found,) = [one for one in result.findings if one.file == "evals/evals.json"]
        assert (found.code, found.severity) in {("SEC_SECRET", "error"), ("SEC_HIDDEN_TAGS", "error")}
        assert result.status in {"refused", "draft"}
    with pytest.raises(InvalidRequest, match="Seen:"):
        case_store.replace_cases(capability=alpha, text=text, by=OLGA)
    with pytest.raises(InvalidRequest, match="Seen:"):
        case_store.save_case(capability=alpha, document={"name": "a", "messages": [hidden]}, by=OLGA)
    assert case_store.list_cases(alpha) == []


def test_results_are_files_too(signed_in: SignIn, alpha: Any, server: ModelServer) -> None:
    case_store.save_case(capability=alpha, document=case(), by=OLGA)
    (run,) = runs.start_runs(capability=alpha, wanted=RunRequest(["live"], ["small"]), by=OLGA)
    work()
    client = signed_in("viewer")
    found = json.loads(client.get(f"{HERE}runs/{run.pk}/results.json").content)
    assert (found["side"], found["passed"], found["results"][0]["passed"]) == ("live", 1, True)
    assert b"<testsuite" in client.get(f"{HERE}runs/{run.pk}/results.xml").content
    assert client.get(f"{HERE}runs/{run.pk}/results.csv").status_code == 404


@pytest.mark.both_databases
def test_what_was_said_is_forgotten_after_thirty_days(alpha: Any) -> None:
    run = EvaluationRun.objects.create(capability=alpha, side="live", model="m", total=1, created_by="x")
    old = timezone.now() - runs.TRANSCRIPT_RETENTION * 2
    EvaluationResult.objects.create(run=run, case="a", case_digest="d", repetition=1, transcript=[1], finished_at=old)
    EvaluationResult.objects.create(run=run, case="b", case_digest="d", repetition=1, transcript=[1])
    action = runs.prune_transcripts(None)  # type: ignore[arg-type]
    action()
    assert list(EvaluationResult.objects.values_list("case", "transcript")) == [("a", []), ("b", [1])]


def test_lines_are_objects_and_back() -> None:
    entries = [{"weight": 84.2, "unit": "kg", "note": "12"}, {"ok": True}]
    value: dict[str, Any] = {"entries": entries, "text": " a ", "none": None, "e": {}}
    assert parse_lines(format_lines(value)) == value
    assert parse_lines("0 = a\n1 = b") == {"0": "a", "1": "b"}
    for line in ("weight", "= 3", "a..b = 3", "a = 1\na.b = 2"):
        with pytest.raises(LineInvalid):
            parse_lines(line)


def test_the_case_of_a_row_is_read_as_it_was_written(alpha: Any) -> None:
    row = case_store.save_case(capability=alpha, document=case(approve=False), by=OLGA)
    found = case_store.read_row(row)
    assert isinstance(found, EvaluationCase)
    assert found.approve is False
