"""Bodies of clients that stream and name no length: WSGI knows them only once they are read."""

from __future__ import annotations

import io
from typing import Any, Final

from registry.imports.archives import ARCHIVE_BYTES_MAX

_CHUNK_BYTES: Final = 64 * 1024


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
