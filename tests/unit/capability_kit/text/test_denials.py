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


def test_denials_of_a_long_story_are_not_looked_for() -> None:
    assert find_denials("don't " + "log my workout " * 40) == []


def test_filler_words_ask_for_nothing() -> None:
    assert not asks_for_something("please stop, thanks")
    assert asks_for_something("log it")
