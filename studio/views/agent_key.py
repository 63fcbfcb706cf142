"""Keys of agent runtimes."""

from __future__ import annotations

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from registry import keys
from registry.errors import RegistryError
from registry.models import AgentKey
from studio.access import StudioRequest, actor_of, admin_required, posted_from
from studio.views.given import line_of

SCOPE_WORDS = {
    "read": "list and load",
    "feedback": "say how it went",
    "propose": "hand in drafts",
    "publish": "publish from a pipeline",
}


class NewKeyForm(forms.Form):
    """A name, and what the key may do."""

    name = forms.CharField(label="Name", max_length=80, help_text="Who uses it, such as support bot, production.")
    scopes = forms.MultipleChoiceField(
        label="May",
        choices=[(scope, f"{scope}: {words}") for scope, words in SCOPE_WORDS.items()],
        initial=list(keys.DEFAULT_SCOPES),
        widget=forms.CheckboxSelectMultiple,
    )


@admin_required
@require_http_methods(["GET", "HEAD", "POST"])
def agent_key_list(request: StudioRequest) -> HttpResponse:
    """All keys, and a form for a new one. The key itself is shown once, in the answer to the form."""
    form = NewKeyForm(request.POST if request.method == "POST" else None)
    created = None
    if request.method == "POST" and form.is_valid():
        given = form.cleaned_data
        try:
            _, created = keys.create_key(name=given["name"], scopes=given["scopes"], by=actor_of(request))
        except RegistryError as error:
            form.add_error("name", error.message)
        else:
            form = NewKeyForm()
    context = {"keys": AgentKey.objects.all(), "form": form, "created": created}
    response = render(request, "studio/agent_key/list.html", context, status=400 if form.errors else 200)
    response["Cache-Control"] = "no-store"
    return response


@admin_required
@posted_from("studio:agent_key_list")
def agent_key_revoke(request: StudioRequest) -> HttpResponse:
    """End a key; within a second no process takes it any more."""
    try:
        row = keys.revoke_key(name=line_of(request, "name", most=80), by=actor_of(request))
    except RegistryError as error:
        messages.error(request, error.message)
    else:
        messages.success(request, f"The key '{row.name}' is revoked.")
    return redirect("studio:agent_key_list")
