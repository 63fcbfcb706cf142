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


IN_LANGUAGES = [
    ("de", "Rechnung prüfen", "bitte die Rechnungen prüfen", "Rechnungen prüfen"),
    ("de", "Rechnung prüfen", "kannst du Rechnungen pruefen", "Rechnungen pruefen"),
    ("de", "Rechnungen prüfen", "die RECHNUNG PRÜFEN", "RECHNUNG PRÜFEN"),
    ("de", "prüfen", "du prufst das", "prufst"),
    ("de", "Rechnung prüfen", "prüf die Rechnungen", None),
    ("de", "Haus-Verkauf", "den Hausverkäufen", "Hausverkäufen"),
    ("de", "Straße", "alle Strassen", "Strassen"),
    ("fr", "annuler commande", "annulez commandes svp", "annulez commandes"),
    ("es", "cancelar pedido", "cancelando pedidos", "cancelando pedidos"),
    ("it", "fattura pagata", "le fatture pagate", "fatture pagate"),
    ("pt", "devolução", "as devoluções de hoje", "devoluções"),
    ("nl", "factuur betalen", "factuur betaal ik morgen", "factuur betaal"),
    ("ru", "проверить счёт", "надо проверить счёты", "проверить счёты"),
    ("ru", "новый заказ", "о новых заказах", "новых заказах"),
    ("tr", "sipariş", "siparişlerim nerede", "siparişlerim"),
    ("ar", "فاتورة", "أين الفاتورة", "الفاتورة"),
    ("pl", "faktura", "moje faktury", "faktury"),
]


@pytest.mark.parametrize(("language", "trigger", "message", "said"), IN_LANGUAGES)
def test_trigger_is_found_by_the_stems_of_its_language(
    language: str, trigger: str, message: str, said: str | None
) -> None:
    found = TriggerIndex([("x", trigger, language)]).find(message)
    assert [message[hit.start : hit.end] for hit in found] == ([] if said is None else [said])
    # It is the language that does it, in an index that went on from another one too.
    if said is not None:
        assert not TriggerIndex([("x", trigger)]).find(message)
        index = TriggerIndex([("a", "other", "de")]).replaced("x", (), (trigger,), language=language)
        assert index.find(message) == found
        assert not index.replaced("x", (trigger,), (), was=language).find(message)
        assert not index.replaced("x", (trigger,), (trigger,), was=language).find(message)


def test_trigger_of_a_language_does_not_change_what_others_find() -> None:
    message = "I planned it: die Pläne, plane and weighed"
    plain = TriggerIndex([("x", "plan"), ("x", "weigh-in")])
    mixed = TriggerIndex([("x", "plan"), ("x", "weigh-in"), ("y", "Rechnung", "de")])
    assert mixed.find(message) == plain.find(message)
    assert mixed.languages == {"de"}


@pytest.mark.parametrize(
    ("trigger", "message", "said"),
    [
        ("请假", "我明天想请假一天", "请假"),
        ("請假", "我想請假", "請假"),
        ("経費精算", "出張の経費精算をお願いします", "経費精算"),
        ("メール", "そのﾒｰﾙを送って", "ﾒｰﾙ"),
        ("ใบแจ้งหนี้", "ช่วยตรวจใบแจ้งหนี้หน่อย", "ใบแจ้งหนี้"),
        ("ບິນ", "ກວດບິນໃຫ້ແດ່", "ບິນ"),
        ("Excel表格", "打开excel表格吧", "excel表格"),
    ],
)
def test_trigger_is_found_without_word_boundaries_in_scripts_without_spaces(
    trigger: str, message: str, said: str
) -> None:
    for language in ("", "de"):
        (hit,) = TriggerIndex([("x", trigger, language)]).find(message)
        assert message[hit.start : hit.end] == said


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
