"""The whole registry as a file to download."""

from __future__ import annotations

from django.http import FileResponse, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext_lazy

from registry.common.errors import BackupRefused
from registry.common.rate_limits import RateLimited
from registry.operations.backup.download import open_backup
from studio.pages.credentials import too_many, wait_message
from studio.pages.permissions import StudioRequest, actor_of, admin_required

CONTENTS = (
    (gettext_lazy("Capabilities with all revisions, drafts, reviews and attached files"), True, ""),
    (gettext_lazy("Members, teams and the audit log"), True, gettext_lazy("Passwords as hashes.")),
    (
        gettext_lazy("Second factors and names at the identity provider"),
        True,
        gettext_lazy("Secrets of authenticator apps and recovery codes in plain text, public keys of passkeys."),
    ),
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


@admin_required("GET", "POST")
def backup_show(request: StudioRequest) -> HttpResponse:
    """What a backup contains; for a POST, the file itself."""
    if request.method != "POST" or request.POST.get("download") != "yes":
        return _page(request, "", 400 if request.method == "POST" else 200)
    try:
        name, file = open_backup(by=actor_of(request))
    except RateLimited as error:
        return too_many(_page(request, wait_message(error), 429), error)
    except BackupRefused as error:
        return _page(request, error.message, 409)
    response = FileResponse(file, as_attachment=True, filename=name, content_type="application/zip")
    response["Cache-Control"] = "no-store"
    return response  # type: ignore[return-value]


def _page(request: StudioRequest, fault: str, status: int) -> HttpResponse:
    return render(request, "studio/backup/show.html", {"fault": fault, "contents": CONTENTS}, status=status)
