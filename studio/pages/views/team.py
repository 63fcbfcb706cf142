"""Teams that own capabilities."""

from __future__ import annotations

from typing import Any, Final

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from registry.access import operators, teams
from registry.access.teams import TeamPage
from studio.pages.actions import Undo, run_action, submit_form
from studio.pages.confirmations import access as questions
from studio.pages.confirmations.page import confirmed_first
from studio.pages.form_data import get_text
from studio.pages.lists import FilterBar, FilterField, get_page
from studio.pages.permissions import StudioRequest, admin_required, operator_required

_SEARCH: Final = FilterField("q", gettext_lazy("Search by name or description"))


class TeamForm(forms.Form):
    """What a team is called, and what it looks after."""

    name = forms.CharField(label=gettext_lazy("Name"), max_length=80)
    description = forms.CharField(
        label=gettext_lazy("Description"),
        max_length=400,
        required=False,
        help_text=gettext_lazy("What the team owns and how to reach it"),
    )


@operator_required("GET")
def team_list(request: StudioRequest) -> HttpResponse:
    """List the teams, a page at a time, with the form for a new one."""
    return _listed(request, TeamForm())


def _listed(request: StudioRequest, form: TeamForm, *, status: int = 200) -> HttpResponse:
    filters = FilterBar(request.GET, _SEARCH)
    page = get_page(request, teams.list_teams(search=filters.get("q")))
    context = {"page": page, "form": form, "filters": filters, "query": filters.query}
    return render(request, "studio/team/list.html", context, status=status)


@admin_required(form_on="studio:team_list")
def team_create(request: StudioRequest) -> HttpResponse:
    """Create a team, with the name that was given."""
    form = TeamForm(request.POST)
    if team := submit_form(request, form, teams.create_team, field="name"):
        return redirect("studio:team_show", team.pk)
    return _listed(request, form, status=400)


@operator_required("GET")
def team_show(request: StudioRequest, number: int) -> HttpResponse:
    """One team: its people, and what is theirs."""
    found = teams.get_team_page(number)
    form = TeamForm(initial={"name": found.team.name, "description": found.team.description})
    return _render_page(request, found, form)


def _render_page(request: StudioRequest, found: TeamPage, form: TeamForm, *, status: int = 200) -> HttpResponse:
    owned = get_page(request, found.owned)
    context: dict[str, Any] = {"team": found.team, "members": found.members, "page": owned, "form": form}
    if request.user.can_administer:
        inside = {member.username for member in found.members}
        context["others"] = [one.username for one in operators.list_operators() if one.username not in inside]
    return render(request, "studio/team/show.html", context, status=status)


@admin_required(form_on="studio:team_show")
def team_change(request: StudioRequest, number: int) -> HttpResponse:
    """Change the name or description of a team."""
    found, form = teams.get_team_page(number), TeamForm(request.POST)
    if submit_form(request, form, teams.update_team, field="name", key=number):
        messages.success(request, _("Saved."))
        return redirect("studio:team_show", number)
    return _render_page(request, found, form, status=400)


def _run(
    request: StudioRequest, number: int, words: str, verb: Any, *, undo: Undo | None = None, **arguments: Any
) -> HttpResponse:
    teams.get_team_page(number)
    return run_action(request, verb, words, to=redirect("studio:team_show", number), undo=undo, **arguments)


@admin_required(form_on="studio:team_show")
def team_add_member(request: StudioRequest, number: int) -> HttpResponse:
    """Add a member to a team."""
    name = get_text(request, "username", most=150)
    words = _("%(name)s was added to the team.") % {"name": name}
    return _run(request, number, words, teams.add_member, key=number, username=name)


@admin_required("GET", "POST")
@confirmed_first(questions.remove_team_member, page="studio:team_show")
def team_remove_member(request: StudioRequest, number: int) -> HttpResponse:
    """Remove a member from a team."""
    name = get_text(request, "username", most=150)
    words = _("%(name)s was removed from the team.") % {"name": name}
    undo = Undo.by("team_add_member", number, username=name)
    return _run(request, number, words, teams.remove_member, undo=undo, key=number, username=name)


@admin_required(form_on="studio:team_show")
def team_own(request: StudioRequest, number: int) -> HttpResponse:
    """Give a capability to the team."""
    name = get_text(request, "owned", most=64)
    words = _("%(name)s was added to the team.") % {"name": name}
    return _run(request, number, words, teams.set_owning_team, capability_id=name, key=number)


@admin_required("GET", "POST")
@confirmed_first(questions.remove_team_capability, page="studio:team_show")
def team_disown(request: StudioRequest, number: int) -> HttpResponse:
    """Remove a capability from its team."""
    name = get_text(request, "owned", most=64)
    words = _("%(name)s was removed from the team.") % {"name": name}
    undo = Undo.by("team_own", number, owned=name)
    return _run(request, number, words, teams.set_owning_team, undo=undo, capability_id=name, key=None)


@admin_required("GET", "POST")
@confirmed_first(questions.delete_team, page="studio:team_show", gone="studio:team_list")
def team_delete(request: StudioRequest, number: int) -> HttpResponse:
    """Delete a team that owns nothing."""

    def words(name: str) -> str:
        return _("Team %(name)s deleted.") % {"name": name}

    to, back = redirect("studio:team_list"), redirect("studio:team_show", number)
    return run_action(request, teams.delete_team, words, to=to, back=back, key=number)
