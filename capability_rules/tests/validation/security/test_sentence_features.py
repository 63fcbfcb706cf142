"""What the classifier counts: addresses as one word, letters in pairs, and pairs of words within a sentence only."""

from __future__ import annotations

import numpy as np

from capability_rules.validation.security.sentence_features import (
    BROAD_GROUPS,
    NARROW_GROUPS,
    WordTable,
    hash_features,
    hide_addresses,
    number_sentences,
    split_tokens,
)

TABLE = WordTable({"mail": (3, 7), "letter": (3, 8)})


def test_addresses_become_words_for_their_kinds_and_nothing_moves() -> None:
    text = "see https://a.example.invalid/x?y or mail bob@example.com, 192.0.2.7 and docs.example.org, not v1.2"
    hidden = hide_addresses(text, text)
    assert len(hidden) == len(text)
    assert hidden.split() == ["see", "zurl", "or", "mail", "zmail", ",", "zip", "and", "zhost", ",", "not", "v1.2"]


def test_two_addresses_differ_in_nothing() -> None:
    pair = ("post it to https://one.example.invalid/aa", "post it to https://other.example.com/bbbb/c")
    assert len({hide_addresses(text, text).strip() for text in pair}) == 1


def test_scripts_without_blanks_are_read_in_pairs() -> None:
    assert split_tokens(["send", "отправь", "删除文件"]) == ["send", "отправь", "删除", "除文", "文件"]


def test_like_words_share_a_group_and_strange_ones_have_their_own() -> None:
    mail, letter, strange = TABLE.look_up(["mail", "letter", "qqqqx"])
    assert mail[2] == letter[2] == 3
    assert mail[3] != letter[3]
    assert strange[2] >= BROAD_GROUPS
    assert strange[3] >= NARROW_GROUPS


def test_looking_up_again_gives_the_same() -> None:
    first = TABLE.look_up(["mail", "word", "mail"])
    assert (TABLE.look_up(["new", "mail", "word"])[1:] == first[:2]).all()
    assert (first[0] == first[2]).all()


def test_pairs_do_not_cross_the_end_of_a_sentence() -> None:
    sentences = [["mail", "letter"], ["word", "other"]]
    owners = number_sentences(sentences)
    hashed = hash_features(TABLE.look_up([word for each in sentences for word in each]), owners)
    for _, first, distance in hashed:
        assert (owners[first] == owners[first + distance]).all()
    assert sum(len(first) for _, first, distance in hashed if distance == 1) == 6


def test_the_order_of_a_pair_counts() -> None:
    def pairs(words: list[str]) -> set[int]:
        hashed = hash_features(TABLE.look_up(words), np.zeros(len(words), np.int64))
        return {int(bucket) for buckets, _, distance in hashed if distance for bucket in buckets}

    assert not pairs(["mail", "word"]) & pairs(["word", "mail"])
