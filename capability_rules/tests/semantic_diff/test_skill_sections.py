"""Which sections of the instructions came, went or were rewritten."""

from __future__ import annotations

from capability_rules.bundles.bundle import SkillBundle
from capability_rules.semantic_diff.skill_sections import compare_skill_sections


def _changes(old: str, new: str) -> list[str]:
    before, after = (SkillBundle({}, {}, text, [], []) for text in (old, new))
    return [change.words for change in compare_skill_sections(before, after)]


def test_sections_come_go_and_are_rewritten() -> None:
    old = "# A\n\nFirst.\n\n## Steps\n\nOne.\n\n## Gone\n\nOld.\n"
    new = "# A\n\nFirst.\n\n## Steps\n\nTwo.\n\n## New\n\nNew.\n"
    assert _changes(old, new) == [
        "The section “Steps” was rewritten",
        "The section “New” is new",
        "The section “Gone” is gone",
    ]
    assert _changes(old, old) == []


def test_what_stands_before_the_first_section_is_the_beginning() -> None:
    old, new = (
        "# A\n\nFirst.\n\n## Steps\n\nOne.\n\n## More\n\nTwo.\n",
        "# A\n\nOther.\n\n## Steps\n\nOne.\n\n## More\n\nTwo.\n",
    )
    assert _changes(old, new) == ["The beginning of the instructions was rewritten"]
    # Steps do not belong to it.
    assert _changes(old, old.replace("One.", "1.")) == ["The section “Steps” was rewritten"]


def test_instructions_without_sections_are_all_beginning() -> None:
    assert _changes("# A\n\nFirst.\n", "# A\n\nOther.\n") == ["The beginning of the instructions was rewritten"]


def test_sentences_that_came_and_went_are_counted() -> None:
    old = "# A\n\n## Steps\n\n- One. Two.\n- Three\n"
    for new, words in (
        (old + "- Four.\n", "1 sentence added"),
        (old.replace(" Two.", " Both."), "1 sentence added, 1 sentence removed"),
        (old.replace("- One. Two.\n", ""), "2 sentences removed"),
    ):
        assert _changes(old, new) == [f"The section “Steps”: {words}"]
    assert _changes(old, old.replace("- Three", "* Three")) == ["The section “Steps” has another layout or order"]
