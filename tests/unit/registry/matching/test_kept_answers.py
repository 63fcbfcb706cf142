"""What is kept of answers, and for how long."""

from __future__ import annotations

from typing import Any

from registry.matching.kept_answers import KeptAnswers
from registry.snapshot import Snapshot


def test_an_answer_of_another_snapshot_is_not_kept() -> None:
    one, other = Snapshot(1, 0, {}, {}), Snapshot(2, 0, {}, {})
    answers = KeptAnswers()

    def make() -> dict[str, Any]:
        answers.get_or_make(other, "a", lambda: {"of": 2})
        return {"of": 1}

    assert answers.get_or_make(one, "a", make) == {"of": 1}
    assert answers.get_or_make(other, "a", lambda: {"of": 3}) == {"of": 2}
