"""Results of another harness count for exactly the texts and cases that it played."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from capability_client.cli.commands import main
from capability_rules.bundles.bundle_reader import SourceBundle, read_bundle
from capability_rules.errors import InvalidRequest
from features.evaluations import case_store, rules, uploads
from features.evaluations.models import EvaluationRun
from registry.access.teams import create_team, set_owning_team
from registry.catalog import drafts, exporter
from registry.common.actors import Actor
from registry.common.errors import CapabilityNotFound, Forbidden, RevisionNotFound
from registry.core.queries import get_capability
from registry.models import AuditEvent
from registry.publishing import batch, publication
from tests.factories import OLGA, bearer, bundle, publish
from tests.model_servers import model_server
from tests.recorded_runs import EXAMPLES
from tests.unit.agent_api.conftest import Api
from tests.unit.registry.cli.conftest import Manage
from tests.unit.studio.conftest import SignIn

pytestmark = pytest.mark.django_db

PIPELINE = Actor("agent_key", "pipeline")
OTHER = "sha256:" + "0" * 64
CASE = {"name": "greets", "messages": ["alpha please"], "expect": {"says": ["sir"]}, "must": True}


def _document(**more: Any) -> dict[str, Any]:
    revision = get_capability("alpha").published_revision
    assert revision is not None
    row = {"case": "greets", "case_digest": OTHER, "passed": True}
    return {"tool": "harness 2", "digest": revision.digest, "model": "small", "results": [row], **more}


def _result(**columns: Any) -> dict[str, Any]:
    return {"results": [{"case": "greets", "case_digest": OTHER, "passed": True, **columns}]}


def test_what_the_client_writes_is_taken_and_counts_at_the_gate(manage: Manage, tmp_path: Path) -> None:
    rules.set_rule(group_id="", share=100, by=OLGA)
    drafts.replace_draft(capability_id="alpha", files=bundle(body="Say sir."), by=OLGA)
    case_store.save_case(capability=get_capability("alpha"), document=CASE, by=OLGA)
    exporter.write_export(exporter.export_capability(get_capability("alpha"), draft=True), tmp_path / "alpha")
    written = tmp_path / "results.json"
    with model_server("openai", lambda body: ("Yes, sir.", [])) as server:
        options = ["evaluate", str(tmp_path / "alpha"), "--model", server.url, "--model-name", "small"]
        main([*options, "--repeat", "2", "--json", str(written)])
    done = manage("evaluation", "upload", "alpha", str(written))
    assert "2 of 2 passed" in done.out, done
    run = EvaluationRun.objects.get()
    assert (run.side, run.state, run.model, run.settings) == ("draft", "done", "small", {"kind": "openai"})
    assert run.tool.startswith("capability-client ")
    assert run.created_by.startswith("command_line:")
    assert {one.must for one in run.results.all()} == {True}
    assert publication.publish_draft(capability_id="alpha", by=OLGA, note="why").status == "published"


def test_a_pipeline_uploads_over_http_and_the_page_says_who(api: Api, signed_in: SignIn) -> None:
    publish()
    body = {"capability_id": "alpha", "evaluation": _document(settings={"temperature": 0})}
    answer = api.post("operator/evaluation_results_upload", body, headers=bearer("publish", name="ci"))
    found = api.ok(answer, "evaluation_results")
    assert (found["side"], found["passed"], found["total"]) == ("live", 1, 1)
    event = AuditEvent.objects.get(verb="evaluation.upload")
    assert (event.actor_kind, event.actor_name, event.detail["tool"]) == ("agent_key", "ci", "harness 2")
    case = EvaluationRun.objects.get().results.get().case
    address = f"/capabilities/alpha/evaluations/runs/{found['run']}/"
    shown = signed_in("viewer").get(address, {"case": case}).content.decode()
    assert all(words in shown for words in ("harness 2", "ci", "temperature", "What was said is not uploaded."))
    assert api.post("operator/evaluation_results_upload", body, headers=bearer("read")).status_code == 403


@pytest.mark.both_databases
def test_results_belong_to_the_draft_or_the_revision_with_the_digest() -> None:
    publish(body="One.")
    first = _document()
    publish(body="Two.")
    run = uploads.store_results(capability_id="alpha", document=first, by=PIPELINE)
    assert (run.side, run.revision) == ("revision", 1)
    with pytest.raises(RevisionNotFound, match="play what is there now"):
        uploads.store_results(capability_id="alpha", document=first | {"digest": OTHER}, by=PIPELINE)
    with pytest.raises(CapabilityNotFound):
        uploads.store_results(capability_id="beta", document=first, by=PIPELINE)
    assert EvaluationRun.objects.count() == 1


@pytest.mark.both_databases
def test_the_newest_uploads_are_kept_and_runs_of_this_registry_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    publish()
    monkeypatch.setattr(uploads, "KEPT_MAX", 2)
    own = EvaluationRun.objects.create(
        capability=get_capability("alpha"), side="live", model="m", total=1, created_by="x"
    )
    runs = [uploads.store_results(capability_id="alpha", document=_document(), by=PIPELINE) for _ in range(3)]
    assert {run.pk for run in EvaluationRun.objects.all()} == {own.pk, runs[1].pk, runs[2].pk}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"tool": ""}, "evaluation.tool must be a text"),
        ({"tool": "a\0b"}, "evaluation.tool must be a text"),
        ({"tool": "a\ud800b"}, "evaluation.tool must be a text"),
        ({"model": "m" * 201}, "evaluation.model must be a text"),
        ({"digest": "abc"}, "evaluation.digest must be sha256"),
        ({"settings": {"deep": {}}}, "evaluation.settings must be"),
        ({"settings": {"t": float("nan")}}, "evaluation.settings must be"),
        ({"settings": {str(n): n for n in range(21)}}, "evaluation.settings must be"),
        ({"results": []}, "1 to 2,000 results"),
        ({"results": [{}] * 2001}, "1 to 2,000 results"),
        ({"results": ["x"]}, r"results\[0\] must be an object"),
        (_result(passed="yes"), r"results\[0\].passed must be true or false"),
        (_result(failures=["no"]), r"results\[0\] has failures, and passed is true"),
        (_result(passed=False, failures=["a\0"]), r"results\[0\].failures has a sign"),
        (_result(failures="no"), r"results\[0\].failures must be a list"),
        (_result(case_digest=1), r"results\[0\].case_digest must be sha256"),
        (_result(case="c" * 201), r"results\[0\].case must be a text"),
        (_result(repetition=0), r"results\[0\].repetition must be a whole number"),
        (_result(tokens=10**10), r"results\[0\].tokens must be a whole number"),
        (_result(seconds=-1), r"results\[0\].seconds must be a number"),
        ({"results": _result()["results"] * 2}, r"results\[1\]: repetition 1 of “greets” is there twice"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(change: dict[str, Any], words: str) -> None:
    publish()
    with pytest.raises(InvalidRequest, match=words):
        uploads.store_results(capability_id="alpha", document=_document() | change, by=PIPELINE)
    with pytest.raises(InvalidRequest, match="must be an object"):
        uploads.store_results(capability_id="alpha", document=None, by=PIPELINE)
    assert not EvaluationRun.objects.exists()


@pytest.mark.both_databases
def test_a_failure_without_words_says_so(manage: Manage, tmp_path: Path) -> None:
    publish()
    run = uploads.store_results(capability_id="alpha", document=_document(**_result(passed=False)), by=PIPELINE)
    assert run.results.get().failures == ["It failed; the harness does not say why"]
    assert "No such file" in manage("evaluation", "upload", "alpha", str(tmp_path / "none")).err
    (tmp_path / "long").write_bytes(b" " * (uploads.BYTES_MAX + 1))
    assert "more than" in manage("evaluation", "upload", "alpha", str(tmp_path / "long")).err


def test_a_team_keeps_uploads_to_itself() -> None:
    publish()
    team = create_team(name="Care", by=Actor("command_line", "root"))
    set_owning_team(capability_id="alpha", key=team.pk, by=Actor("command_line", "root"))
    with pytest.raises(Forbidden):
        uploads.store_results(capability_id="alpha", document=_document(), by=OLGA)


@pytest.mark.both_databases
def test_the_examples_come_with_a_recorded_run_of_exactly_their_texts_and_cases() -> None:
    """After a change of an example: python -m tests.recorded_runs."""
    results = batch.publish_all(read_bundle(str(EXAMPLES)), by=Actor("system", "registry"))
    assert [one.status for one in results] == ["published"] * 7
    for one in results:
        assert one.findings == (), one.findings
        capability = get_capability(one.capability_id)
        run = EvaluationRun.objects.get(capability=capability)
        cases = {row.name: case_store.read_row(row).digest for row in case_store.list_cases(capability)}
        assert (run.side, run.tool, run.total) == ("live", "recorded example", 5)
        assert {row.case: row.case_digest for row in run.results.all()} == cases
        assert [row.failures for row in run.results.all()] == [[]] * 5


def test_a_folder_with_other_texts_than_its_results_are_of_is_taken_without_them() -> None:
    document = {"evals/results.json": '{"tool": "x"}'}
    (result,) = batch.import_all([SourceBundle("alpha", bundle() | document)], by=OLGA, mode="draft")
    assert result.status == "draft"
    assert not EvaluationRun.objects.exists()
