"""Where the instructions speak of what failed."""

from registry.authoring.failure_places import find_line

DOC = """# Visits
Ask which piano it is.
Call `visit_book` with the `date` and the piano.
Use `date` words of the user.
Then `visit_book_again` says when the tuner comes."""


def test_the_line_with_argument_and_tool_comes_first() -> None:
    assert find_line(DOC, tool="visit_book", missing="date") == 3
    assert find_line(DOC, tool="slots_find", missing="date") == 3
    assert find_line(DOC, tool="visit_book_again") == 5
    assert find_line(DOC, tool="visit_bo") is None


def test_words_of_the_reason_lead_to_a_line() -> None:
    assert find_line(DOC, reason="It never said when the tuner would come") == 5
    assert find_line(DOC, reason="The parrot was angry") is None
    assert find_line("", reason="The piano") is None
