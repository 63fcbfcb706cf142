"""What the pages of `docs/` have beside plain Markdown: comments for programs, and pictures in two themes."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

# One picture in each theme, as code hosts show it: groups are dark, light and the words.
PICTURE: Final = re.compile(
    r'<picture><source media="\(prefers-color-scheme: dark\)" srcset="([^"]+)">'
    r'<img src="([^"]+)" alt="([^"]*)"></picture>'
)
_FENCED: Final = re.compile(r"(^```.*?^```[^\n]*$)", re.DOTALL | re.MULTILINE)
_COMMENT: Final = re.compile(r"^<!--.*?-->$\n?", re.MULTILINE)


def map_prose(change: Callable[[str], str], text: str) -> str:
    """The text with what is outside of fenced code changed."""
    parts = _FENCED.split(text)
    parts[::2] = [change(part) for part in parts[::2]]
    return "".join(parts)


def without_comments(prose: str) -> str:
    """The text without comments of a line of their own."""
    return _COMMENT.sub("", prose)
