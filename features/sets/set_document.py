"""The document of a set as its authors write it: read, or refused with the place (docs/contract.md 6.1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from capability_kit.bundles.bundle import is_capability_id
from capability_rules.errors import InvalidRequest

MEMBERS_MAX: Final = 500
NAME_LENGTH_MAX: Final = 80
DESCRIPTION_LENGTH_MAX: Final = 1000
ICON_LENGTH_MAX: Final = 16
KEYS: Final = frozenset({"set_id", "name", "description", "icon", "visibility", "members"})
_REVISION_MAX: Final = 2**31 - 1


@dataclass(frozen=True, slots=True)
class SetDocument:
    """What a set is; `members` maps each id to its pinned revision, None for the latest, in the order of the ids."""

    set_id: str
    name: str
    description: str
    members: Mapping[str, int | None]
    icon: str = ""
    visibility: str = "listed"

    def as_dict(self) -> dict[str, Any]:
        """As it is written: `members` as a list."""
        members = [
            {"capability_id": name} | ({"revision": pin} if pin is not None else {})
            for name, pin in self.members.items()
        ]
        return {
            "set_id": self.set_id,
            "name": self.name,
            "description": self.description,
            "icon": self.icon,
            "visibility": self.visibility,
            "members": members,
        }


def parse_set(values: Mapping[str, Any]) -> SetDocument:
    """Raises `InvalidRequest` with the key that is wrong."""
    unknown = sorted(str(key)[:40] for key in set(values) - KEYS)
    if unknown:
        raise InvalidRequest(f"A set has no key {', '.join(unknown[:3])}; it has {', '.join(sorted(KEYS))}")
    set_id, icon, visibility = (values.get(key) or "" for key in ("set_id", "icon", "visibility"))
    if not isinstance(set_id, str) or not is_capability_id(set_id):
        raise InvalidRequest("set_id is lower-case words joined by _, at most 64 characters, such as front_desk")
    if not isinstance(icon, str) or len(icon) > ICON_LENGTH_MAX or not _is_emoji(icon):
        raise InvalidRequest(f"icon is an emoji of at most {ICON_LENGTH_MAX} characters")
    if visibility not in ("", "listed", "unlisted"):
        raise InvalidRequest("visibility is listed or unlisted")
    return SetDocument(
        set_id=set_id,
        name=_line(values, "name", NAME_LENGTH_MAX),
        description=_line(values, "description", DESCRIPTION_LENGTH_MAX),
        members=dict(sorted(_parse_members(values.get("members")).items())),
        icon=icon,
        visibility=visibility or "listed",
    )


def _is_emoji(text: str) -> bool:
    """Whether it may be one: nothing that is read as a word."""
    return all(character == "\u200d" or (character.isprintable() and not character.isascii()) for character in text)


def _line(values: Mapping[str, Any], key: str, most: int) -> str:
    value = values.get(key)
    text = value.strip() if isinstance(value, str) else ""
    if not 1 <= len(text) <= most or not text.isprintable():
        raise InvalidRequest(f"{key} has 1 to {most:,} printable characters in one line")
    return text


def _parse_members(value: Any) -> dict[str, int | None]:
    if not isinstance(value, list):
        raise InvalidRequest("members is a list of objects with capability_id, and revision where one is pinned")
    if len(value) > MEMBERS_MAX:
        raise InvalidRequest(f"A set has at most {MEMBERS_MAX} members, found {len(value):,}")
    members: dict[str, int | None] = {}
    for at, member in enumerate(value):
        place = f"members/{at}"
        if not isinstance(member, dict) or set(member) - {"capability_id", "revision"}:
            raise InvalidRequest(f"{place} is an object with capability_id, and revision where one is pinned")
        name, pin = member.get("capability_id"), member.get("revision")
        if not isinstance(name, str) or not is_capability_id(name):
            raise InvalidRequest(f"{place}/capability_id is lower-case words joined by _")
        if name in members:
            raise InvalidRequest(f"{place}/capability_id: '{name}' is a member already")
        if pin is not None and (isinstance(pin, bool) or not isinstance(pin, int) or not 1 <= pin <= _REVISION_MAX):
            raise InvalidRequest(f"{place}/revision is the number of a revision")
        members[name] = pin
    return members


def compare_sets(before: SetDocument | None, after: SetDocument) -> dict[str, Any]:
    """What is other: `added`, `removed`, `pinned` (`[id, revision]`), `unpinned`, and `before` and `after` of texts."""
    was, now = before.members if before is not None else {}, after.members
    both = [name for name in now if name in was and was[name] != now[name]]
    found: dict[str, Any] = {
        "added": [name for name in now if name not in was],
        "removed": [name for name in was if name not in now],
        "pinned": [[name, now[name]] for name in now if now[name] is not None and was.get(name) != now[name]],
        "unpinned": [name for name in both if now[name] is None],
    }
    texts = ("name", "description", "icon", "visibility")
    old = {key: getattr(before, key) for key in texts} if before is not None else {}
    new = {key: getattr(after, key) for key in texts}
    if differing := [key for key in texts if old.get(key) != new[key]]:
        found["before"] = {key: old[key] for key in differing if key in old}
        found["after"] = {key: new[key] for key in differing}
    return {key: value for key, value in found.items() if value}
