"""What a schema cannot say of capability.json."""

from __future__ import annotations

import pytest

from capability_rules.validation import validate_bundle
from tests.bundle_files import bundle


@pytest.mark.parametrize("trigger", ["\u200btowels", "towels\u200b", "\u2060towels", "\ufefftowels", "towels\u200d"])
def test_a_character_without_width_at_an_end_of_a_trigger_is_a_warning(trigger: str) -> None:
    (finding,) = validate_bundle(bundle(intent_triggers=["linen", trigger])).findings
    assert (finding.code, finding.severity, finding.held) == ("TRIGGER_INVISIBLE_CHARACTER", "warning", False)
    assert finding.pointer == "/intent_triggers/1"


@pytest.mark.parametrize("trigger", ["می\u200cخواهم", "👩\u200d🚒 towels", "clean towels"])
def test_a_joiner_within_a_trigger_is_needed(trigger: str) -> None:
    assert validate_bundle(bundle(intent_triggers=["linen", trigger])).findings == ()
