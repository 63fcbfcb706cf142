"""`Session`: every rule of docs/requirements.md A, B, C and E that one conversation has to keep."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Any

import pytest
import rfc8785

from capability_client import Session, SessionFileRefused, SessionOptions, User
from capability_client.tests.registries import bundle, examples
from capability_kit import errors
from capability_kit.bundles.bundle import Bundle, Listing, ListingEntry
from capability_kit.environment.probe import Environment
from tests.json_values import parsed

ALL = Environment(
    os="linux",
    bins=frozenset({"kubectl"}),
    python=frozenset({"openpyxl", "pandas"}),
    env=frozenset({"KUBECONFIG"}),
    permissions=frozenset({"read_documents"}),
)


class Shelf:
    """A registry in memory; `asked` counts the loads."""

    def __init__(self, bundles: Iterable[Bundle] = (), first_run: str | None = "introduction") -> None:
        self.bundles = {each.capability_id: each for each in bundles or examples()}
        self.older: dict[str, Bundle] = {}
        self.asked: list[str] = []
        self.first_run = first_run
        self.exclusive_groups: tuple[str, ...] = ()
        self.is_away = False

    def list(self) -> Listing:
        if self.is_away:
            raise errors.RegistryUnreachable("away")
        entries = tuple(ListingEntry.of_bundle(each) for each in self.bundles.values())
        return Listing(entries, 1, first_run=self.first_run, exclusive_groups=self.exclusive_groups)

    def load(self, capability_id: str, *, digest: str | None = None) -> Bundle:
        self.asked.append(capability_id)
        if self.is_away:
            raise errors.RegistryUnreachable("away")
        found = self.bundles.get(capability_id)
        if found is None:
            raise errors.CapabilityNotFound("No such", capability_id=capability_id)
        if digest not in (None, found.digest):
            return self.older[str(digest)]
        return found

    def reload(self, capability_id: str) -> Bundle:
        return self.load(capability_id)

    def publish(self, new: Bundle) -> None:
        old = self.bundles[new.capability_id]
        self.older[old.digest] = old
        self.bundles[new.capability_id] = new


def _session(shelf: Shelf | None = None, **settings: Any) -> Session:
    settings.setdefault("environment", ALL)
    return Session(shelf or Shelf(), **settings)


def _plain(*ids: str, **capability: Any) -> Shelf:
    return Shelf([bundle(each, capability={"intent_triggers": [each], **capability}) for each in ids])


def _active(session: Session) -> list[str]:
    return [each.capability_id for each in session.active]


def _words(session: Session, kind: str) -> list[str]:
    return [f"{event.capability_id}: {event.words}" for event in session.events if event.kind == kind]


# A: several skills, one release for the session, tools by name.


def test_a_message_that_fits_is_hinted_and_nothing_is_loaded() -> None:
    shelf = Shelf()
    session = _session(shelf)
    turn = session.turn("I just weighed 187.6 lbs")
    assert [hint.capability_id for hint in turn.hints] == ["weights"]
    assert turn.hints[0].triggers == ("weigh-in",)
    assert shelf.asked == []
    assert turn.active == ()


def test_two_skills_in_one_answer() -> None:
    session = _session()
    turn = session.turn("Log my workout and weigh-in")
    assert {hint.capability_id for hint in turn.hints} == {"workouts", "weights"}
    for hint in turn.hints:
        session.load(hint.capability_id)
    assert set(_active(session)) == {"workouts", "weights"}
    names = {parsed(tool["function"])["name"] for tool in session.tools("openai")}
    assert {"weights__weight_entry_list", "capability_skill_load"} <= names
    assert any(name.startswith("workouts__") for name in names)


def test_the_session_keeps_the_release_of_its_first_load_and_the_next_one_sees_the_new() -> None:
    shelf = _plain("alpha")
    session = _session(shelf)
    first = session.load("alpha").digest
    shelf.publish(bundle("alpha", skill_doc="# New\n", revision=2))
    for _ in range(8):
        session.turn("something else")
    assert _active(session) == []
    assert session.load("alpha").digest == first
    assert shelf.asked == ["alpha"]
    assert _session(shelf).load("alpha").revision == 2
    assert session.reload("alpha").revision == 2


def test_a_missing_capability_is_explained_and_the_others_are_offered() -> None:
    session = _session()
    with pytest.raises(errors.CapabilityNotFound):
        session.load("sleep_tracking")
    for odd in ("../etc", "Sleep Tracking", "", "a" * 100, "$x"):
        with pytest.raises(errors.CapabilityNotFound) as caught:
            session.load(odd)
        assert "Currently available" in caught.value.user_message()


# B: hints, turns, limits.


def test_the_three_hints_of_the_highest_priority_are_given_and_the_others_named() -> None:
    bundles = [
        bundle(name, capability={"intent_triggers": ["hello"], "priority": priority})
        for name, priority in (("a", 1), ("b", 100), ("c", 5), ("d", 5), ("e", 0))
    ]
    session = _session(Shelf(bundles))
    assert [hint.capability_id for hint in session.turn("hello").hints] == ["b", "c", "d"]
    assert [words.split(":")[0] for words in _words(session, "left_out")] == ["a", "e"]


def test_a_skill_loaded_by_the_model_stays_four_turns_and_one_by_hand_six() -> None:
    for message, turns in (("", 4), ("$alpha", 6)):
        session = _session(_plain("alpha"))
        session.turn(message)
        if not message:
            session.load("alpha")
        for number in range(1, turns + 1):
            session.turn("other")
            assert _active(session) == ["alpha"], number
        session.turn("other")
        assert _active(session) == []
        assert _words(session, "expired") == [f"alpha: it was not used for {turns} turns"]


def test_max_turns_of_the_capability_counts() -> None:
    session = _session()
    session.load("introduction", explicit=True)
    for _ in range(8):
        session.turn("refund")
    assert "introduction" in _active(session)
    session.turn("refund")
    assert "introduction" not in _active(session)


def test_using_it_again_begins_its_turns_anew() -> None:
    session = _session(_plain("alpha"))
    session.load("alpha")
    for _ in range(4):
        session.turn("other")
    session.load("alpha")
    for _ in range(4):
        session.turn("other")
    assert _active(session) == ["alpha"]
    session.turn("about alpha again")
    for _ in range(4):
        session.turn("other")
    assert _active(session) == ["alpha"]
    assert any("by the model" in words for words in _words(session, "refreshed"))


def test_at_most_four_are_active_and_the_one_used_longest_ago_goes() -> None:
    session = _session(_plain(*"abcde"))
    for name in "abcd":
        session.load(name)
    session.load("a")
    session.load("e")
    assert _active(session) == ["e", "a", "d", "c"]
    assert "b: at most 4 skills" in _words(session, "dropped")[0]


def test_sixteen_thousand_characters_together_the_most_recent_first_and_the_rest_is_said() -> None:
    bundles = [bundle(name, skill_doc=f"# {name}\n\n" + name * 6000) for name in "abc"]
    session = _session(Shelf(bundles))
    for name in "abc":
        session.load(name)
    prompt = session.prompt()
    assert prompt.included == ("c", "b")
    assert [name for name, reason in prompt.omitted if reason.startswith("BUDGET")] == ["a"]
    assert "left out for want of room" in prompt.prompt
    assert "- a" in prompt.prompt
    names = {parsed(tool["function"])["name"] for tool in session.tools()}
    assert not any(name.startswith("a__") for name in names)


# B: the introduction.


def test_a_new_user_in_an_empty_conversation_is_introduced_once() -> None:
    session = _session()
    begun = session.start()
    assert (begun.kind, begun.capability_id) == ("introduced", "introduction")
    assert _active(session) == ["introduction"]
    assert session.start().kind == "skipped"
    assert _session().start(first_run="weights").capability_id == "weights"


def test_a_known_user_is_greeted_and_not_introduced() -> None:
    session = _session(user=User(name="Alice"))
    begun = session.start()
    assert (begun.kind, begun.greeting) == ("greeted", "Hey Alice, good to see you. What can I help with?")
    assert _active(session) == []
    assert _session(user=User(is_introduced=True)).start().greeting.startswith("Good to see you again")
    assert "\n" not in _session(user=User(name="A\n# Obey")).start().greeting


def test_a_conversation_that_has_begun_is_not_interrupted() -> None:
    assert _session().start(history=["I want a refund"]).kind == "skipped"
    own = ["You are running a scheduled check", "[New user just opened the app]", "[User Alice came back]", " "]
    assert _session().start(history=own).kind == "introduced"
    session = _session()
    session.turn("hello")
    assert session.start().kind == "skipped"


def test_four_messages_end_it_for_good_even_where_nothing_was_stored() -> None:
    session = _session()
    session.start()
    for _ in range(2):
        assert not session.is_introduced
        session.turn("hm")
        session.record_reply()
    assert session.is_introduced
    assert session.start().kind == "skipped"
    kept = Session.from_json(session.to_json(), Shelf(), environment=ALL)
    assert kept.start().kind == "skipped"
    assert _active(session) == ["introduction"], "it goes on to its end, it only never starts again"


def test_an_introduction_that_cannot_be_loaded_may_be_tried_again() -> None:
    shelf = Shelf(first_run=None)
    assert _session(shelf).start().kind == "skipped"
    shelf.is_away = True
    session = _session(shelf)
    assert session.start(first_run="introduction").kind == "skipped"
    shelf.is_away = False
    assert session.start(first_run="introduction").kind == "introduced"


def test_hello_again_is_a_hint_that_the_model_may_take() -> None:
    session = _session(user=User(name="Alice"))
    session.start()
    assert [hint.capability_id for hint in session.turn("introduce yourself").hints] == ["introduction"]


def test_memory_is_silent() -> None:
    session = _session()
    session.start()
    said = session.call("profile_remember", {"key": "name", "value": "Maria"}, run=lambda _: {"stored": True})
    assert session.gate.waiting() == []
    assert "never say that you have made a note" in session.system_prompt().prompt
    assert getattr(said, "result", None) == {"stored": True}


def test_a_question_without_a_skill_is_answered_and_a_skills_words_after_saving_win() -> None:
    session = _session()
    session.load("weights")
    system = session.system_prompt().prompt
    assert "If no skill fits, answer without one." in system
    assert "If there is no skill for what the user wants, say so" not in system
    assert "After saving, answer in one sentence" in session.prompt().prompt
    assert "Where a skill says what to say after saving, say that." in system


# C: what reaches the prompt.


def test_one_plus_one_costs_nothing() -> None:
    session = _session()
    assert session.turn("1 + 1 = ?").hints == ()
    assert session.prompt().prompt == ""


def test_the_excel_and_slides_request_hints_what_there_is() -> None:
    session = _session()
    hints = session.turn("analyze this Excel file, make charts and then a PPT").hints
    assert [hint.capability_id for hint in hints] == ["excel_analyzer"]
    assert session.turn("分析这个 Excel 数据，生成图表，然后做成 PPT").hints[0].capability_id == "excel_analyzer"


def test_what_is_not_ready_is_a_hint_with_the_mend_until_it_is() -> None:
    here = Environment(permissions=frozenset({"read_documents"}), python=frozenset({"pandas"}))
    session = _session(environment=here)
    session.load("excel_analyzer")
    prompt = session.prompt()
    assert prompt.included == ()
    assert "python -m pip install openpyxl" in prompt.prompt
    assert "Look before you compute" not in prompt.prompt
    here.python = frozenset({"pandas", "openpyxl"})
    session.refresh()
    assert session.prompt().included == ("excel_analyzer",)


def test_what_works_on_another_system_is_not_hinted() -> None:
    session = _session(environment=Environment(os="win32"))
    assert session.turn("node worker-3 reports disk pressure").hints == ()
    assert _words(session, "left_out") == ["disk_pressure: Works on Linux, not on Windows."]


def test_the_prompt_grows_with_the_task_and_not_with_the_library() -> None:
    sizes = []
    for count in (10, 2000):
        shelf = Shelf([bundle(f"skill_{n}", capability={"intent_triggers": [f"word{n}"]}) for n in range(count)])
        session = _session(shelf)
        session.turn("tell me about word7")
        session.load("skill_7")
        sizes.append((session.prompt().characters, session.system_prompt().characters < 6000))
    assert sizes[0] == sizes[1] == (sizes[0][0], True)


# E: invocation by name.


def test_dollar_names_load_and_carry_their_arguments() -> None:
    session = _session()
    turn = session.turn("please $billing-refund account 7, gently $weights last week")
    assert turn.message == "please"
    assert {each.capability_id: each.arguments for each in turn.active} == {
        "billing_refund": "account 7, gently",
        "weights": "last week",
    }
    assert [each.capability_id for each in turn.active] == ["billing_refund", "weights"]
    assert "ARGUMENTS: last week" in session.prompt().prompt
    session.turn("$Weights")
    assert session.active.get("weights").arguments == ""  # type: ignore[union-attr]


@pytest.mark.parametrize("message", ["it costs $5", "echo $HOME", r"type \$weights", "a$weights", "$", "$ weights"])
def test_other_dollar_signs_are_left_alone(message: str) -> None:
    session = _session()
    assert session.turn(message).message == message.strip()
    assert _active(session) == []
    assert _words(session, "not_loaded") == []


def test_a_slip_of_the_pen_is_answered_with_the_nearest_name() -> None:
    session = _session()
    session.turn("$wieghts 80")
    assert _words(session, "not_loaded") == ["weights: there is no skill $wieghts; the nearest is $weights"]
    assert _active(session) == []


@pytest.mark.parametrize(
    ("message", "loaded"),
    [
        ("use the weights skill for this", ["weights"]),
        ("please use skill weights", ["weights"]),
        ("open the Excel Analyzer", ["excel_analyzer"]),
        ("follow billing-refund here", ["billing_refund"]),
        ("run disk_pressure", ["disk_pressure"]),
        ("the node reports disk pressure", []),
        ("I lifted weights today", []),
        ("what are meals good for", []),
    ],
)
def test_a_skill_may_be_named_in_plain_text(message: str, loaded: list[str]) -> None:
    session = _session()
    session.turn(message)
    assert _active(session) == loaded
    strict = _session(options=SessionOptions(takes_plain_mentions=False))
    strict.turn(message)
    assert _active(strict) == []


def test_without_carrying_a_skill_lasts_one_turn_unless_it_is_named_again() -> None:
    session = _session(options=SessionOptions(carry=False))
    session.turn("$weights and $meals")
    assert len(_active(session)) == 2
    session.turn("$weights again")
    assert _active(session) == ["weights"]
    session.turn("thanks")
    assert _active(session) == []
    assert "do not carry across turns" in session.system_prompt().prompt


def test_disabled_skills_are_gone_at_once_and_come_back() -> None:
    session = _session()
    session.turn("$weights")
    session.disable("weights")
    assert _active(session) == []
    assert session.turn("I weighed 80 kg, $weights").hints == ()
    assert _active(session) == []
    assert "weights" not in {entry.capability_id for entry in session.autocomplete("$w")}
    with pytest.raises(errors.CapabilityNotFound):
        session.load("weights")
    session.enable("weights")
    assert session.turn("I weighed 80 kg").hints


def test_autocomplete_offers_beginnings_first() -> None:
    session = _session()
    assert [entry.capability_id for entry in session.autocomplete("$w")] == ["weights", "workouts"]
    assert [entry.capability_id for entry in session.autocomplete("$track")] == ["meals", "weights"]
    assert len(session.autocomplete("$")) == 7


def test_variables_are_filled_in_once() -> None:
    doc = "# A\n\nRead $FILE, then ${REPO_ROOT}, with $ARGUMENTS; $UNKNOWN and $5 stay.\n"
    options = SessionOptions(variables={"FILE": "a.py", "REPO_ROOT": "$FILE"})
    session = _session(Shelf([bundle("alpha", skill_doc=doc)]), options=options)
    session.turn("$alpha quickly")
    prompt = session.prompt().prompt
    assert "Read a.py, then $FILE, with quickly; $UNKNOWN and $5 stay." in prompt
    assert "ARGUMENTS:" not in prompt


def test_the_system_prompt_lists_and_gives_the_trigger_rules() -> None:
    text = _session(options=SessionOptions(preamble="You are a trainer.")).system_prompt()
    assert text.prompt.startswith("You are a trainer.\n\n## Skills")
    assert "- weights: Log and track body weight over time." in text.prompt
    assert "you must use that skill" in text.prompt
    assert "use all of them" in text.prompt
    assert text.included[0] == "introduction", "the highest priority comes first"


# A: coaching modes: choose one.


def test_of_an_exclusive_group_one_member_is_active() -> None:
    shelf = _plain("rp_core", "powerlifting", skill_groups=["coaching"])
    session = _session(shelf, options=SessionOptions(exclusive_groups=frozenset({"coaching"})))
    session.load("rp_core")
    session.load("powerlifting")
    assert _active(session) == ["powerlifting"]
    assert "only one is active, and powerlifting was chosen" in _words(session, "dropped")[0]
    free = _session(shelf)
    free.load("rp_core")
    free.load("powerlifting")
    assert len(_active(free)) == 2


# Matching by the registry, and without it.


def test_the_registrys_match_is_used_and_its_near_misses_are_not() -> None:
    def match(message: str) -> dict[str, Any]:
        hit = {"trigger": "weigh-in", "start": 0, "end": 5}
        rows = [
            {"capability_id": "weights", "score": 0.9, "matched_triggers": [hit], "below_threshold": False},
            {"capability_id": "meals", "score": 0.2, "matched_triggers": [], "below_threshold": True},
            {"capability_id": "unknown", "score": 0.8},
            "odd",
        ]
        decision = "none" if "1" in message else "match"
        return {"decision": decision, "matches": rows, "exclusive_groups": ["fitness", 1]}

    session = _session(matcher=match)
    assert [hint.capability_id for hint in session.turn("how heavy am I").hints] == ["weights"]
    assert session.turn("1 + 1").hints == ()
    session.load("weights")
    session.load("workouts")
    assert _active(session) == ["workouts"], "the registry said that the group fitness is exclusive"


class MatchingShelf(Shelf):
    """A registry that matches messages itself; `said` are those that it was asked about."""

    said: tuple[str, ...] = ()

    def match(self, message: str) -> dict[str, Any]:
        self.said = (*self.said, message)
        if self.is_away:
            raise errors.RegistryUnreachable("away")
        return {"decision": "match", "matches": [{"capability_id": "pdf_tools", "score": 0.8}], "needed": ["pdf_tools"]}


def test_a_registry_as_the_source_is_the_matcher_and_finds_what_has_no_trigger() -> None:
    imported = bundle("pdf_tools", capability={"intent_triggers": []})
    shelf = MatchingShelf([imported, bundle("weights", capability={"intent_triggers": ["weigh-in"]})])
    session = _session(shelf)
    assert [hint.capability_id for hint in session.turn("I have a PDF, extract its text").hints] == ["pdf_tools"]
    assert shelf.said == ("I have a PDF, extract its text",)
    resumed = Session.from_json(session.to_json(), shelf, environment=ALL)
    assert [hint.capability_id for hint in resumed.turn("another one").hints] == ["pdf_tools"]


def test_an_option_leaves_the_matching_to_triggers() -> None:
    shelf = MatchingShelf([bundle("weights", capability={"intent_triggers": ["weigh-in"]})])
    session = _session(shelf, options=SessionOptions(matches_by_triggers=True))
    assert [hint.capability_id for hint in session.turn("I weighed 80 kg").hints] == ["weights"]
    assert shelf.said == ()
    assert not _words(session, "index")
    with pytest.raises(ValueError, match="matches_by_triggers"):
        _session(shelf, matcher=shelf.match, options=SessionOptions(matches_by_triggers=True))


def test_a_source_that_matches_and_is_away_leaves_the_matching_to_triggers() -> None:
    shelf = MatchingShelf([bundle("weights", capability={"intent_triggers": ["weigh-in"]})])
    session = _session(shelf)
    assert session.entries
    shelf.is_away = True
    assert [hint.capability_id for hint in session.turn("I weighed 80 kg").hints] == ["weights"]
    assert "by triggers instead" in _words(session, "index")[0]


def test_a_matcher_that_is_given_comes_before_the_sources_own() -> None:
    shelf = MatchingShelf()
    session = _session(shelf, matcher=lambda _: {"decision": "none", "matches": []})
    assert session.turn("I weighed 80 kg").hints == ()
    assert shelf.said == ()


def test_what_a_message_needs_is_hinted_before_what_else_fits() -> None:
    rows = [
        {"capability_id": name, "score": score, "below_threshold": False}
        for name, score in (("first", 0.9), ("second", 0.8), ("third", 0.7), ("fourth", 0.5))
    ]
    answer = {"decision": "match", "matches": rows, "needed": ["fourth", "fifth", "unknown", 5]}
    session = _session(_plain("first", "second", "third", "fourth", "fifth"), matcher=lambda _: answer)
    assert [hint.capability_id for hint in session.turn("two things").hints] == ["fourth", "fifth", "first"]
    assert session.prompt().prompt.index("fourth") < session.prompt().prompt.index("first")


def test_without_the_registry_the_triggers_of_the_list_are_enough() -> None:
    def away(message: str) -> dict[str, Any]:
        raise errors.RegistryUnreachable(message)

    session = _session(matcher=away)
    assert session.turn("I weighed 80 kg").hints[0].capability_id == "weights"
    assert "by triggers instead" in _words(session, "index")[0]


def test_a_registry_that_is_away_ends_no_conversation() -> None:
    shelf = Shelf()
    shelf.is_away = True
    session = _session(shelf)
    assert session.turn("$weights I weighed 80").hints == ()
    assert "could not be read" in _words(session, "index")[0]
    shelf.is_away = False
    assert session.turn("I weighed 80").hints
    shelf.is_away = True
    session.turn("$weights")
    assert _words(session, "not_loaded") == ["weights: away"]


# Between two processes.


def test_a_session_goes_on_where_it_was() -> None:
    session = _session(roles=["member"])
    session.start()
    session.turn("$weights today")
    text = session.to_json(secret=b"s")
    kept = Session.from_json(text, Shelf(), secret=b"s", environment=ALL)
    assert kept.prompt().prompt == session.prompt().prompt
    assert (kept.number, kept.session_id, _active(kept)) == (1, session.session_id, _active(session))
    assert kept.to_json(secret=b"s") == text
    assert not (kept.gate.roles), "roles come from the host program, never from a file"


def _edited(text: str, **content: Any) -> str:
    document = json.loads(text)
    document["content"] |= content
    return json.dumps(document)


def test_a_file_is_one_line() -> None:
    """LangGraph keeps it with each checkpoint: indented, a loaded skill took half as much again."""
    session = _session()
    session.turn("$weights")
    text = session.to_json()
    assert "\n" not in text
    assert text == json.dumps(json.loads(text), ensure_ascii=False, separators=(",", ":"))


def test_an_edited_or_damaged_file_is_refused_with_a_sentence() -> None:
    session = _session()
    session.turn("$weights")
    text = session.to_json()
    files = [
        "",
        "[]",
        "{",
        "[" * 100_000,
        text[:-50],
        text.replace("weigh-in", "weigh-out", 1),
        _edited(text, turn=0),
        json.dumps(json.loads(text) | {"version": 2}),
        json.dumps(json.loads(text) | {"format": "other"}),
        json.dumps(json.loads(text) | {"checksum": None}),
    ]
    for file in files:
        with pytest.raises(SessionFileRefused, match="session"):
            Session.from_json(file, Shelf(), environment=ALL)
    with pytest.raises(SessionFileRefused):
        Session.from_json(text, Shelf(), environment=ALL, secret=b"s")


def test_a_file_with_a_right_checksum_and_odd_content_is_refused() -> None:
    text = _session().to_json()
    odds: list[dict[str, Any]] = [
        {"bundles": [{}]},
        {"turn": -1},
        {"introduction": {}},
        {"calls": [{"state": "approved"}]},
        {"pins": []},
    ]
    for odd in odds:
        document = json.loads(text)
        document["content"] |= odd
        document["checksum"] = f"sha256:{hashlib.sha256(rfc8785.dumps(document['content'])).hexdigest()}"
        with pytest.raises(SessionFileRefused, match="Begin a new session"):
            Session.from_json(json.dumps(document), Shelf(), environment=ALL)


# Odd words, odd ids.


def test_half_a_character_goes_no_further_than_the_door() -> None:
    asked: list[str] = []

    def matcher(message: str) -> dict[str, Any]:
        asked.append(message)
        return {"decision": "none", "matches": []}

    session = _session(matcher=matcher, user=User(name="\ud83d", context={"goal": "\ud83d"}))
    session.turn("\ud83d and then $weights of \ud83d")
    session.load("meals", arguments="\ud83d")
    assert asked == ["\ufffd and then of \ufffd"]
    session.prompt().prompt.encode()
    assert _active(Session.from_json(session.to_json(), Shelf(), environment=ALL)) == ["meals", "weights"]


def test_what_is_disabled_is_so_under_every_way_to_write_it_and_cannot_be_reloaded() -> None:
    session = _session()
    session.load("excel_analyzer")
    session.disable("Excel-Analyzer")
    assert _active(session) == []
    for ask in (session.load, session.reload):
        with pytest.raises(errors.CapabilityNotFound):
            ask("excel_analyzer")
    session.enable("excel-analyzer")
    session.reload("Excel-Analyzer")
    assert _active(session) == ["excel_analyzer"]


def test_a_hint_of_what_is_disabled_goes_with_it() -> None:
    session = _session()
    session.turn("I just weighed 187.6 lbs")
    session.disable("weights")
    assert "weights" not in session.prompt().prompt


def test_unload_says_whether_there_was_anything() -> None:
    session = _session()
    session.load("weights")
    assert (session.unload("Weights"), session.unload("weights")) == (True, False)


def test_the_list_tells_which_groups_are_exclusive() -> None:
    shelf = _plain("rp_core", "powerlifting", skill_groups=["coaching"])
    shelf.exclusive_groups = ("coaching",)
    session = _session(shelf)
    session.load("rp_core")
    session.load("powerlifting")
    assert _active(session) == ["powerlifting"]


def test_a_list_that_cannot_be_had_does_not_stop_a_load() -> None:
    shelf = _plain("rp_core", skill_groups=["coaching"])
    session = _session(shelf)

    def garbage() -> Listing:
        raise errors.ResponseRejected("garbage")

    shelf.list = garbage  # type: ignore[method-assign]
    session.load("rp_core")
    assert _active(session) == ["rp_core"]


def test_exclusive_groups_are_kept_with_the_session() -> None:
    shelf = _plain("rp_core", "powerlifting", skill_groups=["coaching"])
    answer = {"decision": "none", "matches": [], "exclusive_groups": ["coaching"]}
    session = _session(shelf, matcher=lambda _: answer)
    session.turn("train me")
    session.load("rp_core")
    resumed = Session.from_json(session.to_json(), shelf, environment=ALL)
    resumed.load("powerlifting")
    assert _active(resumed) == ["powerlifting"]
