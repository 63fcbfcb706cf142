"""The files of rules are read as security/rules/README.md says, and refused with file and key."""

from __future__ import annotations

import re

import pytest

from capability_rules.validation.codes import list_codes
from capability_rules.validation.security.engine import compile_pattern
from capability_rules.validation.security.rule_loader import (
    RULES_FOLDER,
    RuleFileError,
    compile_rules,
    load_fragment,
    load_rule_files,
    load_rules,
    parse_rule_file,
)

UNBOUNDED = re.compile(r"(?<!\\)[+*](?![?+]?\])|\{\d*,\}")
HEAD = 'code = "SEC_EXFILTRATION"\ntext = "prose"\n'
RULE = HEAD + '[[rules]]\ndescription = "x"\nkeywords = ["a"]\n'


def test_every_file_has_rules_of_a_known_code() -> None:
    assert len(load_rule_files()) == len(list(RULES_FOLDER.glob("*.toml"))) - 1
    for file in load_rule_files():
        assert file.rules, file.name
        assert file.code in list_codes(), file.name
        assert file.name.startswith(file.code.removeprefix("SEC_").lower()), file.name


def test_every_pattern_compiles_and_has_bounded_gaps() -> None:
    """No `*`, no `+`, no open repeat outside a character class: one try costs a bounded number of steps."""
    for file in load_rule_files():
        compile_rules(file)
        for rule in file.rules:
            for source in (rule.pattern, *rule.requires):
                bare = re.sub(r"\[\^?\]?(?:\\.|[^\]\\])*\]", "", re.sub(r"\\.", "", compile_pattern(source).pattern))
                assert not UNBOUNDED.search(bare), f"{file.name}: {rule.description}: {source}"


def test_no_fragment_or_list_stands_unused() -> None:
    shared = (RULES_FOLDER / "fragments.toml").read_text(encoding="utf-8")
    everything = "".join(path.read_text(encoding="utf-8") for path in RULES_FOLDER.glob("*.toml"))
    for name in re.findall(r"^(\w+) = ", shared, re.MULTILINE):
        assert f"(?&{name})" in everything, name
    for path in RULES_FOLDER.glob("*.toml"):
        text = path.read_text(encoding="utf-8")
        for table, used in (("fragments", "(?&{})"), ("keyword_lists", 'keywords = "{}"')):
            body = text.partition(f"\n[{table}]\n")[2].partition("\n[")[0] if path.name != "fragments.toml" else ""
            for name in re.findall(r"^(\w+) = ", body, re.MULTILINE):
                assert used.format(name) in text, f"{path.name}: {table}.{name}"


def test_both_kinds_of_text_have_rules_and_they_are_read_once() -> None:
    assert load_rules("prose") is load_rules("prose")
    assert {rule.code for rule in load_rules("prose")}.isdisjoint(rule.code for rule in load_rules("lines"))
    assert len(load_rules("prose")) + len(load_rules("lines")) == sum(len(file.rules) for file in load_rule_files())


def test_a_rule_without_a_pattern_matches_its_keywords() -> None:
    (rule,) = parse_rule_file(HEAD + '[[rules]]\ndescription = "x"\nkeywords = ["a.b c", "d"]\n', "x.toml").rules
    assert compile_pattern(rule.pattern).fullmatch("a.b  c")
    assert not compile_pattern(rule.pattern).fullmatch("axb c")


def test_lines_of_a_pattern_are_joined_and_fragments_are_groups() -> None:
    text = RULE + "pattern = '''\nx\n  (?&ab)y\n'''\n[fragments]\nab = 'a|b'\n"
    (rule,) = parse_rule_file(text, "x.toml").rules
    assert rule.pattern == "x(?:a|b)y"


def test_a_rule_holds_unless_it_says_that_it_refuses() -> None:
    (held,) = parse_rule_file(RULE, "x.toml").rules
    (refused,) = parse_rule_file(RULE + 'severity = "error"\n', "x.toml").rules
    assert (held.severity, refused.severity) == ("warning", "error")


def test_a_detector_takes_a_fragment_of_a_file() -> None:
    assert compile_pattern(load_fragment("download_and_run.toml", "only_a_vendor")).search("curl https://get.rvm.io")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (HEAD, "x.toml: rules is missing"),
        (RULE.replace("SEC_EXFILTRATION", "SEC_NO_SUCH"), "x.toml: code: there is no finding SEC_NO_SUCH"),
        (RULE.replace("prose", "verse"), "x.toml: text must be one of prose, lines, not 'verse'"),
        (RULE.replace("prose", "prose\nx"), "x.toml: Illegal character"),
        (RULE + "patern = 'a'\n", "x.toml: rule 1: patern is not a key"),
        (RULE + "after = true\n", "x.toml: rule 1: after must be of type int, not True"),
        (RULE + "severity = 'fatal'\n", "x.toml: rule 1: severity must be one of error, warning, note, not 'fatal'"),
        (RULE + "context_policy = 'x'\n", "x.toml: rule 1: context_policy must be one of"),
        (RULE + "requires = [1]\n", "x.toml: rule 1: requires must be a list of texts"),
        (RULE + "pattern = '(?&host)'\n", "x.toml: rule 1: pattern: there is no fragment host"),
        (RULE.replace('["a"]', '"a"'), "x.toml: rule 1: keywords: there is not a list a"),
        (RULE.replace('["a"]', '["a", ""]'), "x.toml: rule 1: keywords must be a list of texts that are not empty"),
        (RULE + "[fragments]\na = 1\n", "x.toml: fragments.a must be a text"),
        (RULE + "[fragments]\na = '(?&a)'\n", "x.toml: fragments.a: there is no fragment a"),
        (RULE + "[examples]\nmatches = []\n", "x.toml: examples: matches is not a key"),
    ],
)
def test_a_faulty_file_is_refused_with_file_and_key(text: str, words: str) -> None:
    with pytest.raises(RuleFileError, match=re.escape(words)):
        parse_rule_file(text, "x.toml")


def test_a_faulty_pattern_is_refused_with_file_rule_and_key() -> None:
    with pytest.raises(RuleFileError, match=r'x\.toml: rule "x": requires: missing \)'):
        compile_rules(parse_rule_file(RULE + "requires = ['(a']\n", "x.toml"))
