"""Ordinary passages that look a little like hostile ones are left alone, or get a warning at most.

Those of the rules stand in `examples` of their files: `no_match` has no finding, `no_match_error` at most a warning.
"""

from __future__ import annotations

from tests.unit.registry.validation.security.benign_lines import ALL
from tests.unit.registry.validation.security.pages import list_examples, verdict_of_description, verdict_of_page


def is_markdown(passage: str) -> bool:
    """Fences and tables are Markdown: in a JSON string they quote nothing."""
    return "```" in passage or passage.startswith("|")


def test_what_no_rule_matches_is_left_alone() -> None:
    for file, _, passage in list_examples("no_match"):
        assert verdict_of_page(passage) == "none", f"{file}: {passage}"
        assert is_markdown(passage) or verdict_of_description(passage) == "none", f"{file}: {passage}"


def test_what_is_not_an_error_has_a_warning_at_most() -> None:
    for file, _, passage in list_examples("no_match_error"):
        assert verdict_of_page(passage) != "error", f"{file}: {passage}"
        assert is_markdown(passage) or verdict_of_description(passage) != "error", f"{file}: {passage}"


def test_what_detectors_could_take_for_hostile_is_left_alone() -> None:
    for name, passage, most in ALL:
        assert verdict_of_page(passage) in ("none", most), f"{name}: {passage}"
        assert is_markdown(passage) or verdict_of_description(passage) in ("none", most), f"{name}: {passage}"
