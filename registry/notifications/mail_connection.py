"""What e-mails are sent through where no variable names a server."""

from __future__ import annotations

from typing import Any

from django.core.mail.backends.base import BaseEmailBackend
from django.core.mail.backends.console import EmailBackend as Console
from django.utils.module_loading import import_string

from registry.feature import installed_features


def open_connection(**options: Any) -> BaseEmailBackend:
    """For `EMAIL_BACKEND`, with the options of one: the server that a page names, else e-mails are printed."""
    named = (import_string(one.mail_connection)(**options) for one in installed_features() if one.mail_connection)
    return next((found for found in named if found is not None), None) or Console(**options)
