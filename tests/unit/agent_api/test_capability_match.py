"""`capability_match`: which capability a message asks for (docs/contract.md 4)."""

from __future__ import annotations

import gzip
from typing import Any

import pytest

from registry.access import agent_keys
from registry.catalog import drafts
from registry.common.rate_limits import RATE_LIMITER
from registry.matching import index
from registry.matching.embedders import get_embedder
from registry.matching.index import PUBLISHED_INDEX, MatchIndexCache
from registry.matching.skill_groups import set_group
from registry.models import MatchCount
from registry.publishing import publication
from registry.publishing.quarantine import quarantine
from registry.usage import usage_counters
from tests.factories import OLGA, bearer, bundle, publish, unlisted

pytestmark = pytest.mark.django_db

MATCH = "capability_match"


def _match(api: Any, message: str, headers: dict[str, str] | None = None, **more: Any) -> Any:
    return api.ok(api.post(MATCH, {"message": message, **more}, headers=headers), "match")


def test_what_is_closed_to_the_model_is_listed_so_and_never_matched(api: Any) -> None:
    closed: dict[str, Any] = {"metadata": {"disable-model-invocation": "true", "user-invocable": "false"}}
    publish("ship_it", name="Ship it", intent_triggers=["ship it"], skill_groups=["release"], **closed)
    publish("open_one", name="Open one", intent_triggers=["open one"])
    for message in ("ship it", "Ship it, and the open one please"):
        found = _match(api, message)
        assert "ship_it" not in [*_ids(found), *found["needed"]]
        assert "release" not in found["skill_groups"]
    assert "'ship_it' fits" in _match(api, "ship it")["reason"]
    assert "ship_it" not in _match(api, "open one")["reason"]
    assert "ship_it" not in _match(api, "ship it", os="win32", group="other")["reason"]
    assert "ship_it" not in _match(api, "1 + 1")["reason"]
    facts = {"disable_model_invocation": True, "user_invocable": False}
    for more in ({}, {"fields": "minimal"}):
        rows = api.ok(api.get("capability_registry_list", more), "registry_list")["capabilities"]
        by_id = {row["capability_id"]: {key: row[key] for key in facts if key in row} for row in rows}
        assert by_id == {"ship_it": facts, "open_one": {}}
    searched = api.ok(api.get("capability_search", {"q": "ship it"}), "search")["results"]
    assert {row["capability_id"]: row.get("disable_model_invocation") for row in searched}["ship_it"] is True
    assert api.ok(api.get("capability_skill_load", {"capability_id": "ship_it"}), "skill_load")["skill_doc"]


def test_a_trigger_of_pictures_or_of_half_width_kana_leads_to_its_capability(api: Any) -> None:
    publish("weights", name="Weights", intent_triggers=["\u2696\ufe0f"])
    publish("ramen", name="Ramen", intent_triggers=["\u30e9\u30fc\u30e1\u30f3"])
    publish("cpp", name="Builds", intent_triggers=["c++"])
    publish("c", name="Kernel", intent_triggers=["c"])
    wanted = {
        "\u2696 82": "weights",
        "\u7f8e\u5473\u3057\u3044\uff97\uff70\uff92\uff9d": "ramen",
        "compile my C++": "cpp",
    }
    assert {message: _match(api, message)["needed"] for message in wanted} == {
        message: [capability_id] for message, capability_id in wanted.items()
    }


def _ids(document: Any) -> list[str]:
    return [one["capability_id"] for one in document["matches"]]


@pytest.fixture
def body_registry(settings: Any, request: Any) -> None:
    """The three capabilities of the loading protocol's own example."""
    settings.EMBEDDER = getattr(request, "param", "none")
    get_embedder.cache_clear()
    publish(
        "weights",
        name="Weight Tracking",
        description="Log and track body weight over time",
        intent_triggers=["weigh-in", "bodyweight", "weight log"],
        skill_groups=["health"],
    )
    publish(
        "workouts",
        name="Workout Planning & Logging",
        description="Plan, execute, and track resistance training",
        intent_triggers=["workout", "lift", "squat", "training session"],
        skill_groups=["health", "sport"],
        os=["darwin"],
    )
    publish(
        "meals",
        name="Meal Tracking",
        description="Log meals and track nutrition",
        intent_triggers=["meal", "food", "calories", "macros"],
    )


both = pytest.mark.parametrize("body_registry", ["none", "minilm"], indirect=True)


@both
def test_the_documents_own_sentence(api: Any, body_registry: None) -> None:
    document = _match(api, "I just weighed 187.6 lbs")
    assert document["decision"] == "match"
    first = document["matches"][0]
    assert first["capability_id"] == "weights"
    assert first["matched_triggers"] == [{"trigger": "weigh-in", "start": 7, "end": 14}]
    assert not first["below_threshold"]
    assert document["skill_groups"] == ["health"]
    assert "weigh-in" in document["reason"]


@both
def test_each_message_of_an_agent_is_counted_by_its_decision(api: Any, body_registry: None) -> None:
    for message in ("weigh-in", "bodyweight", "1 + 1"):
        _match(api, message)
    usage_counters.flush()
    assert dict(MatchCount.objects.values_list("decision", "count")) == {"match": 2, "none": 1}


def test_a_match_says_which_revision_the_list_has_and_moves_with_it(api: Any, body_registry: None) -> None:
    def revisions() -> tuple[Any, Any]:
        listed = api.ok(api.get("capability_registry_list"), "registry_list")
        return _match(api, "weigh-in")["registry_revision"], listed["registry_revision"]

    before, listed = revisions()
    assert before == listed
    assert _match(api, "1 + 1")["registry_revision"] == before, "nothing moved"
    quarantine(capability_id="weights", by=OLGA)
    after, listed = revisions()
    assert after == listed > before


def test_a_match_tells_what_is_deprecated_and_what_replaces_it(api: Any, body_registry: None) -> None:
    row = _match(api, "weigh-in")["matches"][0]
    assert not {"status", "replaced_by", "confidence"} & set(row)
    publication.deprecate(capability_id="weights", by=OLGA, replaced_by="workouts")
    row = _match(api, "weigh-in")["matches"][0]
    assert (row["capability_id"], row["status"], row["replaced_by"]) == ("weights", "deprecated", "workouts")
    (found,) = (
        each
        for each in api.ok(api.get("capability_search", {"q": "body weight"}), "search")["results"]
        if each["capability_id"] == "weights"
    )
    assert (found["status"], found["replaced_by"]) == ("deprecated", "workouts")


def test_a_trigger_word_is_found_by_its_stem_and_never_inside_a_word(api: Any, body_registry: None) -> None:
    assert _ids(_match(api, "Two workouts yesterday"))[0] == "workouts"
    shoplifting = _match(api, "shoplifting")
    assert all(not one["matched_triggers"] for one in shoplifting["matches"])
    assert shoplifting["decision"] == "none"


@both
def test_a_content_word_alone_scores_lower(api: Any, body_registry: None) -> None:
    whole = _match(api, "my weigh-in today")["matches"][0]
    word = _match(api, "my weighing today")["matches"][0]
    assert whole["capability_id"] == word["capability_id"] == "weights"
    assert whole["parts"]["trigger"] > word["parts"]["trigger"] > 0
    assert whole["score"] > word["score"]


@both
@pytest.mark.parametrize("message", ["1 + 1", "What is the capital of France?", "...", "🙂", "如何写诗"])
def test_what_nobody_can_do_is_none(api: Any, body_registry: None, message: str) -> None:
    document = _match(api, message)
    assert document["decision"] == "none"
    assert document["skill_groups"] == []
    assert all(one["below_threshold"] for one in document["matches"])


@both
def test_two_that_fit_equally_are_ambiguous(api: Any, body_registry: None) -> None:
    publish("diary", name="Food diary", description="Write down what was eaten", intent_triggers=["food"])
    document = _match(api, "food")
    assert document["decision"] == "ambiguous"
    assert {"meals", "diary"} <= set(_ids(document)[:2])


@both
def test_a_message_that_asks_for_two_needs_both(api: Any, body_registry: None) -> None:
    document = _match(api, "Log my workout and weigh-in")
    assert (document["decision"], document["needed"]) == ("match", ["workouts", "weights"])
    assert set(_ids(document)[:2]) == {"workouts", "weights"}
    assert document["reason"] == "The message asks for both 'workouts' and 'weights'."
    assert document["skill_groups"] == ["health", "sport"]
    assert _match(api, "Track calories, and what did I lift last week?")["needed"] == ["meals", "workouts"]


@both
def test_one_intent_needs_one_and_without_a_match_nothing_is_needed(api: Any, body_registry: None) -> None:
    assert _match(api, "I just weighed 187.6 lbs")["needed"] == ["weights"]
    assert _match(api, "What is the capital of France and Spain?")["needed"] == []


def test_what_is_needed_stays_within_what_was_asked_for(api: Any, body_registry: None) -> None:
    message = "Log my workout and weigh-in"
    assert _match(api, message, group="sport")["needed"] == ["workouts"]
    assert "workouts" not in _match(api, message, os="linux")["needed"]
    short = _match(api, message, top_k=1)
    assert (len(short["matches"]), len(short["needed"])) == (1, 2)


def test_group_and_os_narrow_the_candidates(api: Any, body_registry: None) -> None:
    assert _ids(_match(api, "log my workout meal", group="sport")) == ["workouts"]
    assert "workouts" not in _ids(_match(api, "log my workout meal", os="linux"))
    assert _match(api, "workout", group="nobody")["matches"] == []


def test_at_most_top_k(api: Any, body_registry: None) -> None:
    assert len(_ids(_match(api, "log a workout, a meal and my bodyweight", top_k=1))) == 1
    assert len(_ids(_match(api, "log a workout, a meal and my bodyweight"))) == 3


def test_scores_go_down_and_repeat(api: Any, body_registry: None) -> None:
    first = _match(api, "log a workout, a meal and my bodyweight", top_k=20)
    scores = [one["score"] for one in first["matches"]]
    assert scores == sorted(scores, reverse=True)
    assert _match(api, "log a workout, a meal and my bodyweight", top_k=20) == first


def test_what_was_published_a_moment_ago_matches_and_what_was_retired_does_not(
    api: Any, body_registry: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    # How long the first index takes is not a reason to answer from it once it is out of date.
    monkeypatch.setattr(index, "_LAG_FROM_SECONDS", 0.0)
    assert _match(api, "snorkeling")["decision"] == "none"
    publish("diving", intent_triggers=["snorkel"])
    assert _ids(_match(api, "snorkeling"))[0] == "diving"
    publication.retire(capability_id="diving", by=OLGA)
    assert "diving" not in _ids(_match(api, "snorkeling"))


@pytest.mark.parametrize("finds_by_search", [False, True])
def test_what_was_retired_is_not_found_in_an_index_that_lags(
    api: Any, monkeypatch: pytest.MonkeyPatch, finds_by_search: bool
) -> None:
    """As in a large registry, whose index takes long to make."""

    def found() -> str:
        response = (
            api.get("capability_search?q=snorkel") if finds_by_search else api.post(MATCH, {"message": "snorkel"})
        )
        assert response.status_code == 200
        return str(response.json())

    monkeypatch.setattr(index, "_LAG_FROM_SECONDS", 0.0)
    monkeypatch.setattr(MatchIndexCache, "_renew_in_background", lambda *_: None)
    publish("diving", intent_triggers=["snorkel"])
    assert "diving" in found()
    publish("sailing", intent_triggers=["boat"])
    # The first index says nothing about how long the next one takes: it is waited for.
    assert "diving" in found()
    publication.retire(capability_id="diving", by=OLGA)
    assert "diving" not in found()
    assert PUBLISHED_INDEX.index is not None
    assert "diving" in PUBLISHED_INDEX.index.matcher.places


def test_the_response_says_which_revision_was_matched(api: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A caller that has just published reads in it whether the new capability was among those that were compared."""

    def index_revisions() -> list[int]:
        matched, found = api.post(MATCH, {"message": "snorkel"}), api.get("capability_search?q=snorkel")
        return [one.json()["index_revision"] for one in (matched, found)]

    monkeypatch.setattr(MatchIndexCache, "_renew_in_background", lambda *_: None)
    first = publish("diving", intent_triggers=["snorkel"]).registry_revision
    assert index_revisions() == [first, first]
    second = publish("sailing", intent_triggers=["boat"]).registry_revision
    assert index_revisions() == [second, second]
    monkeypatch.setattr(index, "_LAG_FROM_SECONDS", 0.0)
    publish("rowing", intent_triggers=["boat"])
    assert index_revisions() == [second, second]


def test_golden_sentences_lead_and_counter_sentences_keep_away(api: Any, settings: Any) -> None:
    settings.EMBEDDER = "minilm"
    get_embedder.cache_clear()
    sentences = {
        "should_match": ["where is my parcel", "when does my package arrive", "track my delivery"],
        "should_not_match": ["I want to send the parcel back"],
    }
    publish("tracking", name="Parcel tracking", intent_triggers=["tracking number"], utterances=sentences)
    publish("invoices", name="Invoices", intent_triggers=["invoice"])
    # However busy this machine is; a message waits 2 s for vectors.
    PUBLISHED_INDEX.get(vector_seconds=600)
    document = _match(api, "has my package been delivered yet")
    assert (document["decision"], _ids(document)[0]) == ("match", "tracking")
    assert _match(api, "I want to send the parcel back")["decision"] == "none"


def test_scripts_without_spaces_match_as_substrings(api: Any) -> None:
    publish("weights", intent_triggers=["体重"])
    document = _match(api, "请记录我的体重")
    assert document["decision"] == "match"
    assert document["matches"][0]["matched_triggers"] == [{"trigger": "体重", "start": 5, "end": 7}]


def test_an_empty_registry_matches_nothing(api: Any) -> None:
    assert _match(api, "anything at all")["matches"] == []


@pytest.mark.parametrize("message", ["a" * 100_000, "weigh in " * 11_000, "é" * 50_000, "\u202e" * 10])
def test_long_and_strange_messages_are_answered(api: Any, body_registry: None, message: str) -> None:
    _match(api, message)


@pytest.mark.both_databases
@pytest.mark.parametrize(
    "body",
    [
        {},
        {"message": ""},
        {"message": " \n"},
        {"message": 5},
        {"message": "x" * 100_001},
        {"message": "nul \0"},
        {"message": "hi", "top_k": 0},
        {"message": "hi", "top_k": 21},
        {"message": "hi", "top_k": "many"},
        {"message": "hi", "os": "beos"},
        {"message": "hi", "group": 3},
        [],
        "hi",
    ],
)
def test_odd_arguments_are_refused(api: Any, body: Any) -> None:
    api.error(api.post(MATCH, body), 400, "INVALID_REQUEST")


def test_who_may_not(api: Any, closed: None) -> None:
    api.error(api.post(MATCH, {"message": "hi"}), 401, "UNAUTHENTICATED")
    api.error(api.post(MATCH, {"message": "hi"}, headers=bearer("publish")), 403, "FORBIDDEN")
    api.ok(api.post(MATCH, {"message": "hi"}, headers=bearer("read")), "match")


def test_other_methods_and_media_types(api: Any) -> None:
    assert api.get(MATCH).headers["Allow"] == "POST"
    api.error(api.post(MATCH, b"message=hi", content_type="text/plain"), 415, "UNSUPPORTED_MEDIA_TYPE")


def test_the_limit_is_by_key(api: Any, settings: Any) -> None:
    from studio.config.parsers import Rate

    settings.RATE_LIMITS = {"match": Rate(2, 60)}
    RATE_LIMITER.forget()
    headers = bearer("read")
    for _ in range(2):
        api.ok(api.post(MATCH, {"message": "hi"}, headers=headers), "match")
    refused = api.post(MATCH, {"message": "hi"}, headers=headers)
    api.error(refused, 429, "RATE_LIMITED")
    assert int(refused.headers["Retry-After"]) >= 1
    api.ok(api.post(MATCH, {"message": "hi"}, headers=bearer("read")), "match")


def test_a_bundle_without_words_does_no_harm(api: Any) -> None:
    publish("alpha", intent_triggers=["!!!"])
    assert _match(api, "alpha")["matches"][0]["capability_id"] == "alpha"


def test_groups_of_which_a_session_keeps_one_are_told(api: Any) -> None:
    publish("rp_core", intent_triggers=["coach me"], skill_groups=["coaching", "health"])
    assert _match(api, "coach me")["exclusive_groups"] == []
    set_group(group_id="coaching", is_exclusive=True, by=OLGA)
    document = _match(api, "coach me")
    assert document["skill_groups"] == ["coaching", "health"]
    assert document["exclusive_groups"] == ["coaching"]


def test_a_preview_key_is_matched_with_drafts(api: Any) -> None:
    publish("weights", intent_triggers=["weigh-in"])
    preview, other = bearer(preview=True), bearer()
    assert _seen(api, "ostrich", preview) == set()
    for name, texts in (
        ("weights", bundle("weights", intent_triggers=["ostrich"])),
        ("birds", bundle("birds", intent_triggers=["ostrich farm"], body="The zygodactyl is no ostrich.")),
    ):
        drafts.save_draft(capability_id=name, files=texts, based_on=None, by=OLGA)
    for message in ("ostrich", "ostrich farm"):
        assert _seen(api, message, preview) == {"weights", "birds"}
        assert _seen(api, message, other) == set()
    assert _match(api, "ostrich", headers=preview)["matches"][0]["matched_triggers"]
    assert _seen(api, "zygodactyl", preview) == {"birds"}
    drafts.discard_draft(capability_id="birds", by=OLGA)
    assert _seen(api, "ostrich", preview) == {"weights"}


def test_what_a_key_may_not_see_is_found_by_no_door(api: Any) -> None:
    publish("weights", intent_triggers=["weigh-in"], skill_groups=["health"])
    publish("salaries", intent_triggers=["salary"], skill_groups=["staff"])
    code = unlisted("secret_plan", intent_triggers=["takeover"], skill_groups=["health"])
    limited = {"Authorization": f"Bearer {agent_keys.create_key(name='limited', by=OLGA, groups=['health'])[1]}"}
    anybody = bearer()
    for headers in (anybody, limited, {}):
        assert "secret_plan" not in _seen(api, "takeover", headers)
    assert "salaries" in _seen(api, "salary", anybody)
    assert "salaries" not in _seen(api, "salary", limited)
    api.ok(api.post("capability_install", {"code": code}, headers=anybody), "installed")
    assert "secret_plan" in _seen(api, "takeover", anybody)
    assert "secret_plan" not in _seen(api, "takeover", limited)


def _seen(api: Any, words: str, headers: dict[str, str]) -> set[str]:
    """Whatever match, search and prompt_render tell of."""
    matched = api.ok(api.post(MATCH, {"message": words, "top_k": 20}, headers=headers), "match")
    found = api.ok(api.get("capability_search", {"q": words, "top_k": 50}, headers=headers), "search")
    rendered = {
        name
        for name in ("salaries", "secret_plan")
        if api.post("prompt_render", {"capability_ids": [name]}, headers=headers).status_code == 200
    }
    in_match = {one["capability_id"] for one in matched["matches"]}
    in_search = {one["capability_id"] for one in found["results"]}
    assert rendered >= in_match & {"salaries", "secret_plan"}
    return in_match | in_search


@both
def test_an_emoji_alone_leads_nowhere_and_nothing_leads_to_it(api: Any, body_registry: None) -> None:
    publish("thumb", name="👍", description="👍", intent_triggers=["👍"], utterances={"should_match": ["👍", "👍👍"]})

    for message in ("x", "ok", "👍", "?!", "🤷"):
        assert _match(api, message)["decision"] == "none", message


@both
def test_space_before_a_message_changes_nothing(api: Any, body_registry: None) -> None:
    told = _match(api, "I just weighed 187.6 lbs")["matches"][0]
    padded = _match(api, " \n" * 5000 + "I just weighed 187.6 lbs")["matches"][0]

    assert (padded["capability_id"], padded["score"]) == (told["capability_id"], told["score"])
    assert _match(api, " " * 5000 + "x") == _match(api, "x")


def _hits(api: Any, message: str) -> dict[str, list[str]]:
    rows = _match(api, message)["matches"]
    return {row["capability_id"]: [hit["trigger"] for hit in row["matched_triggers"]] for row in rows}


@pytest.mark.parametrize("said", [{"language": "de-AT"}, {"description": "Prüft, was auf der Rechnung nicht stimmt."}])
def test_a_trigger_is_found_by_the_stems_of_its_language(api: Any, said: dict[str, str]) -> None:
    """Whether the language is declared or found out; and no other capability is found by its rules."""
    publish("rechnungen", name="Rechnungen", intent_triggers=["Rechnung prüfen"], **said)
    publish("refunds", name="Refunds", description="Refunds a payment.", intent_triggers=["Rechnung order"])
    found = _hits(api, "bitte die Rechnungen prüfen")
    assert found["rechnungen"] == ["Rechnung prüfen"]
    assert _hits(api, "bitte die Rechnungen orders").get("refunds", []) == []
    # A publish that makes it English is seen by the index that goes on.
    publish("rechnungen", name="Rechnungen", intent_triggers=["Rechnung prüfen"], language="en")
    assert _hits(api, "bitte die Rechnungen prüfen").get("rechnungen", []) == []


@pytest.mark.parametrize(
    ("trigger", "message"),
    [
        ("经费报销", "我想问一下经费报销怎么做"),
        ("経費精算", "出張の経費精算をお願いします"),
        ("ใบแจ้งหนี้", "ช่วยตรวจใบแจ้งหนี้หน่อย"),
    ],
)
def test_a_trigger_without_spaces_is_found_inside_a_sentence(api: Any, trigger: str, message: str) -> None:
    publish("one", name="One", intent_triggers=[trigger])
    publish("two", name="Two", intent_triggers=["two"])
    assert _hits(api, message)["one"] == [trigger]


@pytest.mark.parametrize(
    ("body", "headers", "coding"),
    [
        (gzip.compress(b'{"message": "hi"}'), {"Content-Encoding": "gzip"}, "gzip"),
        (b'{"message": "hi"}', {"Content-Encoding": "br, gzip"}, "br, gzip"),
        ('{"message": "hi"}'.encode("utf-16"), {}, "utf-16"),
        ('{"message": "hi"}'.encode("utf-16-be"), {}, "utf-16-be"),
        ('{"message": "hi"}'.encode("utf-32-le"), {}, "utf-32-le"),
    ],
    ids=["gzip", "several", "utf-16", "utf-16-be", "utf-32-le"],
)
def test_a_coding_of_the_body_is_named_and_refused(api: Any, body: bytes, headers: dict[str, str], coding: str) -> None:
    response = api.post(MATCH, body, headers=headers, content_type="application/json")
    assert f"'{coding}'" in api.error(response, 415, "UNSUPPORTED_MEDIA_TYPE")["message"]


def test_a_body_that_is_coded_as_it_is_is_read(api: Any) -> None:
    api.ok(api.post(MATCH, {"message": "hi"}, headers={"Content-Encoding": "identity"}), "match")


def test_an_empty_os_is_left_out(api: Any) -> None:
    api.ok(api.post(MATCH, {"message": "hi", "os": ""}), "match")
