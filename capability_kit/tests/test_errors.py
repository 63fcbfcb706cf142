"""What is said of an exception."""

from __future__ import annotations

import pytest

from capability_kit.errors import describe_exception


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (TimeoutError("no answer within 5 s"), "no answer within 5 s"),
        (ValueError("two\nlines"), "two lines"),
        (KeyError("weight"), "there is no 'weight'"),
        (TimeoutError(), "it gave no reason"),
    ],
)
def test_an_exception_is_described_without_the_name_of_its_class(error: Exception, words: str) -> None:
    assert describe_exception(error) == words
    assert len(describe_exception(ValueError("x" * 1000))) <= 300
