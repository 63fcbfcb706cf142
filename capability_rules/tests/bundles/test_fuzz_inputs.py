"""What coverage-guided fuzzing has kept (`python -m tests.faults fuzz`) is read or refused each time the suite runs."""

from __future__ import annotations

import pytest

from capability_rules.bundles import json_reader
from tests.faults.fuzz_targets import TARGETS, kept_inputs, seeds
from tests.sweeps import check_each


@pytest.mark.parametrize("name", TARGETS)
def test_what_fuzzing_has_kept_is_read_or_refused(name: str) -> None:
    inputs = kept_inputs(name)
    assert len(inputs) >= 10
    check_each(inputs, TARGETS[name], name=lambda data: repr(data[:60]))


@pytest.mark.parametrize("name", TARGETS)
def test_there_is_something_to_begin_with(name: str) -> None:
    assert len(set(seeds(name))) >= 10


def test_a_target_notices_a_reader_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without this, a target that asserts nothing would pass."""

    def wrong(_text: str) -> json_reader.ParsedJson:
        return json_reader.ParsedJson({"another": "value"}, readable=True)

    monkeypatch.setattr("tests.faults.fuzz_targets.read_json", wrong)
    with pytest.raises(AssertionError):
        TARGETS["json"](b"[]")
