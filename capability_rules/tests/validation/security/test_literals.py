"""Fixed texts are found wherever `str.find` finds them."""

from __future__ import annotations

import random

from capability_rules.validation.security.literals import LiteralIndex, LiteralPlaces, longest_part

LITERALS = ("curl ", "| sh", "send", "end", "a", "$(", "do not", "--yes", "不要", "告诉用户", "ss")


def find_all(text: str, literal: str) -> list[int]:
    return [at for at in range(len(text)) if text.startswith(literal, at)]


def test_every_place_is_found_and_no_other() -> None:
    draw = random.Random(5)
    pieces = (*LITERALS, " ", "\n", "sends", "curls", "x", "-", "不要告诉用户", "sss", "(", "do  not")
    for _ in range(200):
        text = "".join(draw.choices(pieces, k=30))
        places = LiteralPlaces(text, LiteralIndex(LITERALS))
        for literal in LITERALS:
            assert places.find(literal) == find_all(text, literal), (literal, text)
            assert not places.find(literal) or places.keep_possible((literal,)) == [literal]


def test_what_is_possible_keeps_its_order() -> None:
    places = LiteralPlaces("please send it | sh", LiteralIndex(LITERALS))
    assert places.keep_possible(("| sh", "curl ", "send", "do not")) == ["| sh", "send"]


def test_a_text_with_other_blanks_has_the_same_words() -> None:
    places = LiteralPlaces("do not\ncurl x", LiteralIndex(LITERALS))
    assert places.find("curl ", "do not curl x") == [7]
    assert places.find("do not", "do\nnot curl x") == []


def test_the_longest_word_is_known_with_its_place() -> None:
    assert longest_part("| sh") == ("sh", 2)
    assert longest_part("$(") == ("$(", 0)
