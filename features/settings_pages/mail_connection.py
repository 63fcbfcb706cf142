"""The mail server of *Settings > Mail*: reached at checked addresses only, with its own password."""

from __future__ import annotations

import smtplib
import socket
from collections.abc import Sequence
from typing import Any, Final

from django.conf import settings
from django.core.mail import EmailMessage
from django.core.mail.backends.smtp import EmailBackend

from features.credentials import credential_store
from features.settings_pages.settings_store import EMAIL_CREDENTIAL, EMAIL_NETWORKS, EMAIL_SERVER, secret_url
from registry.common.net.guarded_client import locate_host
from registry.core.chosen_settings import get_chosen_sender, read_chosen


class _CheckedSMTP(smtplib.SMTP):
    """Connects to an address that was checked; the name stays for the certificate."""

    is_encrypted = True

    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:
        scheme = "https" if self.is_encrypted else "http"
        address = locate_host(host, port, scheme=scheme, setting=EMAIL_NETWORKS)
        return super()._get_socket(address, port, timeout)  # type: ignore[misc, no-any-return]


class _PlainSMTP(_CheckedSMTP):
    is_encrypted = False


class _CheckedSMTPS(smtplib.SMTP_SSL, _CheckedSMTP):
    """The same, encrypted from the first byte."""


_CLASSES: Final = {"tls": _CheckedSMTPS, "starttls": _CheckedSMTP, "none": _PlainSMTP}


class _ChosenServer(EmailBackend):
    @property
    def connection_class(self) -> type[smtplib.SMTP]:
        """By the encryption, which is never left out where it was chosen."""
        return _CLASSES["tls" if self.use_ssl else "starttls" if self.use_tls else "none"]

    def send_messages(self, email_messages: Sequence[EmailMessage]) -> int:
        """From the chosen sender, where a message names no other."""
        for message in email_messages:
            if message.from_email == settings.DEFAULT_FROM_EMAIL:
                message.from_email = get_chosen_sender()
        return super().send_messages(email_messages)


def open_connection(**options: Any) -> EmailBackend | None:
    """None where no server is chosen; for `Feature.mail_connection`.

    Raises `SourceMisconfigured` where the password is ended, or cannot be read.
    """
    server, name = read_chosen().get(EMAIL_SERVER), read_chosen().get(EMAIL_CREDENTIAL)
    if not server:
        return None
    if name:
        row = credential_store.get_credential(name)
        options["password"] = credential_store.open_secret(row, secret_url(server), used_for="e-mails")[1]
        options["username"] = server["user"]
    encryption = server["encryption"]
    return _ChosenServer(
        **options,
        host=server["host"],
        port=server["port"],
        use_tls=encryption == "starttls",
        use_ssl=encryption == "tls",
    )
