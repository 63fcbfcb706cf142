"""How a front matter was written, so that an export says the same at the same level and with the same types.

capability.json keeps as texts what it has no key for (`metadata`), and in its own keys what means the same there
(`triggers` are `intent_triggers`). The layout, YAML lines in `metadata.front_matter`, has those keys as they were
written. It only says how: where capability.json has another value since, that one is exported.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import yaml

from capability_kit.bundles.skill_mapping import (
    LAYOUT_KEY,
    SUPPORTING_FILES_KEY,
    SkillMapping,
    begin_mapping,
)
from capability_kit.bundles.skill_names import is_ascii_skill_name, is_skill_name
from capability_kit.bundles.yaml_tree import Path, ValueReader, YamlUnreadable, compose_tree, is_typed
from capability_rules.agent_skills.front_matter_mapping import finish
from capability_rules.agent_skills.front_matter_writer import Pair, text_node, write_pairs
from capability_rules.bundles.skill_document import SkillDocument

_TEXT_KEYS: Final = ("name", "description", "license", "compatibility", "allowed-tools")
_ABSENT: Final = object()


def build_layout(root: yaml.MappingNode | None, mapping: SkillMapping) -> str:
    """The lines for what a plain export of the mapped capability would not write as it was; empty where there is
    nothing of the kind."""
    kept: list[Pair] = []
    last: list[Pair] = []
    for key, node in _pairs(root):
        if key.value == "metadata":
            below = [pair for pair in _pairs(node) if _needs_layout(pair, mapping)]
            last = [(key, yaml.MappingNode(node.tag, below))] if below else []
        elif not _is_plain_key(key.value, node, mapping):
            kept.append((key, node))
    return write_pairs([*kept, *last])


def _pairs(root: yaml.Node | None) -> list[Pair]:
    """The keys that are words with their values, of equal ones the last."""
    found: dict[str, Pair] = {}
    for key, node in root.value if isinstance(root, yaml.MappingNode) else ():
        if isinstance(key, yaml.ScalarNode):
            found[key.value] = (key, node)
    return list(found.values())


def _is_plain_key(key: str, node: yaml.Node, mapping: SkillMapping) -> bool:
    """Whether an export writes this key of the first level in any case, as it was."""
    plain = next((plain for plain, spelled in mapping.spellings.items() if spelled == key), key)
    if plain not in _TEXT_KEYS or not isinstance(node, yaml.ScalarNode):
        return False
    if plain == "name":
        return is_ascii_skill_name(node.value.strip()) or not is_skill_name(node.value.strip())
    is_taken = plain == "description" or ((plain,), (plain.replace("-", "_"),)) in mapping.origins
    return is_taken and not is_typed(node)


def _needs_layout(pair: Pair, mapping: SkillMapping) -> bool:
    """Whether an entry below `metadata` is more than a text, or has the name of another key."""
    key, node = pair
    if key.value == "capability_id" and node.value == mapping.capability.get("capability_id"):
        return False
    is_text = isinstance(node, yaml.ScalarNode) and not is_typed(node)
    own = (("metadata", key.value), ("metadata", key.value))
    return not is_text or own not in mapping.origins or key.value in mapping.rest


@dataclass(frozen=True)
class AppliedLayout:
    """What a capability's layout exports: keys of the first level, entries below `metadata`, and the paths in
    capability.json whose values are in them."""

    first_level: tuple[Pair, ...] = ()
    below_metadata: tuple[Pair, ...] = ()
    covered: frozenset[Path] = frozenset()


def apply_layout(capability: Mapping[str, Any], body: SkillDocument) -> AppliedLayout:
    """The layout of a capability, with the values that it has now; empty where it has none that can be read."""
    root, mapping = _read_layout(capability, body)
    if root is None or mapping is None:
        return AppliedLayout()
    written = {key.value for key, _ in _pairs(root)}
    origins = [(source, target) for source, target in mapping.origins if source[0] in written]
    changes = {
        source: _value_at(capability, target)
        for source, target in origins
        if _value_at(capability, target) != _value_at(mapping.capability, target)
    }
    pairs = list(_edited(root, (), changes))
    below = [node for key, node in pairs if key.value == "metadata" and isinstance(node, yaml.MappingNode)]
    first = tuple((key, node) for key, node in pairs if node not in below)
    return AppliedLayout(first, tuple(below[0].value) if below else (), frozenset(target for _, target in origins))


def covered_paths(capability: Mapping[str, Any], body: SkillDocument) -> dict[Path, Path]:
    """The paths in capability.json that the layout writes at the first level, by their keys in the front matter."""
    _, mapping = _read_layout(capability, body)
    return {source: target for source, target in mapping.origins if len(source) == 1} if mapping else {}


def _read_layout(
    capability: Mapping[str, Any], body: SkillDocument
) -> tuple[yaml.MappingNode | None, SkillMapping | None]:
    """The nodes of a layout, and what an import of it alone gives."""
    metadata = capability.get("metadata")
    text = metadata.get(LAYOUT_KEY) if isinstance(metadata, dict) else None
    if not isinstance(text, str):
        return None, None
    try:
        root = compose_tree(text).root
        values = ValueReader().read(root) if isinstance(root, yaml.MappingNode) else {}
    except YamlUnreadable:
        return None, None
    if not isinstance(root, yaml.MappingNode):
        return None, None
    own = {"name": capability["name"], "description": capability["description"]}
    mapping = begin_mapping({**own, **values}, as_id=capability["capability_id"])
    finish(mapping, body)
    return root, mapping


def _edited(node: yaml.MappingNode, above: Path, changes: Mapping[Path, Any]) -> Iterator[Pair]:
    """The pairs of a map with what has changed since; what is deeper and has changed is left to capability.json."""
    for key, value in _pairs(node):
        path = (*above, key.value)
        if path in changes:
            now = changes[path]
            is_shown = len(path) == 1 or (len(path) == 2 and above == ("metadata",))
            if now is not _ABSENT and is_shown:
                yield key, _node_of(now)
        elif isinstance(value, yaml.MappingNode) and value.value:
            below = list(_edited(value, path, changes))
            if below:
                yield key, yaml.MappingNode(value.tag, below)
        else:
            yield key, value


def _node_of(value: Any) -> yaml.Node:
    if isinstance(value, list):
        return yaml.SequenceNode("tag:yaml.org,2002:seq", [_node_of(item) for item in value])
    return yaml.ScalarNode("", str(value)) if isinstance(value, int) else text_node(str(value))


def _value_at(capability: Mapping[str, Any], path: Path) -> Any:
    value: Any = capability
    for step in path:
        if not isinstance(value, dict) or step not in value:
            return _ABSENT
        value = value[step]
    return value


def list_plain_metadata(capability: Mapping[str, Any], applied: AppliedLayout) -> dict[str, str]:
    """The entries of `metadata` that no layout writes. The list of supporting files is left to the import."""
    own = (SUPPORTING_FILES_KEY, LAYOUT_KEY)
    metadata = capability.get("metadata", {})
    return {
        key: value for key, value in metadata.items() if key not in own and ("metadata", key) not in applied.covered
    }
