"""YAML as nodes with their places in the author's text. No type is resolved: every scalar is the text that was written.

Only what a front matter needs: one document, at most `LEVELS_MAX` levels, and aliases that unfold to a bounded size.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Literal

import yaml

LEVELS_MAX: Final = 64
# Nodes after every alias is unfolded; a front matter of 16 KB has fewer by itself.
NODES_MAX: Final = 20_000
Path = tuple[str, ...]
FeatureKind = Literal["alias", "anchor", "tag", "custom_tag"]
# YAML's own words for a type; scalars are read as text all the same.
_CORE_TAGS: Final = frozenset(
    f"tag:yaml.org,2002:{word}" for word in ("str", "int", "float", "bool", "null", "seq", "map")
)
_STRING_TAG: Final = "tag:yaml.org,2002:str"


class YamlUnreadable(ValueError):
    """Not YAML, or more of it than is read. `offset` counts code points from the start of the author's text."""

    def __init__(self, message: str, hint: str, offset: int) -> None:
        super().__init__(message)
        self.message, self.hint, self.offset = message, hint, offset


@dataclass(frozen=True, slots=True)
class YamlFeature:
    """An alias, an anchor or a tag: what YAML takes out of a text without a word. `name` has no `*`, `&` or `!`."""

    kind: FeatureKind
    name: str
    offset: int


@dataclass(frozen=True, slots=True)
class YamlTree:
    """`root` is None where the source has no value at all."""

    root: yaml.Node | None
    features: tuple[YamlFeature, ...]


@dataclass(frozen=True, slots=True)
class LostKey:
    """A key that appears again, at its second place; or one that is not a word, whose `path` is empty."""

    path: Path
    offset: int

    @property
    def name(self) -> str:
        """The key itself; empty for one that is not a word."""
        return self.path[-1] if self.path else ""


def compose_tree(source: str, base: int = 0) -> YamlTree:
    """The nodes of one document; `base` is where the source begins in the author's text. Raises `YamlUnreadable`."""
    if _brackets_deep(source) > LEVELS_MAX:
        raise YamlUnreadable(f"More than {LEVELS_MAX} levels of lists and maps", "Flatten it.", base)
    try:
        # The reader looks at the first characters before there is anything to ask for a node.
        composer = _Composer(source, base)
        return YamlTree(composer.get_single_node(), tuple(composer.features))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        offset = mark.index if mark else base
        raise YamlUnreadable(f"Broken YAML: {error.problem or error.context}", _hint(error), offset) from None
    except yaml.reader.ReaderError as error:
        message = f"Broken YAML: the character U+{int(error.character):04X} is not allowed"
        raise YamlUnreadable(message, "Remove it.", base + error.position) from None
    except RecursionError:
        raise YamlUnreadable("Broken YAML: too many levels", "Flatten it.", base) from None


class _Composer(yaml.BaseLoader):
    """PyYAML's base loader, which resolves no types, with marks that count in the author's whole text."""

    def __init__(self, source: str, base: int) -> None:
        self._base = base
        self.features: list[YamlFeature] = []
        super().__init__(source)

    def get_mark(self) -> yaml.Mark:
        return yaml.Mark("", self._base + self.index, self.line, self.column, None, 0)

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event = self.peek_event()  # type: ignore[no-untyped-call]
        offset = event.start_mark.index
        if isinstance(event, yaml.AliasEvent):
            if event.anchor not in self.anchors:
                raise YamlUnreadable(f"The alias *{event.anchor} is not allowed", "Write the value out.", offset)
            self.features.append(YamlFeature("alias", str(event.anchor), offset))
        elif isinstance(event, yaml.NodeEvent):
            if event.anchor:
                self.features.append(YamlFeature("anchor", str(event.anchor), offset))
            tag = getattr(event, "tag", None)
            if tag:
                kind: FeatureKind = "tag" if tag == "!" or tag in _CORE_TAGS else "custom_tag"
                self.features.append(YamlFeature(kind, _short_tag(str(tag)), offset))
        return super().compose_node(parent, index)


def _short_tag(tag: str) -> str:
    return tag.removeprefix("tag:yaml.org,2002:").lstrip("!")


def _hint(error: yaml.MarkedYAMLError) -> str:
    if error.problem and "mapping values are not allowed" in error.problem:
        return "A colon inside a value needs quotes around the whole value."
    if error.problem and "cannot start any token" in error.problem:
        return "Quote the value; indent with spaces, never tabs."
    return "Check the indentation, quotes and colons at this place."


def _brackets_deep(source: str) -> int:
    """The deepest nesting of brackets, those in strings included.

    PyYAML looks at every open bracket with each token: 16 KB of them take it more than a minute.
    """
    depth = deepest = 0
    for bracket in re.findall(r"[\[\]{}]", source):
        depth = depth + 1 if bracket in "[{" else max(0, depth - 1)
        deepest = max(deepest, depth)
    return deepest


class ValueReader:
    """Nodes as texts, lists and maps; `lost` are the keys that do not count, `places` the offset of every other key."""

    def __init__(self) -> None:
        self.lost: list[LostKey] = []
        self.places: dict[Path, int] = {}
        self._nodes = 0

    def read(self, node: yaml.Node, path: Path = ()) -> Any:
        """Raises `YamlUnreadable` for aliases that unfold to too much."""
        self._nodes += 1
        if self._nodes > NODES_MAX or len(path) > LEVELS_MAX:
            raise YamlUnreadable("Its aliases unfold to too much", "Write the values out.", node.start_mark.index)
        if isinstance(node, yaml.SequenceNode):
            return [self.read(item, (*path, str(index))) for index, item in enumerate(node.value)]
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path)
        return node.value

    def _mapping(self, node: yaml.MappingNode, path: Path) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for key, value in node.value:
            offset = key.start_mark.index
            if not isinstance(key, yaml.ScalarNode):
                self.lost.append(LostKey((), offset))
                continue
            if key.value in values:
                self.lost.append(LostKey((*path, key.value), offset))
            self.places[*path, key.value] = offset
            values[key.value] = self.read(value, (*path, key.value))
        return values


def iterate_scalars(node: yaml.Node, path: Path = (), level: int = 0) -> Iterator[tuple[Path, yaml.ScalarNode]]:
    """Every value that is not a list or a map, with the keys above it; one that an alias repeats is there once."""
    if level > LEVELS_MAX:
        return
    if isinstance(node, yaml.ScalarNode):
        yield path, node
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            if item.start_mark.index >= node.start_mark.index:
                yield from iterate_scalars(item, path, level + 1)
    elif isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode) and value.start_mark.index >= key.start_mark.index:
                yield from iterate_scalars(value, (*path, key.value), level + 1)


def pairs_of(node: yaml.Node | None) -> Mapping[str, yaml.Node]:
    """The values of a map by their keys, of equal keys the last; nothing for anything else."""
    if not isinstance(node, yaml.MappingNode):
        return {}
    return {key.value: value for key, value in node.value if isinstance(key, yaml.ScalarNode)}


def is_typed(node: yaml.Node) -> bool:
    """Whether YAML takes it for a number, a truth value, a date or nothing; quoted, it is a text."""
    if not isinstance(node, yaml.ScalarNode) or node.style is not None:
        return False
    tag = _resolver().resolve(yaml.ScalarNode, node.value, (True, False))  # type: ignore[no-untyped-call]
    return bool(tag != _STRING_TAG)


@cache
def _resolver() -> yaml.resolver.Resolver:
    return yaml.resolver.Resolver()
