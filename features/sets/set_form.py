"""The form of a set, as a person fills it in."""

from __future__ import annotations

from typing import Any, cast

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from features.sets.set_document import (
    DESCRIPTION_LENGTH_MAX,
    ICON_LENGTH_MAX,
    MEMBERS_MAX,
    NAME_LENGTH_MAX,
    SetDocument,
)
from registry.access import teams
from registry.catalog.facets import find_display_names
from registry.models import Capability


class SetForm(forms.Form):
    """Everything but the id, which follows from the first name. A member that is pinned stays pinned."""

    name = forms.CharField(label=gettext_lazy("Name"), max_length=NAME_LENGTH_MAX)
    description = forms.CharField(
        label=gettext_lazy("Description"),
        max_length=DESCRIPTION_LENGTH_MAX,
        help_text=gettext_lazy("One or two sentences: assistants show it where people choose what to install."),
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    icon = forms.CharField(
        label=gettext_lazy("Icon (optional)"),
        max_length=ICON_LENGTH_MAX,
        required=False,
        help_text=gettext_lazy("One emoji."),
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    members = forms.MultipleChoiceField(
        label=gettext_lazy("Capabilities"), widget=forms.CheckboxSelectMultiple(attrs={"class": "set-choice"})
    )
    visibility = forms.ChoiceField(
        label=gettext_lazy("Who can see it"),
        choices=[
            ("listed", gettext_lazy("Every agent that sees one of its capabilities")),
            ("unlisted", gettext_lazy("Members, and who has a share link of it")),
        ],
        widget=forms.Select(attrs={"class": "select"}),
    )
    team = forms.ChoiceField(
        label=gettext_lazy("Team"),
        required=False,
        help_text=gettext_lazy("Only its members and admins change the set."),
        widget=forms.Select(attrs={"class": "select"}),
    )

    def __init__(self, *args: Any, before: SetDocument | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.before = before
        cast("forms.MultipleChoiceField", self.fields["members"]).choices = _list_choices(before)
        names = [row.name for row in teams.list_teams()]
        if names:
            choices = [("", _("Every publisher")), *((name, name) for name in names)]
            cast("forms.ChoiceField", self.fields["team"]).choices = choices
        else:
            del self.fields["team"]

    def clean_members(self) -> list[str]:
        found: list[str] = self.cleaned_data["members"]
        if len(found) > MEMBERS_MAX:
            raise forms.ValidationError(_("A set has at most %(most)s capabilities.") % {"most": MEMBERS_MAX})
        return found

    def document(self, set_id: str) -> dict[str, Any]:
        """What a valid form says, as `save_set` takes it."""
        given = self.cleaned_data
        pins = self.before.members if self.before is not None else {}
        members = {name: pins.get(name) for name in given["members"]}
        texts = {key: given[key] for key in ("name", "description", "icon", "visibility")}
        return SetDocument(set_id=set_id, members=members, **texts).as_dict()


def _list_choices(before: SetDocument | None) -> list[tuple[str, str]]:
    """What may be a member: what is published, and what is one already."""
    published = [Capability.Status.PUBLISHED, Capability.Status.DEPRECATED]
    found = Capability.objects.filter(status__in=published, published_revision__isnull=False)
    ids = {*found.values_list("capability_id", flat=True), *(before.members if before is not None else ())}
    names = find_display_names(ids)
    return sorted(((each, names.get(each) or each) for each in ids), key=lambda pair: (pair[1].casefold(), pair[0]))


def initial_of(document: SetDocument, team: str) -> dict[str, Any]:
    """The values of the form of a set that is there."""
    return {
        "name": document.name,
        "description": document.description,
        "icon": document.icon,
        "members": list(document.members),
        "visibility": document.visibility,
        "team": team,
    }
