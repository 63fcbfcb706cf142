"""What a release changes for those who rely on it, in words."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capability_rules.bundles.bundle import SkillBundle
from capability_rules.semantic_diff import EFFECTS, compare_bundles, describe_new_bundle
from capability_rules.validation import validate_bundle
from tests.cases import valid_bundle, valid_names
from tests.factories import bundle, tool
from tests.servers import ROOT
from tests.sweeps import check_each

NUMBER = {"type": "number", "description": "N.", "minimum": 0, "maximum": 10}
UNIT = {"type": "string", "description": "U.", "enum": ["kg", "lb"]}


def _bundle(tools: list[dict[str, Any]], **fields: Any) -> SkillBundle:
    found = validate_bundle(bundle(tools=tools, **fields)).bundle
    assert found is not None
    return found


def _changes(old: list[dict[str, Any]], new: list[dict[str, Any]], **fields: Any) -> list[tuple[str, str]]:
    """Without what skill.md says of the same tools, which has tests of its own."""
    changes = compare_bundles(_bundle(old), _bundle(new, **fields))
    return [(change.effect, change.words) for change in changes if change.file != "skill.md"]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            tool("a", "read"),
            tool("a", "write"),
            [("loosens", "`a` writes where it read"), ("changes", "`a` now needs approval")],
        ),
        (
            tool("a", "write"),
            tool("a", "write", requires_approval=False),
            [("loosens", "`a` no longer needs approval")],
        ),
        (tool("a", allowed_roles=["x"]), tool("a"), [("loosens", "Every role may call `a`")]),
        (
            tool("a", allowed_roles=["x"]),
            tool("a", allowed_roles=["x", "z", "y"]),
            [("loosens", "The roles y, z may now call `a`")],
        ),
        (tool("a"), tool("a", allowed_roles=["x"]), [("breaks", "Only the roles x may call `a`")]),
        (tool("a"), tool("a", allowed_roles=[]), [("breaks", "Only the roles (none) may call `a`")]),
        (
            tool("a", allowed_roles=["x", "y"]),
            tool("a", allowed_roles=["y", "x"]),
            [],
        ),
        (
            tool("a", allowed_roles=["x", "y"]),
            tool("a", allowed_roles=["y"]),
            [("breaks", "The roles x may no longer call `a`")],
        ),
        (
            tool("a", "write"),
            tool("a", "read", requires_approval=True),
            [("changes", "`a` is declared read where it was write")],
        ),
        (tool("a", "read", requires_approval=False), tool("a", "read"), []),
    ],
)
def test_policies(old: dict[str, Any], new: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    assert _changes([old], [new]) == expected


def _with(**changes: Any) -> dict[str, Any]:
    """The properties of these tests, changed; None takes one away."""
    properties: dict[str, dict[str, Any]] = {"hours": NUMBER, "unit": UNIT}
    for name, value in changes.items():
        if value is None:
            del properties[name]
        else:
            properties[name] = properties.get(name, {}) | value
    return {name: {key: item for key, item in value.items() if item is not None} for name, value in properties.items()}


def test_arguments() -> None:
    def check(cell: tuple[dict[str, Any], list[str], list[tuple[str, str]]]) -> None:
        properties, required, expected = cell
        old = tool("a", properties={"hours": NUMBER, "unit": UNIT}, required=[])
        assert _changes([old], [tool("a", properties=properties, required=required)]) == expected

    check_each(
        [
            (_with(), ["hours"], [("breaks", "`hours` of `a` became required")]),
            (_with(unit={"enum": ["kg"]}), [], [("breaks", "`unit` of `a` no longer takes lb")]),
            (_with(unit={"enum": ["kg", "lb", "st"]}), [], [("changes", "`unit` of `a` takes more values")]),
            (_with(unit={"enum": None}), [], [("changes", "`unit` of `a` takes any value where it had a list")]),
            (_with(hours={"enum": [1, 2]}), [], [("breaks", "`hours` of `a` takes only 1, 2")]),
            (_with(hours=None), [], [("breaks", "The argument `hours` of `a` is gone")]),
            (
                _with(days={"type": "integer", "description": "D."}),
                [],
                [("changes", "The argument `days` of `a` is new")],
            ),
            (_with(hours={"minimum": 1}), [], [("breaks", "`minimum` of `hours` of `a` is 1 where it was 0")]),
            (_with(hours={"maximum": 24}), [], [("changes", "`maximum` of `hours` of `a` is 24 where it was 10")]),
            (_with(hours={"maximum": None}), [], [("changes", "`maximum` of `hours` of `a` is gone")]),
            (_with(hours={"exclusiveMaximum": 9}), [], [("breaks", "`exclusiveMaximum` of `hours` of `a` is 9")]),
            (_with(unit={"maxLength": 2}), [], [("breaks", "`maxLength` of `unit` of `a` is 2")]),
            (
                _with(hours={"type": "string"}),
                [],
                [("breaks", "The type of `hours` of `a` is string where it was number")],
            ),
            (
                _with(hours={"type": "integer"}),
                [],
                [("breaks", "The type of `hours` of `a` is integer where it was number")],
            ),
            (
                _with(hours={"type": ["number", "null"]}),
                [],
                [("changes", "The type of `hours` of `a` is number or null where it was number")],
            ),
            (_with(hours={"description": "Hours."}), [], []),
        ],
        check,
    )


def test_a_whole_number_that_becomes_any_number_breaks_nobody() -> None:
    old = tool("a", properties={"n": {"type": "integer", "description": "N."}})
    new = tool("a", properties={"n": {"type": "number", "description": "N."}})
    assert _changes([old], [new]) == [("changes", "The type of `n` of `a` is number where it was integer")]


def test_nested_objects_and_lists_are_walked() -> None:
    inner = {"type": "object", "description": "O.", "properties": {"unit": UNIT}}
    old = tool("a", properties={"entries": {"type": "array", "description": "E.", "items": inner}})
    new = copy.deepcopy(old)
    new["args_schema"]["properties"]["entries"]["items"] |= {"required": ["unit"]}
    new["args_schema"]["properties"]["entries"]["items"]["properties"]["unit"] = UNIT | {"enum": ["kg"]}
    (first, second) = compare_bundles(_bundle([old]), _bundle([new]))
    assert first.words == "`entries[].unit` of `a` became required"
    assert second.words == "`entries[].unit` of `a` no longer takes lb"
    assert second.path == (0, "args_schema", "properties", "entries", "items", "properties", "unit")


def test_further_arguments_that_are_no_longer_taken() -> None:
    old = tool("a")
    del old["args_schema"]["additionalProperties"]
    assert _changes([old], [tool("a")]) == [("breaks", "`a` takes no further arguments than those named")]


def test_tools_come_and_go() -> None:
    assert _changes([tool("a"), tool("b")], [tool("b"), tool("c", "write")]) == [
        ("breaks", "The tool `a` is gone"),
        ("widens", "The tool `c` is new: it writes, and each call needs approval"),
    ]


def test_the_order_of_tools_is_no_change() -> None:
    assert _changes([tool("a"), tool("b")], [tool("b"), tool("a")]) == []


def test_triggers_and_what_loosens_comes_first() -> None:
    assert _changes([tool("a")], [tool("a", "write")], intent_triggers=["other"]) == [
        ("loosens", "`a` writes where it read"),
        ("widens", "The trigger “other” is new"),
        ("changes", "`a` now needs approval"),
        ("changes", "The trigger “alpha please” is gone"),
    ]


@pytest.mark.parametrize(
    "damaged",
    [
        [],
        [7],
        [{}],
        [{"name": "a"}],
        [{"name": "a", "policy": {}}],
        [{"name": [], "policy": {}}],
        [
            {
                "name": "a",
                "policy": {"kind": "read", "allowed_roles": 7},
                "args_schema": {"required": 7, "properties": 7, "enum": 7},
            }
        ],
    ],
)
def test_a_damaged_old_release_never_stops_a_new_one(damaged: list[Any]) -> None:
    new = _bundle([tool("a", properties={"unit": UNIT})])
    for capability in ({}, {"intent_triggers": 7}):
        old = SkillBundle(files={}, capability=capability, skill_doc="", tools=damaged, ui_schemas=[7, {}])
        json.dumps([change.words for change in compare_bundles(old, new)])


def _words(before: dict[str, Any], after: dict[str, Any], **forms: list[Any]) -> list[tuple[str, str]]:
    """What two bundles without tools differ in, by their fields of capability.json."""
    old, new = _bundle([], **before), _bundle([], **after)
    return [(change.effect, change.words) for change in compare_bundles(old, new)]


def test_what_it_says_of_itself() -> None:
    def check(cell: tuple[dict[str, Any], dict[str, Any], list[tuple[str, str]]]) -> None:
        before, after, expected = cell
        assert _words(before, after) == expected

    check_each(
        [
            ({"os": ["darwin"]}, {"os": ["darwin", "linux"]}, [("widens", "It works on Linux now")]),
            ({"os": ["darwin", "linux"]}, {"os": ["linux"]}, [("breaks", "It no longer works on macOS")]),
            ({"os": ["darwin"]}, {}, [("widens", "It works on every system now")]),
            ({}, {"language": "de"}, [("changes", "The language is “de”")]),
            ({"language": "de"}, {"language": "fr"}, [("changes", "The language is “fr” where it was “de”")]),
            (
                {},
                {"os": ["linux"]},
                [("breaks", "It no longer works on macOS"), ("breaks", "It no longer works on Windows")],
            ),
            (
                {"dependencies": {"bins": ["a"]}},
                {"dependencies": {"bins": ["b"], "permissions": ["camera"]}},
                [
                    ("breaks", "It needs the program `b` now"),
                    ("widens", "It asks the system for the permission `camera`"),
                    ("changes", "It no longer needs the program `a`"),
                ],
            ),
            (
                {"dependencies": {"mcp_servers": ["a"], "skills": ["c"]}},
                {"dependencies": {"mcp_servers": ["b"], "skills": ["d"]}},
                [
                    ("breaks", "It needs the MCP server `b` now"),
                    ("changes", "It no longer needs the MCP server `a`"),
                    ("changes", "It needs the skill `d` now"),
                    ("changes", "It no longer needs the skill `c`"),
                ],
            ),
            (
                {},
                {"dependency_level": {"darwin": "builtin", "linux": "external"}},
                [("changes", "The dependency level is builtin on macOS, external on Linux where it was builtin")],
            ),
            ({"priority": 0}, {"priority": 5}, [("changes", "The priority is “5” where it was “0”")]),
            (
                {},
                {"skill_profile": "agent_skill"},
                [("changes", "The profile is “agent_skill” where it was “capability”")],
            ),
            ({"license": "MIT"}, {}, [("changes", "The license is gone where it was “MIT”")]),
            ({}, {"name": "Omega"}, [("changes", "The name is “Omega” where it was “Alpha”")]),
            ({}, {"description": "Else."}, [("changes", "The description changed")]),
            ({}, {"skill_groups": ["health"]}, [("changes", "The group `health` is new")]),
            (
                {"allowed_tools": "Read Bash"},
                {"allowed_tools": ["Read", "Write"]},
                [
                    ("widens", "It may use the agent's own tool `Write`"),
                    ("changes", "It may no longer use the agent's own tool `Bash`"),
                ],
            ),
            (
                {"utterances": {"should_match": ["a b"]}},
                {"utterances": {"should_match": ["c d", "e f"], "should_not_match": ["g h"]}},
                [
                    ("changes", "2 example messages are new"),
                    ("changes", "1 example message is gone"),
                    ("changes", "1 sentence that must not lead here is new"),
                ],
            ),
        ],
        check,
    )


def test_a_section_is_named() -> None:
    assert _words({"body": "Do this."}, {"body": "Do that.\n\n## Limits\n\nNone."}) == [
        ("changes", "The section “Default behavior” was rewritten"),
        ("changes", "The section “Limits” is new"),
    ]


def test_a_host_is_new_once_and_the_names_of_dialects_are_none() -> None:
    body = "See https://User@API.example.com:8443/x and https://api.example.com/y, (http://b.example)."
    found = _words({}, {"body": body})
    assert found[:2] == [
        ("widens", "It talks to one new host: `api.example.com`"),
        ("widens", "It talks to one new host: `b.example`"),
    ]
    schema = tool("a")
    schema["args_schema"]["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    assert not [words for _, words in _changes([tool("a")], [schema]) if "host" in words]


def _form(schema_id: str, **more: Any) -> dict[str, Any]:
    return {"schema_id": schema_id, "definition": {"components": []}, **more}


def _with_forms(*forms: dict[str, Any]) -> SkillBundle:
    return SkillBundle(files={}, capability={}, skill_doc="", tools=[], ui_schemas=list(forms))


def test_forms_come_go_and_call_something_else() -> None:
    old = _with_forms(_form("Gone.v1"), _form("A.v1", actions={"save": {"tool": "t"}}, title="A"))
    new = _with_forms(
        _form("New.v1", actions={"save": {"tool": "u"}}),
        _form("A.v1", actions={"save": {"tool": "u"}, "no": {"dismiss": True}}, title="B"),
    )
    assert [(change.effect, change.words) for change in compare_bundles(old, new)] == [
        ("breaks", "The form `Gone.v1` is gone"),
        ("widens", "The form `A.v1` calls `u` now"),
        ("changes", "The form `New.v1` is new, and calls `u`"),
        ("changes", "The form `A.v1` no longer calls `t`"),
        ("changes", "What is said of the form `A.v1` changed"),
    ]


def test_a_form_looks_different_or_its_buttons_do_something_else() -> None:
    def call(unit: str) -> dict[str, Any]:
        return {"save": {"tool": "t", "arguments": {"unit": unit}}}

    old = _with_forms(_form("Buttons.v1", actions=call("kg")), _form("Look.v1", actions=call("kg")))
    look = _form("Look.v1", actions=call("kg")) | {"definition": {"components": [{"id": "root"}]}}
    new = _with_forms(_form("Buttons.v1", actions=call("lb")), look)
    assert [(change.effect, change.words) for change in compare_bundles(old, new)] == [
        ("changes", "The buttons of the form `Buttons.v1` do something else"),
        ("changes", "The form `Look.v1` changed"),
    ]


VALID: list[SkillBundle] = [
    found
    for found in (
        *(validate_bundle(valid_bundle(name)).bundle for name in valid_names()),
        *(
            validate_bundle(
                {file.name: file.read_bytes() for file in sorted(folder.iterdir()) if file.is_file()}
            ).bundle
            for folder in sorted((ROOT / "examples").iterdir())
        ),
    )
    if found is not None
]


def test_a_bundle_differs_in_nothing_from_itself_and_is_held_against_every_other() -> None:
    def check(number: int) -> None:
        one = VALID[number]
        assert compare_bundles(one, copy.deepcopy(one)) == []
        for other in VALID:
            changes = compare_bundles(one, other)
            assert other is one or changes
            effects = [EFFECTS.index(change.effect) for change in changes]
            assert effects == sorted(effects)
            # What one direction calls new, the other calls gone.
            back = {change.words for change in compare_bundles(other, one)}
            new = {
                change.words
                for change in changes
                if change.words.startswith("The trigger") and "is new" in change.words
            }
            assert {words.replace("is new", "is gone") for words in new} <= back

    check_each(range(len(VALID)), check)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=8) | st.sampled_from(["https://a.b", "tool"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["type", "required", "properties", "items", "enum", "minimum", "os", "dependencies", "bins", "actions",
                 "tool", "schema_id", "definition", "policy", "name", "intent_triggers", "allowed_tools", "utterances"]
            ),
            inner, max_size=6,
        )
    ),
    max_leaves=30,
)  # fmt: skip


@pytest.mark.slow
@given(
    capability=st.dictionaries(st.sampled_from(["os", "dependencies", "intent_triggers", "utterances", "name"]), _JSON),
    tools=st.lists(_JSON, max_size=3),
    forms=st.lists(_JSON, max_size=3),
    schema=_JSON,
)
@settings(max_examples=150, deadline=None)
def test_whatever_an_old_row_holds_a_valid_bundle_is_held_against_it(
    capability: dict[str, Any], tools: list[Any], forms: list[Any], schema: Any
) -> None:
    tools = [*tools, {"name": "a", "policy": {"kind": "read"}, "args_schema": schema}]
    old = SkillBundle(files={}, capability=capability, skill_doc="# x", tools=tools, ui_schemas=forms)
    new = _bundle([tool("a", properties={"unit": UNIT}, required=["unit"])])
    assert all(change.words for change in compare_bundles(old, new))


def test_a_first_release_says_what_it_brings() -> None:
    write = tool("a", "write")
    write["policy"]["requires_approval"] = True
    write["description"] = "Asks https://plants.example.com for it."
    with_file = replace(_bundle([write, tool("b", "read")]), files={"references/leaves.md": "Green."})
    changes = describe_new_bundle(with_file)
    words = [change.words for change in changes]
    assert words[:2] == [
        "The tool `a` is new: it writes, and each call needs approval",
        "The tool `b` is new: it only reads",
    ]
    assert "It talks to one new host: `plants.example.com`" in words
    assert "The file `references/leaves.md` is new" in words
    assert any(each.startswith("The trigger") for each in words)
    assert {change.effect for change in changes} <= {"widens", "changes"}
    # What it is called and says of itself is not a change to anybody yet.
    assert {change.file for change in changes if change.effect == "changes"} <= {"tools.json", "references/leaves.md"}


@pytest.mark.parametrize("name", valid_names())
def test_a_first_release_neither_loosens_nor_breaks(name: str) -> None:
    new = validate_bundle(valid_bundle(name)).bundle
    assert new is not None
    changes = describe_new_bundle(new)
    assert {change.effect for change in changes} <= {"widens", "changes"}
    assert len([change for change in changes if change.tool and "is new" in change.words]) == len(new.tools)
