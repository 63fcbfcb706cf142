"""What a message says no to."""

from __future__ import annotations

import pytest

from capability_kit.text.denials import asks_for_something, blank_denials, find_denials


@pytest.mark.parametrize(
    ("message", "rest"),
    [
        ("don't log my workout", ""),
        ("please do not save this", "please"),
        ("not the weight, only the workout please", ", only the workout please"),
        ("I don't want a refund, just tell me a joke", ", just tell me a joke"),
        ("show my weight but not the workouts", "show my weight"),
        ("don't send the email and the report", ""),
        ("draw an image instead of a gif", "draw an image"),
        ("no need to book a table", ""),
        ("nicht das Gewicht, nur das Training bitte", ", nur das Training bitte"),
        ("Ich möchte kein Geld zurück", ""),
        ("no quiero un reembolso, cuéntame un chiste", ", cuéntame un chiste"),
        ("pas le poids, seulement l'entraînement", ", seulement l'entraînement"),
        ("不要退款，讲个笑话", "，讲个笑话"),
        ("体重ではなく運動を記録して", "運動を記録して"),
    ],
)
def test_denials_are_taken_out_and_all_else_keeps_its_place(message: str, rest: str) -> None:
    blanked = blank_denials(message)
    assert " ".join(blanked.split()) == rest
    assert len(blanked) == len(message)


@pytest.mark.parametrize(
    "message",
    [
        "the server does not boot",
        "I did not get my refund",
        "don't forget to log my workout",
        "no, log my workout",
        "not sure how to convert the file",
        "there is no disk space left",
        "no refund showing in my statement",
        "why don't we go to the movies",
        "never mind",
        "ich kann mich nicht anmelden",
        "no puedo entrar en mi cuenta",
        "je ne peux pas me connecter",
        "别人的电话",
    ],
)
def test_what_does_not_work_is_no_denial(message: str) -> None:
    assert find_denials(message) == []


@pytest.mark.parametrize(
    "message",
    [
        # More than that, not other than that.
        "not only the weight but also the workout",
        "not just my weight, my workout too",
        "nicht nur das Gewicht, sondern auch das Training",
        "no solo el peso sino también el entrenamiento",
        "no sólo el peso, también el entrenamiento",
        "不仅要记录体重，还要记录锻炼",
        # Two denials that make none.
        "don't stop logging my workouts",
        "don't skip the workout",
        "never leave out the workout",
        "do not fail to log my weight",
        "don't let me miss my workout",
        "I don't want to forget my workout",
        "it's not that I don't want a refund",
        "I can't do without my weight log",
        # A request that is put as a denial.
        "nicht vergessen: Gewicht eintragen",
        "no olvides registrar mi peso",
        "no te olvides de registrar mi peso",
        "别忘了记录我的体重",
        "不要忘记记录我的体重",
        # Nothing is asked not to be done.
        "no one answered my refund request",
        "nobody answered my refund request",
        "no doubt this needs a refund",
        "no wonder, the workout is missing",
        "not yet logged: 80 kg",
        "not bad, log it",
        "keine Ahnung, wie ich mein Gewicht eintrage",
        "without further ado, log my weight",
        "other than that, log my lunch",
        "no, log it",
        "why didn't you log my workout",
        "don't you want to log it?",
    ],
)
def test_a_negation_that_asks_for_something_is_no_denial(message: str) -> None:
    assert find_denials(message) == []


@pytest.mark.parametrize(
    ("message", "denied"),
    [
        ("no, not the weight, the workout", "not the weight"),
        ("don't save it, don't forget the workout", "don't save it"),
        ("I don't want the workout without the weight", "I don't want the workout without the weight"),
        ("no registres mi peso", "no registres mi peso"),
        ("log my workout without the warm-up", "without the warm-up"),
        ("不要记录我的体重", "不要记录我的体重"),
        ("nicht das Gewicht, nur das Training", "nicht das Gewicht"),
    ],
)
def test_what_is_denied_is_still_found(message: str, denied: str) -> None:
    assert [message[start:end] for start, end in find_denials(message)] == [denied]


def test_denials_of_a_long_story_are_not_looked_for() -> None:
    assert find_denials("don't " + "log my workout " * 40) == []


def test_filler_words_ask_for_nothing() -> None:
    assert not asks_for_something("please stop, thanks")
    assert asks_for_something("log it")
