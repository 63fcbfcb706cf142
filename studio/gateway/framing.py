"""Where a message of HTTP/1 ends (RFC 9112): as much as a gateway must know to pass messages on."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

HEAD_BYTES_MAX: Final = 64 * 1024
END: Final = b"\r\n\r\n"
_REQUEST_LINE: Final = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]{1,32}) ([!-~]+) HTTP/1\.([01])")
_FIELD: Final = re.compile(rb"\r\n([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([^\r\n]*)")
# A target with the host in it, as for a proxy: the group is the host, with a port where it has one.
_ABSOLUTE: Final = re.compile(rb"(https?)://([^/?#@]+)(?:[/?][!-~]*)?", re.IGNORECASE)
_DEFAULT_PORTS: Final = {b"http": b":80", b"https": b":443"}
_STATUS_LINE: Final = re.compile(rb"HTTP/1\.[01] ([0-9]{3})[ \r]")


class MalformedMessage(Exception):
    """A head whose end, or whose body's end, two readers could see in different places."""


class UnsupportedCoding(MalformedMessage):
    """A body in a transfer coding other than chunked: what was coded before it was cut into chunks is not read here."""


class RequestHead(NamedTuple):
    """`body_bytes` is None where the body ends by itself (chunked). Names of `fields` are in lower case. `persists`
    says that another request may follow on the connection."""

    raw: bytes
    method: bytes
    target: bytes
    is_http_11: bool
    fields: list[tuple[bytes, bytes]]
    body_bytes: int | None
    persists: bool

    def values(self, name: bytes) -> list[bytes]:
        return [value for found, value in self.fields if found == name]


class ResponseHead(NamedTuple):
    """`body_bytes` is None where the body ends with the connection."""

    status: int
    fields: list[tuple[bytes, bytes]]
    body_bytes: int | None
    closes: bool


def parse_request_head(raw: bytes) -> RequestHead:
    """The head of a request, its empty line included. Raises `MalformedMessage`."""
    line, fields = _split(raw)
    found = _REQUEST_LINE.fullmatch(line)
    if found is None:
        raise MalformedMessage("request line")
    is_http_11 = found[3] == b"1"
    _require_host(found[2], [value for name, value in fields if name == b"host"], is_http_11=is_http_11)
    length = _request_length(fields, is_http_11=is_http_11)
    persists = _persists(fields, is_http_11=is_http_11)
    return RequestHead(raw, found[1], found[2], is_http_11, fields, length, persists)


def has_odd_line_end(received: bytes) -> bool:
    """Whether what may become a head has a line that does not end in CRLF: it would be refused at its end, which may
    never come for a reader of CRLF."""
    ends = received.count(b"\r\n")
    # A CR at the end may get its LF yet.
    return received.count(b"\n") != ends or received.count(b"\r") - received.endswith(b"\r") != ends


def _require_host(target: bytes, hosts: list[bytes], *, is_http_11: bool) -> None:
    """One name for the host that is asked (RFC 9112, 3.2), whether in the target or in the field."""
    if len(hosts) > 1 or (is_http_11 and not hosts):
        raise MalformedMessage("host")
    if target.startswith(b"/") or target == b"*":
        return
    absolute = _ABSOLUTE.fullmatch(target)
    if absolute is None or not hosts:
        raise MalformedMessage("target")
    port = _DEFAULT_PORTS[absolute[1].lower()]
    if absolute[2].lower().removesuffix(port) != hosts[0].lower().removesuffix(port):
        raise MalformedMessage("two hosts")


def _request_length(fields: list[tuple[bytes, bytes]], *, is_http_11: bool) -> int | None:
    codings = [value.lower() for name, value in fields if name == b"transfer-encoding"]
    length = _length(fields)
    if not codings:
        return length or 0
    if length is not None or not is_http_11:
        raise MalformedMessage("two lengths")
    if codings != [b"chunked"]:
        raise UnsupportedCoding("transfer coding")
    return None


def _persists(fields: list[tuple[bytes, bytes]], *, is_http_11: bool) -> bool:
    """Whether the client expects to go on with the connection (RFC 9112, 9.3)."""
    options = {
        option.strip().lower() for name, value in fields if name == b"connection" for option in value.split(b",")
    }
    return b"close" not in options and (is_http_11 or b"keep-alive" in options)


def parse_response_head(raw: bytes, method: bytes) -> ResponseHead:
    """The head of the response to a request with `method`. Raises `MalformedMessage`."""
    line, fields = _split(raw)
    found = _STATUS_LINE.match(line + b"\r")
    if found is None:
        raise MalformedMessage("status line")
    status = int(found[1])
    closes = any(name == b"connection" and value.lower() == b"close" for name, value in fields)
    if method == b"HEAD" or status < 200 or status in (204, 304):
        return ResponseHead(status, fields, 0, closes)
    length = _length(fields)
    if length is None and not closes:
        # Nobody but its sender would know where it ends.
        raise MalformedMessage("no length")
    return ResponseHead(status, fields, length, closes)


def _split(raw: bytes) -> tuple[bytes, list[tuple[bytes, bytes]]]:
    """The first line and the fields. Lines that do not end in CRLF, or that go on in the next one, are refused."""
    line, _, _ = raw.partition(b"\r\n")
    fields = [(name.lower(), value.rstrip(b" \t")) for name, value in _FIELD.findall(raw, len(line))]
    lines = raw.count(b"\r\n")
    if lines != len(fields) + 2 or raw.count(b"\n") != lines or raw.count(b"\r") != lines or b"\0" in raw:
        raise MalformedMessage("header lines")
    return line, fields


def _length(fields: list[tuple[bytes, bytes]]) -> int | None:
    found = {value for name, value in fields if name == b"content-length"}
    if not found:
        return None
    value = found.pop()
    if found or not value.isdigit() or len(value) > 18:
        raise MalformedMessage("length")
    return int(value)
