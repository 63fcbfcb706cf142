"""Annotations of GitHub Actions: what a pull request names or says does nothing to who reads the log."""

from __future__ import annotations

from capability_rules.bundles.bundle_reader import SourceBundle
from capability_rules.output.github import format_annotations
from capability_rules.validation.bundle_set import validate_set
from tests.bundle_files import bundle


def test_control_characters_of_a_path_and_of_words_are_shown_and_not_sent() -> None:
    files = {**bundle(), "tools.json": '[{"na\\u001b[31mme": 1}]', "\x1b[31m::error.txt": "x"}
    source = SourceBundle("a\x1b[2Jb\x9b%", files, folder="a")
    lines = list(format_annotations(validate_set([source])))
    assert lines
    assert all(line.isprintable() for line in lines), lines
    assert any("%25" in line and "<U+001B>" in line for line in lines)
