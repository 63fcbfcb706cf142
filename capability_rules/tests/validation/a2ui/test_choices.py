"""Group 5, the options: those that the tool would refuse which the form feeds."""

from __future__ import annotations

from typing import Any

import pytest

from capability_rules.tests.validation.a2ui.forms import Entry, check, components, data, note_form, note_tools
from capability_rules.validation.a2ui import choices

ST = {"label": "Stone", "value": "st"}
PLACE = "/0/definition/components/2/options/2/value"
FOUND = [("UI_CHOICE_OPTION_REFUSED", PLACE, "warning")]


def _form(**selected: Any) -> Entry:
    form = note_form()
    components(form)[2]["options"].append(dict(ST))
    data(form).update(selected)
    return form


@pytest.mark.parametrize("selected", [["task"], []])
def test_an_option_outside_the_enum_of_the_tool_is_found_whatever_is_selected(selected: list[str]) -> None:
    assert check(_form(kind=selected), tools=note_tools()) == FOUND


def test_options_for_a_list_are_judged_as_they_are_sent() -> None:
    kinds = {"type": "array", "items": {"enum": ["task", "idea"]}, "maxItems": 2}
    assert check(_form(), tools=note_tools(kind=kinds)) == FOUND


@pytest.mark.parametrize(
    "kind",
    [
        {"type": "string"},
        {"type": "string", "enum": ["task", "idea", "st"]},
        # One alone is refused as well: what is selected decides.
        {"type": "array", "minItems": 2},
        {},
    ],
)
def test_options_that_the_tool_takes_are_no_finding(kind: dict[str, Any]) -> None:
    found = check(_form(kind=["task"]), tools=note_tools(kind=kind))
    assert "UI_CHOICE_OPTION_REFUSED" not in {code for code, _, _ in found}


def test_a_choice_that_no_tool_gets_is_no_finding() -> None:
    form = _form()
    components(form)[2]["value"] = {"path": "/other"}
    data(form)["other"] = ["task"]
    assert check(form, tools=note_tools()) == []


def test_many_options_are_judged_within_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choices, "_OPTIONS_MAX", 10)
    form = _form(kind=[])
    components(form)[2]["options"] = [{"label": str(n), "value": str(n)} for n in range(40)]
    assert len(check(form, tools=note_tools())) == 10
