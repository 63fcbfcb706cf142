"""Names and ids map one to one."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capability_kit.bundles.bundle import is_capability_id
from capability_kit.bundles.skill_names import (
    NAME_LENGTH_MAX,
    capability_id_of,
    is_ascii_skill_name,
    is_skill_name,
    nearest_skill_name,
    propose_skill_name,
    skill_name_of,
)

_WORDS = st.lists(st.text("abcxyz019", min_size=1, max_size=4), min_size=1, max_size=6)
NAMES = _WORDS.map("-".join)
IDS = _WORDS.map("_".join)


@given(NAMES, NAMES)
def test_no_two_names_have_one_id(one: str, other: str) -> None:
    assert (capability_id_of(one) == capability_id_of(other)) == (one == other)


@given(NAMES)
def test_a_name_becomes_an_id_and_comes_back(name: str) -> None:
    assert is_ascii_skill_name(name)
    assert is_capability_id(capability_id_of(name))
    assert skill_name_of(capability_id_of(name)) == name


@given(IDS)
def test_an_id_becomes_a_name_and_comes_back(capability_id: str) -> None:
    assert is_ascii_skill_name(skill_name_of(capability_id))
    assert capability_id_of(skill_name_of(capability_id)) == capability_id


@given(st.text(max_size=100))
def test_the_nearest_name_is_a_name_or_empty(text: str) -> None:
    nearest = nearest_skill_name(text)
    assert nearest == "" or is_ascii_skill_name(nearest)
    if is_ascii_skill_name(text):
        assert nearest == text


def test_what_is_no_name() -> None:
    odd = ["", "A", "a_b", "-a", "a-", "a--b", "a b", "a\n", "a" * (NAME_LENGTH_MAX + 1)]
    assert not any(map(is_skill_name, odd))
    assert not any(map(is_ascii_skill_name, [*odd, "ä"]))
    assert [nearest_skill_name(text) for text in ("Cold Email", "Café", "--", "数据")] == ["cold-email", "cafe", "", ""]
    assert re.fullmatch("a{64}", nearest_skill_name("a" * 99))


@pytest.mark.parametrize("name", ["数据分析", "мой-навык", "café-menu", "データ分析", "안녕-하세요", "ø1"])
def test_a_name_in_any_letters_is_one_of_the_format(name: str) -> None:
    assert is_skill_name(name)
    assert not is_ascii_skill_name(name)
    assert is_ascii_skill_name(propose_skill_name(name))


def test_a_proposed_name_sounds_alike_where_there_are_latin_letters_for_it() -> None:
    names = ("мой-навык", "café-menu", "Ørsted", "straße", "αβγ", "カタログ", "안녕-하세요", "🚀 Launch!")
    expected = ["moy-navyk", "cafe-menu", "orsted", "strasse", "avg", "katarogu", "annyeong-haseyo", "launch"]
    assert [propose_skill_name(name) for name in names] == expected


def test_a_name_whose_letters_would_be_lost_is_the_folders_or_has_a_part_of_its_own() -> None:
    assert propose_skill_name("数据", "data") == "data"
    assert propose_skill_name("数据 pdf", "数据") == propose_skill_name("数据 pdf")
    assert re.fullmatch("pdf-[0-9a-f]{8}", propose_skill_name("数据 pdf"))
    assert propose_skill_name("数据") != propose_skill_name("数学")
    assert propose_skill_name("--") == ""


@given(st.text(max_size=100), st.text(max_size=20))
def test_a_proposed_name_is_a_name_in_ascii_or_empty(text: str, folder: str) -> None:
    proposed = propose_skill_name(text, folder)
    assert proposed == "" or is_ascii_skill_name(proposed)
