"""Keys of agent runtimes."""

from __future__ import annotations

from datetime import date, datetime, timedelta, tzinfo
from typing import Any, Final

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from capability_rules.errors import InvalidRequest, RegistryError
from registry.access import agent_keys, teams
from registry.models import AgentKey
from studio.middleware.time_zones import day_start, typed_zone, zone_sent
from studio.pages.actions import no_store, run_action, submit_form
from studio.pages.confirmations import access as questions
from studio.pages.confirmations.page import confirmed_first
from studio.pages.form_data import get_text
from studio.pages.lists import FilterBar, FilterField, TableColumn, build_column, get_page, parse_sort
from studio.pages.permissions import StudioRequest, actor_of, admin_required

_SORTS: Final = ("name", "expires", "used")
_FILTERS: Final = (
    FilterField("q", gettext_lazy("Search by name")),
    FilterField(
        "state",
        gettext_lazy("Status"),
        (("", gettext_lazy("Active")), ("ended", gettext_lazy("Revoked or expired")), ("all", gettext_lazy("All"))),
    ),
)
SCOPE_WORDS = {
    "read": gettext_lazy("Read capabilities"),
    "feedback": gettext_lazy("Report outcomes"),
    "propose": gettext_lazy("Propose changes"),
    "publish": gettext_lazy("Publish (CI)"),
}
OVERLAPS: Final = {
    "0": gettext_lazy("Not at all"),
    "1": gettext_lazy("1 hour"),
    "24": gettext_lazy("1 day"),
    "168": gettext_lazy("7 days"),
    "720": gettext_lazy("30 days"),
}


class KeyRightsForm(forms.Form):
    """What a key may do, and until when."""

    scopes = forms.MultipleChoiceField(
        label=gettext_lazy("Scopes"),
        choices=list(SCOPE_WORDS.items()),
        initial=list(agent_keys.DEFAULT_SCOPES),
        widget=forms.CheckboxSelectMultiple,
    )
    groups = forms.CharField(
        label=gettext_lazy("Limit to skill groups (optional)"),
        required=False,
        max_length=2000,
        help_text=gettext_lazy("Separate with commas, e.g. billing, support. Empty = all."),
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    team = forms.ChoiceField(
        label=gettext_lazy("Limit changes to a team (optional)"),
        required=False,
        help_text=gettext_lazy("Publishes and proposes what the team owns. What it creates belongs to the team."),
        widget=forms.Select(attrs={"class": "select"}),
    )
    capability_ids = forms.CharField(
        label=gettext_lazy("Limit changes to capabilities (optional)"),
        required=False,
        max_length=20_000,
        help_text=gettext_lazy("IDs, separated by commas. It publishes, proposes and creates only these."),
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    read_only_tools = forms.BooleanField(
        label=gettext_lazy("Read-only"),
        required=False,
        help_text=gettext_lazy("Hides write tools from this key."),
    )
    preview = forms.BooleanField(
        label=gettext_lazy("Preview drafts"),
        required=False,
        help_text=gettext_lazy("Serves valid drafts instead of live versions."),
    )
    last_day = forms.DateField(
        label=gettext_lazy("Expires on (optional)"),
        required=False,
        help_text=gettext_lazy("Stops working after this day."),
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
    )
    # When the key ends as things stand.
    expires_at: datetime | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        names = [team.name for team in teams.list_teams()]
        self.fields["team"].choices = [("", _("No team")), *((name, name) for name in names)]  # type: ignore[attr-defined]

    @property
    def zone(self) -> tzinfo | None:
        """The zone in which the day was typed, once it was (components/field.html)."""
        return typed_zone(self.data, "last_day")

    def clean_groups(self) -> list[str] | None:
        given = self.cleaned_data["groups"].replace(",", " ").split()
        return given or None

    def clean_capability_ids(self) -> list[str] | None:
        given = self.cleaned_data["capability_ids"].replace(",", " ").split()
        return given or None

    def clean_last_day(self) -> datetime | None:
        """The moment from which the key is refused."""
        day: date | None = self.cleaned_data["last_day"]
        if day is None:
            return None
        try:
            zone = zone_sent(self.data, "last_day")
            if self.expires_at is not None and day == _last_day(self.expires_at, zone):
                # The day was not changed; its end may lie within a day of this zone, as where another zone set it.
                return self.expires_at
            return day_start(day + timedelta(days=1), zone)
        except (InvalidRequest, OverflowError) as error:
            raise forms.ValidationError(getattr(error, "message", _("Choose an earlier day."))) from None

    def clean(self) -> dict[str, Any]:
        given = super().clean() or {}
        return {("expires_at" if name == "last_day" else name): value for name, value in given.items()}

    def find_field(self, error: RegistryError) -> str | None:
        """The field that a refusal is about."""
        field = next((name for word, name in _FIELDS.items() if word in error.message), None)
        return field if field in self.fields else None


# The verbs tell their refusals in words; each begins with what it is about.
_FIELDS: Final = {
    "Groups are": "groups",
    "exclude each other": "team",
    "Ids of capabilities": "capability_ids",
    "no team named": "team",
    "A key ends": "last_day",
    "A key's name": "name",
    "a key named": "name",
}


class NewKeyForm(KeyRightsForm):
    """With a name, which never changes."""

    name = forms.CharField(
        label=gettext_lazy("Name"),
        max_length=80,
        help_text=gettext_lazy("Who uses it, e.g. support bot, production."),
    )
    field_order = ("name",)


@admin_required("GET", "POST")
def agent_key_list(request: StudioRequest) -> HttpResponse:
    """All keys, and a form for a new one. The key itself is shown once, in the answer to the form."""
    form = NewKeyForm(request.POST if request.method == "POST" else None)
    done = submit_form(request, form, agent_keys.create_key, field=form.find_field)
    if done:
        form = NewKeyForm()
    filters = FilterBar(request.GET, *_FILTERS)
    sorted_by = parse_sort(request.GET, _SORTS, "name")
    found = agent_keys.list_keys(state=filters.get("state") or "force", search=filters.get("q"), sort=sorted_by)
    context = {
        "page": get_page(request, found),
        "form": form,
        "created": done[1] if done else None,
        "filters": filters,
        "query": filters.query,
        "columns": [
            build_column(_("Name"), key="name", sorted_by=sorted_by, query=request.GET),
            TableColumn(_("Scopes")),
            build_column(_("Expires"), key="expires", sorted_by=sorted_by, query=request.GET),
            build_column(_("Last used"), key="used", sorted_by=sorted_by, query=request.GET, is_latest_first=True),
        ],
    }
    return no_store(render(request, "studio/agent_key/list.html", context, status=400 if form.errors else 200))


@admin_required("GET")
def agent_key_show(request: StudioRequest, number: int) -> HttpResponse:
    """One key: what it may do, and the ways to change, renew and end it."""
    row = agent_keys.get_key_by_id(number)
    return _render_page(request, row, _form_of(row))


def _last_day(expires_at: datetime, zone: tzinfo) -> date:
    return (expires_at - timedelta(microseconds=1)).astimezone(zone).date()


def _form_of(row: AgentKey) -> KeyRightsForm:
    return KeyRightsForm(
        initial={
            "scopes": row.scopes,
            "groups": ", ".join(row.groups or ()),
            "team": row.team.name if row.team else "",
            "capability_ids": ", ".join(row.capability_ids or ()),
            "read_only_tools": row.read_only_tools,
            "preview": row.preview,
            "last_day": _last_day(row.expires_at, timezone.get_current_timezone()) if row.expires_at else None,
        }
    )


def _render_page(
    request: StudioRequest, row: AgentKey, form: KeyRightsForm, *, created: str = "", status: int = 200
) -> HttpResponse:
    context = {"key": row, "form": form, "created": created, "overlaps": OVERLAPS}
    return no_store(render(request, "studio/agent_key/show.html", context, status=status))


@admin_required(form_on="studio:agent_key_show")
def agent_key_change(request: StudioRequest, number: int) -> HttpResponse:
    """Change the rights of a key."""
    row, form = agent_keys.get_key_by_id(number), KeyRightsForm(request.POST)
    form.expires_at = row.expires_at
    if submit_form(request, form, agent_keys.update_key, field=form.find_field, name=row.name):
        messages.success(request, _("Saved."))
        return redirect("studio:agent_key_show", number)
    return _render_page(request, row, form, status=400)


@admin_required("GET", "POST")
@confirmed_first(questions.rotate_key, page="studio:agent_key_show")
def agent_key_rotate(request: StudioRequest, number: int) -> HttpResponse:
    """A new key in the place of the old one, shown once."""
    row, hours = agent_keys.get_key_by_id(number), request.POST.get("overlap", "0")
    overlap = timedelta(hours=int(hours) if hours in OVERLAPS else 0)
    try:
        row, created = agent_keys.rotate_key(name=row.name, by=actor_of(request), overlap=overlap)
    except RegistryError as error:
        messages.error(request, error.message)
        return redirect("studio:agent_key_show", number)
    return _render_page(request, row, _form_of(row), created=created)


@admin_required("GET", "POST")
@confirmed_first(questions.revoke_key, page="studio:agent_key_list")
def agent_key_revoke(request: StudioRequest) -> HttpResponse:
    """End a key; within a second no process takes it any more."""
    name = get_text(request, "name", most=80)
    words = _("API key “%(name)s” was revoked.") % {"name": name}
    return run_action(request, agent_keys.revoke_key, words, to=redirect("studio:agent_key_list"), name=name)
