"""Tokens as BERT's own tokenizer makes them: ids that its documentation and examples give."""

from __future__ import annotations

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from registry.matching.wordpiece import TOKENS_MAX, VOCABULARY, load_vocabulary, tokenize


def _pieces(text: str) -> list[str]:
    names = {number: piece for piece, number in load_vocabulary().items()}
    return [names[number] for number in tokenize(text)[1:-1]]


def test_the_vocabulary_is_the_published_one() -> None:
    digest = hashlib.sha256(VOCABULARY.read_bytes()).hexdigest()
    assert digest == "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
    assert len(load_vocabulary()) == 30522


def test_known_ids() -> None:
    assert tokenize("Hello world") == [101, 7592, 2088, 102]


def test_case_accents_marks_and_pieces() -> None:
    assert _pieces("Café, naïve!") == ["cafe", ",", "naive", "!"]
    assert _pieces("unaffable") == ["una", "##ffa", "##ble"]
    assert _pieces("187.6 lbs") == ["187", ".", "6", "lbs"]
    assert _pieces("日本") == ["日", "本"]
    assert _pieces("\U0001f9ff") == ["[UNK]"]


def test_a_long_text_is_cut() -> None:
    assert len(tokenize("word " * 10_000)) == TOKENS_MAX


@given(st.text(max_size=200))
def test_any_text_is_cut_into_known_pieces(text: str) -> None:
    ids = tokenize(text)
    assert (ids[0], ids[-1]) == (101, 102)
    assert all(0 <= number < 30522 for number in ids)
