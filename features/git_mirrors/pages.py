"""Git mirrors: the list, a new one, and one with what it will push or has pushed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from capability_rules.errors import RegistryError
from features.credentials.credential_store import list_credentials
from features.git_mirrors import mirror_store
from features.git_mirrors.confirmations import remove_mirror as remove_question
from features.git_mirrors.git_branch import list_allowed_signers
from features.git_mirrors.mirror_content import SKILLS, own_host, read_members
from features.git_mirrors.mirror_state import version_here
from features.git_mirrors.mirror_store import MirrorPreview
from features.git_mirrors.models import GitMirror
from features.sets.set_store import query_sets
from registry.catalog.facets import find_display_names
from registry.common.actors import Actor
from registry.models import Team
from studio.pages.actions import run_action, submit_form
from studio.pages.confirmations.page import confirmed_first
from studio.pages.form_data import get_text
from studio.pages.formatting import figure
from studio.pages.lists import get_page
from studio.pages.permissions import StudioRequest, actor_of, admin_required, operator_required, publisher_required

_PLAIN: Any = forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"})
_FILES_SHOWN: Final = 500
_FORMS: Final = (
    (SKILLS, gettext_lazy("Skills: a folder for each")),
    ("claude", gettext_lazy("Plugin for Claude Code, with its marketplace")),
    ("codex", gettext_lazy("Plugin for Codex, with its marketplace")),
    ("cursor", gettext_lazy("Plugin for Cursor")),
    ("agent-plugin", gettext_lazy("Agent Plugins 1.0.0")),
)


class GitMirrorForm(forms.Form):
    """What is typed for a new git mirror."""

    url = forms.CharField(
        label=gettext_lazy("Repository"),
        max_length=1000,
        help_text=gettext_lazy("Its address, such as https://github.com/acme/skills."),
        widget=_PLAIN,
    )
    branch = forms.CharField(label=gettext_lazy("Branch"), max_length=200, initial="main", widget=_PLAIN)
    credential = forms.ChoiceField(
        label=gettext_lazy("Credential"),
        help_text=gettext_lazy("A token that may write to the repository, from the tab Credentials."),
    )
    set_id = forms.ChoiceField(label=gettext_lazy("What"), required=False)
    form = forms.ChoiceField(
        label=gettext_lazy("Layout"), choices=_FORMS, help_text=gettext_lazy("Plugins are of one set.")
    )

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        fields: Any = self.fields
        fields["credential"].choices = [(row.name, row.name) for row in list_credentials(in_force=True)]
        sets = query_sets().values_list("set_id", "document")
        named = [(set_id, _("The set %(name)s") % {"name": document["name"]}) for set_id, document in sets]
        fields["set_id"].choices = [("", _("All that is listed")), *named]


@operator_required("GET")
def git_mirror_list(request: StudioRequest) -> HttpResponse:
    """All of them, and for admins a form for one more."""
    return _listed(request, GitMirrorForm())


def _listed(request: StudioRequest, form: GitMirrorForm, *, status: int = 200) -> HttpResponse:
    page = get_page(request, mirror_store.list_mirrors())
    words = dict(_FORMS)
    rows = [(row, words[row.form], version_here(row)) for row in page.object_list]
    context = {"page": page, "rows": rows, "form": form, "has_credentials": bool(list_credentials(in_force=True))}
    return render(request, "studio/git_mirror/list.html", context, status=status)


@admin_required(form_on="studio:git_mirror_list")
def git_mirror_create(request: StudioRequest) -> HttpResponse:
    """Keep one, which pushes nothing before it is started."""
    form = GitMirrorForm(request.POST)
    if row := submit_form(request, form, mirror_store.create_mirror, field=_find_field):
        messages.success(request, _("The mirror is kept. Look at what it will push, then start it."))
        return redirect("studio:git_mirror_show", row.pk)
    return _listed(request, form, status=400)


def _find_field(error: RegistryError) -> str | None:
    words = {"credential": "credential", "branch": "branch", "layout": "form", "set": "set_id"}
    return next((field for word, field in words.items() if word in error.message.casefold()), "url")


@operator_required("GET")
def git_mirror_show(request: StudioRequest, number: int) -> HttpResponse:
    """One of them: what is there, and what is here."""
    return _shown(request, mirror_store.get_mirror(number))


@admin_required(form_on="studio:git_mirror_show")
def git_mirror_preview(request: StudioRequest, number: int) -> HttpResponse:
    """What a start would push; its host is asked."""
    mirror = mirror_store.get_mirror(number)
    try:
        found = mirror_store.preview(number)
    except RegistryError as error:
        return _shown(request, mirror, error=error.message)
    return _shown(request, mirror, preview=found, files=_list_files(found))


def _shown(request: StudioRequest, mirror: GitMirror, **more: Any) -> HttpResponse:
    context: dict[str, Any] = {"row": mirror, "form_words": dict(_FORMS)[mirror.form], **more}
    context["signers"] = list_allowed_signers(own_host())
    try:
        members = read_members(mirror)
    except RegistryError as error:
        context.setdefault("error", error.message)
    else:
        context["teams"] = _list_teams(mirror, members.waiting, actor_of(request))
        context["rows"] = _list_rows(mirror, members.revisions)
    return render(request, "studio/git_mirror/show.html", context)


def _list_files(found: MirrorPreview) -> str:
    """One in a line."""
    replaced = set(found.replaced)
    lines = [f"{path}  {_('(replaced)')}" if path in replaced else path for path in found.content.files]
    more = len(lines) - _FILES_SHOWN
    return "\n".join(lines[:_FILES_SHOWN] + ([_("and %(n)s more") % {"n": figure(more)}] if more > 0 else []))


def _list_rows(mirror: GitMirror, here: Mapping[str, int]) -> list[tuple[str, str, int | None, int | None]]:
    """Each capability with its name, and its revision there and here; None where it is not."""
    there = mirror.pushed["revisions"]
    ids = sorted({*there, *here})
    names = find_display_names(ids)
    return [(each, names.get(each) or each, there.get(each), here.get(each)) for each in ids]


def _list_teams(mirror: GitMirror, waiting: Any, by: Actor) -> list[tuple[Team, list[str], bool]]:
    """Each team that was or is to be asked: with the capabilities that wait, and whether the reader may answer."""
    wanted = {*map(int, mirror.consents), *waiting}
    teams = Team.objects.filter(pk__in=wanted).order_by("name")
    return [(team, waiting.get(team.pk, []), mirror_store.may_consent(team, by)) for team in teams]


def _run(request: StudioRequest, number: int, verb: Callable[..., object], words: str, **given: Any) -> HttpResponse:
    to = redirect("studio:git_mirror_show", number)
    return run_action(request, verb, words, to=to, mirror_id=number, **given)


@admin_required(form_on="studio:git_mirror_show")
def git_mirror_start(request: StudioRequest, number: int) -> HttpResponse:
    """Push from now on."""
    head = get_text(request, "head", most=64)
    words = _("Started. The first push follows within a minute.")
    return _run(request, number, mirror_store.start_mirror, words, head=head)


@admin_required(form_on="studio:git_mirror_show")
def git_mirror_push(request: StudioRequest, number: int) -> HttpResponse:
    """Queue a push that does not wait for a release."""
    return _run(request, number, mirror_store.push_now, _("The push is queued."))


@admin_required(form_on="studio:git_mirror_show")
def git_mirror_continue(request: StudioRequest, number: int) -> HttpResponse:
    """Continue from somebody else's commit."""
    head = get_text(request, "head", most=64)
    return _run(request, number, mirror_store.continue_mirror, _("The push is queued."), head=head)


@publisher_required(form_on="studio:git_mirror_show")
def git_mirror_consent(request: StudioRequest, number: int) -> HttpResponse:
    """A team's capabilities may go out."""
    team = get_text(request, "team", most=80)
    words = _("Capabilities of %(team)s go out with the next push.") % {"team": team}
    return _run(request, number, mirror_store.give_consent, words, team=team)


@publisher_required(form_on="studio:git_mirror_show")
def git_mirror_withdraw(request: StudioRequest, number: int) -> HttpResponse:
    """A team's capabilities leave with the next push."""
    team = get_text(request, "team", most=80)
    words = _("Capabilities of %(team)s leave with the next push; its history keeps them.") % {"team": team}
    return _run(request, number, mirror_store.withdraw_consent, words, team=team)


@admin_required("GET", "POST")
@confirmed_first(remove_question, page="studio:git_mirror_show", gone="studio:git_mirror_list")
def git_mirror_remove(request: StudioRequest, number: int) -> HttpResponse:
    """Remove a git mirror; what was pushed stays in its repository."""
    words = _("The mirror is removed.")
    to = redirect("studio:git_mirror_list")
    return run_action(request, mirror_store.remove_mirror, words, to=to, mirror_id=number)
