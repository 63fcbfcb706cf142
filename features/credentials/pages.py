"""Credentials: the list, a new one, another secret for one, and its end."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from capability_rules.errors import RegistryError
from features.credentials import credential_store
from features.credentials.confirmations import end_credential_question
from features.credentials.models import Credential
from registry.common.actors import Actor
from studio.pages.actions import no_store, run_action, submit_form
from studio.pages.confirmations.page import confirmed_first
from studio.pages.form_data import get_text
from studio.pages.lists import get_page
from studio.pages.permissions import StudioRequest, admin_required

_SECRET: Any = forms.PasswordInput(attrs={"autocomplete": "off"})


class CredentialForm(forms.Form):
    """What is typed for a new credential."""

    name = forms.CharField(label=gettext_lazy("Name"), max_length=70)
    hosts = forms.CharField(
        label=gettext_lazy("Hosts"),
        max_length=2000,
        help_text=gettext_lazy("Where it may be sent, separated by commas, such as github.com. Nothing else gets it."),
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    username = forms.CharField(
        label=gettext_lazy("User name (optional)"),
        max_length=100,
        required=False,
        help_text=gettext_lazy("Git hosts that take a token need none."),
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    secret = forms.CharField(
        label=gettext_lazy("Token or password"),
        max_length=credential_store.SECRET_LENGTH_MAX,
        help_text=gettext_lazy(
            "Kept encrypted, and never shown again. To follow a repository it need only read; a git mirror writes."
        ),
        widget=_SECRET,
    )


@admin_required("GET", "POST")
def credential_list(request: StudioRequest) -> HttpResponse:
    """All of them, and a form for one more."""
    form = CredentialForm(request.POST if request.method == "POST" else None)
    if row := submit_form(request, form, _create, field=_find_field):
        messages.success(
            request,
            _("%(name)s is kept. Choose it for a source, an import or a git mirror.") % {"name": row.name},
        )
        return redirect("studio:credential_list")
    page = get_page(request, credential_store.list_credentials())
    context = {"page": page, "form": form}
    return no_store(render(request, "studio/credential/list.html", context, status=400 if form.errors else 200))


def _find_field(error: RegistryError) -> str | None:
    """The field that a refusal is about."""
    words = {"host": "hosts", "user name": "username", "secret": "secret", "name": "name"}
    return next((field for word, field in words.items() if word in error.message.casefold()), None)


def _create(*, hosts: str, by: Actor, **given: str) -> Credential:
    return credential_store.create_credential(hosts=hosts.replace(",", " ").split(), by=by, **given)


@admin_required(form_on="studio:credential_list")
def credential_replace(request: StudioRequest) -> HttpResponse:
    """Another secret for one of them."""
    name, secret = get_text(request, "name", most=70), get_text(request, "secret", most=4001)
    words = _("%(name)s has its new secret.") % {"name": name}
    to = redirect("studio:credential_list")
    return run_action(request, credential_store.replace_secret, words, to=to, name=name, secret=secret)


@admin_required(form_on="studio:credential_list")
def credential_open(request: StudioRequest) -> HttpResponse:
    """Let members import with it, or admins alone."""
    name, is_open = get_text(request, "name", most=70), bool(request.POST.get("open"))
    words = _("Members can import with %(name)s.") if is_open else _("Only admins can import with %(name)s.")
    to = redirect("studio:credential_list")
    return run_action(
        request, credential_store.open_to_members, words % {"name": name}, to=to, name=name, is_open=is_open
    )  # fmt: skip


@admin_required("GET", "POST")
@confirmed_first(end_credential_question, page="studio:credential_list")
def credential_end(request: StudioRequest) -> HttpResponse:
    """Forget the secret of a credential, which nothing uses from then on."""
    name = get_text(request, "name", most=70)
    words = _("%(name)s is ended.") % {"name": name}
    return run_action(
        request, credential_store.end_credential, words, to=redirect("studio:credential_list"), name=name
    )  # fmt: skip
