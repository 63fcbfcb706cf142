"""A missing section, and the line that nearly is it."""

from __future__ import annotations

import pytest

from capability_rules.validation import validate_bundle
from tests.bundle_files import bundle

TEXT = "# Alpha\n\n{line}\n\nWhen a user asks.\n\n## Default behavior\n\nAnswer.\n\n## Examples\n\nUser: one.\n"


def _hint(line: str, front: str = "") -> str:
    files = bundle() | {"skill.md": front + TEXT.format(line=line)}
    (found,) = [one for one in validate_bundle(files).findings if one.code == "SECTION_MISSING"]
    return found.hint


@pytest.mark.parametrize(
    "line",
    [
        "## When to use:",
        "## 1. When to use",
        "## 2) When To Use",
        "##When to use",
        "## \U0001f4cc When to use",
        "## When to use this skill",
        "**When to use**",
        "When to use:",
        "### 1. When to use",
    ],
)
def test_a_line_that_is_nearly_the_heading_is_named(line: str) -> None:
    assert f"Line 3 nearly is it: write '## When to use' in place of '{line}'" in _hint(line)
    assert "Line 6 " in _hint(line, "---\na: b\n---\n")


@pytest.mark.parametrize(
    "line", ["## Overview", "```\n## When to use:\n```", "Text when to use it.", "- when to use: x"]
)
def test_other_lines_are_not_named(line: str) -> None:
    assert "nearly" not in _hint(line)
