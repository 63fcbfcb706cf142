"""A new capability: guided, or as a copy of another one. Bringing files is in capability_import.py."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.datastructures import MultiValueDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from capability_rules.errors import RegistryError
from registry.authoring import capability_creation
from registry.authoring.capability_creation import ArgumentSpec, CapabilitySpec, ToolSpec
from registry.catalog.drafts import SavedDraft
from registry.common.errors import DraftConflict
from studio.pages.form_data import get_query_text
from studio.pages.permissions import StudioRequest, actor_of, author_required
from studio.pages.starting_points import STARTING_POINTS, build_tool_rows, find_starting_point
from studio.pages.tool_formset import ARGUMENT_CHOICES, ToolRow, read_tool_rows

TRIGGERS_MAX: Final = 50
_IDS: Final = re.compile(r"[a-z0-9]+(?:_[a-z0-9]+)*")


def build_id_field(help_text: Any) -> forms.CharField:
    """An id that somebody chooses; left empty it is made of the name."""
    return forms.CharField(label=gettext_lazy("ID"), max_length=64, required=False, help_text=help_text)


class NameAndIdForm(forms.Form):
    """A name, and an id that may be left to it."""

    name = forms.CharField(
        label=gettext_lazy("Name"),
        max_length=80,
        help_text=gettext_lazy("e.g. Weight tracking"),
    )
    capability_id = build_id_field(gettext_lazy("Generated from the name. Can't be changed after publishing."))

    def clean_capability_id(self) -> str:
        value: str = self.cleaned_data["capability_id"] or capability_creation.suggest_id(
            self.cleaned_data.get("name", "")
        )
        if not _IDS.fullmatch(value) and "name" in self.cleaned_data:
            raise forms.ValidationError(_("Use lowercase letters and digits, joined by single underscores."))
        return value


PROFILE_CHOICES: Final = (
    ("capability", gettext_lazy("Capability: instructions with tools and forms")),
    ("playbook", gettext_lazy("Playbook: steps to solve a customer's problem")),
    ("runbook", gettext_lazy("Runbook: what to do about an alert")),
    ("agent_skill", gettext_lazy("Agent skill: free text in the Agent Skills format")),
)


class DescribedCapabilityForm(NameAndIdForm):
    """What a new capability is called, does, and is found by."""

    description = forms.CharField(
        label=gettext_lazy("Description"),
        max_length=1024,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=gettext_lazy("What it does and when to use it, in a sentence or two. Agents read this first."),
    )
    triggers = forms.CharField(
        label=gettext_lazy("Trigger phrases"),
        required=False,
        max_length=6000,
        widget=forms.Textarea(attrs={"rows": 3, "data-chips": "", "aria-describedby": "id_triggers_helptext"}),
        help_text=gettext_lazy('Type a phrase and press Enter, e.g. "weigh-in". Defaults to the name.'),
    )

    def clean_description(self) -> str:
        # Browsers send CRLF.
        value: str = self.cleaned_data["description"]
        return value.replace("\r\n", "\n")

    def clean_triggers(self) -> list[str]:
        return _lines(self.cleaned_data["triggers"], most=80)


class NewCapabilityForm(DescribedCapabilityForm):
    """What a first draft is made of, but for its tools."""

    skill_profile = forms.ChoiceField(
        label=gettext_lazy("Kind"),
        choices=PROFILE_CHOICES,
        widget=forms.Select(attrs={"class": "select"}),
    )
    sentences = forms.CharField(
        label=gettext_lazy("Example messages"),
        required=False,
        max_length=6000,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=gettext_lazy("One per line. We re-test these on every publish."),
    )

    def clean_sentences(self) -> list[str]:
        return _lines(self.cleaned_data["sentences"], most=500)


def _lines(text: str, *, most: int) -> list[str]:
    found = list(dict.fromkeys(line.strip() for line in text.splitlines() if line.strip()))
    if len(found) > TRIGGERS_MAX:
        raise forms.ValidationError(_("At most %(most)s lines.") % {"most": TRIGGERS_MAX})
    if any(len(line) > most for line in found):
        raise forms.ValidationError(_("A line has at most %(most)s characters.") % {"most": most})
    return found


@author_required("GET", "POST")
def capability_new(request: StudioRequest) -> HttpResponse:
    """Ask what it should do, when, with which tools, shown how; end in the editor with the draft."""
    if request.method != "POST":
        point = find_starting_point(get_query_text(request, "start", most=20))
        initial = _asked_for(request)
        context: dict[str, Any] = {"point": point}
        if point is not None:
            initial["skill_profile"] = point.profile
        elif not any(initial.values()):
            context["starting_points"] = STARTING_POINTS
        form = NewCapabilityForm(initial=initial)
        if "starting_points" not in context:
            form.fields["name"].widget.attrs["autofocus"] = True
        return _page(request, form, build_tool_rows(point) if point else [], **context)
    step, rows = request.POST.get("step", ""), read_tool_rows(request.POST)
    form = NewCapabilityForm(request.POST)
    if step == "triggers":
        return render(request, "studio/capability/new.html#trigger-words", _trigger_words(request))
    if step:
        template = "studio/capability/new.html#tools" if request.htmx else "studio/capability/new.html"
        return render(request, template, _context(request, _unchecked(request), rows))
    if not form.is_valid() or any(row.faults for row in rows):
        return _page(request, form, rows, status=400)
    wish, by = _wish(form.cleaned_data, rows), actor_of(request)
    created = _create(request, form, lambda: capability_creation.create_capability(wish=wish, by=by), None)
    return created or _page(request, form, rows, status=400)


def _create(
    request: StudioRequest, form: NameAndIdForm, create: Callable[[], SavedDraft], refused_field: str | None
) -> HttpResponse | None:
    """Make the draft and lead to the editor; None where it was refused, which the form says."""
    try:
        saved = create()
    except DraftConflict:
        form.add_error("capability_id", _("A capability with this ID already exists."))
    except RegistryError as error:
        form.add_error(refused_field, error.message)
    else:
        _tell_what_is_left(request, saved.report)
        return redirect("studio:draft_edit", form.cleaned_data["capability_id"])
    return None


def _tell_what_is_left(request: StudioRequest, report: Any) -> None:
    count = len(report.findings)
    if count:
        # A toast, which goes by itself: the editor's list of issues stays up to date, a banner would not.
        messages.success(
            request,
            ngettext(
                "Draft created. %(count)s thing to finish.",
                "Draft created. %(count)s things to finish.",
                count,
            )
            % {"count": count},
        )
    else:
        messages.success(request, _("Draft created. Next: write the instructions."))


def _wish(given: dict[str, Any], rows: list[ToolRow]) -> CapabilitySpec:
    tools = tuple(
        ToolSpec(
            row.name,
            row.does,
            "write" if row.kind == "write" else "read",
            tuple(
                ArgumentSpec(each.name, each.kind, each.meaning, each.is_required, each.choices) for each in row.given
            ),
            row.has_form,
        )
        for row in rows
    )
    triggers, sentences = tuple(given["triggers"]), tuple(given["sentences"])
    plain = {name: given[name] for name in ("capability_id", "name", "description", "skill_profile")}
    return CapabilitySpec(**plain, triggers=triggers, sentences=sentences, tools=tools)


def _unchecked(request: StudioRequest) -> NewCapabilityForm:
    """The form with what was typed so far, without errors about missing fields: it was not submitted yet."""
    given: MultiValueDict[str, str] = request.POST
    names = NewCapabilityForm.base_fields
    return NewCapabilityForm(initial={name: given[name] for name in names if name in given})


def _asked_for(request: StudioRequest) -> dict[str, str]:
    """From Unmet requests: an id that agents ask for, or a sentence of a user."""
    wanted, sentence = get_query_text(request, "id", most=64), get_query_text(request, "sentence", most=500)
    given = {"sentences": sentence}
    if _IDS.fullmatch(wanted):
        given |= {"capability_id": wanted, "name": wanted.replace("_", " ").title()}
    return given


def _trigger_words(request: StudioRequest) -> dict[str, Any]:
    lines = [line.strip()[:80] for line in request.POST.get("triggers", "").splitlines() if line.strip()][:TRIGGERS_MAX]
    name, description = (request.POST.get(key, "")[:2000] for key in ("name", "description"))
    return {
        "taken": capability_creation.find_trigger_conflicts(lines),
        "suggested": capability_creation.suggest_triggers(name=name, description=description, given=lines),
    }


def _context(request: StudioRequest, form: NewCapabilityForm, rows: list[ToolRow]) -> dict[str, Any]:
    return {
        "form": form,
        "tools": rows,
        "argument_kinds": ARGUMENT_CHOICES,
        "way": "new",
        "faults": _faults(form, rows),
        **_trigger_words(request),
    }


def _faults(form: NewCapabilityForm, rows: list[ToolRow]) -> list[tuple[str, str, str]]:
    """`(element's id, what it is called, what is wrong)` in the order of the page, which is longer than a screen."""
    names = ("name", "description", "capability_id", "skill_profile", "triggers", "sentences")
    found = [(f"id_{name}", str(form[name].label), str(words)) for name in names for words in form[name].errors]
    for row in rows:
        called = _("Tool %(number)s") % {"number": row.number + 1}
        found += [(f"tool-{row.number}", called, words) for words in row.faults]
    return found


def _page(
    request: StudioRequest, form: NewCapabilityForm, rows: list[ToolRow], *, status: int = 200, **more: Any
) -> HttpResponse:
    return render(request, "studio/capability/new.html", _context(request, form, rows) | more, status=status)


class CopyForm(NameAndIdForm):
    """Which one, and what the copy is called."""

    copy_of = forms.CharField(label=gettext_lazy("Source capability"), max_length=64)

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.order_fields(["copy_of", "name", "capability_id"])


@author_required("GET", "POST")
def capability_copy(request: StudioRequest) -> HttpResponse:
    """A draft like another capability, under an id and tool names of its own."""
    form = CopyForm(request.POST or None, initial={"copy_of": get_query_text(request, "of", most=64)})
    if request.method == "POST" and form.is_valid():
        given, by = form.cleaned_data, actor_of(request)
        names = {"capability_id": given["copy_of"], "new_id": given["capability_id"], "name": given["name"]}
        copy = partial(capability_creation.duplicate_capability, by=by, **names)
        if created := _create(request, form, copy, "copy_of"):
            return created
    status = 400 if form.errors else 200
    return render(request, "studio/capability/copy.html", {"form": form, "way": "copy"}, status=status)
