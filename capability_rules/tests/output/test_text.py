"""Findings at a terminal: the arrow stands under the place, and nothing acts on the terminal."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capability_rules.output.text import WIDTH_MAX, TerminalStyle, escape_controls, format_findings, format_summary
from capability_rules.validation import Finding
from tests.sweeps import check_each


def _finding(column: int, line: int = 1, file: str = "skill.md", **more: str) -> Finding:
    words = {"message": "m", "hint": "h", "pointer": "p"} | more
    return Finding("CODE", "error", file, words["pointer"], line, column, words["message"], words["hint"])


def _lines(text: str, finding: Finding, path: str = "x") -> list[str]:
    return list(format_findings(finding, path, {"skill.md": text}, TerminalStyle(io.StringIO())))


def _arrow(text: str, column: int) -> tuple[str, int]:
    """The shown line, and the column of the terminal in which the arrow stands, both from the gutter."""
    lines = _lines(text, _finding(column))
    shown = next(line for line in lines if line.startswith("  1 | "))
    arrow = next(line for line in lines if line.endswith("^"))
    return shown.removeprefix("  1 | "), len(arrow) - len("    | ") - 1


def test_the_arrow_stands_under_its_column() -> None:
    def check(cell: tuple[str, int, int]) -> None:
        text, column, cells = cell
        assert _arrow(text, column)[1] == cells

    check_each(
        [
            ("abc", 1, 0),
            ("abc", 3, 2),
            ("abc", 4, 3),
            ("", 1, 0),
            ("äöü", 3, 2),  # one cell each
            ("日本x", 3, 4),  # two cells each
            ("👋x", 2, 2),
            ("e\u0301x", 3, 1),  # a combining accent takes none
            ("❤\ufe0fx", 3, 1),  # nor does a variation selector
            ("ที่x", 4, 1),  # nor do Thai marks
            ("\tx", 2, 1),  # a tab is shown as one space
            ("a\x1bx", 3, 9),  # shown as <U+001B>
            ("\u202ex", 2, 8),
        ],
        check,
    )


def test_a_long_line_is_cut_around_the_place() -> None:
    shown, cells = _arrow("a" * 5000 + "X" + "b" * 5000, 5001)
    assert len(shown) == WIDTH_MAX
    assert shown[cells] == "X"


def test_a_finding_is_told_with_place_pointer_and_hint() -> None:
    assert _lines("one\ntwo\n", _finding(2, line=2, pointer="Tools/Read")) == [
        "error[CODE] m",
        "  --> x/skill.md:2:2  (Tools/Read)",
        "    |",
        "  2 | two",
        "    |  ^",
        "  hint: h",
        "",
    ]


@pytest.mark.parametrize(
    ("path", "place"),
    [("x", "x/skill.md"), ("a/SKILL.md", "a/skill.md"), ("https://h/r#a/skill.md", "https://h/r#a/skill.md")],
)
def test_the_place_of_a_skill_md_that_was_named_is_in_its_folder(path: str, place: str) -> None:
    assert any(f"--> {place}:1:1" in line for line in _lines("text", _finding(1), path))


def test_a_line_that_is_not_there_and_a_file_that_is_missing() -> None:
    assert _lines("one", _finding(1, line=9)) == ["error[CODE] m", "  --> x/skill.md:9:1  (p)", "  hint: h", ""]
    missing = Finding("FILE_MISSING", "error", "skill.md", "", None, None, "m", "")
    assert _lines("", missing) == ["error[FILE_MISSING] m", "  --> x/skill.md", ""]


@given(st.text(max_size=60), st.integers(1, 80))
def test_nothing_acts_on_the_terminal(text: str, column: int) -> None:
    finding = _finding(column, message=text, hint=text, pointer=text, file=text or "skill.md")
    for line in [*_lines(text, finding, path=text), *_lines(text, _finding(column))]:
        assert line.isprintable()


def test_printable_says_what_it_replaced() -> None:
    assert escape_controls("a\x1bb\nc\td\udcff\u202e👋") == "a<U+001B>b<U+000A>c d<U+DCFF><U+202E>👋"


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    assert TerminalStyle(_Terminal())("error", "x") == "\x1b[31;1mx\x1b[0m"
    assert TerminalStyle(io.StringIO())("error", "x") == "x"
    monkeypatch.setenv("NO_COLOR", "1")
    assert TerminalStyle(_Terminal())("error", "x") == "x"


def test_a_summary_counts() -> None:
    error, warning = _finding(1), Finding("W", "warning", "skill.md", "", 1, 1, "m", "")
    assert format_summary([]) == "no findings"
    assert format_summary([error, error, warning]) == "2 errors, 1 warning"
