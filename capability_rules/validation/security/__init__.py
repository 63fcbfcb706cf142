"""The `SEC_` rules: does a bundle hide something, order something, or carry something it should not?

A finding says what was seen and where. That nothing was found says nothing: these are patterns, classes of words and a
classifier of sentences, and a new wording passes them. All of it takes time linear in the text.
"""

from __future__ import annotations

from capability_rules.validation.security.detectors.claimed_status import check_claimed_status
from capability_rules.validation.security.detectors.confusables import IdIndex, check_identity
from capability_rules.validation.security.detectors.policy_mismatch import check_policies
from capability_rules.validation.security.scanner import check_paths, check_texts
from capability_rules.validation.security.text_corpus import AuthorText, find_json_texts

__all__ = [
    "AuthorText",
    "IdIndex",
    "check_claimed_status",
    "check_identity",
    "check_paths",
    "check_policies",
    "check_texts",
    "find_json_texts",
]
