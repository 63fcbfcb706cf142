"""What a user invokes by name (docs/requirements.md E): `$skill-name args`, several at once, or in plain text."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from time import monotonic
from typing import Final
from weakref import WeakKeyDictionary

from capability_kit.bundles.bundle import Listing, ListingEntry, list_open_triggers
from capability_kit.text.tokenizer import tokenize
from capability_kit.text.trigger_matching import TriggerIndex

# A price ($5), a shell variable ($HOME) and an escaped sign (\$x) are not invocations: only a known name is one.
_INVOCATION: Final = re.compile(r"\$([A-Za-z0-9][A-Za-z0-9_-]{0,63})")
_BEFORE: Final = re.compile(r"[\w\\$]")
# What joins a name with what follows: "$weights, and tell me".
_JOINING: Final = " \t,;:."
# Beside a name of one plain word there must be a word that says that the skill is meant: "the weights skill".
_SKILL_WORDS: Final = frozenset({"skill", "capability", "playbook", "runbook"})


@dataclass(frozen=True, slots=True)
class Invocation:
    """A skill that the user named, and what stood behind it."""

    capability_id: str
    arguments: str = ""


@dataclass(frozen=True, slots=True)
class Mentions:
    """What was found: the skills named, and `$names` that look like a slip, `(written, nearest)`.

    `message` is the text before the first name, `without_names` all of it but the names.
    """

    message: str
    without_names: str
    invocations: tuple[Invocation, ...]
    misspellings: tuple[tuple[str, str], ...]


def canonical_name(name: str) -> str:
    """`Code-Review` and `code_review` are one id."""
    return name.lower().replace("-", "_").strip("_")


def read_mentions(message: str, known: Iterable[str]) -> Mentions:
    """The `$name`s of a message. Arguments reach to the next `$name`, or to the end."""
    ids = set(known)
    marks = _marks(message)
    found = [mark for mark in marks if canonical_name(mark[1]) in ids]
    invocations: dict[str, Invocation] = {}
    for index, mark in enumerate(found):
        end = found[index + 1].start() if index + 1 < len(found) else len(message)
        capability_id = canonical_name(mark[1])
        arguments = message[mark.end() : end].strip().lstrip(_JOINING)
        earlier = invocations.get(capability_id)
        if earlier is not None and earlier.arguments:
            arguments = f"{earlier.arguments} {arguments}".strip()
        invocations[capability_id] = Invocation(capability_id, arguments)
    misspellings = _misspellings([mark[1] for mark in marks if canonical_name(mark[1]) not in ids], ids)
    before = message[: found[0].start()] if found else message
    rest, start = [], 0
    for mark in found:
        rest.append(message[start : mark.start()].rstrip())
        start = mark.end()
    without = "".join([*rest, message[start:]]).strip(_JOINING if found else None)
    return Mentions(before.strip(), without, tuple(invocations.values()), misspellings)


def _marks(message: str) -> list[re.Match[str]]:
    """Each `$name`: not inside of a word, not escaped; one may follow another at once."""
    found: list[re.Match[str]] = []
    for mark in _INVOCATION.finditer(message):
        is_next = bool(found) and found[-1].end() == mark.start()
        if is_next or not mark.start() or not _BEFORE.match(message[mark.start() - 1]):
            found.append(mark)
    return found


def _misspellings(written: list[str], ids: set[str]) -> tuple[tuple[str, str], ...]:
    """`(written, nearest)` of unknown names that are nearly known ones; a few are enough."""
    asked = [name for name in dict.fromkeys(written) if len(name) >= 3][:5]
    return tuple((name, near) for name in asked for near in get_close_matches(canonical_name(name), ids, 1, 0.8))


class NameIndex:
    """The names of all capabilities by their first word, so that a look-up costs by the message alone."""

    def __init__(self, entries: Iterable[ListingEntry]) -> None:
        self._by_first: dict[str, list[tuple[tuple[str, ...], str, str]]] = {}
        for entry in entries:
            for written in {entry.capability_id, entry.name}:
                name = tuple(word.stem for word in tokenize(written))
                if name:
                    self._by_first.setdefault(name[0], []).append((name, written, entry.capability_id))

    def find(self, message: str) -> list[str]:
        """Ids that the text names: beside "skill", or as they are written: Excel Analyzer, billing-refund."""
        found: dict[str, None] = {}
        text = tokenize(message)
        stems = [word.stem for word in text]
        for start, stem in enumerate(stems):
            for name, written, capability_id in self._by_first.get(stem, ()):
                end = start + len(name)
                if tuple(stems[start:end]) != name:
                    continue
                said = message[text[start].start : text[end - 1].end]
                if _is_written(said, written, name) or _is_beside_skill(stems, start, end):
                    found[capability_id] = None
        return list(found)


def _is_written(said: str, written: str, name: tuple[str, ...]) -> bool:
    """Letter by letter, several words: "disk pressure" in a sentence is not a name, "disk_pressure" is."""
    return len(name) > 1 and (said == written or ("_" in written and said.replace("-", "_").lower() == written))


def _is_beside_skill(stems: Sequence[str], start: int, end: int) -> bool:
    return bool({*stems[max(0, start - 1) : start], *stems[end : end + 1]} & _SKILL_STEMS)


_SKILL_STEMS: Final = frozenset(word.stem for text in sorted(_SKILL_WORDS) for word in tokenize(text))


class ListedSkills:
    """The entries of one list, ready for looking up. Never changed, so that sessions share it; each index is made when
    it is needed first."""

    def __init__(self, entries: Iterable[ListingEntry] = ()) -> None:
        self.listed: tuple[ListingEntry, ...] = tuple(entries)
        self.entries: dict[str, ListingEntry] = {entry.capability_id: entry for entry in self.listed}

    @cached_property
    def triggers(self) -> TriggerIndex:
        """The intent triggers of all capabilities that a message may lead to."""
        return TriggerIndex(list_open_triggers(self.listed))

    @cached_property
    def names(self) -> NameIndex:
        """The names of all capabilities."""
        return NameIndex(self.listed)


class SkillIndex:
    """What a session knows of the registry's list, ready for looking up: empty until a list is accepted.

    `revision` is that of the list. `is_complete` says that it was all there is at that revision: the source answered
    for itself, and not with an older list.
    """

    def __init__(self) -> None:
        self.is_read: bool = False
        self.is_complete: bool = False
        self.revision: int = 0
        # When the whole list was read last, by the monotonic clock.
        self.whole_at: float = 0.0
        self.first_run: str = ""
        self.exclusive_groups: tuple[str, ...] = ()
        self._skills = ListedSkills()

    @classmethod
    def of(cls, source: object) -> SkillIndex:
        """What other sessions of this process know of the source; the first list of this one may say what changed."""
        with _SHARED_MUTEX, suppress(TypeError):
            index = copy(SHARED_INDEXES.get(source) or cls())
            index.is_read = False
            return index
        return cls()

    def share(self, source: object) -> None:
        """For sessions that begin later, where the list is complete. A source that cannot be referred to has none."""
        with _SHARED_MUTEX, suppress(TypeError):
            if self.is_complete:
                SHARED_INDEXES[source] = copy(self)

    @property
    def entries(self) -> dict[str, ListingEntry]:
        """All capabilities by id: the same object until the list changes."""
        return self._skills.entries

    @property
    def triggers(self) -> TriggerIndex:
        """The intent triggers of all capabilities that a message may lead to."""
        return self._skills.triggers

    @property
    def names(self) -> NameIndex:
        """The names of all capabilities."""
        return self._skills.names

    def accept(self, listing: Listing) -> None:
        """Take this list in the place of the one before. `entries` stays the same object where nothing changed."""
        if listing.entries is not self._skills.listed and listing.entries != self._skills.listed:
            self._skills = ListedSkills(listing.entries)
        self.whole_at = monotonic()
        self._describe(listing)

    def merge(self, listing: Listing) -> None:
        """Take what changed since the list before, and what was removed from it."""
        changed = {one.capability_id: one for one in listing.entries if one != self.entries.get(one.capability_id)}
        removed = {name for name in listing.removed if name in self.entries}
        if changed or removed:
            merged = self.entries | changed
            self._skills = ListedSkills(merged[name] for name in sorted(merged) if name not in removed - set(changed))
        self._describe(listing)

    def _describe(self, listing: Listing) -> None:
        self.is_read = True
        self.is_complete = not (listing.is_stale or listing.is_partial)
        self.revision = listing.registry_revision
        self.first_run = listing.first_run or ""
        self.exclusive_groups = listing.exclusive_groups


# The latest complete list of each source.
SHARED_INDEXES: Final[WeakKeyDictionary[object, SkillIndex]] = WeakKeyDictionary()
_SHARED_MUTEX: Final = threading.Lock()


def complete_name(prefix: str, entries: Iterable[ListingEntry], *, most: int = 20) -> list[ListingEntry]:
    """What may follow a typed `$`: ids that begin so first, then those with a word that begins so.

    What its author keeps off this menu is not offered; typed whole, its name is understood.
    """
    typed = canonical_name(prefix.removeprefix("$"))
    ranked = []
    for entry in (each for each in entries if not each.is_off_menu):
        parts = [*entry.capability_id.split("_"), *(text.lower() for text in entry.name.split())]
        if entry.capability_id.startswith(typed):
            ranked.append((0, entry.capability_id, entry))
        elif any(part.startswith(typed) for part in parts):
            ranked.append((1, entry.capability_id, entry))
    return [entry for _, _, entry in sorted(ranked, key=lambda row: row[:2])[:most]]
