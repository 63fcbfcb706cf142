"""The front matter of a SKILL.md that we write: YAML with a line for each entry, read alike by every reader."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Final

import yaml

from capability_kit.bundles.yaml_tree import YamlUnreadable, compose_tree, is_typed

Pair = tuple[yaml.ScalarNode, yaml.Node]
_PLAIN_KEY: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_WORDS: Final = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
# What JSON leaves as it is and YAML does not take inside of quotes, or takes for a line break.
_ESCAPED: Final = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def text_node(text: str) -> yaml.ScalarNode:
    """A text, as a scalar that is written in quotes."""
    return yaml.ScalarNode("", text, style='"')


def write_front_matter(name: str, pairs: Iterable[Pair]) -> str:
    """The lines from `---` to `---`, the name first."""
    return f"---\nname: {write_name(name)}\n{write_pairs(pairs)}---\n"


def write_name(name: str) -> str:
    """A name without quotes, unless YAML takes it for a number, a date or the like."""
    is_word = _is_plain(name) and not is_typed(yaml.ScalarNode("", name)) and name not in _WORDS
    return name if is_word else _quoted(name)


def write_pairs(pairs: Iterable[Pair]) -> str:
    """A block of lines `key: value`; a scalar that was plain stays plain where it reads as the same again."""
    return "".join(f"{line}\n" for key, node in pairs for line in _pair_lines(key, node))


def _pair_lines(key: yaml.ScalarNode, node: yaml.Node) -> list[str]:
    name = _key(key)
    inline = _inline(node)
    if inline is not None:
        return [f"{name}: {inline}".rstrip()]
    return [f"{name}:", *(f"  {line}" for line in _block(node))]


def _block(node: yaml.Node) -> list[str]:
    if isinstance(node, yaml.MappingNode):
        pairs = [(key, value) for key, value in node.value if isinstance(key, yaml.ScalarNode)]
        return [line for key, value in pairs for line in _pair_lines(key, value)]
    lines: list[str] = []
    for item in node.value:
        inline = _inline(item)
        first, *others = [inline] if inline is not None else _block(item)
        lines += [f"- {first}".rstrip(), *(f"  {line}" for line in others)]
    return lines


def _inline(node: yaml.Node) -> str | None:
    """A value that stands on the line of its key; None for lists and maps with entries."""
    if isinstance(node, yaml.ScalarNode):
        is_bare = node.style is None and (is_typed(node) or _is_plain(node.value))
        return str(node.value) if is_bare else _quoted(node.value)
    if not node.value:
        return "{}" if isinstance(node, yaml.MappingNode) else "[]"
    return None


def _key(key: yaml.ScalarNode) -> str:
    text: str = key.value
    if _PLAIN_KEY.fullmatch(text) and text.lower() not in _WORDS:
        return text
    return text if key.style is None and text and _is_plain(text) else _quoted(text)


def _is_plain(text: str) -> bool:
    """Whether it reads as the same text without quotes, as a key and as a value."""
    if not text or "\n" in text:
        return False
    try:
        root = compose_tree(f"{text}: {text}\n").root
    except YamlUnreadable:
        return False
    if not isinstance(root, yaml.MappingNode) or len(root.value) != 1:
        return False
    both = root.value[0]
    return all(isinstance(part, yaml.ScalarNode) and part.value == text and part.style is None for part in both)


def _quoted(text: str) -> str:
    return _ESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", json.dumps(text, ensure_ascii=False))
