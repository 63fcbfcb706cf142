"""From the front matter of a SKILL.md to capability.json, with every loss and every move named.

Which key of another product means which is in agent_client.bundles.front_matter_keys: agents that read a folder have
the same table.
"""

from __future__ import annotations

from typing import Any, Final

from agent_client.bundles import front_matter_keys
from agent_client.bundles.front_matter_values import parse_strings, to_string
from registry.agent_skills import names, profile_detection
from registry.agent_skills.loss_report import LossReport
from registry.agent_skills.skill_parser import ParsedSkill
from registry.bundles.skill_document import SkillDocument
from registry.bundles.supporting_files import METADATA_KEY

DESCRIPTION_MAX: Final = 1024
_HYPHEN_HINT: Final = "Lower-case words and digits joined by single hyphens, at most 64 characters."


def map_front_matter(skill: ParsedSkill, body: SkillDocument, folder: str, losses: LossReport) -> dict[str, Any] | None:
    """The values of capability.json; None, with the error in `losses`, where the skill cannot be named or described.

    `folder` is the name of the folder that contains SKILL.md, empty where it is not known.
    """
    values = _front_matter(skill, body, losses)
    if values is None:
        return None
    capability_id = _capability_id(values, folder, losses)
    description = _description(values, losses)
    if not capability_id or not description:
        return None
    capability: dict[str, Any] = {"capability_id": capability_id, "name": values["name"], "description": description}
    rest = {key: value for key, value in values.items() if key not in ("name", "description")}
    _map_top_level(rest, capability, losses)
    profile_detection.resolve_profile(capability, body, rest, losses)
    _take_known(rest, capability, losses)
    _take_metadata(rest, capability, skill, losses)
    return capability


def _front_matter(skill: ParsedSkill, body: SkillDocument, losses: LossReport) -> dict[str, Any] | None:
    values = dict(skill.values) if skill.has_front_matter else profile_detection.profile_front_matter(body)
    if values is None:
        message = "SKILL.md has no front matter"
        losses.add("IMPORT_FRONT_MATTER_UNUSABLE", message, "Begin it with ---, name:, description: and ---.")
        return None
    return {key: value.strip() if isinstance(value, str) else value for key, value in values.items()}


def _capability_id(values: dict[str, Any], folder: str, losses: LossReport) -> str:
    name = values.get("name")
    if not isinstance(name, str) or not name:
        found = "has no name" if name in (None, "") else "has a name that is not text"
        losses.add("IMPORT_NAME_UNUSABLE", f"The front matter {found}", _HYPHEN_HINT, key="name")
        return ""
    if folder and name != folder:
        losses.add("IMPORT_NAME_DIFFERS", f"The name is '{name[:80]}', the folder '{folder[:80]}'", key="name")
    if names.is_skill_name(name):
        return names.capability_id_of(name)
    nearest = names.nearest_skill_name(name) or (folder if names.is_skill_name(folder) else "")
    if not nearest:
        message = f"No capability_id can be made of the name '{name[:80]}'"
        losses.add("IMPORT_NAME_UNUSABLE", message, _HYPHEN_HINT, key="name")
        return ""
    capability_id = names.capability_id_of(nearest)
    message = f"'{name[:80]}' is not a valid name in the format; the capability_id is '{capability_id}'"
    losses.add("IMPORT_NAME_CHANGED", message, _HYPHEN_HINT, key="name")
    return capability_id


def _description(values: dict[str, Any], losses: LossReport) -> str:
    value = values.get("description")
    if isinstance(value, list) and parse_strings(value):
        value = " ".join(map(str.strip, value))
        losses.add("IMPORT_VALUE_TO_TEXT", "'description' was a list; its lines were joined", key="description")
    if not isinstance(value, str) or not value:
        message = "The front matter has no description" if value in (None, "", []) else "The description is not text"
        hint = "Say what the skill does and when to use it."
        losses.add("IMPORT_DESCRIPTION_UNUSABLE", message, hint, key="description")
        return ""
    if len(value) > DESCRIPTION_MAX:
        message = f"The description has {len(value):,} characters; the format takes {DESCRIPTION_MAX:,}"
        losses.add("IMPORT_FORM_ODD", message, "Shorten it before you publish.", key="description")
    return value


def _map_top_level(front_matter: dict[str, Any], capability: dict[str, Any], losses: LossReport) -> None:
    """Move the keys of the front matter's first level that mean something here; what does not fit stays."""
    for path, target in front_matter_keys.move_top_level(front_matter, capability):
        message = f"'{'.'.join(path)}' became {'.'.join(target)}"
        losses.add("IMPORT_KEY_MAPPED", message, key=path[0], below=path[1] if len(path) > 1 else "")


def _map_block(name: str, block: dict[str, Any], capability: dict[str, Any], losses: LossReport) -> dict[str, Any]:
    """The same for one product's block below metadata; returns what is left of it."""
    rest, moved = front_matter_keys.move_block(block, capability)
    for path, target in moved:
        message = f"'metadata.{name}.{'.'.join(path)}' became {'.'.join(target)}"
        losses.add("IMPORT_KEY_MAPPED", message, key="metadata", below=name)
    return rest


def _take_known(rest: dict[str, Any], capability: dict[str, Any], losses: LossReport) -> None:
    """The format's own optional keys, but for metadata."""
    for key in ("license", "compatibility"):
        if key in rest:
            value = rest.pop(key)
            if not isinstance(value, str):
                joined = "; ".join(parse_strings(value) or []) if isinstance(value, list) else ""
                losses.add("IMPORT_VALUE_TO_TEXT", f"'{key}' was no text and became one", key=key)
                value = joined or to_string(value)
            capability[key] = value
    for key in ("allowed-tools", "allowed_tools"):
        if key in rest and "allowed_tools" not in capability:
            _take_allowed_tools(key, rest, capability, losses)


def _take_allowed_tools(key: str, rest: dict[str, Any], capability: dict[str, Any], losses: LossReport) -> None:
    value = rest[key]
    if isinstance(value, list) and parse_strings(value):
        losses.add("IMPORT_FORM_ODD", f"'{key}' is a list; the format takes one text", key=key)
    elif not isinstance(value, str):
        return
    capability["allowed_tools"] = rest.pop(key)


def _take_metadata(rest: dict[str, Any], capability: dict[str, Any], skill: ParsedSkill, losses: LossReport) -> None:
    """Everything that is left is stored as a string under metadata."""
    metadata: dict[str, str] = {}
    given = rest.pop("metadata", {})
    if not isinstance(given, dict):
        losses.add("IMPORT_VALUE_TO_TEXT", "'metadata' was no map; it is kept as one text", key="metadata")
        given = {"metadata": given} if given else {}
    for name, value in given.items():
        left = _left_of(name, value, capability, losses)
        if left is not None:
            _note_text(name, left, skill, losses)
            metadata[_kept_as(name, losses)] = to_string(left)
    for key, value in rest.items():
        kept_as = key if key not in metadata and key != METADATA_KEY else f"front_matter_{key}"
        losses.add("IMPORT_KEY_MOVED", f"'{key}' is kept as metadata.{kept_as}", key=key)
        if not isinstance(value, str):
            losses.add("IMPORT_VALUE_TO_TEXT", f"'{key}' was no text; it is kept as JSON", key=key)
        metadata[kept_as] = to_string(value)
    if metadata:
        capability["metadata"] = metadata


def _kept_as(name: str, losses: LossReport) -> str:
    """An import determines itself which files it stores: what a SKILL.md has under that name means something else."""
    if name != METADATA_KEY:
        return name
    message = f"'metadata.{name}' is kept as metadata.front_matter_{name}"
    losses.add("IMPORT_KEY_MOVED", message, key="metadata", below=name)
    return f"front_matter_{name}"


def _left_of(name: str, value: Any, capability: dict[str, Any], losses: LossReport) -> Any:
    """What of one entry of metadata is to be kept there; None where all of it went elsewhere."""
    if name == "capability_id" and value == capability["capability_id"]:
        return None
    if name in front_matter_keys.BLOCKS and isinstance(value, dict):
        return _map_block(name, value, capability, losses) or None
    return value


def _note_text(name: str, value: Any, skill: ParsedSkill, losses: LossReport) -> None:
    if not isinstance(value, str):
        message = f"'metadata.{name}' was no text; it is kept as JSON"
        losses.add("IMPORT_VALUE_TO_TEXT", message, key="metadata", below=name)
    elif f"metadata/{name}" in skill.typed:
        message = f"'metadata.{name}' is not text to YAML; it is kept as it is written"
        losses.add("IMPORT_VALUE_TO_TEXT", message, "Put quotes around it.", key="metadata", below=name)
