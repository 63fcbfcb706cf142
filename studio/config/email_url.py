"""Where e-mail goes, as one setting: standard library only, like `studio.config.parsers`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from email.utils import parseaddr
from typing import Final
from urllib.parse import unquote, urlsplit

_PORTS: Final = {"smtp": 25, "smtp+starttls": 587, "smtps": 465}
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
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as error:
        raise ValueError(f"cannot be read as a URL: expected {_EXPECTED}") from error
    if parts.scheme not in _PORTS:
        raise ValueError(f"has the scheme '{parts.scheme[:20]}': expected {_EXPECTED}")
    if (
        not re.fullmatch(r"[\w.:-]+", parts.hostname or "")
        or parts.path not in ("", "/")
        or parts.query
        or parts.fragment
    ):
        raise ValueError(f"does not name one host: expected {_EXPECTED}")
    encryption = {"smtp": "none", "smtp+starttls": "starttls", "smtps": "tls"}[parts.scheme]
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    return MailServer(str(parts.hostname), port or _PORTS[parts.scheme], user, password, encryption)


def parse_email_address(text: str) -> str:
    """An address, with or without a name: `Capability Studio <studio@example.com>`."""
    address = parseaddr(text)[1]
    if "\n" in text or "\r" in text or not re.fullmatch(r"[^@\s<>\"]+@[^@\s<>\"]+", address):
        raise ValueError(f"is '{text[:80]}': expected an address such as studio@example.com")
    return text
