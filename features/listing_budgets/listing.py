"""What is left of each description when a client lists these skills. Pure."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from capability_client.session.layout_state import LayoutState
from capability_client.session.list_order import order_entries
from capability_kit.bundles.bundle import ListingEntry
from capability_kit.bundles.skill_names import skill_name_of
from capability_kit.text.sanitize import one_line
from features.listing_budgets.budgets import ListingBudget

WHOLE: Final = "whole"
CUT: Final = "cut"
NAME: Final = "name"
MISSING: Final = "missing"
# From the best to the worst.
STATES: Final = (WHOLE, CUT, NAME, MISSING)


@dataclass(frozen=True, slots=True)
class ListedSkill:
    """What a model reads of one skill: `shown` of `characters` characters of its description.

    `twin` is the first other skill of whose description the same is shown; empty for none.
    """

    state: str
    shown: str
    characters: int
    twin: str = ""

    @property
    def is_whole(self) -> bool:
        """Whether nothing is lost."""
        return self.state == WHOLE


def read_listing(entries: Sequence[ListingEntry], budget: ListingBudget) -> dict[str, ListedSkill]:
    """By capability_id what the client's model reads; the order is the one in which they are listed."""
    ordered = _order(entries, budget)
    shown = [_description(entry, budget) for entry in ordered]
    full = [_width(budget.line, entry, text, budget) for entry, text in zip(ordered, shown, strict=True)]
    if not budget.all or sum(full) + len(full) - 1 <= budget.all:
        kept: list[str | None] = list(shown)
    else:
        kept = _OVERFLOWS[budget.overflow](ordered, shown, full, budget)
    found = {entry.capability_id: _listed(entry, text) for entry, text in zip(ordered, kept, strict=True)}
    return _with_twins(found)


def _order(entries: Sequence[ListingEntry], budget: ListingBudget) -> list[ListingEntry]:
    if budget.is_ranked:
        return order_entries(entries, LayoutState(), has_begun=False)
    return sorted(entries, key=lambda entry: entry.capability_id)


def _description(entry: ListingEntry, budget: ListingBudget) -> str:
    """The description as one line of its own limits."""
    text = " ".join(entry.description.split())
    limits = [budget.each] if budget.each else []
    if budget.line_max:
        limits.append(max(2, budget.line_max - _width(budget.line, entry, "", budget)))
    return one_line(text, most=min(limits)) if limits and len(text) > min(limits) else text


def _width(form: str, entry: ListingEntry, description: str, budget: ListingBudget) -> int:
    name = skill_name_of(entry.capability_id)
    if budget.is_escaped:
        description = html.escape(description)
    return len(form.format(name=name, capability_id=entry.capability_id, description=description))


def _drop_descriptions(
    entries: Sequence[ListingEntry], shown: Sequence[str], full: Sequence[int], budget: ListingBudget
) -> list[str | None]:
    """Each name stays, and each description that fits beside those before it."""
    bare = [_width(budget.bare, entry, "", budget) for entry in entries]
    room = budget.all - sum(bare) - (len(bare) - 1)
    kept: list[str | None] = []
    for text, long, short in zip(shown, full, bare, strict=True):
        fits = long - short <= room
        room -= long - short if fits else 0
        kept.append(text if fits else "")
    return kept


def _stop(
    entries: Sequence[ListingEntry], shown: Sequence[str], full: Sequence[int], budget: ListingBudget
) -> list[str | None]:
    """The first that does not fit ends the list; as many names as fit follow."""
    kept: list[str | None] = []
    room, names = budget.all, budget.names
    for entry, text, long in zip(entries, shown, full, strict=True):
        room = room - long - 1 if room > long else 0
        if room:
            kept.append(text)
            continue
        names = max(0, names - _width(budget.bare, entry, "", budget)) if budget.names else 0
        kept.append("" if names else None)
    return kept


def _share(
    entries: Sequence[ListingEntry], shown: Sequence[str], full: Sequence[int], budget: ListingBudget
) -> list[str | None]:
    """Each gets the same number of characters, and what short ones leave; where not even the names fit, no description
    does, and the last names are missing."""
    bare = [_width(budget.bare, entry, "", budget) + 1 for entry in entries]
    room = budget.all - sum(bare)
    if room < 0:
        return _names_alone(bare, budget.all)
    beside = [long + 1 - short - len(text) for long, short, text in zip(full, bare, shown, strict=True)]
    needs = sorted(len(text) + more for text, more in zip(shown, beside, strict=True))
    share = 0
    for at, need in enumerate(needs):
        left = len(needs) - at
        if need * left > room:
            share = room // left
            break
        room -= need
        share = need
    return [text[: max(0, share - more)] for text, more in zip(shown, beside, strict=True)]


def _names_alone(bare: Sequence[int], room: int) -> list[str | None]:
    kept: list[str | None] = []
    for width in bare:
        room = room - width if room >= width else 0
        kept.append("" if room else None)
    return kept


_OVERFLOWS: Final = {"name": _drop_descriptions, "stop": _stop, "share": _share}


def _listed(entry: ListingEntry, shown: str | None) -> ListedSkill:
    """`shown` is empty where the name alone is listed, and None where nothing is."""
    whole = " ".join(entry.description.split())
    if shown is None:
        state = MISSING
    elif not shown:
        state = NAME
    else:
        state = WHOLE if shown == whole else CUT
    return ListedSkill(state, shown or "", len(whole))


def _with_twins(found: Mapping[str, ListedSkill]) -> dict[str, ListedSkill]:
    """Of names alone none is a twin: a model chooses by what they say."""
    first: dict[str, list[str]] = {}
    for name, one in found.items():
        if one.shown:
            first.setdefault(one.shown.rstrip("…").casefold(), []).append(name)
    alike = [names for names in first.values() if names[1:]]
    twins = {name: names[name == names[0]] for names in alike for name in names}
    return {name: replace(one, twin=twins.get(name, "")) for name, one in found.items()}
