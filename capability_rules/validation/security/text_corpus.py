"""The author's strings, gathered so that one pass reads them all.

A bundle may contain a quarter of a million short JSON strings. To restart the rules for each would cost more than the
reading, so the strings of one file are joined into one document, and an offset into it is led back to its string.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from capability_rules.bundles.problem import Path

# NUL cannot occur in a bundle's text, and no pattern steps over it: a phrase never runs from one string to the next.
SEPARATOR = "\n\0\n"


@dataclass(frozen=True, slots=True)
class AuthorText:
    """One string the author wrote.

    skill.md and each supporting file are one AuthorText with the whole normalized file and the path `()`. In the JSON
    files each string value and each object key is one; for a key, `path` ends with that key and `is_key` is true.
    `base_offset` (code points) is added to every offset reported, for a caller who hands over a piece of a longer
    string.
    """

    file: str
    path: Path
    text: str
    is_key: bool = False
    base_offset: int = 0


@dataclass(frozen=True, slots=True)
class ScannedDocument:
    """All strings of one file, joined. `starts[i]` is where `parts[i]` begins in `text`."""

    file: str
    text: str
    parts: tuple[AuthorText, ...]
    starts: tuple[int, ...]
    # Whether another text of the bundle orders the agent to do what it says.
    is_followed: bool = False

    @property
    def is_markdown(self) -> bool:
        return self.file.endswith(".md")

    def part_at(self, offset: int) -> tuple[AuthorText, int]:
        """The string an offset lies in, and the offset inside that string."""
        index = max(bisect_right(self.starts, offset) - 1, 0)
        part = self.parts[index]
        return part, min(offset - self.starts[index], len(part.text))


def find_json_texts(file: str, value: object) -> Iterator[AuthorText]:
    """Walk a parsed JSON value and yield every string in it, keys too, in document order.

    Iterative, so that depth costs no recursion.
    """
    stack: list[tuple[Path, object, bool]] = [((), value, False)]
    while stack:
        path, node, is_key = stack.pop()
        if isinstance(node, str):
            yield AuthorText(file, path, node, is_key)
        elif isinstance(node, dict):
            for key, child in reversed(node.items()):
                stack.append(((*path, str(key)), child, False))
                stack.append(((*path, str(key)), str(key), True))
        elif isinstance(node, list):
            stack.extend(((*path, index), node[index], False) for index in range(len(node) - 1, -1, -1))


def list_documents(texts: Iterable[AuthorText]) -> list[ScannedDocument]:
    """Join the strings file by file, in the order they came."""
    by_file: dict[str, list[AuthorText]] = {}
    for text in texts:
        by_file.setdefault(text.file, []).append(text)
    return [_joined(file, tuple(parts)) for file, parts in by_file.items()]


def _joined(file: str, parts: tuple[AuthorText, ...]) -> ScannedDocument:
    starts: list[int] = []
    at = 0
    for part in parts:
        starts.append(at)
        at += len(part.text) + len(SEPARATOR)
    return ScannedDocument(file, SEPARATOR.join(part.text for part in parts), parts, tuple(starts))
