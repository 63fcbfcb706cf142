"""Where sentences end: at their signs, at line breaks and at the ends of strings, without a gap."""

from __future__ import annotations

from capability_rules.validation.security.sentences import split_sentences


def parts(text: str) -> list[str]:
    return [text[start:end] for start, end in split_sentences(text)]


def test_sentences_end_at_signs_of_all_scripts_and_at_the_ends_of_strings() -> None:
    assert parts("See v1.2 first. Then go!\n\0次に。次。") == [
        "See v1.2 first.",
        " Then go!",
        "\n",
        "\0",
        "次に。",
        "次。",
    ]


def test_sentences_leave_nothing_out() -> None:
    for text in ("", "a", "a. b", "a" * 1500, ". . .", "a\n\nb; c"):
        assert "".join(parts(text)) == text


def test_a_text_without_an_end_is_cut() -> None:
    assert [len(part) for part in parts("a" * 1500)] == [600, 600, 300]
