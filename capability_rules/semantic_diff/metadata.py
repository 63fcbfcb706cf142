"""What capability.json says: what leads to it, where it works, what it needs and what it is called."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from capability_kit.json_text import as_mapping, as_string, as_strings
from capability_rules.bundles.bundle import SkillBundle
from capability_rules.semantic_diff.change import Change, Effect

FILE: Final = "capability.json"
_SYSTEMS: Final = {"common": "every system", "darwin": "macOS", "win32": "Windows", "linux": "Linux"}
# What is needed of each kind, as it is worded in a sentence.
_NEEDS: Final = (
    ("bins", "the program"), ("python", "the Python package"), ("apps", "the application"),
    ("env", "the environment variable"), ("mcp_servers", "the MCP server"),
)  # fmt: skip
# Keys whose two values are short enough to be shown, with the label of each and the text for an absent one.
_TOLD: Final = (
    ("name", "name", ""), ("language", "language", ""),
    ("skill_profile", "profile", "capability"), ("priority", "priority", 0),
    ("max_turns", "number of turns that it stays active", 0), ("license", "license", ""), ("emoji", "emoji", ""),
)  # fmt: skip
_NAMED: Final = (
    ("description", "description"), ("playbook", "problem of the playbook"), ("compatibility", "compatibility"),
    ("metadata", "metadata"),
)  # fmt: skip


def compare_metadata(old: SkillBundle, new: SkillBundle) -> Iterator[Change]:
    """In the order in which a reader would ask: triggers, reach, needs, words."""
    before, after = as_mapping(old.capability), as_mapping(new.capability)
    yield from _list_changes(before, after, "intent_triggers", "The trigger “{}”", added="widens")
    yield from _system_changes(before, after)
    yield from _need_changes(as_mapping(before.get("dependencies")), as_mapping(after.get("dependencies")))
    yield from _level_changes(before, after)
    yield from _allowed_changes(before, after)
    yield from _list_changes(before, after, "skill_groups", "The group `{}`", added="changes")
    yield from _told_changes(before, after)
    yield from _sentence_changes(as_mapping(before.get("utterances")), as_mapping(after.get("utterances")))


def _change(effect: Effect, key: str, words: str, *more: str | int) -> Change:
    return Change(effect, "", words, (key, *more), FILE)


def _list_changes(
    before: dict[str, Any], after: dict[str, Any], key: str, what: str, *, added: Effect
) -> Iterator[Change]:
    old, new, values = as_strings(before.get(key)), as_strings(after.get(key)), after.get(key)
    for item in _without(new, old):
        place = values.index(item) if isinstance(values, list) else 0
        yield _change(added, key, f"{what.format(item)} is new", place)
    for item in _without(old, new):
        yield _gone(f"{what.format(item)} is gone")


def _gone(words: str) -> Change:
    return Change("changes", "", words, None, FILE)


def _without(items: list[str], others: list[str]) -> list[str]:
    return [item for item in items if item not in others]


def _system_changes(before: dict[str, Any], after: dict[str, Any]) -> Iterator[Change]:
    old, new = _systems(before), _systems(after)
    if old == new or not old:
        return
    if "common" in new:
        yield _change("widens", "os", "It works on every system now")
        return
    gone = sorted(_SYSTEMS.keys() - {"common"} - new) if "common" in old else sorted(old - new)
    for system in gone:
        yield Change("breaks", "", f"It no longer works on {_SYSTEMS.get(system, system)}", ("os",), FILE)
    if "common" not in old:
        for system in sorted(new - old):
            yield _change("widens", "os", f"It works on {_SYSTEMS.get(system, system)} now")


def _systems(capability: dict[str, Any]) -> set[str]:
    return set(as_strings(capability.get("os", ["common"])))


def _need_changes(before: dict[str, Any], after: dict[str, Any]) -> Iterator[Change]:
    for key, what in _NEEDS:
        old, new = as_strings(before.get(key)), as_strings(after.get(key))
        for item in _without(new, old):
            yield _change("breaks", "dependencies", f"It needs {what} `{item}` now", key)
        for item in _without(old, new):
            yield _gone(f"It no longer needs {what} `{item}`")
    old, new = as_strings(before.get("skills")), as_strings(after.get("skills"))
    for item in _without(new, old):
        yield _change("changes", "dependencies", f"It needs the skill `{item}` now", "skills")
    for item in _without(old, new):
        yield _gone(f"It no longer needs the skill `{item}`")
    old, new = as_strings(before.get("permissions")), as_strings(after.get("permissions"))
    for item in _without(new, old):
        yield _change("widens", "dependencies", f"It asks the system for the permission `{item}`", "permissions")
    for item in _without(old, new):
        yield _gone(f"It no longer asks for the permission `{item}`")


def _level_changes(before: dict[str, Any], after: dict[str, Any]) -> Iterator[Change]:
    old, new = _levels(before), _levels(after)
    if old != new:
        yield _change("changes", "dependency_level", f"The dependency level is {new} where it was {old}")


def _levels(capability: dict[str, Any]) -> str:
    level = capability.get("dependency_level", "builtin")
    if isinstance(level, dict):
        return ", ".join(f"{value} on {_SYSTEMS.get(system, system)}" for system, value in sorted(level.items()))
    return str(level)


def _allowed_changes(before: dict[str, Any], after: dict[str, Any]) -> Iterator[Change]:
    old, new = _allowed(before), _allowed(after)
    for item in sorted(new - old):
        yield _change("widens", "allowed_tools", f"It may use the agent's own tool `{item}`")
    for item in sorted(old - new):
        yield _gone(f"It may no longer use the agent's own tool `{item}`")


def _allowed(capability: dict[str, Any]) -> set[str]:
    value = capability.get("allowed_tools")
    return set(value.split()) if isinstance(value, str) else set(as_strings(value))


def _told_changes(before: dict[str, Any], after: dict[str, Any]) -> Iterator[Change]:
    for key, what, default in _TOLD:
        old, new = before.get(key, default), after.get(key, default)
        if old != new:
            was = f" where it was “{_short(old)}”" if old not in ("", None) else ""
            now = f"is “{_short(new)}”" if new not in ("", None) else "is gone"
            yield _change("changes", key, f"The {what} {now}{was}")
    for key, what in _NAMED:
        if before.get(key) != after.get(key):
            yield _change("changes", key, f"The {what} changed")


def _short(value: Any) -> str:
    words = as_string(value) or str(value)
    return words if len(words) <= 80 else f"{words[:79]}…"


def _sentence_changes(before: dict[str, Any], after: dict[str, Any]) -> Iterator[Change]:
    for key, what in (("should_match", "example message"), ("should_not_match", "sentence that must not lead here")):
        old, new = as_strings(before.get(key)), as_strings(after.get(key))
        for count, verb in ((len(set(new) - set(old)), "new"), (len(set(old) - set(new)), "gone")):
            if count:
                words = f"1 {what} is {verb}" if count == 1 else f"{count} {_plural(what)} are {verb}"
                yield _change("changes", "utterances", words)


def _plural(what: str) -> str:
    return what.replace("sentence", "sentences", 1).replace("message", "messages", 1)
