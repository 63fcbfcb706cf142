"""Where a browser may be sent with a code: compared by characters, never by what a parser makes of them."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final
from urllib.parse import urlencode, urlsplit

LENGTH_MAX: Final = 1000
URIS_MAX: Final = 20
# No fragment, no user, no blank, no backslash, no wildcard; what is in a host has one meaning everywhere.
_REST: Final = r"(?:/[A-Za-z0-9._~:/@!$&'()+,;=%-]*)?(?:\?[A-Za-z0-9._~:/?@!$&'()+,;=%-]*)?"
_PORT: Final = r"(?::[1-9][0-9]{0,4})?"
_HOST: Final = r"(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])"
_HTTPS: Final = re.compile(rf"https://{_HOST}{_PORT}{_REST}")
# RFC 8252 7.3: a program on this computer takes a port that is free.
_LOOPBACK: Final = re.compile(rf"(?P<host>http://(?:127\.0\.0\.1|\[::1\]|localhost)){_PORT}(?P<rest>{_REST})")
# RFC 8252 7.1 wants the dot of a domain in a private scheme; these three editors came without.
_PRIVATE: Final = re.compile(
    r"(?:cursor|vscode|vscode-insiders|[a-z][a-z0-9+-]*(?:\.[a-z0-9+-]+)+):/"
    r"[A-Za-z0-9._~:/@!$&'()+,;=%-]*(?:\?[A-Za-z0-9._~:/?@!$&'()+,;=%-]*)?"
)


def is_redirect_uri(uri: str) -> bool:
    """Whether a client may name it."""
    return len(uri) <= LENGTH_MAX and any(form.fullmatch(uri) for form in (_HTTPS, _LOOPBACK, _PRIVATE))


def is_named(uri: str, named: Collection[str]) -> bool:
    """Whether it is one of those that a client names: character for character, on loopback but for the port."""
    if not is_redirect_uri(uri):
        return False
    return uri in named or any(_is_same_program(uri, one) for one in named)


def _is_same_program(uri: str, named: str) -> bool:
    sent, known = _LOOPBACK.fullmatch(uri), _LOOPBACK.fullmatch(named)
    return sent is not None and known is not None and sent.group("host", "rest") == known.group("host", "rest")


def is_on_this_computer(uri: str) -> bool:
    """Whether a program on the member's own computer receives it."""
    return not uri.startswith("https://")


def get_origin(uri: str) -> str:
    """For `form-action`, which a browser applies to redirects too: `https://host:port`, or the scheme of a program."""
    parts = urlsplit(uri)
    return f"{parts.scheme}://{parts.netloc}" if parts.scheme in ("http", "https") else f"{parts.scheme}:"


def add_parameters(uri: str, parameters: dict[str, str]) -> str:
    """The address with these in its query, behind those that it has."""
    return f"{uri}{'&' if '?' in uri else '?'}{urlencode(parameters)}"
