"""Ordinary passages that look a little like hostile ones pass: those of the rules stand in `passed` of their files."""

from __future__ import annotations

from capability_rules.tests.validation.security.benign_lines import ALL
from capability_rules.tests.validation.security.pages import list_examples, verdict_of_description, verdict_of_page


def is_markdown(passage: str) -> bool:
    """Fences and tables are Markdown: in a JSON string they quote nothing."""
    return "```" in passage or passage.startswith("|")


def test_what_no_rule_matches_passes() -> None:
    for file, _, passage in list_examples("passed"):
        assert verdict_of_page(passage) == "none", f"{file}: {passage}"
        assert is_markdown(passage) or verdict_of_description(passage) == "none", f"{file}: {passage}"


def test_what_detectors_could_take_for_hostile_passes() -> None:
    for name, passage in ALL:
        assert verdict_of_page(passage) == "none", f"{name}: {passage}"
        assert is_markdown(passage) or verdict_of_description(passage) == "none", f"{name}: {passage}"
