"""Two versions of one draft: what each changed, and what has to be chosen."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capability_rules.errors import InvalidRequest
from registry.authoring import three_way_merge
from registry.authoring.three_way_merge import MergeChunk, merge_draft, merge_files, merge_texts, resolve_conflicts
from registry.catalog import drafts
from registry.common.errors import DraftConflict
from registry.models import AuditEvent
from tests import costs
from tests.factories import OLGA, bundle

BASE = "one\ntwo\nthree\nfour\nfive\n"


def _kinds(chunks: tuple[MergeChunk, ...]) -> list[str]:
    return [chunk.kind for chunk in chunks]


def test_what_only_one_changed_is_taken() -> None:
    mine, theirs = BASE.replace("one", "ONE"), BASE.replace("five", "FIVE")
    chunks = merge_texts(BASE, mine, theirs)
    assert _kinds(chunks) == ["mine", "same", "theirs"]
    assert resolve_conflicts(chunks, ()) == "ONE\ntwo\nthree\nfour\nFIVE\n"


@pytest.mark.parametrize(("choice", "text"), [("mine", "MINE\n"), ("theirs", "THEIRS\n"), ("both", "MINE\nTHEIRS\n")])
def test_what_both_changed_is_a_choice(choice: three_way_merge.Choice, text: str) -> None:
    chunks = merge_texts(BASE, BASE.replace("three", "MINE"), BASE.replace("three", "THEIRS"))
    assert _kinds(chunks) == ["same", "conflict", "same"]
    assert resolve_conflicts(chunks, (choice,)) == BASE.replace("three\n", text)


def test_the_same_change_of_both_is_no_choice() -> None:
    both = BASE.replace("three", "3")
    assert _kinds(merge_texts(BASE, both, both)) == ["same"]


def test_without_the_base_every_difference_is_a_choice() -> None:
    chunks = merge_texts(None, BASE.replace("one", "ONE"), BASE)
    assert _kinds(chunks) == ["conflict", "same"]


def test_a_removed_line_beside_an_added_one() -> None:
    chunks = merge_texts(BASE, BASE.replace("two\n", ""), BASE + "six\n")
    assert resolve_conflicts(chunks, ()) == "one\nthree\nfour\nfive\nsix\n"


def test_both_has_what_is_equal_once() -> None:
    base = "One. Two.\n"
    chunks = merge_texts(base, "One. Two. Mine.\n", "One. Two. Theirs.\n")
    assert resolve_conflicts(chunks, ("both",)) == "One. Two. Mine. Theirs.\n"
    chunks = merge_texts(base, "One. Zwei.\nMore.\n", "Uno. Two.\nMore.\n")
    assert resolve_conflicts(chunks, ("both",)) == "One. Zwei.\nUno. Two.\nMore.\n"


def test_both_of_texts_without_a_line_break_at_the_end_stay_two_lines() -> None:
    assert resolve_conflicts(merge_texts("a", "b", "c"), ("both",)) == "b\nc"


_TEXTS = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "\n", "d"]), max_size=8).map("".join)


@given(_TEXTS, _TEXTS, _TEXTS)
def test_every_text_can_be_had_back(base: str, mine: str, theirs: str) -> None:
    for known in (base, None):
        chunks = merge_texts(known, mine, theirs)
        assert "".join(chunk.mine for chunk in chunks) == mine
        assert "".join(chunk.theirs for chunk in chunks) == theirs
        assert all(one.kind != other.kind for one, other in itertools.pairwise(chunks))
    assert resolve_conflicts(merge_texts(base, base, theirs), ()) == theirs
    assert resolve_conflicts(merge_texts(base, mine, base), ()) == mine


def test_a_mebibyte_of_other_lines_takes_no_time() -> None:
    mine = "".join(f"mine {number}\n" for number in range(60_000))
    theirs = "".join(f"theirs {number}\n" for number in range(60_000))
    with costs.at_most(2000):
        assert _kinds(merge_texts("", mine, theirs)) == ["conflict"]
        many = "x\n" * 3900
        merge_texts(many, many.replace("x", "y", 2000), "x\ny\n" * 1900)


def test_too_many_choices_become_one() -> None:
    base = "".join(f"{number}\nsame {number}\n" for number in range(300))
    mine, theirs = (base.replace("\nsame", f" {who}\nsame") for who in ("mine", "theirs"))
    assert _kinds(merge_texts(base, mine, theirs)) == ["conflict"]


def test_the_files_that_are_the_same_are_left_out() -> None:
    assert set(merge_files({}, bundle(), bundle(body="Other."))) == {"skill.md"}


@pytest.mark.django_db
def test_a_merge_is_saved_as_the_draft() -> None:
    base = bundle()
    first = drafts.save_draft(capability_id="alpha", files=base, based_on=None, by=OLGA)
    theirs = base | {"skill.md": base["skill.md"].replace("one sentence", "two sentences")}
    second = drafts.save_draft(capability_id="alpha", files=theirs, based_on=first.version, by=OLGA)
    mine = base | {"skill.md": base["skill.md"].replace("# Alpha", "# Beta")}
    saved = merge_draft(capability_id="alpha", mine=mine, base=base, choices={}, based_on=second.version, by=OLGA)
    assert saved.files["skill.md"] == theirs["skill.md"].replace("# Alpha", "# Beta")
    assert drafts.get_draft("alpha").version == second.version + 1
    assert AuditEvent.objects.filter(verb="draft.save").count() == 3


@pytest.mark.django_db
@pytest.mark.parametrize("based_on", [None, 7])
def test_a_draft_that_moved_on_once_more_is_a_conflict_again(based_on: int | None) -> None:
    drafts.save_draft(capability_id="alpha", files=bundle(), based_on=None, by=OLGA)
    with pytest.raises(DraftConflict) as refused:
        merge_draft(capability_id="alpha", mine={"skill.md": "mine"}, base={}, choices={}, based_on=based_on, by=OLGA)
    assert refused.value.extra["yours"] == {"skill.md": "mine"}
    assert drafts.get_draft("alpha").files == bundle()


@pytest.mark.django_db
def test_a_merge_that_is_too_large_is_refused_and_stores_nothing() -> None:
    first = drafts.save_draft(capability_id="alpha", files=bundle(), based_on=None, by=OLGA)
    with pytest.raises(InvalidRequest):
        merge_draft(
            capability_id="alpha", mine=bundle() | {"skill.md": "x" * 2**20}, base={}, choices={"skill.md": ["both"]},
            based_on=first.version, by=OLGA,
        )  # fmt: skip
    assert drafts.get_draft("alpha").files == bundle()
