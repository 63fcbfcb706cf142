"""Hostile passages are found, in skill.md and in the strings of tools.json, in many languages and disguises."""

from __future__ import annotations

import pytest

from tests.unit.registry.validation.security.hostile_lines import ALL, MISSED
from tests.unit.registry.validation.security.pages import verdict_of_description, verdict_of_page


@pytest.mark.parametrize(("passage", "least"), [row[1:] for row in ALL], ids=[row[0] for row in ALL])
def test_a_hostile_passage_in_skill_md_is_found(passage: str, least: str) -> None:
    verdict = verdict_of_page(passage)
    assert verdict == "error" if least == "error" else verdict != "none"


@pytest.mark.parametrize(("passage", "least"), [row[1:] for row in ALL], ids=[row[0] for row in ALL])
def test_a_hostile_passage_in_a_tool_description_is_found(passage: str, least: str) -> None:
    verdict = verdict_of_description(passage)
    assert verdict == "error" if least == "error" else verdict != "none"


@pytest.mark.parametrize("passage", [row[1] for row in MISSED], ids=[row[0] for row in MISSED])
def test_what_is_known_to_be_missed_is_still_missed(passage: str) -> None:
    assert verdict_of_page(passage) == "none"
