"""The pair of sentence models: messages in sixteen languages."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from capability_rules.bundles.profile import CapabilityProfile
from registry.matching.calibration import EVERYDAY_MESSAGES
from registry.matching.denied_intents import match_wanted
from registry.matching.english import is_english
from registry.matching.example_similarity import ExampleSimilarity, build_training_examples
from registry.matching.matcher import Matcher
from registry.matching.minilm import MiniLmEmbedder, multiplies_integers
from registry.matching.multilingual import PairEmbedder, UseEmbedder
from registry.matching.ngram_index import Floats
from registry.matching.scripts import LANGUAGES, is_of_sixteen
from registry.matching.skill_doc_similarity import SkillDocSimilarity, prose_texts

PAIR = PairEmbedder()
ENGLISH = [
    CapabilityProfile("refund", "Refund", sentences=("I want my money back", "you charged me twice")),
    CapabilityProfile("slides", "Slides", sentences=("make a presentation for the board", "I need some slides")),
    CapabilityProfile("lights", "Lights", sentences=("turn the lights in the kitchen off", "dim the lamp")),
]
# Of operators who write in their own language.
OF_GERMANY = [
    CapabilityProfile("erstattung", "Erstattung", "Geld zurückzahlen.", sentences=("Ich möchte mein Geld zurück",)),
    CapabilityProfile("folien", "Folien", "Präsentationen erstellen.", sentences=("Ich brauche Folien für morgen",)),
]
OF_CHINA = [
    CapabilityProfile("tuikuan", "退款", "处理客户的退款。", sentences=("我要退款", "请把钱退给我")),
    CapabilityProfile("huandengpian", "幻灯片", "制作演示文稿。", sentences=("我需要幻灯片", "帮我做一个演示文稿")),
]


def _embed(texts: list[str]) -> Floats | None:
    return PAIR.embed_messages(texts)


def _matcher(known: list[CapabilityProfile]) -> Matcher:
    samples = build_training_examples([one.samples for one in known])
    return Matcher(known, ExampleSimilarity(samples, PAIR.embed(list(samples.texts))))


@pytest.mark.parametrize(
    ("known", "message", "needed"),
    [
        (ENGLISH, "ich will mein Geld zurück", "refund"),
        (ENGLISH, "quiero que me devuelvan el dinero", "refund"),
        (ENGLISH, "j'ai besoin de diapositives pour la réunion", "slides"),
        (ENGLISH, "请把厨房的灯关掉", "lights"),
        (ENGLISH, "キッチンの電気を消して", "lights"),
        (OF_GERMANY, "gebt mir bitte mein Geld wieder", "erstattung"),
        (OF_GERMANY, "I would like to have my money back", "erstattung"),
        (OF_GERMANY, "I need slides for tomorrow", "folien"),
        (OF_CHINA, "我想把钱要回来", "tuikuan"),
        (OF_CHINA, "I want a refund", "tuikuan"),
        (OF_CHINA, "please make slides for me", "huandengpian"),
    ],
)
def test_a_message_finds_a_capability_that_is_written_in_another_language(
    known: list[CapabilityProfile], message: str, needed: str
) -> None:
    assert match_wanted(_matcher(known), message, _embed).needed == (needed,)


@pytest.mark.parametrize("known", [ENGLISH, OF_GERMANY, OF_CHINA])
@pytest.mark.parametrize("message", ["讲个笑话", "早餐喝了牛奶", "warum ist der Himmel blau", "who won the world cup"])
def test_what_fits_nothing_leads_nowhere_in_any_language(known: list[CapabilityProfile], message: str) -> None:
    assert match_wanted(_matcher(known), message, _embed).decision == "none"


def test_an_english_message_is_compared_by_both_and_another_by_the_second_alone() -> None:
    english, german = PAIR.embed_messages(["turn off the lights", "mach bitte das Licht aus"])
    known = PAIR.embed(["turn off the lights", "mach bitte das Licht aus"])
    assert np.allclose(np.linalg.norm(known, axis=1), 1, atol=1e-3)
    assert english @ known[0] == pytest.approx(1, abs=1e-3)
    assert german @ known[1] == pytest.approx(1, abs=1e-3)
    assert not german[:384].any()
    assert english @ known[1] == pytest.approx(german @ known[0], abs=1e-3)


@pytest.mark.parametrize(
    ("text", "is_so"),
    [
        ("log my weight", True), ("refund please", True), ("what's on my calendar", True), ("", True),
        ("was steht in meinem kalender", False), ("cuál es mi contraseña", False), ("vérifie mes e-mails", False),
    ],
)  # fmt: skip
def test_small_words_and_letters_tell_that_a_text_is_not_english(text: str, is_so: bool) -> None:
    assert is_english(text) is is_so


def test_sixteen_languages_are_read_and_texts_of_others_have_no_vector() -> None:
    assert len(LANGUAGES) == 16
    for text in (
        "Geld zurück",
        "退款してください",
        "верните деньги",
        "أريد استرداد نقودي",
        "ขอเงินคืน",
        "환불",
        "Bjørn called",
    ):
        assert PAIR.can_read(text), text
    for text in (
        "मुझे पैसे वापस चाहिए",
        "θέλω τα λεφτά μου",
        "chci zpět své peníze, příště přijdu",
        "хочу повернути гроші, її",
    ):
        assert not is_of_sixteen(text), text
    assert not MiniLmEmbedder().can_read("退款")


def test_long_texts_half_characters_and_threads_are_no_trouble() -> None:
    model = UseEmbedder()
    found: list[Floats] = []
    texts = ["word " * 5000, "broken \ud83d character", "", "\0"]
    threads = [threading.Thread(target=lambda: found.append(model.embed(texts))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert all(np.isfinite(one).all() and np.array_equal(one, found[0]) for one in found)
    assert model.embed([]).shape == (0, 512)


def test_weights_as_integers_give_nearly_the_vectors_of_the_package() -> None:
    texts = ["turn off the lights", "I want my money back", "x", "how do I write a dockerfile for this service?"]
    plain, dynamic = MiniLmEmbedder(is_dynamic=False), MiniLmEmbedder(is_dynamic=True)
    likeness = (plain.embed(texts) * dynamic.embed(texts)).sum(axis=1)
    assert likeness.min() > (0.97 if multiplies_integers() else 0.9)
    assert plain.model_id != dynamic.model_id
    # A text has one vector, whatever goes in beside it.
    assert np.array_equal(dynamic.embed(texts)[1], dynamic.embed(texts[1:2])[0])


OPERATORS = {
    "german": [
        ("erstattung", "Erstattung", "Bearbeitet Rückzahlungen.", "Prüfe die Zahlung und zahle das Geld zurück."),
        ("gewicht", "Gewicht", "Trägt das Körpergewicht ein.", "Speichere, was der Nutzer heute wiegt."),
        ("folien", "Folien", "Erstellt Präsentationen.", "Frage nach dem Thema und baue die Folien."),
    ],
    "chinese": [
        ("tuikuan", "退款", "处理客户的退款请求。", "先核对付款，然后把钱退给客户。"),
        ("tizhong", "体重", "记录体重并显示变化。", "保存当天的体重。"),
        ("huandengpian", "幻灯片", "制作演示文稿。", "询问主题，然后制作幻灯片。"),
    ],
}


@pytest.mark.parametrize(
    ("operator", "messages"),
    [
        (
            "german",
            {
                "ich will mein Geld wiederhaben": "erstattung",
                "I would like to have my money back": "erstattung",
                "heute morgen wog ich 81 Kilo": "gewicht",
                "I need a presentation for monday": "folien",
                "warum ist der Himmel blau": "",
                "tell me a joke": "",
            },
        ),
        (
            "chinese",
            {
                "请把我付的钱还给我": "tuikuan",
                "I want a refund": "tuikuan",
                "今天早上我81公斤": "tizhong",
                "please make slides for the meeting": "huandengpian",
                "天空为什么是蓝色的": "",
                "tell me a joke": "",
            },
        ),
    ],
)
def test_an_operators_capabilities_are_found_in_their_language_and_in_english(
    operator: str, messages: dict[str, str]
) -> None:
    known = [
        CapabilityProfile(capability_id, name, description, prose=prose)
        for capability_id, name, description, prose in OPERATORS[operator]
    ]
    samples = build_training_examples([one.samples for one in known])
    evidence = ExampleSimilarity(
        samples,
        PAIR.embed(list(samples.texts)),
        skill_docs=SkillDocSimilarity(known, PAIR.embed(prose_texts(known))),
        background=PAIR.make_background(PAIR.embed(EVERYDAY_MESSAGES)),
    )
    matcher = Matcher(known, evidence)
    found = {message: match_wanted(matcher, message, _embed).needed for message in messages}
    assert found == {message: (wanted,) if wanted else () for message, wanted in messages.items()}
