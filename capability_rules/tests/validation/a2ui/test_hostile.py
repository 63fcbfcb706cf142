"""Nothing raises, and nothing takes long: junk, mutations of sound forms, and files made to be slow."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from capability_rules.tests.validation.a2ui.a2ui_core import refusal
from capability_rules.tests.validation.a2ui.forms import (
    CATALOG,
    SEVERITIES,
    Entry,
    button,
    note_form,
    note_tools,
    sample,
)
from capability_rules.validation.a2ui import check_tool_ui, check_ui_schemas
from tests import costs

# Of the processor's time, so that a busy machine makes no difference. The bound for a whole bundle is two seconds.
# Twice what a whole check may take: another process on the same core takes its caches away.
SECONDS_MAX = 4.0

KEYS = ["path", "call", "args", "function", "functionCall", "componentId", "event", "name", "value", "id", "component"]
KEYS += ["children", "schema_id", "definition", "components", "dataModel", "actions", "tool", "reply", "dismiss"]
VALUES = ["root", "text", "save", "kind", "note", "mail", "Text", "Row", "List", "Icon", "required", "formatString"]
VALUES += [
    "/text",
    "/kind",
    "~",
    "~0",
    "/",
    ".",
    "${/text}",
    "${",
    "${a(b:1)}",
    "regex",
    "(",
    "NoteForm.v1",
    "note_save",
]
WORDS = st.sampled_from(KEYS + VALUES)
LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | WORDS | st.text(max_size=8)
JUNK = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS | st.text(max_size=5), inner, max_size=4),
    max_leaves=25,
)


def run(entries: Any, tools: Any) -> list[Any]:
    found = check_ui_schemas(entries, tools, mentioned_schema_ids={"NoteForm.v1"})
    return found + check_tool_ui(tools, entries)


@settings(max_examples=150, deadline=None)
@given(JUNK, JUNK)
def test_junk_never_raises(entries: Any, tools: Any) -> None:
    run(entries, tools)
    run([entries], [tools])
    run([{"schema_id": "NoteForm.v1", "definition": entries, "actions": tools}], note_tools())


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(inner, (*path, key))


def mutated(value: Any, place: tuple[Any, ...], new: Any, how: int) -> Any:
    result = copy.deepcopy(value)
    parent = result
    for step in place[:-1]:
        parent = parent[step]
    if how == 0:
        del parent[place[-1]]
    elif how == 1 and isinstance(parent, dict):
        parent[new if isinstance(new, str) else "extra"] = parent.pop(place[-1])
    else:
        parent[place[-1]] = new
    return result


@st.composite
def mutations(draw: st.DrawFn) -> Entry:
    entry: Entry = copy.deepcopy(draw(st.sampled_from([note_form(), *sample("valid/ui_schemas.json")])))
    for _ in range(draw(st.integers(1, 3))):
        found = [place for place in places(entry) if place]
        if found:
            entry = mutated(entry, draw(st.sampled_from(found)), draw(JUNK), draw(st.integers(0, 3)))
    return entry


@pytest.mark.slow
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(mutations())
def test_mutations_of_sound_forms_never_raise(entry: Entry) -> None:
    run([entry], note_tools())
    run([entry], sample("valid/tools.json"))


@settings(max_examples=150, deadline=None)
@given(JUNK)
def test_junk_in_place_of_an_args_schema_never_raises(schema: Any) -> None:
    run([note_form()], [{"name": "note_save", "args_schema": schema}])
    run([note_form()], note_tools(kind=schema))


@pytest.mark.slow
def test_what_we_take_a2ui_core_takes() -> None:
    """Thousands of mutations: whenever we find no error, neither does the official validator."""
    source = random.Random(20260115)
    forms = [note_form(), *sample("valid/ui_schemas.json")]
    words = ["root", "text", "mail", "/text", "~", "horizontal", "h1", True, None, 5, [], {"path": "/text"}]
    taken = 0
    for _ in range(3000):
        entry = copy.deepcopy(source.choice(forms))
        place = source.choice([each for each in places(entry["definition"]) if each])
        entry["definition"] = mutated(entry["definition"], place, source.choice(words), source.randrange(4))
        found = run([entry], sample("valid/tools.json"))
        if not any((each.severity or SEVERITIES[each.code]) == "error" and each.file != "tools.json" for each in found):
            taken += 1
            assert refusal(entry["definition"]) is None, entry["definition"]
    assert taken > 100


def entry(number: int, components: list[Any], data: Any = None, **actions: Any) -> Entry:
    definition = {"catalogId": CATALOG, "components": components, "dataModel": data or {}}
    return {"schema_id": f"Form{number}.v1", "definition": definition, "actions": actions}


def fields(number: int) -> Entry:
    names = [f"field_{n}" for n in range(199)]
    inner = [{"id": n, "component": "TextField", "label": "x", "value": {"path": f"/e/{n}"}} for n in names]
    return entry(
        number, [{"id": "root", "component": "Column", "children": names}, *inner], {"e": dict.fromkeys(names, "")}
    )


def lists_in_lists(number: int) -> Entry:
    levels = 7
    inner = [
        {
            "id": f"l{n}" if n else "root",
            "component": "List",
            "children": {"componentId": f"l{n + 1}", "path": "a" if n else "/a"},
        }
        for n in range(levels)
    ]
    data: Any = {"x": "1"}
    for _ in range(levels):
        data = {"a": [data] * 3}
    return entry(number, [*inner, {"id": f"l{levels}", "component": "Text", "text": {"path": "x"}}], data)


def great_arguments(number: int) -> Entry:
    names = [f"b{n}" for n in range(60)]
    inner = [{"id": n, **button("save", {"lines": [{"path": "/lines"}] * 20})} for n in names]
    label = {"id": "save_label", "component": "Text", "text": "x"}
    root = {"id": "root", "component": "Row", "children": names}
    return entry(number, [root, label, *inner], {"lines": [{"n": "1"}] * 2000}, save={"tool": "note_save"})


def unknown_types(number: int) -> Entry:
    return entry(number, [{"id": f"x{n}", "component": f"Txet{number}_{n}"} for n in range(200)])


def misspelt_paths(number: int) -> Entry:
    names = [f"t{n}" for n in range(199)]
    inner = [{"id": n, "component": "Text", "text": {"path": f"/wieght{number}{n}"}} for n in names]
    data = {f"weight_{n}_{n * 7}": 1 for n in range(1000)}
    return entry(number, [{"id": "root", "component": "Row", "children": names}, *inner], data)


def many_expressions(number: int) -> Entry:
    names = [f"t{n}" for n in range(15)]
    text = {"call": "formatString", "args": {"value": "${/a}" * 400}}
    inner = [{"id": n, "component": "Text", "text": text} for n in names]
    return entry(number, [{"id": "root", "component": "Row", "children": names}, *inner], {"a": 1})


def wrong_options(number: int) -> Entry:
    picker = {"id": "root", "component": "ChoicePicker", "value": [], "options": [{"l": 1}] * 7000}
    return entry(number, [picker])


def heavy_patterns(number: int) -> Entry:
    fields = [
        {"id": f"f{n}", "component": "TextField", "label": "x", "validationRegexp": "(a{999}){999}" * 30}
        for n in range(100)
    ]
    return entry(number, fields)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "count"),
    [
        (fields, 50),
        (lists_in_lists, 30),
        (great_arguments, 16),
        (unknown_types, 50),
        (misspelt_paths, 30),
        (many_expressions, 25),
        (wrong_options, 16),
        (heavy_patterns, 16),
    ],
)
def test_files_that_were_made_to_be_slow(make: Callable[[int], Entry], count: int) -> None:
    entries = [make(number) for number in range(count)]
    tools = note_tools(
        lines={"type": "array", "items": {"type": "array", "items": {"properties": {"n": {"type": "number"}}}}}
    )
    with costs.at_most(100 * SECONDS_MAX):
        run(entries, tools)


def test_sample_data_that_is_too_much_to_read_is_told() -> None:
    found = run([lists_in_lists(number) for number in range(40)], note_tools())
    last = [each for each in found if each.code == "UI_LIMIT_EXCEEDED"][-1]
    assert last.path == (39, "definition")


@pytest.mark.parametrize("document", [[{}] * 200_000, list(range(300_000)), "x" * 1_000_000, {"a": [[]] * 100_000}])
def test_great_documents_of_the_wrong_kind(document: Any) -> None:
    with costs.at_most(100 * SECONDS_MAX):
        run(document, document)


def test_tools_by_the_thousand() -> None:
    tools = [{"name": f"tool_{n}", "ui": {"form": f"NoteFrom.v{n}", "editor": "NoteForm.v1"}} for n in range(9000)]
    with costs.at_most(100 * SECONDS_MAX):
        assert len(run([note_form()], tools)) > 9000


def test_nesting_beyond_all_reason() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    run([deep, {"schema_id": deep, "definition": deep, "actions": deep}, note_form() | {"title": deep}], [deep])
    run([note_form()], note_tools(kind=deep))
    while deep:
        deep = deep.pop()
