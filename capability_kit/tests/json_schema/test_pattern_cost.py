"""A pattern that somebody else wrote is read before anything runs it."""

from __future__ import annotations

import pytest

from capability_kit.json_schema.pattern_cost import COST_MAX, estimate_cost, read_pattern
from capability_kit.json_schema.validation import find_schema_error
from tests import costs
from tests.sweeps import check_each

# ECMA-262 with the u flag or without; what an engine here does not know is among it.
LEGAL = [
    "", "a|b|", "[^]", "[]", r"\0", r"[\b]", r"\ud83d\ude00", r"[\w-.]", r"[a-\d]", r"[][]", "a{", "a{,3}", "]", "}",
    r"\u{1F600}", r"\p{L}", r"\cA", r"[\ud83d\ude00-\ud83d\ude4f]", "(?:a)*?", "(?=a)*", "(?<n>a)|(?<n>b)", "(?i:a)",
    "[--a]", r"[\]]", r"\k<n>", r"a{2,2}", r"(?<year>\d{4})", "(?<!a)b",
]  # fmt: skip
GARBAGE = [
    "(", ")", "[a", "a{2,1}", "*a", "a|*", "(?", "(?>a)", "\\", "[z-a]", r"[\u0062-\u0061]", "^*", "{1}", "(?:",
    "(?<=a)*", "a**", "x{2}{3}", r"(?<n>a)\k<m>", "(?P=n)", "(?<1>a)", r"[\x62-\x61]",
]  # fmt: skip


def test_what_ecma_allows_is_a_pattern() -> None:
    def check(pattern: str) -> None:
        assert read_pattern(pattern).fault == ""

    check_each(LEGAL, check)


def test_garbage_is_none() -> None:
    def check(pattern: str) -> None:
        assert read_pattern(pattern).fault

    check_each(GARBAGE, check)


@pytest.mark.parametrize(
    ("pattern", "needs"),
    [
        ("(?=a)", "look-around"),
        ("(?<!a)b", "look-around"),
        (r"(a)\1", "a back-reference"),
        (r"(?<n>a)\k<n>", "a back-reference"),
        ("(?P<n>a)(?P=n)", "a back-reference"),
        (r"[\1]", ""),
        (r"\(?=a", ""),
    ],
)
def test_it_says_what_no_linear_engine_has(pattern: str, needs: str) -> None:
    assert read_pattern(pattern).needs == needs


@pytest.mark.parametrize(
    "pattern", [r"\w" * 9000, r"\s" * 300, "((a{1000}){1000}){1000}", "a{9999999999}", r"\p{L}{200}"]
)
def test_what_unfolds_far_is_too_costly(pattern: str) -> None:
    assert estimate_cost(pattern) > COST_MAX


@pytest.mark.parametrize(
    "pattern", [r"^[\w.+-]{1,64}@[a-z0-9-]{1,63}(\.[a-z]{2,63}){1,5}$", ".{1,1000}", "a" * 10_000, r"\d" * 40]
)
def test_what_people_write_is_not(pattern: str) -> None:
    assert read_pattern(pattern).fault == ""
    assert estimate_cost(pattern) <= COST_MAX


@pytest.mark.parametrize("piece", ["(", "()", "[", "[a]", "\\", "a{1}", "a|", r"\w", "(?", "a-", "{", r"\u12"])
def test_reading_takes_as_long_as_the_text(piece: str) -> None:
    with costs.at_most(400):
        read_pattern(piece * (100_000 // len(piece)))


def test_what_is_said_of_all_other_properties_goes_with_a_key_that_is_left_out() -> None:
    schema = {"patternProperties": {"[^]": {}}, "additionalProperties": False, "type": "object"}
    assert find_schema_error(schema, {"anything": 1}) == ""
    assert find_schema_error({**schema, "patternProperties": {"^b$": {}}}, {"anything": 1})


def test_many_costly_patterns_are_compiled_no_further_than_the_allowance() -> None:
    properties = {f"p{n}": {"pattern": f"(a{{1,50}}){{1,50}}{n}"} for n in range(6_000)}
    with costs.at_most(600):
        assert find_schema_error({"type": "object", "properties": properties}, {"p0": "b"})
        assert find_schema_error({"type": "object", "properties": properties}, {"p5999": "b"}) == ""


@pytest.mark.parametrize("pattern", [r"(?<n>a)\k<n>", "[^]", r"\w" * 9000])
def test_a_call_is_not_held_against_a_pattern_that_cannot_run(pattern: str) -> None:
    """The tool was published with a warning: it must not refuse every call."""
    properties = {"a": {"type": "string", "pattern": pattern}, "b": {"pattern": "^b$"}}
    schema = {"type": "object", "properties": properties}
    with costs.at_most(400):
        assert find_schema_error(schema, {"a": "x", "b": "b"}) == ""
    assert find_schema_error(schema, {"a": 1}).startswith("a:")
    assert find_schema_error(schema, {"b": "c"}).startswith("b:")


NESTED = {
    "(a+)+": "(a+)+",
    "^([a-z]*)*$": "([a-z]*)*",
    r"(\w+\s?)+!": r"(\w+\s?)+",
    "((a+))+": "((a+))+",
    "(?:x|a+)*": "(?:x|a+)*",
    "(a+b?){2,}": "(a+b?){2,}",
    "x(?:(?:a*)b*)+": "(?:(?:a*)b*)+",
}
PLAIN = [
    "a+",
    "(a+)",
    "(a+)?",
    "(a+){2,5}",
    r"^(\d+,)*\d+$",
    "(?:[a-z0-9]+-)*[a-z0-9]+",
    "(ab)+",
    "(a?b)+",
    "(a|b)*",
    "(?<=a+)b",
]


def test_a_repeat_of_nothing_but_repeats_is_named() -> None:
    for pattern, part in NESTED.items():
        assert (read_pattern(pattern).fault, read_pattern(pattern).nested_repeat) == ("", part)
    for pattern in PLAIN:
        assert (pattern, read_pattern(pattern).nested_repeat) == (pattern, "")
