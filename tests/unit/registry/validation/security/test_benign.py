"""Ordinary passages that look a little like hostile ones are left alone, or get a warning at most."""

from __future__ import annotations

import pytest

from tests.unit.registry.validation.security.benign_lines import ALL
from tests.unit.registry.validation.security.pages import verdict_of_description, verdict_of_page

# Fences and tables are Markdown: in a JSON string they quote nothing.
PLAIN = [row for row in ALL if "```" not in row[1] and not row[1].startswith("|")]


@pytest.mark.parametrize(("passage", "most"), [row[1:] for row in ALL], ids=[row[0] for row in ALL])
def test_an_ordinary_passage_in_skill_md_is_left_alone(passage: str, most: str) -> None:
    assert verdict_of_page(passage) in ("none", most)


@pytest.mark.parametrize(("passage", "most"), [row[1:] for row in PLAIN], ids=[row[0] for row in PLAIN])
def test_an_ordinary_passage_in_a_tool_description_is_left_alone(passage: str, most: str) -> None:
    assert verdict_of_description(passage) in ("none", most)
