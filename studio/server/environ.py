"""A WSGI environ (PEP 3333) from an RSGI scope."""

from __future__ import annotations

import io
import sys
from typing import Any, Final

from studio.server.rsgi import RequestScope

Environ = dict[str, Any]

_CONSTANT: Final[Environ] = {
    "SCRIPT_NAME": "",
    "SERVER_SOFTWARE": "granian",
    "wsgi.version": (1, 0),
    "wsgi.errors": sys.stderr,
    "wsgi.multithread": True,
    "wsgi.multiprocess": False,
    "wsgi.run_once": False,
}
_UNPREFIXED: Final = {"content-type": "CONTENT_TYPE", "content-length": "CONTENT_LENGTH"}


def build_environ(scope: RequestScope) -> Environ:
    """The environ of a request whose body has not been received: `wsgi.input` is empty.

    A header whose name has an underscore is dropped: "X_Forwarded_For" would take the place of `X-Forwarded-For`.
    """
    environ = _CONSTANT.copy()
    environ["REQUEST_METHOD"] = scope.method
    environ["PATH_INFO"] = _as_latin_1(scope.path)
    environ["QUERY_STRING"] = _as_latin_1(scope.query_string)
    environ["SERVER_PROTOCOL"] = "HTTP/" + scope.http_version
    environ["wsgi.url_scheme"] = scope.scheme
    environ["wsgi.input"] = io.BytesIO()
    environ["REMOTE_ADDR"] = split_address(scope.client)[0]
    environ["SERVER_NAME"], environ["SERVER_PORT"] = split_address(scope.server)
    for name, value in scope.headers.items():
        if "_" not in name:
            _add_header(environ, name, value)
    _add_unreadable(environ, scope.headers.keys())
    if scope.authority and "HTTP_HOST" not in environ:
        environ["HTTP_HOST"] = scope.authority
    return environ


def _add_header(environ: Environ, name: str, value: str) -> None:
    if (key := _UNPREFIXED.get(name)) is not None:
        # The server refuses two lengths that differ.
        environ.setdefault(key, value)
        return
    key = _http_key(name)
    if key not in environ:
        environ[key] = value
    else:
        # RFC 9110 5.3; cookies are parted by semicolons (RFC 6265 5.4).
        environ[key] += (";" if name == "cookie" else ",") + value


def _add_unreadable(environ: Environ, names: list[str]) -> None:
    """Add a header whose value is not ASCII as an empty one: granian names it, and leaves it out of the items.

    A key or an Idempotency-Key that cannot be read is refused; without it the request would be another one.
    """
    for name in names:
        if "_" not in name:
            environ.setdefault(_UNPREFIXED.get(name) or _http_key(name), "")


def _http_key(name: str) -> str:
    return "HTTP_" + name.upper().replace("-", "_")


def _as_latin_1(text: str) -> str:
    """Each byte of its UTF-8 form as one character, as PEP 3333 wants it."""
    return text if text.isascii() else text.encode("utf-8", "surrogatepass").decode("latin-1")


def split_address(address: str) -> tuple[str, str]:
    """Host and port of `127.0.0.1:80` or `[::1]:80`."""
    host, _, port = address.rpartition(":")
    return host.strip("[]"), port
