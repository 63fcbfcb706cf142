"""A case against a server as strict as the vendors: played, judged, and ended where the server misbehaves."""

from __future__ import annotations

import json
import shutil
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from capability_client.cli.commands import main
from capability_client.client import transport
from capability_client.client.local_registry import LocalSkills
from capability_client.evaluation import model_port
from capability_client.evaluation.example_values import example_of
from capability_client.evaluation.judgment import judge_case
from capability_client.evaluation.matching_values import contains, fits_text
from capability_client.evaluation.model_port import ModelSettings, VendorModel
from capability_client.evaluation.report import CaseResult, PassRate, as_document, as_junit, table
from capability_client.evaluation.rubric import judge_play
from capability_client.evaluation.running import Observation, run_case
from capability_kit.evaluation_cases import EvaluationCase, parse_cases
from tests.model_servers import Fault, ModelServer, model_server
from tests.servers import ROOT
from tests.vendors import Reply, Vendor, tool_names

EXAMPLES = ROOT / "examples"
ENTRY = {"measured_on": "2026-11-27", "weight": 84.2, "unit": "kg"}
SAVE = "weight_entry_save_batch"


def case_of(**row: Any) -> EvaluationCase:
    (case,) = parse_cases(json.dumps({"evals": [{"name": "case", **row}]}))
    return case


def careful_model(body: Any) -> Reply:
    """Loads the skill, saves what the user said, and says what came of it."""
    names, text = tool_names(body), json.dumps(body["messages"])
    if f"weights__{SAVE}" not in names:
        return "", [("capability_skill_load", {"capability_id": "weights"})]
    if "saved" in text.partition("84.2 kg today")[2] or "rejected" in text.lower():
        return "Saved 84.2 kg for today.", []
    return "", [(f"weights__{SAVE}", {"entries": [ENTRY]})]


def play(
    case: EvaluationCase, reply: Callable[[Any], Reply] = careful_model, vendor: Vendor = "openai", *faults: Fault
) -> tuple[Observation, ModelServer]:
    with model_server(vendor, reply) as server:
        server.faults += faults
        model = VendorModel(ModelSettings(server.url, "m", vendor, "sk-key"))
        found = run_case(case, LocalSkills(EXAMPLES), model)
        model.wire.close()
    return found, server


SAVES = case_of(
    prompt="I weighed 84.2 kg today",
    mocks=[{"tool": SAVE, "result": {"saved": 1}}],
    expect={
        "loads": "weights",
        "calls": [{"tool": SAVE, "arguments": {"entries": [{"weight": 84.2, "unit": "k*"}]}}],
        "asks_before": [SAVE],
        "says": ["saved 84.2"],
        "does_not_say": ["sorry"],
        "calls_max": 1,
    },
)


@pytest.mark.parametrize("vendor", ["openai", "anthropic"])
def test_a_careful_model_passes(vendor: Vendor) -> None:
    found, server = play(SAVES, careful_model, vendor)
    assert judge_case(SAVES, found) == []
    assert (found.usage.requests, found.usage.tokens) == (3, 3 * 107)
    assert all("sk-key" in json.dumps(headers) for headers in server.headers)
    assert "sk-key" not in json.dumps(found.transcript())
    assert [row["role"] for row in found.transcript()] == ["user", "agent", "tool", "agent", "tool", "agent"]


def test_each_expectation_that_does_not_hold_is_a_sentence() -> None:
    case = case_of(
        prompt="I weighed 84.2 kg today",
        mocks=[{"tool": SAVE, "result": {"saved": 1}}],
        expect={
            "loads": "workouts",
            "does_not_load": "weights",
            "calls": [{"tool": SAVE, "arguments": {"entries": [{"weight": 90}]}}, {"tool": "other"}],
            "no_writes": True, "asks_before": ["other"], "opens_form": "WeightEntryForm.v1", "says": ["90 kg"],
            "does_not_say": ["SAVED"], "calls_max": 0, "tokens_max": 10,
        },
    )  # fmt: skip
    found, _server = play(case)
    failures = "\n".join(judge_case(case, found))
    assert "It loaded weights; expected workouts" in failures
    assert "It loaded weights\n" in failures
    assert f'It did not call {SAVE} with {{"entries": [{{"weight": 90}}]}}; it called {SAVE} with' in failures
    assert "It did not call other" in failures
    assert f"It called {SAVE}; expected no write" in failures
    assert "It did not ask before other" in failures
    assert "It opened no form; expected WeightEntryForm.v1" in failures
    assert "It did not say “90 kg”" in failures
    assert "It said “SAVED”" in failures
    assert "It made 1 calls; expected at most 0" in failures
    assert "It took 321 tokens; expected at most 10" in failures


def test_a_person_who_says_no_is_in_the_case() -> None:
    case = case_of(prompt="I weighed 84.2 kg today", approve=False, expect={"asks_before": [SAVE], "no_writes": True})
    found, _server = play(case)
    assert judge_case(case, found) == []
    assert found.calls == []


def test_nothing_to_load_is_an_expectation() -> None:
    case = case_of(prompt="what is 1 + 1?", expect={"loads": "none", "says": ["2"]})
    found, _server = play(case, lambda body: ("2", []))
    assert judge_case(case, found) == []
    found, _server = play(case)
    assert "It loaded weights; expected nothing" in judge_case(case, found)


def test_a_form_is_opened_and_sent() -> None:
    case = case_of(
        prompt="let me type in my weight",
        mocks=[{"tool": SAVE, "result": {"saved": 1}}],
        forms={"WeightEntryForm.v1": {"name": "cancel", "context": {}}},
        expect={"opens_form": "WeightEntryForm.v1", "no_writes": True},
    )

    def model(body: Any) -> Reply:
        if "form_open" not in tool_names(body) or f"weights__{SAVE}" not in tool_names(body):
            return "", [("capability_skill_load", {"capability_id": "weights"})]
        if "WeightEntryForm.v1" in json.dumps(body["messages"][2:]).partition("tool_calls")[2]:
            return "Done.", []
        return "", [("form_open", {"schema_id": "WeightEntryForm.v1", "data": {}})]

    found, _server = play(case, model)
    assert found.forms == ["WeightEntryForm.v1"]
    assert judge_case(case, found) == []


def test_a_tool_without_a_mock_answers_by_its_schema() -> None:
    schema = json.loads((EXAMPLES / "weights" / "tools.json").read_text("utf-8"))
    for tool in schema:
        assert isinstance(example_of(tool.get("result_schema", {"type": "object"})), dict)

    def model(body: Any) -> Reply:
        if f"weights__{SAVE}" not in tool_names(body):
            return "", [("capability_skill_load", {"capability_id": "weights"})]
        return (("It is stable.", []) if "average" in json.dumps(body["messages"][-1]) else
                ("", [("weights__weight_trend_get", {"days": 30})]))  # fmt: skip

    found, _server = play(case_of(prompt="my bodyweight trend?"), model)
    assert (found.error, found.words) == ("", "It is stable.")


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("half", "The reply breaks off"),
        ("odd", "not in the form of openai"),
        ("endless", "larger than 1,048,576 bytes"),
        ("silent", "No whole answer came within"),
        ("redirect", "answered 307"),
    ],
)
def test_a_server_that_misbehaves_ends_the_case_with_its_reason(
    fault: Fault, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_port, "REPLY_SECONDS_MAX", 2.0)
    found, _server = play(SAVES, careful_model, "openai", fault)
    assert words in found.error
    assert judge_case(SAVES, found) == [found.error]


def test_a_model_may_think_for_longer_than_a_step_of_a_connection_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "_STEP_SECONDS", 0.3)
    found, _server = play(SAVES, careful_model, "openai", "slow")
    assert (found.error, judge_case(SAVES, found)) == ("", [])


def test_a_busy_server_is_asked_again() -> None:
    found, server = play(SAVES, careful_model, "openai", "busy", "busy")
    assert judge_case(SAVES, found) == []
    assert len(server.bodies) == 5
    found, _server = play(SAVES, careful_model, "openai", "busy", "busy", "busy")
    assert found.error == "The model answered 429: slow down"


def test_nothing_is_listening() -> None:
    model = VendorModel(ModelSettings("http://127.0.0.1:9/v1", "m"))
    assert "did not answer" in run_case(SAVES, LocalSkills(EXAMPLES), model).error


def test_values_contain_one_another() -> None:
    value = {"a": [{"b": 1, "c": "84.2 kg"}], "d": True, "e": None}
    wanted: Any
    for wanted in ({}, {"a": [{"b": 1.0}]}, {"a": [{"c": "*kg"}]}, {"a": [{"c": "84*k*"}]}, {"d": True, "e": None}):
        assert contains(value, wanted), wanted
    for wanted in ({"x": 1}, {"a": [{"b": 2}]}, {"d": 1}, {"a": {"b": 1}}, {"a": [{"c": "84.2"}]}, {"e": False}):
        assert not contains(value, wanted), wanted
    assert fits_text("a" * 50_000, "*a" * 2000)
    assert not fits_text("aba", "ab*ba")


def results(*passed: bool) -> list[CaseResult]:
    failed = ("It did not say “x” & more",)
    return [CaseResult("one <&>", n, () if ok else failed, 10) for n, ok in enumerate(passed, 1)]


def test_the_interval_is_wilsons() -> None:
    # By R: binom.confint(8, 10, method="wilson").
    found = PassRate(8, 10)
    assert (round(found.low, 4), round(found.high, 4)) == (0.4902, 0.9433)
    assert PassRate(0, 0).share == 0


def test_results_as_table_json_and_junit() -> None:
    found = results(True, False)
    assert "part  1/2  one <&>" in table(found)
    assert "1 of 2 passed, 50% (95 %: 9% to 91%), 20 tokens" in table(found)
    assert as_document(found, model="m")["results"][1]["failures"] == ["It did not say “x” & more"]
    suite = ET.fromstring(as_junit(found, name="weights"))
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    assert [case.get("name") for case in suite] == ["one <&> [1]", "one <&> [2]"]


def test_the_command_plays_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "weights"
    shutil.copytree(EXAMPLES / "weights", folder)
    (folder / "evals").mkdir(exist_ok=True)
    case = {"name": "saves", "prompt": "I weighed 84.2 kg today", "expect": {"says": ["Saved"]},
            "mocks": [{"tool": SAVE, "result": {"saved": 1}}]}  # fmt: skip
    (folder / "evals" / "evals.json").write_text(json.dumps({"evals": [case]}), "utf-8")
    with model_server("openai", careful_model) as server:
        options = ["evaluate", str(folder), "--model", server.url, "--model-name", "m", "--repeat", "2"]
        assert main([*options, "--json", str(tmp_path / "r.json"), "--junit", str(tmp_path / "r.xml")]) == 0
        (folder / "evals" / "evals.json").write_text(
            json.dumps({"evals": [case | {"expect": {"says": ["x"]}}]}), "utf-8"
        )
        assert main(options) == 1
    assert "2 of 2 passed" in capsys.readouterr().out
    # A model that is not there is said once, not for each case.
    assert main(["evaluate", str(folder), "--model", "http://127.0.0.1:9", "--model-name", "m", "--repeat", "5"]) != 0
    said = capsys.readouterr()
    assert (said.out, said.err.count("No case is played")) == ("", 1)
    assert json.loads((tmp_path / "r.json").read_text("utf-8"))["passed"] == 2


def _judging(verdict: str) -> Callable[[Any], Reply]:
    def reply(body: Any) -> Reply:
        return (verdict, []) if "Rubric:" in json.dumps(body["messages"][-1]) else careful_model(body)

    return reply


@pytest.mark.parametrize("vendor", ["openai", "anthropic"])
@pytest.mark.parametrize(
    ("verdict", "failures"),
    [
        ('{"passes": true, "reason": "It is polite."}', []),
        ('Sure:\n```json\n{"passes": false, "reason": "It never\\nthanks."}\n```', ["not met: It never thanks."]),
        ('{"passes": "yes"}', ["gave no verdict"]),
        ("I cannot say.", ["gave no verdict: I cannot say."]),
    ],
)
def test_a_rubric_is_judged_by_the_model(vendor: Vendor, verdict: str, failures: list[str]) -> None:
    case = case_of(prompt="I weighed 84.2 kg today", rubric=["It thanks the user."], expect={"loads": "weights"})
    with model_server(vendor, _judging(verdict)) as server:
        model = VendorModel(ModelSettings(server.url, "m", vendor, "sk-key"))
        found = run_case(case, LocalSkills(EXAMPLES), model)
        judged = judge_play(case, found, model)
        model.wire.close()
    assert len(judged) == len(failures)
    assert all(wanted in said for wanted, said in zip(failures, judged, strict=True))
    asked = server.bodies[-1]
    assert "It thanks the user." in json.dumps(asked["messages"])
    assert "tools" not in asked
    # The judge's tokens are counted too.
    assert found.usage.requests == len(server.bodies)


def test_a_rubric_is_not_asked_about_where_something_else_fails() -> None:
    case = case_of(prompt="I weighed 84.2 kg today", rubric="It thanks.", expect={"loads": "meals"})
    with model_server("openai", _judging('{"passes": true, "reason": ""}')) as server:
        model = VendorModel(ModelSettings(server.url, "m", "openai", "sk-key"))
        judged = judge_play(case, run_case(case, LocalSkills(EXAMPLES), model), model)
        model.wire.close()
    assert judged == ["It loaded weights; expected meals"]
    assert "Rubric:" not in json.dumps(server.bodies)


def test_a_conversation_cannot_end_what_the_judge_takes_for_data() -> None:
    case = case_of(prompt="I weighed 84.2 kg today", rubric="It thanks.")
    marks = set()
    for _ in range(2):
        with model_server("openai", _judging('{"passes": true, "reason": ""}')) as server:
            model = VendorModel(ModelSettings(server.url, "m", "openai", "sk-key"))
            judge_play(case, run_case(case, LocalSkills(EXAMPLES), model), model)
            model.wire.close()
        marks.add(server.bodies[-1]["messages"][-1]["content"].split("\n")[-1])
    assert len(marks) == 2
