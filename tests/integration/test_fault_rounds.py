"""Rounds of SIGKILL for web, worker and command line while clients are at work (docs/promises.md): the short form.

The long one, and the other faults, are `python -m tests.faults`.
"""

from __future__ import annotations

import argparse
import re

import pytest

from tests.faults.check import COMMAND
from tests.faults.scenarios import kills
from tests.faults.site import new_site

# Each time, test_crashes.py and test_first_start.py kill what is under way once.
pytestmark = [pytest.mark.slow, pytest.mark.rare]


def test_what_was_acknowledged_survives_kills() -> None:
    # The time is only there for rounds that would never end.
    words, faults = kills("sqlite", argparse.Namespace(rounds=12, seconds=600.0, seed=7))
    assert faults == [], words
    found = re.match(r"(\d+) kills .* (\d+) acknowledged revisions, (\d+) acknowledged outcomes", words)
    assert found is not None, words
    # Rounds that kill nothing, or clients that get no answer, would prove nothing.
    assert int(found[1]) >= 15
    assert int(found[2]) >= 20


def test_the_check_sees_what_is_lost() -> None:
    """Without this, a check that finds nothing would pass."""
    assert COMMAND[-1] == "tests.faults.check"
    site = new_site("sqlite")
    try:
        assert site.check()["faults"] == []
        site.counts.acknowledged["never_there", 1] = "sha256:" + "0" * 64
        site.counts.feedback.add("00000000-0000-4000-8000-000000000000")
        assert len(site.check()["faults"]) == 2
    finally:
        site.stop()
