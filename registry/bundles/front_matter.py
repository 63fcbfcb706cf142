"""Optional YAML front matter of skill.md: scalars stay text; aliases and tags are refused (docs/contract.md 1.2)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Final

import yaml

FRONT_MATTER_BYTES_MAX: Final = 16 * 1024
LEVELS_MAX: Final = 64
# YAML's own words for a type; scalars are read as text all the same.
_CORE_TAGS: Final = frozenset(
    f"tag:yaml.org,2002:{word}" for word in ("str", "int", "float", "bool", "null", "seq", "map")
)
_FENCE: Final = re.compile(r"---[ \t]*$")


@dataclass(frozen=True, slots=True)
class FrontMatterError:
    """An error's message and its offset in the whole text."""

    message: str
    hint: str
    offset: int


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """`body_offset` is where skill_doc begins in the text; 0 where there is no front matter. `source` is the YAML."""

    values: dict[str, Any] = field(default_factory=dict)
    body_offset: int = 0
    faults: tuple[FrontMatterError, ...] = ()
    key_offsets: dict[str, int] = field(default_factory=dict)
    source: str = ""


def split_front_matter(text: str) -> FrontMatter:
    """Read the front matter of a normalized skill.md; never raises."""
    first, _, _ = text.partition("\n")
    if not _FENCE.match(first):
        return FrontMatter()
    start = len(first) + 1
    closing = re.compile(r"^---[ \t]*$", re.MULTILINE).search(text, start)
    if closing is None:
        fault = FrontMatterError("The front matter is never closed", "End it with a line of three dashes: ---", 0)
        return FrontMatter(faults=(fault,))
    body_offset = min(closing.end() + 1, len(text))
    source = text[start : closing.start()]
    if len(source.encode("utf-8")) > FRONT_MATTER_BYTES_MAX:
        fault = FrontMatterError("The front matter is over 16 KB", "Move long texts below it.", 0)
        return FrontMatter(body_offset=body_offset, faults=(fault,))
    if _brackets_deep(source) > LEVELS_MAX:
        message = f"More than {LEVELS_MAX} levels of lists and maps"
        return FrontMatter(body_offset=body_offset, faults=(FrontMatterError(message, "Flatten it.", start),))
    reader = _FrontMatterReader(start)
    values = reader.read(source)
    return FrontMatter(values, body_offset, tuple(reader.faults), reader.key_offsets, source)


def _brackets_deep(source: str) -> int:
    """The deepest nesting of brackets, those in strings included.

    PyYAML looks at every open bracket with each token: 16 KB of them take it more than a minute.
    """
    depth = deepest = 0
    for bracket in re.findall(r"[\[\]{}]", source):
        depth = depth + 1 if bracket in "[{" else max(0, depth - 1)
        deepest = max(deepest, depth)
    return deepest


class _FrontMatterReader:
    """Composes YAML nodes with PyYAML's base loader, which resolves no types, and turns them into plain values."""

    def __init__(self, start: int) -> None:
        self.start = start
        self.faults: list[FrontMatterError] = []
        self.key_offsets: dict[str, int] = {}

    def read(self, source: str) -> dict[str, Any]:
        try:
            if self._forbidden(source):
                return {}
            node = yaml.compose(source, Loader=yaml.BaseLoader)
            value = {} if node is None else self._value(node)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            self._fault(f"Broken YAML: {error.problem or error.context}", _yaml_hint(error), mark.index if mark else 0)
            return {}
        except (yaml.YAMLError, RecursionError) as error:
            self._fault(f"Broken YAML: {str(error).splitlines()[0][:120]}", "", 0)
            return {}
        if isinstance(value, dict):
            for key, _ in node.value if node is not None else ():
                self.key_offsets[str(key.value)] = self.start + key.start_mark.index
            return value
        self._fault("The front matter is not a list of keys and values", "Write lines such as name: value.", 0)
        return {}

    def _fault(self, message: str, hint: str, index: int) -> None:
        self.faults.append(FrontMatterError(message, hint, self.start + index))

    def _forbidden(self, source: str) -> bool:
        """Aliases and custom tags are refused before nodes are built: an alias bomb never unfolds."""
        for event in yaml.parse(source, Loader=yaml.BaseLoader):
            if isinstance(event, yaml.AliasEvent):
                self._fault(f"The alias *{event.anchor} is not allowed", "Write the value out.", _index(event))
                return True
            tag = getattr(event, "tag", None)
            if tag and tag != "!" and tag not in _CORE_TAGS:
                self._fault(f"The tag {tag} is not allowed", "Remove the tag.", _index(event))
                return True
        return False

    def _value(self, node: Any) -> Any:
        if isinstance(node, yaml.ScalarNode):
            return node.value
        if isinstance(node, yaml.SequenceNode):
            return [self._value(item) for item in node.value]
        return self._mapping(node)

    def _mapping(self, node: Any) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                hint = "Quote it, or write it on one line."
                self._fault("A key must be a plain word", hint, key_node.start_mark.index)
                continue
            if key_node.value in values:
                hint = "Remove one of the two."
                self._fault(f"The key '{key_node.value}' appears twice", hint, key_node.start_mark.index)
            values[key_node.value] = self._value(value_node)
        return values


def _index(event: yaml.Event) -> int:
    return event.start_mark.index if event.start_mark else 0


def _yaml_hint(error: yaml.MarkedYAMLError) -> str:
    if error.problem and "mapping values are not allowed" in error.problem:
        return "A colon inside a value needs quotes around the whole value."
    if error.problem and "cannot start any token" in error.problem:
        return "Quote the value; indent with spaces, never tabs."
    return "Check the indentation, quotes and colons at this place."
