"""The prose of a skill doc."""

from __future__ import annotations

from capability_rules.bundles.skill_prose import PROSE_MAX, extract_prose


def test_code_marks_and_front_matter_are_left_out() -> None:
    doc = "---\nname: x\n---\n# Voice memos\n\n```bash\nwhisper --model big\n```\n\n- Use **it** for `memos` only.\r\n"
    assert extract_prose(doc) == "Voice memos Use it for memos only."


def test_a_fence_that_is_not_closed_ends_the_prose() -> None:
    assert extract_prose("Before\n~~~\ncode\n") == "Before"


def test_long_docs_are_cut() -> None:
    assert len(extract_prose("word " * 10_000)) <= PROSE_MAX


def test_nothing_has_no_prose() -> None:
    assert extract_prose("") == ""
    assert extract_prose("```\ncode\n```") == ""
