"""What a reader of YAML leaves out or changes without a word, and what other readers of a SKILL.md do not take."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

import yaml

from capability_kit.bundles.yaml_tree import Path, YamlFeature, YamlTree, iterate_scalars, pairs_of

# `rescued`: broken YAML was read as a text; `lost_key`: a key does not count; `dropped`: YAML left a part of a value
# out; `odd`: another form than the format says, which some readers refuse.
RemarkKind = Literal["rescued", "lost_key", "dropped", "odd"]
# The keys that the Agent Skills format has.
FORMAT_KEYS: Final = frozenset({"name", "description", "license", "compatibility", "allowed-tools", "metadata"})
_COMMENT: Final = re.compile(r"[ \t]+(#[^\n]*)")
# `#ticket` goes on with a text; `# a note` is a comment to everybody.
_TEXT_AFTER_HASH: Final = re.compile(r"#[^\s#]")
_DRIVE: Final = re.compile(r"(?<![A-Za-z])[A-Za-z]:\\[0abtnvfre]")
_QUOTE_HINT: Final = "Put quotes around the whole value if it belongs to it."


@dataclass(frozen=True, slots=True)
class Remark:
    """One thing to tell the author. `offset` counts in the text that was read, `path` are the keys that lead there."""

    kind: RemarkKind
    message: str
    hint: str
    offset: int
    path: Path = ()


def find_remarks(text: str, source: str, start: int, tree: YamlTree) -> Iterator[Remark]:
    """All of them for a front matter that could be read; `source` begins at `start` in the text."""
    if tree.root is None:
        return
    for feature in tree.features:
        yield _about_feature(feature, _key_at(tree.root, feature.offset))
    for path, node in iterate_scalars(tree.root):
        yield from _about_scalar(text, path, node)
    yield from _about_form(tree.root, source, start)


def _key_at(root: yaml.Node, offset: int) -> Path:
    """The key of the first level that an offset belongs to."""
    found: Path = ()
    for key, _ in root.value if isinstance(root, yaml.MappingNode) else ():
        if key.start_mark.index <= offset and isinstance(key, yaml.ScalarNode):
            found = (key.value,)
    return found


def _about_feature(feature: YamlFeature, path: Path) -> Remark:
    name = feature.name[:80]
    if feature.kind == "alias":
        message = f"YAML reads '*{name}' as the value that is named '&{name}'"
        return Remark("dropped", message, "Write the value out, or put quotes around it.", feature.offset, path)
    sign = "&" if feature.kind == "anchor" else "!"
    return Remark("dropped", f"YAML leaves out '{sign}{name}'", _QUOTE_HINT, feature.offset, path)


def _about_scalar(text: str, path: Path, node: yaml.ScalarNode) -> Iterator[Remark]:
    if node.style == '"':
        drive = _DRIVE.search(text, node.start_mark.index, node.end_mark.index)
        if drive is not None:
            message = f"YAML reads '{drive[0]}' in double quotes as '{drive[0][:2]}' and a control character"
            yield Remark("dropped", message, "Put single quotes around the value.", drive.start(), path)
    elif node.style is None and node.value in ("=", "<<"):
        message = f"Some readers of YAML do not take '{node.value}' for a text"
        yield Remark("odd", message, "Put quotes around it.", node.start_mark.index, path)
    elif node.style is None and node.value:
        comment = _COMMENT.match(text, node.end_mark.index)
        is_known = bool(path) and path[0] in FORMAT_KEYS
        if comment is not None and (is_known or _TEXT_AFTER_HASH.match(comment[1])):
            message = f"YAML takes '{comment[1][:60]}' for a comment and leaves it out"
            yield Remark("dropped", message, _QUOTE_HINT, comment.start(1), path)


def _about_form(root: yaml.Node, source: str, start: int) -> Iterator[Remark]:
    dashes = source.find("---")
    if dashes != -1:
        message = "Other readers take the three dashes here for the end of the front matter"
        yield Remark(
            "odd", message, "Write fewer of them, or another character.", start + dashes, _key_at(root, start + dashes)
        )
    for key, node in pairs_of(root).items():
        is_flow = isinstance(node, yaml.MappingNode) and node.flow_style
        # Lists and maps below it have remarks in any case: they become texts.
        if key == "metadata" and is_flow and all(isinstance(below, yaml.ScalarNode) for _, below in node.value):
            message = f"'{key}' is written in brackets; some readers take lines alone"
            yield Remark("odd", message, "Write each entry on a line of its own.", node.start_mark.index, (key,))
