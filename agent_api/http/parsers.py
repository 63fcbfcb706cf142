"""Bodies with a limit: nothing is read past it."""

from __future__ import annotations

import json
from typing import Any

from django.conf import settings
from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser

from agent_api.http.parameters import parse_body
from capability_kit.text.files import UnnamedFile
from capability_rules.bundles.archives import ARCHIVE_BYTES_MAX
from capability_rules.errors import RegistryError


class PayloadTooLarge(RegistryError):
    """The body is over the limit of this endpoint."""

    code = "PAYLOAD_TOO_LARGE"


class CodingUnsupported(RegistryError):
    """The body is compressed, or a text of another encoding than UTF-8."""

    code = "UNSUPPORTED_MEDIA_TYPE"


class BoundedJSONParser(BaseParser):
    """JSON up to `bytes_max`, or where that is 0 up to the limit that the settings set for bodies in memory.

    Not a `JSONParser`: of one, REST framework reads the whole body first, by that limit of the settings.
    """

    media_type = "application/json"
    bytes_max = 0

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> Any:  # noqa: ARG002
        raw = read_bounded(stream, parser_context, self.bytes_max or settings.DATA_UPLOAD_MAX_MEMORY_SIZE)
        try:
            return parse_body(raw)
        except ValueError as error:
            encoding = json.detect_encoding(raw)
            if not encoding.startswith("utf-8"):
                raise CodingUnsupported(f"The body is a text in '{encoding}': send it in UTF-8") from None
            raise ParseError(str(error)) from None


class RawParser(BaseParser):
    """The bytes as they came, whatever they are called."""

    media_type = "*/*"
    bytes_max: int

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> Any:  # noqa: ARG002
        return read_bounded(stream, parser_context, self.bytes_max)


class ZipParser(BaseParser):
    """An archive as a file without a name, which is closed with the last that reads it."""

    media_type = "application/zip"

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> Any:  # noqa: ARG002
        require_plain(parser_context, ARCHIVE_BYTES_MAX)
        body = UnnamedFile()
        while part := stream.read(UnnamedFile.MEMORY_BYTES):
            body.write(part)
            if body.tell() > ARCHIVE_BYTES_MAX:
                raise PayloadTooLarge(f"The body has more than {ARCHIVE_BYTES_MAX:,} bytes")
        return body


class BytesParser(ZipParser):
    """A zip from a client that has one media type for everything that is not text."""

    media_type = "application/octet-stream"


def read_bounded(stream: Any, parser_context: Any, bytes_max: int) -> bytes:
    """At most so many bytes. Raises `PayloadTooLarge` without reading the rest, `CodingUnsupported` if compressed."""
    require_plain(parser_context, bytes_max)
    raw: bytes = stream.read(bytes_max + 1)
    if len(raw) > bytes_max:
        raise PayloadTooLarge(f"The body has more than {bytes_max:,} bytes")
    return raw


def require_plain(parser_context: Any, bytes_max: int) -> None:
    """Raises `PayloadTooLarge` for a body that is announced to be larger, `CodingUnsupported` if compressed."""
    headers = parser_context["request"].META
    coding = headers.get("HTTP_CONTENT_ENCODING", "").strip()
    if coding.lower() not in ("", "identity"):
        raise CodingUnsupported(f"The body has the Content-Encoding '{coding[:40]}': send it as it is, without one")
    length = headers.get("CONTENT_LENGTH") or "0"
    if length.isdecimal() and int(length) > bytes_max:
        raise PayloadTooLarge(f"The body has {int(length):,} bytes; at most {bytes_max:,} are allowed")
