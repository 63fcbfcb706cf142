"""*Settings > Model*, *Data* and *Mail*."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from capability_rules.errors import RegistryError
from features.evaluations import model_settings
from features.settings_pages import mail_test, model_probe, settings_store
from features.settings_pages.forms import DataForm, MailForm, ModelForm
from features.settings_pages.model_probe import Probe
from features.settings_pages.settings_store import EMAIL_SERVER
from registry.core.chosen_settings import get_chosen_sender, get_setting, is_set_by_server
from registry.usage.scrubbing import scrub
from studio.pages.actions import no_store, report_done
from studio.pages.permissions import StudioRequest, actor_of, admin_required

_PROBED: Final = {
    "models": gettext_lazy("The connection works."),
    "refused": gettext_lazy("The server answered, and refused. Check the key and the address."),
    "no_list": gettext_lazy("The server answered, but not with a list of models. Enter their names, and try a chat."),
    "key_unusable": gettext_lazy("The key was ended or can't be read. Enter it again."),
    "address": gettext_lazy("This address may not be contacted from here."),
    "timeout": gettext_lazy("No answer came within 10 seconds."),
    "unreachable": gettext_lazy("There is no connection to this address."),
}
_MAILED: Final = {
    "sent": gettext_lazy("The test was handed to the mail server. Look into your inbox."),
    "no_server": gettext_lazy("No mail server is set, so nothing can be sent."),
    "no_address": gettext_lazy("Your account has no e-mail address."),
    "sign_in": gettext_lazy("The mail server did not accept the name and password of this registry."),
    "recipient": gettext_lazy("The mail server did not take your address."),
    "refused": gettext_lazy("The mail server refused the message."),
    "password_unusable": gettext_lazy("The password was ended or can't be read. Enter it again."),
    "unreachable": gettext_lazy("There is no connection to the mail server."),
}
# What the page on data shows before and after: one of everything that is taken out.
_EXAMPLE: Final = gettext_lazy(
    "Email jo@example.com or call +1 555 0100 234, password is hunter2, see https://example.com/order/1"
)


def _save(
    request: StudioRequest, form: ModelForm | DataForm | MailForm, verb: Callable[..., None], words: str
) -> HttpResponse | None:
    """Do what a valid form says; None where it is not valid, or was refused."""
    if not form.is_valid():
        return None
    try:
        verb(**form.choice(), by=actor_of(request))
    except RegistryError as error:
        field = getattr(error, "field", None)
        form.add_error(field if field in form.fields else None, error.message)
        return None
    report_done(request, words)
    return redirect(request.path)


@admin_required("GET", "POST")
def settings_model(request: StudioRequest) -> HttpResponse:
    """Where the model is, its key, and what it may cost."""
    form = ModelForm(request.POST if request.method == "POST" else None)
    return _save(request, form, settings_store.choose_model, _("Model saved.")) or _show_model(request, form)


def _show_model(request: StudioRequest, form: ModelForm, probe: Probe | None = None) -> HttpResponse:
    context = {
        "form": form,
        "is_model_set": model_settings.is_model_set(),
        "url": model_settings.get_model_url(),
        "probe": probe,
        "words": _PROBED[probe.state] if probe else "",
    }
    return no_store(render(request, "studio/settings/model.html", context, status=400 if form.errors else 200))


@admin_required(form_on="studio:settings_model")
def settings_model_test(request: StudioRequest) -> HttpResponse:
    """Ask the saved server which models it has."""
    if not model_settings.get_model_url():
        return redirect("studio:settings_model")
    try:
        probe = model_probe.probe_model(by=actor_of(request))
    except RegistryError as error:
        messages.error(request, error.message)
        return redirect("studio:settings_model")
    return _show_model(request, ModelForm(found=probe.names), probe)


@admin_required("GET", "POST")
def settings_data(request: StudioRequest) -> HttpResponse:
    """What is kept of users' messages, and who reads without a key."""
    form = DataForm(request.POST if request.method == "POST" else None)
    words = _("Saved. It holds everywhere within ten seconds.")
    if (done := _save(request, form, settings_store.choose_data, words)) is not None:
        return done
    context = {
        "form": form,
        "days": get_setting("KEEP_UNMATCHED_DAYS"),
        "example": _EXAMPLE,
        "example_kept": scrub(str(_EXAMPLE)),
    }
    return render(request, "studio/settings/data.html", context, status=400 if form.errors else 200)


@admin_required("GET", "POST")
def settings_mail(request: StudioRequest) -> HttpResponse:
    """Which server sends e-mails, from whom, and a test."""
    form = MailForm(request.POST if request.method == "POST" else None)
    words = _("Saved. Send a test to see that it works.")
    if (done := _save(request, form, settings_store.choose_mail, words)) is not None:
        return done
    context = {"form": form, "has_server": mail_test.has_mail_server(), "sender": get_chosen_sender()}
    if is_set_by_server(EMAIL_SERVER) and context["has_server"]:
        context["host"] = settings.EMAIL_HOST
    return no_store(render(request, "studio/settings/mail.html", context, status=400 if form.errors else 200))


@admin_required(form_on="studio:settings_mail")
def settings_mail_test(request: StudioRequest) -> HttpResponse:
    """Send a message to the one who asks."""
    try:
        state = mail_test.send_test(by=actor_of(request))
    except RegistryError as error:
        messages.error(request, error.message)
    else:
        say = messages.success if state == "sent" else messages.error
        say(request, _MAILED[state])
    return redirect("studio:settings_mail")
