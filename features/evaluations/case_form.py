"""A case as a form: nobody types JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from capability_client.evaluation.judgment import NOTHING
from capability_kit.evaluation_cases import (
    MESSAGES_MAX,
    TEXT_LENGTH_MAX,
    EvaluationCase,
    ExpectedCall,
    ToolMock,
    case_document,
)
from features.evaluations.case_store import CapabilityTexts
from features.evaluations.value_lines import LineInvalid, format_lines, parse_lines
from registry.models import OutcomeReport

_LINES: Final = {"rows": 3, "spellcheck": "false"}


def _lines_field(label: Any, help_text: Any = "", rows: int = 3) -> forms.CharField:
    return forms.CharField(
        label=label,
        required=False,
        max_length=TEXT_LENGTH_MAX,
        help_text=help_text,
        widget=forms.Textarea(attrs={**_LINES, "rows": rows}),
    )


@dataclass(frozen=True, slots=True)
class ToolFields:
    """What a case says of one tool: bound fields of the form."""

    name: str
    description: str
    fields: tuple[forms.BoundField, ...]
    is_open: bool


class CaseForm(forms.Form):
    """What the user says, what is expected, and how tools answer."""

    name = forms.CharField(label=gettext_lazy("Name"), max_length=200)
    messages = forms.CharField(
        label=gettext_lazy("The user says"),
        help_text=gettext_lazy("One message per line. The agent replies after each."),
        widget=forms.Textarea(attrs={"rows": 3}),
    )
    loads = forms.ChoiceField(label=gettext_lazy("The agent loads"), required=False)
    opens_form = forms.ChoiceField(label=gettext_lazy("It opens the form"), required=False)
    says = _lines_field(gettext_lazy("It says"), gettext_lazy("Texts that have to be in its words, one per line."), 2)
    does_not_say = _lines_field(gettext_lazy("It does not say"), rows=2)
    approve = forms.ChoiceField(
        label=gettext_lazy("Asked before a write, the person says"),
        choices=[("yes", gettext_lazy("Yes")), ("no", gettext_lazy("No"))],
        required=False,
    )
    no_writes = forms.BooleanField(label=gettext_lazy("Nothing is changed"), required=False)
    calls_max = forms.IntegerField(
        label=gettext_lazy("At most so many calls"), min_value=0, max_value=1000, required=False
    )
    must = forms.BooleanField(
        label=gettext_lazy("This must pass"),
        required=False,
        help_text=gettext_lazy("Results mark it where it fails, and a publishing policy may ask for it."),
    )
    rubric = _lines_field(
        gettext_lazy("A model judges"),
        gettext_lazy(
            "What a good answer is, in words. Asked after everything else has passed; it costs one more request."
        ),
    )
    plain_names = ("name", "messages", "loads", "opens_form", "says", "does_not_say", "approve", "no_writes")
    last_names = ("rubric", "calls_max", "must")

    def __init__(self, *args: Any, texts: CapabilityTexts, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.texts = texts
        self._choose(
            "loads", [("", _("Not checked")), (texts.capability_id, texts.name), (NOTHING, _("No capability"))]
        )
        self.fields["loads"].help_text = _("Which one of all capabilities it loads.")
        self._choose("opens_form", [("", _("Not checked")), *texts.forms.items()])
        if not texts.forms:
            del self.fields["opens_form"]
        for place, tool in enumerate(texts.tools):
            self._add_tool(place, tool)

    def _choose(self, name: str, choices: list[tuple[str, str]]) -> None:
        field = cast("forms.ChoiceField", self.fields[name])
        field.choices = choices
        field.widget.attrs["class"] = "select"

    def _add_tool(self, place: int, tool: Mapping[str, Any]) -> None:
        key = f"tool_{place}"
        self.fields[f"{key}_called"] = forms.BooleanField(label=_("It is called"), required=False)
        self.fields[f"{key}_arguments"] = _lines_field(
            _("With these arguments"),
            _("name = value per line, such as entries.0.weight = 84.2; * stands for anything."),
        )
        if _is_asked_about(tool):
            self.fields[f"{key}_asked"] = forms.BooleanField(label=_("The agent asks before"), required=False)
        self.fields[f"{key}_answer"] = _lines_field(
            _("The tool answers"), _("name = value per line; empty: an example of its result.")
        )

    @property
    def plain(self) -> list[forms.BoundField]:
        """The fields before those of tools."""
        return [self[name] for name in self.plain_names if name in self.fields]

    @property
    def last(self) -> list[forms.BoundField]:
        """The fields after those of tools."""
        return [self[name] for name in self.last_names]

    @property
    def tools(self) -> Iterator[ToolFields]:
        """The fields of each tool; open where something is said of it."""
        for place, tool in enumerate(self.texts.tools):
            fields = tuple(self[name] for name in self.fields if name.startswith(f"tool_{place}_"))
            is_open = any(field.value() for field in fields) or any(field.errors for field in fields)
            yield ToolFields(str(tool["name"]), str(tool.get("description", "")), fields, is_open)

    def clean_messages(self) -> list[str]:
        """The messages of the user, one per line that is not blank."""
        lines = [line.strip() for line in self.cleaned_data["messages"].splitlines() if line.strip()]
        if len(lines) > MESSAGES_MAX or any(len(line) > TEXT_LENGTH_MAX for line in lines):
            raise forms.ValidationError(
                _("At most %(count)s messages of %(length)s characters.")
                % {"count": MESSAGES_MAX, "length": TEXT_LENGTH_MAX}
            )
        return lines

    def clean(self) -> dict[str, Any]:
        """The lines of tools as objects."""
        found = super().clean() or {}
        for name in [name for name in self.fields if name.endswith(("_arguments", "_answer"))]:
            try:
                found[name] = parse_lines(found.get(name, ""))
            except LineInvalid as error:
                self.add_error(name, str(error))
        return found

    def document(self, stored: EvaluationCase | None = None) -> dict[str, Any]:
        """The case as `evals.json` has it, with what the stored one says that no field shows."""
        hidden = _hidden_parts(stored, self.texts) if stored is not None else {}
        data = self.cleaned_data
        calls, asked, mocks = [], [], []
        for place, tool in enumerate(self.texts.tools):
            name, key = tool["name"], f"tool_{place}"
            if data.get(f"{key}_called") or data[f"{key}_arguments"]:
                calls.append({"tool": name, "arguments": data[f"{key}_arguments"]})
            if data.get(f"{key}_asked"):
                asked.append(name)
            if data[f"{key}_answer"]:
                mocks.append({"tool": name, "result": data[f"{key}_answer"]})
        unseen = hidden.pop("expect", {})
        calls += unseen.pop("calls", [])
        asked += unseen.pop("asks_before", [])
        # The first mock that fits answers: those of certain arguments stand before what answers every call.
        mocks = hidden.pop("mocks", []) + mocks
        expect: dict[str, Any] = unseen | {
            "loads": data["loads"] or None,
            "opens_form": data.get("opens_form") or unseen.get("opens_form", ""),
            "says": _split(data["says"]),
            "does_not_say": _split(data["does_not_say"]),
            "no_writes": data["no_writes"],
            "calls": calls,
            "asks_before": asked,
            "calls_max": data["calls_max"],
        }
        document = {"name": data["name"], "messages": data["messages"], "mocks": mocks, "must": data["must"]}
        document["rubric"] = data["rubric"].strip()
        return {**hidden, **document, "approve": data["approve"] != "no", "expect": expect}


def _hidden_parts(case: EvaluationCase, texts: CapabilityTexts) -> dict[str, Any]:
    """What no field of the form shows, as a document."""
    document = case_document(case)
    names = {tool["name"] for tool in texts.tools}
    may_be_asked = {tool["name"] for tool in texts.tools if _is_asked_about(tool)}
    shown_calls = {id(call) for name in names if (call := _first_call(case, name))}
    shown_mocks = {id(mock) for name in names if (mock := _plain_mock(case, name))}
    calls, mocks = document.get("expect", {}).get("calls", []), document.get("mocks", [])
    expect = {key: value for key, value in document.get("expect", {}).items() if key in ("does_not_load", "tokens_max")}
    expect |= case.expect.beside
    expect["calls"] = [row for one, row in zip(case.expect.calls, calls, strict=True) if id(one) not in shown_calls]
    expect["asks_before"] = [name for name in case.expect.asks_before if name not in may_be_asked]
    if not texts.forms and case.expect.opens_form:
        expect["opens_form"] = case.expect.opens_form
    return {
        "expect": expect,
        "mocks": [row for one, row in zip(case.mocks, mocks, strict=True) if id(one) not in shown_mocks],
        "forms": dict(case.forms),
        **case.for_people,
    }


def _is_asked_about(tool: Mapping[str, Any]) -> bool:
    return tool.get("policy", {}).get("requires_approval") is True


def _first_call(case: EvaluationCase, name: str) -> ExpectedCall | None:
    return next((one for one in case.expect.calls if one.tool == name), None)


def _plain_mock(case: EvaluationCase, name: str) -> ToolMock | None:
    """What the tool answers whatever its arguments are, where that is an object."""
    return next(
        (
            one
            for one in case.mocks
            if one.tool == name and isinstance(one.result, dict) and one.result and not (one.arguments or one.error)
        ),
        None,
    )


def _split(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def initial_of_report(report: OutcomeReport, texts: CapabilityTexts) -> dict[str, Any]:
    """What the form of a case begins with after a use that failed: what the user said, and the call that failed."""
    said = [one["text"] for one in report.conversation or () if one["role"] == "user" and one["text"].strip()]
    name = report.reason or " ".join(filter(None, (report.tool, report.code)))
    initial: dict[str, Any] = {
        "name": name[:200],
        "messages": "\n".join(" ".join(one.split()) for one in said[:MESSAGES_MAX]),
    }
    for place, tool in enumerate(texts.tools):
        if tool["name"] == report.tool:
            initial[f"tool_{place}_called"] = True
            initial[f"tool_{place}_arguments"] = f"{report.missing} = *" if report.missing else ""
    return initial


def initial_of(case: EvaluationCase, texts: CapabilityTexts) -> dict[str, Any]:
    """What the form of a stored case begins with."""
    expect = case.expect
    initial: dict[str, Any] = {
        "name": case.name,
        "messages": "\n".join(case.messages),
        "loads": expect.loads or "",
        "opens_form": expect.opens_form,
        "says": "\n".join(expect.says),
        "does_not_say": "\n".join(expect.does_not_say),
        "approve": "yes" if case.approve else "no",
        "no_writes": expect.no_writes,
        "calls_max": expect.calls_max,
        "must": case.must,
        "rubric": case.rubric,
    }
    for place, tool in enumerate(texts.tools):
        key, name = f"tool_{place}", tool["name"]
        call, mock = _first_call(case, name), _plain_mock(case, name)
        initial[f"{key}_called"] = call is not None
        initial[f"{key}_arguments"] = format_lines(call.arguments) if call and call.arguments else ""
        initial[f"{key}_asked"] = name in expect.asks_before
        initial[f"{key}_answer"] = format_lines(cast("dict[str, Any]", mock.result)) if mock else ""
    return initial
