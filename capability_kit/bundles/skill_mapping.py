"""From the values of a SKILL.md's front matter to capability.json, with every loss and every move named.

The registry's import and a folder of skills both use it, so that one file is one capability everywhere. Which key of
another product means which is in `front_matter_keys`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import yaml

from capability_kit.bundles import front_matter_keys, skill_names
from capability_kit.bundles.front_matter_remarks import FORMAT_KEYS
from capability_kit.bundles.front_matter_values import parse_strings, to_string
from capability_kit.bundles.invocation_rules import describe_effect
from capability_kit.bundles.yaml_tree import Path, is_typed, pairs_of

DESCRIPTION_MAX: Final = 1024
# Keys below `metadata` that an import writes itself: which files it stored, and how the front matter was written.
SUPPORTING_FILES_KEY: Final = "supporting_files"
LAYOUT_KEY: Final = "front_matter"
_OWN_KEYS: Final = (SUPPORTING_FILES_KEY, LAYOUT_KEY)
_HYPHEN_HINT: Final = "Lower-case words and digits joined by single hyphens, at most 64 characters."
_AS_ID_HINT: Final = "Another id is given with --as-id, or as capability_id below metadata."


@dataclass(frozen=True, slots=True)
class MappingNote:
    """What happened to a key: a finding code that begins with IMPORT_, in words, and the keys that lead to it."""

    code: str
    message: str
    hint: str = ""
    path: Path = ()


@dataclass(slots=True)
class SkillMapping:
    """A mapping under way. `rest` are the values that have no place yet; `capability` is empty where it is refused.

    `origins` pairs each path in the front matter with the path in capability.json that has its value.
    """

    rest: dict[str, Any]
    typed: frozenset[Path] = frozenset()
    capability: dict[str, Any] = field(default_factory=dict)
    origins: list[tuple[Path, Path]] = field(default_factory=list)
    # Keys of the format as their author has spelled them.
    spellings: dict[str, str] = field(default_factory=dict)
    notes: list[MappingNote] = field(default_factory=list)

    def note(self, code: str, message: str, hint: str = "", *path: str) -> None:
        """Note what happened to the key at the end of the path."""
        self.notes.append(MappingNote(code, message, hint, path))


def find_typed_values(root: yaml.Node | None) -> frozenset[Path]:
    """The keys below `metadata` whose plain value YAML takes for a number, a truth value, a date or nothing."""
    below = pairs_of(pairs_of(root).get("metadata"))
    return frozenset(("metadata", name) for name, node in below.items() if is_typed(node))


def begin_mapping(
    values: Mapping[str, Any], *, folder: str = "", as_id: str = "", typed: frozenset[Path] = frozenset()
) -> SkillMapping:
    """Name, description, and the keys of other products at the first level.

    `folder` is the name of the folder that contains SKILL.md, empty where it is not known; `as_id` the capability_id
    that was asked for.
    """
    rest = {key: value.strip() if isinstance(value, str) else value for key, value in values.items()}
    mapping = SkillMapping(rest, typed)
    _respell(mapping)
    capability_id = _capability_id(mapping, folder, as_id)
    description = _description(mapping)
    if not capability_id or not description:
        return mapping
    mapping.capability |= {"capability_id": capability_id, "name": rest.pop("name"), "description": description}
    rest.pop("description", None)
    mapping.origins += [(("name",), ("name",)), (("description",), ("description",))]
    for path, target in front_matter_keys.move_top_level(rest, mapping.capability):
        mapping.origins.append((path, target))
        mapping.note("IMPORT_KEY_MAPPED", f"'{'.'.join(path)}' became {'.'.join(target)}", "", *path)
    return mapping


def finish_mapping(mapping: SkillMapping) -> None:
    """The optional keys of the format; everything that is left is stored as a string under metadata."""
    _take_known(mapping)
    _take_metadata(mapping)


def _respell(mapping: SkillMapping) -> None:
    """`Name:` and `allowed_tools:` mean the keys of the format, where those are not there."""
    spellings = {key: key.strip().lower().replace("_", "-") for key in mapping.rest}
    for key, plain in spellings.items():
        if key != plain and plain in FORMAT_KEYS and plain not in mapping.rest:
            mapping.rest[plain] = mapping.rest.pop(key)
            mapping.spellings[plain] = key
            message = f"'{key[:80]}' was taken as '{plain}'"
            mapping.note("IMPORT_FORM_ODD", message, f"Write {plain}: in its place.", key)


def _capability_id(mapping: SkillMapping, folder: str, as_id: str) -> str:
    name = mapping.rest.get("name")
    if name not in (None, "") and not isinstance(name, str):
        mapping.note("IMPORT_NAME_UNUSABLE", "The front matter has a name that is not text", _HYPHEN_HINT, "name")
        return ""
    if not name:
        return _unnamed(mapping, folder, as_id)
    if folder and name != folder:
        message = f"The name is '{name[:80]}', the folder '{folder[:80]}'"
        mapping.note("IMPORT_NAME_DIFFERS", message, "Give both the same name.", "name")
    return as_id or _id_of_name(mapping, name, folder)


def _unnamed(mapping: SkillMapping, folder: str, as_id: str) -> str:
    """The name is the folder's where there is none."""
    name = skill_names.skill_name_of(as_id) if as_id else skill_names.propose_skill_name(folder)
    if not name:
        message = "The front matter has no name"
        mapping.note("IMPORT_NAME_UNUSABLE", message, f"{_HYPHEN_HINT} Or give an id with --as-id.", "name")
        return ""
    mapping.rest["name"] = name
    message = f"The front matter has no name; '{name}' was taken, by its {'id' if as_id else 'folder'}"
    mapping.note("IMPORT_NAME_CHANGED", message, f"Add the line name: {name}", "name")
    return skill_names.capability_id_of(name)


def _id_of_name(mapping: SkillMapping, name: str, folder: str) -> str:
    if skill_names.is_ascii_skill_name(name):
        return skill_names.capability_id_of(name)
    metadata = mapping.rest.get("metadata")
    given = metadata.get("capability_id") if isinstance(metadata, dict) else None
    if isinstance(given, str) and skill_names.is_ascii_skill_name(skill_names.skill_name_of(given)):
        return given
    proposed = skill_names.propose_skill_name(name, folder)
    if not proposed:
        message = f"No capability_id can be made of the name '{name[:80]}'"
        mapping.note("IMPORT_NAME_UNUSABLE", message, f"{_HYPHEN_HINT} Or give an id with --as-id.", "name")
        return ""
    capability_id = skill_names.capability_id_of(proposed)
    if skill_names.is_skill_name(name):
        message = f"The name '{name}' is kept; the capability_id, which has ASCII alone, is '{capability_id}'"
        mapping.note("IMPORT_ID_PROPOSED", message, _AS_ID_HINT, "name")
    else:
        message = f"'{name[:80]}' is not a valid name in the format; the capability_id is '{capability_id}'"
        mapping.note("IMPORT_NAME_CHANGED", message, f"{_HYPHEN_HINT} {_AS_ID_HINT}", "name")
    return capability_id


def _description(mapping: SkillMapping) -> str:
    value = mapping.rest.get("description")
    if isinstance(value, list) and parse_strings(value):
        value = " ".join(map(str.strip, value))
        message = "'description' was a list; its lines were joined"
        mapping.note("IMPORT_VALUE_TO_TEXT", message, "", "description")
    if not isinstance(value, str) or not value:
        message = "The front matter has no description" if value in (None, "", []) else "The description is not text"
        hint = "Say what the skill does and when to use it."
        mapping.note("IMPORT_DESCRIPTION_UNUSABLE", message, hint, "description")
        return ""
    if len(value) > DESCRIPTION_MAX:
        message = f"The description has {len(value):,} characters; the format takes {DESCRIPTION_MAX:,}"
        mapping.note("IMPORT_FORM_ODD", message, "Shorten it before you publish.", "description")
    return value


def _take_known(mapping: SkillMapping) -> None:
    """The format's own optional keys, but for metadata."""
    rest, capability = mapping.rest, mapping.capability
    for key in ("license", "compatibility"):
        if key in rest:
            value = rest.pop(key)
            if not isinstance(value, str):
                joined = "; ".join(parse_strings(value) or []) if isinstance(value, list) else ""
                mapping.note("IMPORT_VALUE_TO_TEXT", f"'{key}' was not a text and became one", "", key)
                value = joined or to_string(value)
            capability[key] = value
            mapping.origins.append(((key,), (key,)))
    if "allowed-tools" in rest and "allowed_tools" not in capability:
        _take_allowed_tools(mapping)


def _take_allowed_tools(mapping: SkillMapping) -> None:
    value = mapping.rest["allowed-tools"]
    if isinstance(value, list) and parse_strings(value):
        message = "'allowed-tools' is a list; the format takes one text"
        mapping.note("IMPORT_FORM_ODD", message, "", "allowed-tools")
    elif not isinstance(value, str):
        return
    mapping.capability["allowed_tools"] = mapping.rest.pop("allowed-tools")
    mapping.origins.append((("allowed-tools",), ("allowed_tools",)))


def _take_metadata(mapping: SkillMapping) -> None:
    """Everything that is left is stored as a string under metadata."""
    metadata: dict[str, str] = {}
    given = mapping.rest.pop("metadata", {})
    if not isinstance(given, dict):
        message = "'metadata' was not a map; it is kept as one text"
        mapping.note("IMPORT_VALUE_TO_TEXT", message, "", "metadata")
        mapping.rest |= {"metadata": given} if given else {}
        given = {}
    for name, value in given.items():
        left = _left_of(mapping, name, value)
        if left is not None:
            _note_text(mapping, name, left)
            metadata[_kept_as(mapping, name)] = to_string(left)
    for key, value in mapping.rest.items():
        is_free = key not in metadata and key not in _OWN_KEYS
        kept_as = key if is_free else f"front_matter_{key}"
        if key != "metadata":
            effect = describe_effect(key, to_string(value))
            mapping.note("IMPORT_KEY_MOVED", effect or f"'{key}' is kept as metadata.{kept_as}", "", key)
            if not isinstance(value, str):
                mapping.note("IMPORT_VALUE_TO_TEXT", f"'{key}' was not a text; it is kept as JSON", "", key)
        metadata[kept_as] = to_string(value)
        mapping.origins.append(((key,), ("metadata", kept_as)))
    if metadata:
        mapping.capability["metadata"] = metadata


def _kept_as(mapping: SkillMapping, name: str) -> str:
    """What a SKILL.md has under a name that an import writes itself means something else."""
    kept_as = f"front_matter_{name}" if name in _OWN_KEYS else name
    mapping.origins.append((("metadata", name), ("metadata", kept_as)))
    if kept_as != name:
        message = f"'metadata.{name}' is kept as metadata.{kept_as}"
        mapping.note("IMPORT_KEY_MOVED", message, "", "metadata", name)
    return kept_as


def _left_of(mapping: SkillMapping, name: str, value: Any) -> Any:
    """What of one entry of metadata is to be kept there; None where all of it went elsewhere."""
    if name == "capability_id" and value == mapping.capability["capability_id"]:
        return None
    if name not in front_matter_keys.BLOCKS or not isinstance(value, dict):
        return value
    left, moved = front_matter_keys.move_block(value, mapping.capability)
    for path, target in moved:
        mapping.origins.append((("metadata", name, *path), target))
        message = f"'metadata.{name}.{'.'.join(path)}' became {'.'.join(target)}"
        mapping.note("IMPORT_KEY_MAPPED", message, "", "metadata", name, *path)
    return left or None


def _note_text(mapping: SkillMapping, name: str, value: Any) -> None:
    if not isinstance(value, str):
        message = f"'metadata.{name}' was not a text; it is kept as JSON"
        mapping.note("IMPORT_VALUE_TO_TEXT", message, "", "metadata", name)
    elif ("metadata", name) in mapping.typed:
        message = f"'metadata.{name}' is not text to YAML; it is kept as it is written"
        mapping.note("IMPORT_VALUE_TO_TEXT", message, "Put quotes around it.", "metadata", name)
