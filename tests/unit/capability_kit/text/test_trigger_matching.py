"""Which triggers stand in a message, and where (docs/contract.md 4, the trigger paragraph)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capability_kit.text.tokenizer import tokenize
from capability_kit.text.trigger_matching import HITS_MAX, TriggerHit, TriggerIndex, content_word
from tests import costs
from tests.sweeps import check_each


def _find(message: str, *triggers: str) -> list[tuple[str, str]]:
    """`(trigger, the text found)` of each hit."""
    hits = TriggerIndex(("owner", trigger) for trigger in triggers).find(message)
    return [(hit.trigger, message[hit.start : hit.end]) for hit in hits]


def test_what_is_found_and_what_is_not() -> None:
    def check(cell: tuple[str, str, str | None]) -> None:
        message, trigger, found = cell
        expected = [] if found is None else [(trigger, found)]
        assert _find(message, trigger)[:1] == expected

    check_each(
        [
            ("I just weighed 187.6 lbs", "weigh-in", "weighed"),
            ("my weigh-in today", "weigh-in", "weigh-in"),
            ("my weigh in today", "weigh-in", "weigh in"),
            ("two weighins", "weigh-in", "weighins"),
            ("I SIGNED UP", "sign-up", "SIGNED UP"),
            ("the signup page", "sign-up", "signup"),
            ("sign-up", "signup", "sign-up"),
            ("body-weight", "bodyweight", "body-weight"),
            ("log of my weights", "weight log", None),
            ("the weight logs", "weight log", "weight logs"),
            ("unweighed", "weigh", None),
            ("a lift and lifting", "lift", "lift"),
            ("downgrading the annual plans", "annual plan", "annual plans"),
            ("annual, plan", "annual plan", "annual, plan"),
            ("CAFÉ", "cafe", "CAFÉ"),
            ("naïve", "naive", "naïve"),
            ("今天的体重是多少", "体重", "体重"),
            ("分析这个Excel数据", "excel", "Excel"),
            ("分析 Excel 数据", "excel", "Excel"),
            ("ฉันชั่งน้ำหนักวันนี้", "น้ำหนัก", "น้ำหนัก"),
            ("체중을 기록", "체중을", "체중을"),
            ("in and out", "weigh-in", None),
            ("", "weigh-in", None),
            ("weigh-in", "", None),
            ("!!", "!!", None),
        ],
        check,
    )


def test_positions_are_code_points() -> None:
    message = "👋🏽 é I weighed 80"
    (hit,) = TriggerIndex([("weights", "weigh-in")]).find(message)
    assert hit == TriggerHit("weights", "weigh-in", 7, 14, is_weak=True)
    assert message[hit.start : hit.end] == "weighed"


def test_the_content_word_alone_is_weak_and_gives_way_to_the_whole() -> None:
    index = TriggerIndex([("weights", "weigh-in")])
    assert [hit.is_weak for hit in index.find("weighed")] == [True]
    assert [hit.is_weak for hit in index.find("weighed at my weigh-in")] == [False]


@pytest.mark.parametrize(
    ("trigger", "word"),
    [
        ("weigh-in", "weigh"),
        ("sign-up", "sign"),
        ("weigh in", ""),
        ("check-in-out", "check"),
        ("follow-through", ""),
        ("in-out", ""),
    ],
)
def test_only_function_words_are_left_away(trigger: str, word: str) -> None:
    assert content_word(trigger) == word


def test_overlapping_triggers_are_all_found() -> None:
    assert set(_find("the annual plan refund", "annual plan", "plan refund", "plan")) == {
        ("annual plan", "annual plan"),
        ("plan", "plan"),
        ("plan refund", "plan refund"),
    }


def test_the_same_trigger_of_two_owners_is_found_for_both() -> None:
    index = TriggerIndex([("a", "refund"), ("b", "refunds")])
    assert [hit.owner for hit in index.find("refunding")] == ["a", "b"]


@pytest.mark.parametrize("piece", ["weigh-in ", "weigh-", "a-", "体重", "\u0301", "'", "-", "weighed in up out "])
def test_a_hundred_kilobytes_take_no_time_and_give_no_megabytes(piece: str) -> None:
    index = TriggerIndex([("o", "weigh-in"), ("o", "体重"), ("o", "a-a-a-a"), ("o", "weigh in up out"), ("o", "a")])
    message = piece * (100_000 // len(piece))
    with costs.at_most(300):
        hits = index.find(message)
    assert len(hits) <= HITS_MAX


_TRIGGERS = ("weigh-in", "annual plan", "sign-up", "体重", "refund", "log my sets", "bodyweight")


@given(
    st.lists(st.sampled_from([*"abc -.,", "weigh", "in", "signed", "up", "体重", "Refunds", "annual", "plans", "body"]))
)
def test_hits_lie_in_the_message_and_the_text_is_the_trigger(pieces: list[str]) -> None:
    message = "".join(pieces)
    for hit in TriggerIndex(("o", trigger) for trigger in _TRIGGERS).find(message):
        assert 0 <= hit.start < hit.end <= len(message)
        text = message[hit.start : hit.end]
        if hit.is_weak:
            assert [word.stem for word in tokenize(text)] == [content_word(hit.trigger)]
        else:
            joined = "".join(word.stem for word in tokenize(text))
            whole = "".join(word.stem for word in tokenize(hit.trigger))
            assert (
                joined == whole
                or text == hit.trigger
                or tokenize(text.replace("-", ""))[0].stem == tokenize(hit.trigger.replace("-", ""))[0].stem
            )


@given(st.text(max_size=100), st.lists(st.text(max_size=20), max_size=5))
def test_no_text_breaks_it(message: str, triggers: list[str]) -> None:
    for hit in TriggerIndex(("o", trigger) for trigger in triggers).find(message):
        assert 0 <= hit.start < hit.end <= len(message)


# Width, composition, pictures and names with signs

FOLDED: list[tuple[str, str, str]] = [
    ("\u30e9\u30fc\u30e1\u30f3", "\u4eca\u65e5\u306f\uff97\uff70\uff92\uff9d\u3092", "\uff97\uff70\uff92\uff9d"),
    ("\uff84\uff9e\uff97\uff72\uff8c\uff9e", "\u30c9\u30e9\u30a4\u30d6", "\u30c9\u30e9\u30a4\u30d6"),
    ("\u304c\u304f", "\u304b\u3099\u304f", "\u304b\u3099\u304f"),
    ("\u304b\u3099\u304f", "x \u304c\u304f", "\u304c\u304f"),
    ("\u2696\ufe0f", "\u2696 82 kg", "\u2696"),
    ("\u2696", "today \u2696\ufe0f 82 kg", "\u2696\ufe0f"),
    ("c++", "Help with C++, please", "C++"),
    ("C++", "from c++17 on", "c++"),
    ("c#", "C#?", "C#"),
    ("notepad++", "open Notepad++.", "Notepad++"),
]


@pytest.mark.parametrize(("trigger", "message", "said"), FOLDED)
def test_a_trigger_is_found_in_any_width_composition_and_with_its_signs(trigger: str, message: str, said: str) -> None:
    (hit,) = TriggerIndex([("x", trigger)]).find(message)
    assert message[hit.start : hit.end] == said
    index = TriggerIndex([("a", "other")]).replaced("x", (), (trigger,))
    assert index.find(message) == [hit]
    assert index.replaced("x", (trigger,), ()).find(message) == []


@pytest.mark.parametrize(
    ("trigger", "message"), [("c", "C++"), ("c", "c#"), ("c++", "c"), ("f#", "f"), ("?!", "what?!"), ("#", "#x")]
)
def test_a_trigger_is_not_found_in_what_is_another_name(trigger: str, message: str) -> None:
    assert TriggerIndex([("x", trigger)]).find(message) == []
