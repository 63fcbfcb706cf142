"""The whole registry as a file to download."""

from __future__ import annotations

from django import forms
from django.http import FileResponse, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from registry.common.errors import BackupRefused
from registry.common.rate_limits import RateLimited
from registry.operations import backup
from studio.pages.passwords import is_current_password, too_many, wait_message
from studio.pages.permissions import StudioRequest, actor_of, admin_required

CONTENTS = (
    (gettext_lazy("Capabilities with all revisions, drafts, reviews and attached files"), True, ""),
    (gettext_lazy("Members, teams and the audit log"), True, gettext_lazy("Passwords as hashes.")),
    (gettext_lazy("API keys"), True, gettext_lazy("As hashes; the keys keep working after a restore.")),
    (
        gettext_lazy("Secrets of webhooks and sources"),
        True,
        gettext_lazy("In plain text. Anyone with the file can use them."),
    ),
    (gettext_lazy("Usage, feedback, incidents and unmet requests"), True, ""),
    (gettext_lazy("Sessions"), False, gettext_lazy("Everyone signs in again after a restore.")),
    (gettext_lazy("Settings of the server and its secret key"), False, gettext_lazy("Keep your .env file yourself.")),
)


class BackupForm(forms.Form):
    """The password again: the file contains secrets."""

    password = forms.CharField(
        label=gettext_lazy("Your password"),
        max_length=4096,
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
        help_text=gettext_lazy("Asked again because the file contains secrets."),
    )


@sensitive_post_parameters()
@admin_required
@require_http_methods(["GET", "HEAD", "POST"])
def backup_show(request: StudioRequest) -> HttpResponse:
    """What a backup contains; with the password, the file itself."""
    form = BackupForm(request.POST if request.method == "POST" else None)
    if request.method != "POST" or not form.is_valid():
        return _page(request, form, 400 if form.errors else 200)
    try:
        if not is_current_password(request, form.cleaned_data["password"]):
            form.add_error("password", _("Your password is incorrect."))
            return _page(request, form, 400)
        name, file = backup.open_backup(by=actor_of(request))
    except RateLimited as error:
        form.add_error("password", wait_message(error))
        return too_many(_page(request, form, 429), error)
    except BackupRefused as error:
        form.add_error(None, error.message)
        return _page(request, form, 409)
    response = FileResponse(file, as_attachment=True, filename=name, content_type="application/zip")
    response["Cache-Control"] = "no-store"
    return response  # type: ignore[return-value]


def _page(request: StudioRequest, form: BackupForm, status: int) -> HttpResponse:
    return render(request, "studio/backup/show.html", {"form": form, "contents": CONTENTS}, status=status)
