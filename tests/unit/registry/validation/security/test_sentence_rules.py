"""The files of rules/sentences/ are read as rules/README.md says, and refused with file and key."""

from __future__ import annotations

import re
import tomllib

import pytest

from registry.validation.codes import list_codes
from registry.validation.security.rule_loader import RuleFileError
from registry.validation.security.sentence_rules import (
    POWERS_FILE,
    SENTENCES_FOLDER,
    WORDS_FILE,
    WordIndex,
    load_sentence_rules,
    load_word_index,
    parse_sentence_file,
)

HEAD = 'code = "SEC_EXFILTRATION"\n'
RULE = HEAD + '[[rules]]\ndescription = "x"\nall_of = ["send", "private|intimate"]\n'


def test_every_class_of_words_is_used_and_has_words() -> None:
    rules = "".join(
        path.read_text("utf-8") for path in [*SENTENCES_FOLDER.glob("*.toml"), POWERS_FILE] if path.name != WORDS_FILE
    )
    used = set(re.findall(r"[\w]+", " ".join(re.findall(r"(?:all_of|also|none_of) = \[(.*?)\]", rules))))
    assert used == set(load_word_index().bits)


def test_every_file_has_rules_of_a_known_code_and_examples() -> None:
    for path in SENTENCES_FOLDER.glob("*.toml"):
        if path.name == WORDS_FILE:
            continue
        table = tomllib.loads(path.read_text("utf-8"))
        assert table["code"] in list_codes(), path.name
        assert table["rules"], path.name
        assert table["examples"].get("no_match"), path.name
        assert {"match", "match_warning"} & set(table["examples"]), path.name


def test_rules_are_read_once() -> None:
    assert load_sentence_rules() is load_sentence_rules()


def test_a_group_names_classes_of_which_one_is_enough() -> None:
    (rule,) = parse_sentence_file(RULE, "x.toml")
    bits = load_word_index().bits
    assert rule.all_of == (("send",), ("private", "intimate"))
    assert rule.may_hold(bits["send"] | bits["intimate"])
    assert not rule.may_hold(bits["send"])


def test_words_stems_phrases_and_gerunds_are_looked_up() -> None:
    index = WordIndex()
    index.add("a", "quote, upload*, hand it over, 送信", "", "")
    assert index.look_up("quoting") is not None
    assert index.look_up("uploader") is not None
    assert index.look_up("quoted") is None
    phrase = index.look_up("hand")
    assert phrase is not None
    assert phrase.terms == (("a", (), ("it", "over")),)
    assert index.inner == {"送信": ["a"]}


def test_what_breaks_the_format_is_refused_with_its_place() -> None:
    for text, message in (
        (RULE.replace("send", "nothing_such"), "there is no class of words nothing_such"),
        (RULE + "gapp = 3\n", "gapp is not a key"),
        (RULE + 'gap = "3"\n', "gap must be of type int"),
        (RULE + "sentences = 3\n", "sentences must be one of 1, 2"),
        (RULE.replace("SEC_EXFILTRATION", "SEC_NONE"), "there is no finding SEC_NONE"),
        (HEAD + '[[rules]]\ndescription = "x"\n', "all_of is missing"),
        ("code = ", "x.toml"),
        (RULE + "[extra]\n", "extra is not a key"),
    ):
        with pytest.raises(RuleFileError, match=re.escape(message)):
            parse_sentence_file(text, "x.toml")


def test_a_stem_of_two_letters_is_refused() -> None:
    with pytest.raises(RuleFileError, match="shorter than 3 letters"):
        WordIndex().add("a", "ab*", "", "")
