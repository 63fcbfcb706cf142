"""The question before a credential is ended."""

from __future__ import annotations

from django.utils.translation import gettext as _

from features.credentials.models import Credential
from studio.pages.confirmations.page import Confirmation, NothingToConfirm, sent
from studio.pages.form_data import get_text_at
from studio.pages.permissions import StudioRequest


def end_credential_question(request: StudioRequest) -> Confirmation:
    """Whether to forget a secret."""
    name = get_text_at(sent(request), "name", most=70)
    row = Credential.objects.filter(name=name).first()
    if row is None or row.ended_at is not None:
        raise NothingToConfirm(_("The credential is ended."))
    effects = [_("Its secret is forgotten."), _("Whatever uses it stops, with an incident each.")]
    if row.last_used_for:
        effects.append(_("It was used last for %(what)s.") % {"what": row.last_used_for})
    return Confirmation(
        title=_("End credential %(name)s?") % {"name": name},
        button=_("End credential"),
        effects=effects,
        undo=_("It can't be restored. You can keep the secret again under another name."),
        fields={"name": name},
    )
