"""What the gateway refuses by itself."""

from __future__ import annotations

from email.utils import formatdate

from studio.gateway.warm_responses import head_bytes
from studio.server.refusals import RequestRefused


class BadRequest(RequestRefused):
    """A head of which it is not clear what it says."""

    status = 400
    code = "INVALID_REQUEST"
    message = "The request's head is not valid HTTP/1"


class CodingNotSupported(RequestRefused):
    """A body that was coded in another way before it was cut into chunks, or instead."""

    status = 501
    code = "INVALID_REQUEST"
    message = "Transfer-Encoding is not supported but for chunked alone: send the body as it is, with Content-Length"


class HeadTooLarge(RequestRefused):
    """More than any client has to say before a body."""

    status = 431
    code = "INVALID_REQUEST"
    message = "The request's headers are too large; at most 64 KiB are accepted"


class TooManyConnections(RequestRefused):
    """One address has more connections than CONNECTIONS_PER_ADDRESS."""

    status = 429
    code = "RATE_LIMITED"
    message = (
        "Your address has too many open connections to this registry; close some, or use each for several requests"
    )


class ApplicationAway(RequestRefused):
    """The application ended and is being started again, or closed the connection."""

    message = "The registry is restarting; try again in a few seconds"


class ApplicationSilent(RequestRefused):
    """To a probe: the application has not answered for seconds, or is not there."""

    message = "The application does not answer; warm reads go on, and it is started again if it stays so"


def wire(refusal: RequestRefused) -> bytes:
    """The response to a refused request, head and body, as it is sent."""
    response = refusal.response()
    date = formatdate(usegmt=True).encode()
    body = response.body if isinstance(response.body, bytes) else b""
    return head_bytes(response.status, response.headers, date) + b"\r\n" + body
