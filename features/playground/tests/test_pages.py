"""What a user would say, and what an agent would make of it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from features.playground.match_view import match_standing
from registry.authoring import form_generator
from registry.catalog import drafts
from registry.matching.matcher import Match, MatchResult
from registry.publishing import publication
from studio.pages.labels import label
from tests.factories import OLGA, bundle, publish, tool
from tests.unit.studio.conftest import SignIn
from tests.unit.studio.forms import form_with, forms_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def client(signed_in: SignIn) -> Client:
    return signed_in("viewer")


def _page(client: Client, **query: str | list[str]) -> str:
    response = client.get("/playground/", query)
    assert response.status_code == 200
    return response.content.decode()


def test_an_empty_one_asks_for_a_message(client: Client) -> None:
    page = _page(client)
    assert "User message" in page
    assert "The prompt at this point" not in page


def test_a_message_shows_the_decision_its_trigger_and_the_prompt(client: Client) -> None:
    publish("weights", intent_triggers=["weigh-in"], skill_groups=["health"])
    page = _page(client, m="I just weighed 80 kg")
    assert '<mark title="Trigger: weigh-in">weighed</mark>' in page
    assert "Skill groups: health." in page
    assert "Weights (4 turns left" in page
    assert ">Ready<" in page
    assert "weights" in page.partition('<pre class="prompt"')[2]


def test_a_message_for_two_loads_both(client: Client) -> None:
    publish("weights", intent_triggers=["weigh-in"])
    publish("workouts", intent_triggers=["workout"], dependencies={"bins": ["ffmpeg"]}, dependency_level="external")
    page = _page(client, m="Log my workout and weigh-in")
    assert "The message asks for both “Workouts” and “Weights”." in page
    assert "'weights'" not in page
    assert "Weights loaded:" in page
    assert "Weights (4 turns left" in page
    assert "Workouts (4 turns left" in page
    assert (page.count(">Ready<"), page.count(">Setup required<")) == (1, 1)


def test_turns_are_counted_down_and_a_skill_is_forgotten(client: Client) -> None:
    publish("weights", intent_triggers=["weigh-in"])
    page = _page(client, m=["weigh-in", "one", "two"])
    assert "Weights (2 turns left" in page
    page = _page(client, m=["weigh-in", "one", "two", "three", "four", "five"])
    assert "none" in page.rpartition("Active:")[2]


def test_what_is_missing_is_said_with_the_mend(client: Client) -> None:
    publish("films", intent_triggers=["video"], dependencies={"bins": ["ffmpeg"]}, dependency_level="external")
    assert ">Setup required<" in _page(client, m="cut this video")
    assert ">Ready<" in _page(client, m="cut this video", has="ffmpeg")


def test_nothing_fits(client: Client) -> None:
    publish("weights", intent_triggers=["weigh-in"])
    assert ">No match<" in _page(client, m="1 + 1")


def test_what_is_typed_is_text(client: Client) -> None:
    publish("weights", intent_triggers=["weigh-in"])
    page = _page(client, m="<script>alert(1)</script> weigh-in", has='"><b>', os="<i>")
    assert "<script>alert" not in page
    assert "<b>" not in page
    assert "<i>" not in page


def test_long_and_many_messages_are_cut(client: Client) -> None:
    page = _page(client, m=["x" * 5000] + [f"message {n}" for n in range(25)])
    assert "Only the last messages are shown." in page
    assert "message 24" in page
    assert "message 3<" not in page


def test_a_stranger_signs_in_first() -> None:
    assert Client().get("/playground/").status_code == 302


FORM_TOOL = tool("weight_save", "write", {"kilos": {"type": "number"}}, required=["kilos"])


def _files(**fields: Any) -> dict[str, str]:
    files = bundle("weights", [FORM_TOOL], **({"intent_triggers": ["weigh-in"]} | fields))
    files |= form_generator.generate_form(files=files, tool_name="weight_save").texts
    files["skill.md"] += "\n## UI\n\n- `WeightSaveForm.v1`: to save a weight.\n"
    return files


def _publish_with_form() -> None:
    outcome = publication.publish(files=_files(), by=OLGA)
    assert outcome.status == "published", outcome.findings


def test_scores_are_shown_in_parts_and_near_misses_are_named(client: Client) -> None:
    publish("weights", intent_triggers=["weigh-in"], description="Logs what somebody weighs.")
    publish("meals", intent_triggers=["lunch"], description="Logs what somebody eats at lunch.")
    response = client.get("/playground/", {"m": "log my lunch please"})
    first = response.context["steps"][0].candidates[0]
    assert (first.capability_id, first.standing, first.triggers) == ("meals", "fits", ("lunch",))
    assert [bar.label for bar in first.parts] == ["Trigger", "Example message", "Probability"]
    assert first.parts[0].percent > 0
    assert f'width="{first.parts[0].percent}"' in response.content.decode()


@pytest.mark.parametrize(
    ("score", "is_below", "standing"), [(0.06, True, "no match"), (0.18, True, "near miss"), (0.4, False, "fits")]
)
def test_only_a_score_above_half_of_the_threshold_is_a_near_miss(score: float, is_below: bool, standing: str) -> None:
    one = Match("alpha", score, {}, (), is_below)
    assert match_standing(one, MatchResult("match", (one,), ""), 0.3) == standing
    assert label(standing) in ("Not a match", "Below threshold", "Match")


def test_two_that_are_as_good_are_a_tie(client: Client) -> None:
    publish("weights", intent_triggers=["log it"])
    publish("meals", intent_triggers=["log it"], description="Everything about Weights.")
    step = client.get("/playground/", {"m": "log it"}).context["steps"][0]
    assert step.verdict.decision == "ambiguous"
    assert {one.standing for one in step.candidates if one.standing not in ("near miss", "no match")} == {"tie"}


def test_each_kind_of_thing_that_is_there_is_told_apart(client: Client) -> None:
    needs = {"bins": ["ffmpeg"], "env": ["FILM_KEY"]}
    publish("films", intent_triggers=["video"], dependencies=needs, dependency_level="external")
    page = _page(client, m="cut this video", python="ffmpeg")
    assert "<strong>program ffmpeg</strong>: install ffmpeg" in page
    assert ">Sign-in required<" in _page(client, m="cut this video", bins="ffmpeg")
    assert ">Ready<" in _page(client, m="cut this video", bins="ffmpeg, git", env="FILM_KEY")


def test_drafts_are_tried_only_where_that_was_asked(client: Client) -> None:
    publish("meals", intent_triggers=["lunch"])
    drafts.save_draft(capability_id="weights", files=_files(), based_on=None, by=OLGA)
    assert "weights" not in _page(client, m="weigh-in").partition("<main")[2].partition("play__composer")[0]
    page = _page(client, m="weigh-in", drafts="yes")
    assert '<span class="badge badge--plan">Draft</span>' in page
    assert "Weights (4 turns left" in page
    drafts.save_draft(
        capability_id="weights", files=_files(intent_triggers=["kilos"]), based_on=1, by=OLGA
    )  # fmt: skip
    response = client.get("/playground/", {"m": "kilos", "drafts": "yes"})
    assert response.context["steps"][0].verdict.decision == "match"


def test_a_skill_that_does_not_fit_into_the_budget_is_told(client: Client) -> None:
    for name in ("weights", "meals"):
        publish(name, intent_triggers=[f"{name} now"], body="word " * 2000)
    step = client.get("/playground/", {"m": ["weights now", "meals now"]}).context["steps"][1]
    assert step.budget.used > 10_000
    assert [name for name, _ in step.budget.omitted] == ["Weights"]


def test_an_author_keeps_a_sentence_and_comes_back(signed_in: SignIn) -> None:
    publish("weights", intent_triggers=["weigh-in"])
    author = signed_in("author")
    form = form_with(author.get("/playground/", {"m": "weigh-in today", "os": "darwin"}), "Add to draft")
    assert form.values["capability_id"] == "weights"
    answer = author.post(form.action, form.values)
    assert answer["Location"] == "/playground/?os=darwin&m=weigh-in+today"
    assert "weigh-in today" in drafts.get_draft("weights").files["capability.json"]
    evil = author.post(form.action, form.values | {"query": "//elsewhere.example", "sentence": "b"})
    assert evil["Location"] == "/playground/?//elsewhere.example"


def test_a_viewer_keeps_nothing(client: Client) -> None:
    publish("weights", intent_triggers=["weigh-in"])
    assert "Add to draft" not in _page(client, m="weigh-in")
    assert client.post("/sentences/add/", {"capability_id": "weights", "sentence": "a"}).status_code == 403


def test_a_form_of_what_is_in_use_is_shown_with_what_it_calls(client: Client) -> None:
    _publish_with_form()
    response = client.get("/playground/", {"m": "weigh-in"})
    ((form, _messages),) = response.context["forms"]
    assert (form.schema_id, form.calls) == ("WeightSaveForm.v1", (("Send", "Save weight"),))
    assert "<em>Send</em> calls <bdi>Save weight</bdi>" in response.content.decode()


def _act(client: Client, **changes: str) -> dict[str, str]:
    sent = {
        "capability_id": "weights",
        "schema_id": "WeightSaveForm.v1",
        "action": "send",
        "context": '{"kilos": "80"}',
    }
    answer = client.post("/playground/action/", sent | changes, headers={"HX-Request": "true"})
    assert answer.status_code == 200
    told: dict[str, str] = answer.json()
    return told


def test_what_a_form_sends_is_held_against_its_tool(client: Client) -> None:
    _publish_with_form()
    told = _act(client)
    assert (told["standing"], told["tool"]) == ("approval", "Save weight")
    assert told["policy"] == "write, requires approval"
    assert json.loads(told["arguments"]) == {"kilos": 80}
    assert _act(client, context='{"kilos": "many"}')["standing"] == "refused"
    assert _act(client, action="cancel")["words"] == "The form closes. No tool is called."


@pytest.mark.parametrize(
    "changes",
    [
        {"capability_id": "nobody"},
        {"schema_id": "Nothing.v1"},
        {"action": "odd"},
        {"context": "{"},
        {"context": "[]"},
        {"context": "[" * 100_000},
        {"context": '{"kilos": NaN}'},
    ],
)
def test_an_odd_event_is_refused_in_words(changes: dict[str, str], client: Client) -> None:
    _publish_with_form()
    told = _act(client, **changes)
    assert told["standing"] == "refused"
    assert told["words"]


def test_without_scripts_a_form_is_filled_in_and_sent(client: Client) -> None:
    _publish_with_form()
    page = client.get("/playground/", {"m": "weigh-in", "os": "darwin"})
    (button,) = [one for one in page.context["forms"][0][0].plain.buttons if one.event["name"] == "send"]
    (form,) = [one for one in forms_in(page) if button.label in one.buttons and "schema_id" in one.values]
    (name,) = [name for name in form.values if name.startswith("/")]
    answer = form.submit(client, **{name: "81", "press": button.number})
    words = " ".join(answer.content.decode().split())
    assert "Needs approval before it runs." in words
    assert "Save weight</bdi> write, requires approval" in words
    assert "&quot;kilos&quot;: 81" in words
    assert answer.context["messages_said"] == ["weigh-in"], "the conversation is where it was"
    assert answer.context["system"] == "darwin"
    refused = form.submit(client, **{name: "many", "press": button.number}).content.decode()
    assert "do not fit" in refused


@pytest.mark.parametrize(
    "changes",
    [
        {"capability_id": "nobody"},
        {"schema_id": "Nothing.v1"},
        {"press": "9"},
        {"press": "x"},
        {"query": "%%%&m=" * 99},
    ],
)
def test_an_odd_plain_form_is_no_error(changes: dict[str, str], client: Client) -> None:
    _publish_with_form()
    sent = {"capability_id": "weights", "schema_id": "WeightSaveForm.v1", "press": "0", "query": "m=weigh-in"}
    assert client.post("/playground/action/", sent | changes).status_code == 200


def test_an_address_stays_short_enough_to_be_sent(client: Client) -> None:
    response = client.get("/playground/", {"m": [f"{n} " + "ü" * 400 for n in range(9)]})
    assert len(response.context["query"]) <= 6500
    assert response.context["messages_said"][-1].startswith("8 ")
    assert "Only the last messages are shown." in response.content.decode()


def test_the_inspector_says_only_of_an_environment_that_differs_that_it_is_set(client: Client) -> None:
    # As the form sends it, whatever was filled in.
    untouched = {"os": "linux", "bins": "", "python": "", "apps": "", "env": "", "permissions": "", "drafts": "yes"}
    untouched |= {"mcp_servers": "", "skills": ""}
    for query, is_set in (({}, False), (untouched, False), ({"os": "darwin"}, True), ({"bins": "ffmpeg"}, True)):
        page = _page(client, m="weigh-in", **query)
        assert ('<span class="count">Set</span>' in page) is is_set, query


def test_servers_are_missing_only_where_some_are_said(client: Client) -> None:
    publish("weights", dependencies={"mcp_servers": ["github"]}, intent_triggers=["weigh-in"])
    assert "connect the agent to the MCP server github" not in _page(client, m="weigh-in")
    assert "connect the agent to the MCP server github" in _page(client, m="weigh-in", mcp_servers="jira")


def test_an_empty_conversation_suggests_what_published_capabilities_are_for(client: Client) -> None:
    publish("naps", utterances={"should_match": ["I napped & woke", "b"], "should_not_match": []})
    publish("plain")
    page = client.get("/playground/?os=win32").content.decode()
    assert "I napped &amp; woke" in page
    assert 'href="/playground/?os=win32&amp;m=I+napped+%26+woke"' in page
    later = client.get("/playground/?m=hello").content.decode()
    assert 'href="/playground/?m=hello&amp;m=I+napped+%26+woke"' in later
    said = client.get("/playground/", {"m": "I napped & woke"}).context["suggestions"]
    assert "I napped & woke" not in [one["words"] for one in said]


def test_an_answer_leads_with_the_name_and_says_by_what_it_was_found(client: Client) -> None:
    publish("weights", intent_triggers=["weigh-in"], emoji="⚖️", name="Weight Tracking")
    publish("meals", utterances={"should_match": ["what was for lunch today"], "should_not_match": []})
    (weights,) = client.get("/playground/", {"m": "I just weighed 80 kg"}).context["steps"][0].answers
    assert (weights.name, weights.emoji, weights.how) == ("Weight Tracking", "⚖️", "trigger “weigh-in”")
    assert 50 < weights.percent <= 100
    (meals,) = client.get("/playground/", {"m": "what was for lunch today"}).context["steps"][0].answers
    assert (meals.capability_id, meals.how) == ("meals", "similar to its examples")
    assert client.get("/playground/", {"m": "1 + 1"}).context["steps"][0].answers == ()


def test_both_readings_of_an_ambiguous_message_are_answers_that_are_not_loaded(client: Client) -> None:
    publish("weights", intent_triggers=["log it"])
    publish("meals", intent_triggers=["log it"], description="Everything about Weights.")
    step = client.get("/playground/", {"m": "log it"}).context["steps"][0]
    assert {one.capability_id for one in step.answers} == {"weights", "meals"}
    assert [one.readiness for one in step.answers] == [None, None]


def test_drafts_are_compared_with_what_is_live(client: Client) -> None:
    publish("meals", intent_triggers=["lunch"])
    drafts.save_draft(capability_id="weights", files=_files(), based_on=None, by=OLGA)
    response = client.get("/playground/", {"m": ["weigh-in", "lunch"], "compare": "yes"})
    first, second = response.context["turns"]
    found = [[one.capability_id for one in side["step"].answers] for side in first["sides"]]
    assert (found, first["is_changed"], second["is_changed"]) == ([[], ["weights"]], True, False)
    page = response.content.decode()
    assert page.count("Drafts answer differently") == 1
    assert 'name="compare" value="yes"' in page, "the next message is compared too"
    assert "End comparison" in page
    assert "compare" not in response.context["query_alone"]


def test_all_example_messages_are_run_as_a_table(client: Client) -> None:
    utterances = {"should_match": ["log what I weigh", "lunch please"], "should_not_match": ["how heavy is a car"]}
    publish("weights", intent_triggers=["weigh"], utterances=utterances)
    publish("meals", intent_triggers=["lunch please"])
    response = client.get("/playground/examples/")
    results = {one.example.message: one for one in response.context["results"]}
    assert results["log what I weigh"].is_pass
    assert results["log what I weigh"].found == ("weights",)
    assert results["how heavy is a car"].is_pass
    assert not results["lunch please"].is_pass, "both know these words"
    assert response.context["passed"] == 2
    assert "2 of 3 messages pass" in " ".join(response.content.decode().split())
    assert client.get("/playground/examples/", {"capability_id": "meals"}).context["results"] == []


def test_the_table_of_examples_tries_drafts_and_survives_odd_input(client: Client) -> None:
    utterances = {"should_match": ["how much do I weigh"], "should_not_match": []}
    drafts.save_draft(capability_id="weights", files=_files(utterances=utterances), based_on=None, by=OLGA)
    assert client.get("/playground/examples/").context["results"] == []
    (one,) = client.get("/playground/examples/", {"drafts": "yes", "page": "99"}).context["results"]
    assert (one.example.capability_id, one.is_pass) == ("weights", True)
    for odd in ({"capability_id": "\0"}, {"capability_id": "x" * 999}, {"page": "x"}, {"page": "-1"}):
        assert client.get("/playground/examples/", odd).status_code == 200, odd
