"""Webhooks: who is notified of events, and the result of each delivery."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.text import format_lazy
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from capability_rules.errors import RegistryError
from features.webhooks import confirmations as questions
from features.webhooks import webhook_store
from features.webhooks.models import Webhook
from features.webhooks.webhook_events import OPT_IN_TYPES, PUBLIC_TYPES
from studio.pages.actions import Undo, is_fragment, no_store, run_action, submit_form, vary_on_htmx
from studio.pages.confirmations.page import confirmed_first
from studio.pages.form_data import get_int
from studio.pages.lists import get_page
from studio.pages.permissions import StudioRequest, actor_of, admin_required


class ChangeForm(forms.Form):
    """Where events go, and which."""

    url = forms.CharField(
        label=gettext_lazy("URL"),
        max_length=2000,
        help_text=gettext_lazy("e.g. https://hooks.example.com/studio"),
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    events = forms.MultipleChoiceField(
        label=gettext_lazy("Events"),
        required=False,
        choices=[(kind, kind) for kind in PUBLIC_TYPES],
        widget=forms.CheckboxSelectMultiple,
        help_text=format_lazy(
            gettext_lazy("None selected = all except {chatty}."), chatty=", ".join(sorted(OPT_IN_TYPES))
        ),
    )


class CreateForm(ChangeForm):
    """With the name, which never changes."""

    name = forms.CharField(label=gettext_lazy("Name"), max_length=80)
    field_order = ("name", "url", "events")


@admin_required("GET", "POST")
def webhook_list(request: StudioRequest) -> HttpResponse:
    """All of them, and a form for a new one. The secret is shown once, in the answer to the form."""
    form = CreateForm(request.POST if request.method == "POST" else None)
    done = submit_form(request, form, webhook_store.create_webhook, field=_find_field)
    if done:
        form = CreateForm()
    page = get_page(request, webhook_store.list_webhooks())
    context = {"page": page, "form": form, "secret": done[1] if done else None}
    return no_store(render(request, "studio/webhook/list.html", context, status=400 if form.errors else 200))


def _find_field(error: RegistryError) -> str:
    return "name" if error.code == "NAME_TAKEN" else "url"


@admin_required("GET")
def webhook_show(request: StudioRequest, number: int) -> HttpResponse:
    """One webhook with what was sent; the log is asked for again while something is queued."""
    webhook = webhook_store.get_webhook_by_id(number)
    part = "#deliveries" if is_fragment(request) else ""
    return vary_on_htmx(_render_page(request, webhook, _form_of(webhook), part=part))


def _form_of(webhook: Webhook) -> ChangeForm:
    return ChangeForm(initial={"url": webhook.url, "events": webhook.events})


def _render_page(
    request: StudioRequest, webhook: Webhook, form: ChangeForm, *, part: str = "", secret: str = "", status: int = 200
) -> HttpResponse:
    page = get_page(request, webhook_store.list_webhook_deliveries(webhook))
    is_waiting = any(delivery.state == "queued" for delivery in page.object_list)
    context = {"webhook": webhook, "page": page, "form": form, "is_waiting": is_waiting, "secret": secret}
    return no_store(render(request, f"studio/webhook/show.html{part}", context, status=status))


@admin_required(form_on="studio:webhook_show")
def webhook_change(request: StudioRequest, number: int) -> HttpResponse:
    """Change the URL of a webhook, or the kinds of event that it gets."""
    webhook, form = webhook_store.get_webhook_by_id(number), ChangeForm(request.POST)
    if submit_form(request, form, webhook_store.update_webhook, field="url", name=webhook.name):
        messages.success(request, _("Saved."))
        return redirect("studio:webhook_show", number)
    return _render_page(request, webhook, form, status=400)


def _run(
    request: StudioRequest, number: int, words: str, verb: Any, *, undo: Undo | None = None, **arguments: Any
) -> HttpResponse:
    webhook = webhook_store.get_webhook_by_id(number)
    to = redirect("studio:webhook_show", number)
    return run_action(request, verb, words, to=to, undo=undo, **(arguments or {"name": webhook.name}))


@admin_required(form_on="studio:webhook_show")
def webhook_test(request: StudioRequest, number: int) -> HttpResponse:
    """Queue a test event for the webhook; its response appears in the log of deliveries."""
    return _run(request, number, _("Test event sent. The log below shows the response."), webhook_store.send_test)


@admin_required("GET", "POST")
@confirmed_first(questions.disable_webhook, page="studio:webhook_show")
def webhook_disable(request: StudioRequest, number: int) -> HttpResponse:
    """Pause the deliveries of a webhook; events meanwhile are not sent later."""
    words, undo = _("Webhook disabled. Missed events aren't sent later."), Undo.by("webhook_enable", number)
    return _run(request, number, words, webhook_store.disable_webhook, undo=undo)


@admin_required(form_on="studio:webhook_show")
def webhook_enable(request: StudioRequest, number: int) -> HttpResponse:
    """Resume the deliveries of a webhook, from the next event on."""
    return _run(request, number, _("Webhook enabled."), webhook_store.enable_webhook)


@admin_required(form_on="studio:webhook_show")
def webhook_redeliver(request: StudioRequest, number: int) -> HttpResponse:
    """Queue one delivery of the webhook again, with the same id."""
    words = _("Sent again, with the same ID.")
    found = get_int(request, "delivery") or 0
    return _run(request, number, words, webhook_store.redeliver, delivery_id=found)


@admin_required("GET", "POST")
@confirmed_first(questions.replace_webhook_secret, page="studio:webhook_show")
def webhook_rotate(request: StudioRequest, number: int) -> HttpResponse:
    """Create a new secret for the webhook and show it once."""
    webhook = webhook_store.get_webhook_by_id(number)
    secret = webhook_store.rotate_secret(name=webhook.name, by=actor_of(request))
    webhook = webhook_store.get_webhook_by_id(number)
    return _render_page(request, webhook, _form_of(webhook), secret=secret)


@admin_required("GET", "POST")
@confirmed_first(questions.delete_webhook, page="studio:webhook_show", gone="studio:webhook_list")
def webhook_delete(request: StudioRequest, number: int) -> HttpResponse:
    """Delete a webhook with the log of its deliveries."""
    name = webhook_store.get_webhook_by_id(number).name
    words = _("Webhook %(name)s deleted.") % {"name": name}
    return run_action(request, webhook_store.delete_webhook, words, to=redirect("studio:webhook_list"), name=name)
