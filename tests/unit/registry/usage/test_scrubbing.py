"""What is kept of a message says nothing of who said it, as far as a pattern can tell."""

from __future__ import annotations

import pytest

from registry.usage.scrubbing import LENGTH_MAX, scrub
from tests import costs
from tests.sweeps import check_each


def test_what_names_somebody_is_taken_out() -> None:
    def check(cell: tuple[str, str]) -> None:
        message, kept = cell
        assert scrub(message) == kept

    check_each(
        [
            ("cancel my order", "cancel my order"),
            ("  two\n lines\0 ", "two lines"),
            ("write to ann.lee+x@example.com now", "write to [address] now"),
            ("call +49 170 1234567 please", "call +[number] please"),
            ("card 4111-1111-1111-1111", "card [number]"),
            ("order 12345, room 1234", "order [number], room 1234"),
            ("in 2026 I had 80 kg", "in 2026 I had 80 kg"),
            ("invoice AB12345C", "invoice AB[number]C"),
            ("invoice A1B2C3D4E5", "invoice [number]"),
            ("IBAN DE89 3704 0044 0532 0130 00", "IBAN DE[number]"),
            ("open https://user:pw@host.example/a?token=abc", "open [link]"),
            ("see www.example.com/x today", "see [link] today"),
            ("my password is hunter22!", "my password is [secret]"),
            ("Passwort: geheim", "Passwort: [secret]"),
            ("use ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8", "use [secret]"),
            ("key abcDEF123ghiJKL456mno", "key [secret]"),
            ("体重を記録", "体重を記録"),
            ("", ""),
            ("\0 \n", ""),
        ],
        check,
    )


def test_a_long_message_is_cut_at_a_word() -> None:
    text = scrub("word " * 300)
    assert len(text) <= LENGTH_MAX
    assert text.endswith("word…")
    assert len(scrub("x" * 5000)) == LENGTH_MAX


def test_a_secret_across_the_cut_is_taken_out_whole() -> None:
    text = scrub("a" * 190 + " ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8")
    assert "ghp_" not in text


@pytest.mark.parametrize("piece", ["a@", "1 ", "a1", "://", "password is ", "-----BEGIN PRIVATE KEY-----", "+(.-) 1"])
def test_no_message_takes_long(piece: str) -> None:
    with costs.at_most(1000):
        scrub(piece * 50_000)
        # Milliseconds; a pattern that backtracks would take minutes.
