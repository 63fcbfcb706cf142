"""What is left of descriptions in the list of a client."""

from __future__ import annotations

import html
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capability_kit.bundles.bundle import ListingEntry
from capability_kit.bundles.skill_names import skill_name_of
from features.listing_budgets.budgets import ListingBudget, list_budgets
from features.listing_budgets.listing import CUT, MISSING, NAME, WHOLE, ListedSkill, read_listing

BUDGETS = {budget.id: budget for budget in list_budgets()}
ENTRIES = st.lists(
    st.builds(
        lambda number, words: (f"skill_{number}", words),
        st.integers(0, 400),
        st.text("ab <&é", min_size=1, max_size=1200).map(lambda words: f"x{words}x"),
    ),
    max_size=80,
    unique_by=lambda pair: pair[0],
)


def _entries(*descriptions: str) -> list[ListingEntry]:
    return [ListingEntry(f"skill_{at:03}", f"Skill {at}", words) for at, words in enumerate(descriptions)]


def _states(listing: dict[str, ListedSkill]) -> list[str]:
    return [one.state for one in listing.values()]


def _written(entry: ListingEntry, one: ListedSkill, budget: ListingBudget) -> str:
    """The line as the client writes it."""
    shown = html.escape(one.shown) if budget.is_escaped else one.shown
    form = budget.line if one.shown else budget.bare
    return form.format(name=skill_name_of(entry.capability_id), capability_id=entry.capability_id, description=shown)


@given(ENTRIES)
@pytest.mark.parametrize("budget", BUDGETS.values(), ids=BUDGETS)
def test_a_list_is_never_longer_than_its_client_has_room_for(
    budget: ListingBudget, found: list[tuple[str, str]]
) -> None:
    entries = [ListingEntry(name, name, words) for name, words in found]
    listing = read_listing(entries, budget)
    assert listing.keys() == {entry.capability_id for entry in entries}
    described = [_written(each, one, budget) for each in entries if (one := listing[each.capability_id]).shown]
    named = [_written(each, one, budget) for each in entries if (one := listing[each.capability_id]).state == NAME]
    lines = described if budget.names else described + named
    if budget.all:
        assert sum(map(len, lines)) + max(0, len(lines) - 1) <= budget.all
    if budget.names:
        assert sum(map(len, named)) <= budget.names
    for each in entries:
        one, whole = listing[each.capability_id], " ".join(each.description.split())
        assert one.characters == len(whole)
        assert (one.shown == whole) == (one.state == WHOLE)
        assert one.state != CUT or whole.startswith(one.shown.rstrip("…"))


def test_claude_code_keeps_every_name_and_what_still_fits() -> None:
    # 40 lines of 200 characters fit into 8,000 with their ends; the long one does not, and a short one after it does.
    listing = read_listing(_entries(*["a" * 186] * 39, "b" * 900, "c" * 20), BUDGETS["claude_code"])
    assert _states(listing) == [WHOLE] * 39 + [NAME, WHOLE]


def test_claude_code_cuts_one_description_at_its_own_limit() -> None:
    [one] = read_listing(_entries("a" * 1600), BUDGETS["claude_code"]).values()
    assert (one.state, len(one.shown), one.characters) == (CUT, 1536, 1600)


def test_codex_gives_each_the_same_and_what_short_ones_leave() -> None:
    listing = read_listing(_entries("s" * 50, *["a" * 1000] * 30), BUDGETS["codex"])
    lengths = [len(one.shown) for one in listing.values()]
    assert lengths[0] == 50
    assert len(set(lengths[1:])) == 1
    assert 600 < lengths[1] < 700
    # One character more for each would not fit.
    budget = BUDGETS["codex"]
    entries = _entries("s" * 50, *["a" * (lengths[1] + 1)] * 30)
    assert CUT in _states(read_listing(entries, budget))
    assert CUT not in _states(read_listing(_entries("s" * 50, *["a" * lengths[1]] * 30), budget))


def test_codex_drops_all_descriptions_before_a_name() -> None:
    listing = read_listing(_entries(*["a" * 100] * 600), BUDGETS["codex"])
    states = _states(listing)
    assert states[0] == NAME
    assert states[-1] == MISSING
    assert set(states) == {NAME, MISSING}


def test_copilot_ends_its_list_at_the_first_that_does_not_fit() -> None:
    listing = read_listing(_entries(*["a" * 900] * 20, "short"), BUDGETS["copilot"])
    states = _states(listing)
    at = states.index(NAME)
    assert states == [WHOLE] * at + [NAME] * (21 - at)
    assert at == 15000 // (900 + len(BUDGETS["copilot"].line.format(name="skill-000", description="")) + 1)


def test_copilot_counts_what_it_escapes() -> None:
    plain = read_listing(_entries(*["aaaaaaaaaa" * 40] * 30), BUDGETS["copilot"])
    escaped = read_listing(_entries(*["<<<<<aaaaa" * 40] * 30), BUDGETS["copilot"])
    assert _states(escaped).count(WHOLE) < _states(plain).count(WHOLE)


def test_a_session_lists_by_priority_and_not_by_name() -> None:
    entries = [*_entries(*["words of a description " * 10] * 200), ListingEntry("zzz", "Z", "last", priority=50)]
    listing = read_listing(entries, BUDGETS["session"])
    assert next(iter(listing)) == "zzz"
    assert _states(listing).count(MISSING) > 100


def test_what_reads_the_same_after_the_cut_is_told() -> None:
    same = "Fills in forms of the tax office. " * 12
    entries = _entries(f"{same} For companies." + "a" * 800, f"{same} For people." + "b" * 800, "Another one.")
    budget = replace(BUDGETS["codex"], all=900)
    listing = read_listing([*entries], budget)
    assert [one.twin for one in listing.values()] == ["skill_001", "skill_000", ""]
    assert not any(one.twin for one in read_listing(entries, BUDGETS["cursor"]).values())


def test_each_budget_has_its_source() -> None:
    assert [budget.id for budget in list_budgets()] == ["claude_code", "codex", "copilot", "cursor", "session"]
    assert all(budget.source and budget.date for budget in list_budgets())
