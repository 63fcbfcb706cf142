"""Bodies before and after they are used: of clients that name no length, and what a refusal left unread."""

from __future__ import annotations

import io
from typing import Any, Final

from registry.imports.archives import ARCHIVE_BYTES_MAX

_CHUNK_BYTES: Final = 64 * 1024
# What comes with the head of a request or right after it: nobody is waited for.
_LEFT_BYTES_MAX: Final = 64 * 1024


def measure_body(environ: dict[str, Any]) -> None:
    """Read a chunked body and say its length; without one Django takes it for empty.

    Nothing is read past one byte more than the largest body that any endpoint takes: that is refused as too large.
    """
    if environ.get("CONTENT_LENGTH") or "chunked" not in environ.get("HTTP_TRANSFER_ENCODING", "").lower():
        return
    body = io.BytesIO()
    left = ARCHIVE_BYTES_MAX + 1
    while left and (chunk := environ["wsgi.input"].read(min(left, _CHUNK_BYTES))):
        body.write(chunk)
        left -= len(chunk)
    environ["CONTENT_LENGTH"] = str(body.tell())
    body.seek(0)
    environ["wsgi.input"] = body


def read_to_end(environ: dict[str, Any]) -> None:
    """Read what is left of a small body.

    A call that is refused by its key or its method is answered before its body has come. The server then closes the
    connection, which HTTP/1.1 keeps open, and the client's next call on it is lost without an answer.
    """
    length = environ.get("CONTENT_LENGTH") or "0"
    if length.isascii() and length.isdecimal() and 0 < int(length) <= _LEFT_BYTES_MAX:
        while environ["wsgi.input"].read(_CHUNK_BYTES):
            pass
