"""Hostile passages are found, in skill.md and in the strings of tools.json, in many languages and disguises.

Those of the rules stand in `examples` of their files: `match` has to be an error, `match_warning` at least a warning.
`missed` has what the rules do not see, written down so that nobody takes their silence for a verdict: a rule that finds
one moves it up.
"""

from __future__ import annotations

from registry.validation.security import suspicion
from tests.unit.registry.validation.security.hostile_lines import ALL
from tests.unit.registry.validation.security.pages import (
    codes_of_page,
    list_examples,
    verdict_of_description,
    verdict_of_page,
)


def test_what_a_rule_matches_is_found_in_skill_md_with_its_code() -> None:
    for file, code, passage in list_examples("match"):
        assert verdict_of_page(passage) == "error", f"{file}: {passage}"
        assert code in codes_of_page(passage), f"{file}: {passage}"


def test_what_a_rule_matches_is_found_in_a_tool_description() -> None:
    for file, _, passage in list_examples("match"):
        assert verdict_of_description(passage) == "error", f"{file}: {passage}"


def test_what_a_rule_warns_of_is_found() -> None:
    for file, code, passage in list_examples("match_warning"):
        assert code in codes_of_page(passage), f"{file}: {passage}"
        assert verdict_of_description(passage) != "none", f"{file}: {passage}"


def test_what_is_known_to_be_missed_is_still_missed() -> None:
    for file, _, passage in list_examples("missed"):
        assert codes_of_page(passage) <= {suspicion.CODE}, f"{file}: {passage}"


def test_disguises_and_what_detectors_look_for_are_found() -> None:
    for name, passage, least in ALL:
        for verdict in (verdict_of_page(passage), verdict_of_description(passage)):
            assert verdict == "error" if least == "error" else verdict != "none", f"{name}: {passage}"
