"""Values and places: our walker and the standard reader must see the same document."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capability_rules.bundles.json_locations import build_pointer, locate_pointers, string_offset
from capability_rules.bundles.json_reader import read_json
from capability_rules.bundles.problem import Path
from tests.sweeps import check_each

texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | texts
    | st.floats(allow_nan=False, allow_infinity=False)
)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4), max_leaves=12
)


def _paths(value: Any, at: Path = ()) -> list[tuple[Path, Any]]:
    found: list[tuple[Path, Any]] = [(at, value)]
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, item in items:
        found += _paths(item, (*at, step))
    return found


@given(values, st.booleans(), st.sampled_from([None, 1, 3]))
def test_every_value_is_found_where_it_stands(value: Any, ascii_only: bool, indent: int | None) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    parsed = read_json(text)
    assert parsed.readable
    assert parsed.value == value
    everything = _paths(value)
    spans = locate_pointers(text, [path for path, _ in everything])
    for path, expected in everything:
        found, _ = json.JSONDecoder().raw_decode(text, spans[path].start)
        assert found == expected
        if path and isinstance(path[-1], str):
            key_at = spans[path].key
            assert key_at is not None
            assert json.JSONDecoder().raw_decode(text, key_at)[0] == path[-1]


@given(st.text(max_size=60))
def test_any_text_is_read_or_explained(text: str) -> None:
    parsed = read_json(text)
    assert parsed.readable or parsed.faults
    for fault in parsed.faults:
        assert 0 <= fault.offset <= len(text)


@given(texts, st.booleans())
def test_an_offset_inside_a_string_leads_to_its_character(content: str, ascii_only: bool) -> None:
    text = json.dumps([content], ensure_ascii=ascii_only)
    for index, character in enumerate(content):
        at = string_offset(text, 1, index)
        rest = text[at:-2]
        assert json.loads(f'"{rest}"').startswith(character)


def test_breach_of_the_strict_rules_is_named_with_its_place() -> None:
    def check(cell: tuple[str, str, int]) -> None:
        text, code, place = cell
        [fault] = read_json(text).faults
        assert (fault.code, fault.offset) == (code, place)

    check_each(
        [
            ("", "JSON_INVALID", 0),
            ("[1,]", "JSON_INVALID", 3),
            ("[1, NaN]", "JSON_INVALID", 4),
            ("[-Infinity]", "JSON_INVALID", 1),
            ("{'a': 1}", "JSON_INVALID", 1),
            ("[1] x", "JSON_INVALID", 4),
            ('["a\nb"]', "JSON_INVALID", 3),
            ("[" * 65 + "]" * 65, "JSON_TOO_DEEP", 64),
            ('{"a": 1, "a": 2}', "JSON_DUPLICATE_KEY", 9),
            ("[9007199254740992]", "JSON_NUMBER_OUT_OF_RANGE", 1),
            ("[" + "9" * 5000 + "]", "JSON_NUMBER_OUT_OF_RANGE", 1),
            ("[1e999]", "JSON_NUMBER_OUT_OF_RANGE", 1),
            ('["\\udc00"]', "JSON_LONE_SURROGATE", 1),
            ('["\\u0000"]', "TEXT_NUL", 1),
            ("[\0]", "TEXT_NUL", 1),
        ],
        check,
    )


@pytest.mark.parametrize(
    "text", ["[" * 64 + "]" * 64, "[9007199254740991, -9007199254740991, 1e308]", '"\\ud83d\\ude00"', " 1 "]
)
def test_what_is_just_allowed_passes(text: str) -> None:
    assert read_json(text).faults == ()


def test_a_pointer_escapes_tilde_and_slash() -> None:
    assert build_pointer(("a/b", 0, "c~d")) == "/a~1b/0/c~0d"


def test_a_path_that_leads_nowhere_is_given_its_nearest_ancestor() -> None:
    text = '{"a": {"b": 1}}'
    assert locate_pointers(text, [("a", "x", "y")])[("a", "x", "y")].start == text.index('{"b"')
