"""Skill groups: the list, a new one, one of them, and taking its words away."""

from __future__ import annotations

from typing import Any, Final, cast

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from registry.access import teams
from registry.matching import skill_groups
from registry.matching.skill_groups import EXAMPLES_MAX, GroupPage
from studio.pages.actions import run_action, submit_form
from studio.pages.confirmations import bundles as questions
from studio.pages.confirmations.page import confirmed_first
from studio.pages.lists import get_page
from studio.pages.permissions import StudioRequest, operator_required, publisher_required

MEMBERS_SHOWN: Final = 50


class GroupForm(forms.Form):
    """The words of a group; examples are lines."""

    name = forms.CharField(label=gettext_lazy("Name"), max_length=80)
    description = forms.CharField(
        label=gettext_lazy("Description"),
        max_length=1024,
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=gettext_lazy("Describe what these capabilities share; used for matching."),
    )
    examples = forms.CharField(
        label=gettext_lazy("Example messages"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 6}),
        help_text=gettext_lazy("Messages that belong to this group. One per line, up to 50."),
    )
    is_exclusive = forms.BooleanField(
        label=gettext_lazy("One at a time"),
        required=False,
        help_text=gettext_lazy("Only one capability of this group can be active at a time."),
    )

    team = forms.ChoiceField(
        label=gettext_lazy("Team"),
        required=False,
        help_text=gettext_lazy("Only members of this team and admins change the group. Capabilities are not affected."),
    )

    def __init__(self, *args: Any, for_admin: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if for_admin:
            choices = [(row.name, row.name) for row in teams.list_teams()]
            cast("forms.ChoiceField", self.fields["team"]).choices = [("", _("Every publisher")), *choices]
        else:
            del self.fields["team"]

    def clean_examples(self) -> list[str]:
        lines = [line.strip() for line in self.cleaned_data["examples"].splitlines()]
        examples = [line for line in lines if line]
        if len(examples) > EXAMPLES_MAX:
            raise forms.ValidationError(_("At most %(most)s example messages.") % {"most": EXAMPLES_MAX})
        if any(len(line) > 500 for line in examples):
            raise forms.ValidationError(_("Example messages have at most 500 characters."))
        return examples


class NewGroupForm(GroupForm):
    """With the id, which never changes."""

    group_id = forms.RegexField(
        label=gettext_lazy("ID"),
        regex=r"\A[a-z0-9]+(?:_[a-z0-9]+)*\Z",
        max_length=64,
        help_text=gettext_lazy("The name in skill_groups of capability.json. Use lowercase words joined by _."),
        error_messages={"invalid": gettext_lazy("Use lowercase letters and digits, joined by single underscores.")},
    )
    field_order = ("group_id", "name")


@operator_required("GET")
def skill_group_list(request: StudioRequest) -> HttpResponse:
    """Every group, and which capabilities are in none."""
    page = get_page(request, skill_groups.list_groups())
    return render(request, "studio/skill_group/list.html", {"page": page})


@publisher_required("GET", "POST")
def skill_group_new(request: StudioRequest) -> HttpResponse:
    """Describe a group; one that capabilities name already is filled in."""
    initial = {"group_id": request.GET.get("id", "")[:64]}
    form = NewGroupForm(request.POST or None, initial=initial, for_admin=request.user.can_administer)
    if group := submit_form(request, form, skill_groups.create_group, field="group_id"):
        return redirect("studio:skill_group_show", group.group_id)
    return render(request, "studio/skill_group/new.html", {"form": form}, status=400 if form.errors else 200)


@operator_required("GET")
def skill_group_show(request: StudioRequest, group_id: str) -> HttpResponse:
    """Show a skill group with its words, examples and members."""
    found = skill_groups.get_group(group_id)
    return _render_page(request, found, _form_of(request, found))


@publisher_required(form_on="studio:skill_group_show")
def skill_group_save(request: StudioRequest, group_id: str) -> HttpResponse:
    """Save the description and examples of a group."""
    found = skill_groups.get_group(group_id)
    form = GroupForm(request.POST, for_admin=request.user.can_administer)
    if submit_form(request, form, skill_groups.set_group, field=None, group_id=group_id):
        messages.success(request, _("Saved."))
        return redirect("studio:skill_group_show", group_id)
    return _render_page(request, found, form, status=400)


@publisher_required("GET", "POST")
@confirmed_first(questions.delete_group_details, page="studio:skill_group_show", gone="studio:skill_group_list")
def skill_group_remove(request: StudioRequest, group_id: str) -> HttpResponse:
    """Delete its description; capabilities still name it."""
    words = _("Details of %(group)s deleted.") % {"group": group_id}
    return run_action(
        request, skill_groups.delete_group, words, to=redirect("studio:skill_group_list"), group_id=group_id
    )


def _blocking_team(request: StudioRequest, group_id: str) -> str:
    """The team that alone changes the group, where this operator is neither in it nor an admin; else empty."""
    return "" if request.user.can_administer else teams.blocking_group_team(request.user.get_username(), group_id)


def _form_of(request: StudioRequest, found: GroupPage) -> GroupForm:
    group = found.group
    initial: dict[str, Any] = {
        "name": group.name,
        "description": group.description,
        "examples": "\n".join(group.examples),
        "is_exclusive": group.is_exclusive,
        "team": group.team,
    }
    return GroupForm(initial=initial, for_admin=request.user.can_administer)


def _render_page(request: StudioRequest, found: GroupPage, form: GroupForm, *, status: int = 200) -> HttpResponse:
    context = {
        "group": found.group,
        "members": found.members[:MEMBERS_SHOWN],
        "members_left_out": max(0, len(found.members) - MEMBERS_SHOWN),
        "form": form,
        "blocked_by_team": _blocking_team(request, found.group.group_id),
    }
    return render(request, "studio/skill_group/show.html", context, status=status)
