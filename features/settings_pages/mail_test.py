"""*Send test mail*: one message to the person who asks, and what became of it."""

from __future__ import annotations

import smtplib
from typing import Final, Literal

from django.conf import settings
from django.core.mail import EmailMessage
from django.utils.translation import gettext as _

from capability_rules.errors import RegistryError
from features.settings_pages.settings_store import EMAIL_SERVER
from registry.common.actors import Actor
from registry.common.rate_limits import RATE_LIMITER
from registry.core.chosen_settings import read_chosen
from registry.models import Operator

MailState = Literal[
    "sent", "no_server", "no_address", "sign_in", "recipient", "unreachable", "refused", "password_unusable"
]
TESTS_A_MINUTE: Final = 3


def has_mail_server() -> bool:
    """Whether e-mails leave this server; without one they are printed there."""
    if settings.EMAIL_BACKEND.endswith("mail_connection.open_connection"):
        return EMAIL_SERVER in read_chosen()
    return not settings.EMAIL_BACKEND.endswith("console.EmailBackend")


def send_test(*, by: Actor) -> MailState:
    """Send it now. Raises `RateLimited`."""
    address = Operator.objects.filter(username=by.name).values_list("email", flat=True).first()
    if not has_mail_server():
        return "no_server"
    if not address:
        return "no_address"
    RATE_LIMITER.consume("write", f"mail test by {by}", count=TESTS_A_MINUTE, seconds=60)
    words = _("This is a test from Settings > Mail. E-mails from this Capability Studio reach you.")
    message = EmailMessage(
        subject=_("[Studio] Test"), body=f"{words}\n", to=[address], headers={"Auto-Submitted": "auto-generated"}
    )
    try:
        message.send()
    except RegistryError:
        return "password_unusable"
    except smtplib.SMTPAuthenticationError:
        return "sign_in"
    except smtplib.SMTPRecipientsRefused:
        return "recipient"
    except smtplib.SMTPException:
        return "refused"
    except OSError:
        return "unreachable"
    return "sent"
