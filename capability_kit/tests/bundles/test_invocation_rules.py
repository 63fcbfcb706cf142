"""Who may start a skill, as its front matter says."""

from __future__ import annotations

from typing import Any

import pytest

from capability_kit.bundles.invocation_rules import is_closed_to_model, is_off_menu, list_invocation_facts


@pytest.mark.parametrize(
    ("metadata", "closed", "off"),
    [
        ({}, False, False),
        (None, False, False),
        ("true", False, False),
        ({"disable-model-invocation": "true", "user-invocable": "false"}, True, True),
        ({"disable-model-invocation": " Yes ", "user-invocable": "OFF"}, True, True),
        ({"disable-model-invocation": "false", "user-invocable": "true"}, False, False),
        ({"disable-model-invocation": True, "user-invocable": "nothing"}, False, False),
    ],
)
def test_invocation_rules_are_words_below_metadata(metadata: Any, closed: bool, off: bool) -> None:
    capability = {"capability_id": "x", "metadata": metadata}
    assert (is_closed_to_model(capability), is_off_menu(capability)) == (closed, off)
    facts = ({"disable_model_invocation": True} if closed else {}) | ({"user_invocable": False} if off else {})
    assert list_invocation_facts(capability) == facts
