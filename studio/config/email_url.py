"""Where e-mail goes, as one setting: standard library only, like `studio.config.parsers`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from email.utils import parseaddr
from typing import Final
from urllib.parse import unquote

from studio.config.parsers import split_url

# Of each scheme the usual port, and the encryption.
_SCHEMES: Final = {"smtp": (25, "none"), "smtp+starttls": (587, "starttls"), "smtps": (465, "tls")}
_EXPECTED: Final = "console, or smtp+starttls://user:password@host:587, smtps://host:465 or smtp://host:25"


@dataclass(frozen=True, slots=True)
class MailServer:
    """A server to hand mail to; `encryption` is none, starttls or tls."""

    host: str
    port: int
    user: str
    password: str
    encryption: str


def parse_email_url(text: str) -> MailServer | None:
    """A mail server's URL; None for `console`, where mail is printed. A password is never repeated."""
    if text == "console":
        return None
    parts = split_url(text, _EXPECTED)
    if parts.scheme not in _SCHEMES:
        raise ValueError(f"has the scheme '{parts.scheme[:20]}': expected {_EXPECTED}")
    if (
        not re.fullmatch(r"[\w.:-]+", parts.hostname or "")
        or parts.path not in ("", "/")
        or parts.query
        or parts.fragment
    ):
        raise ValueError(f"does not name one host: expected {_EXPECTED}")
    usual_port, encryption = _SCHEMES[parts.scheme]
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    return MailServer(str(parts.hostname), parts.port or usual_port, user, password, encryption)


def parse_email_address(text: str) -> str:
    """An address, with or without a name: `Capability Studio <studio@example.com>`."""
    address = parseaddr(text)[1]
    if "\n" in text or "\r" in text or not re.fullmatch(r"[^@\s<>\"]+@[^@\s<>\"]+", address):
        raise ValueError(f"is '{text[:80]}': expected an address such as studio@example.com")
    return text
