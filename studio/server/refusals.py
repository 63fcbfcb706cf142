"""Why a request is refused before any view sees it."""

from __future__ import annotations

from typing import ClassVar

import orjson

from registry.common.errors import OUT_OF_MEMORY
from studio.server.wsgi_call import WsgiResponse


class RequestRefused(Exception):
    """A request that gets no further than the event loop; what is left of its body is not waited for."""

    status: ClassVar[int] = 503
    code: ClassVar[str] = "REGISTRY_UNAVAILABLE"
    message: ClassVar[str] = ""

    def __init__(self, message: str = "") -> None:
        super().__init__(message or self.message)

    def response(self) -> WsgiResponse:
        """In the envelope of the API, which a person can read too. The connection is closed after it."""
        body = orjson.dumps({"error": {"code": self.code, "message": str(self)}})
        headers = [
            ("Content-Type", "application/json"),
            ("Content-Length", str(len(body))),
            ("Cache-Control", "no-store"),
            ("X-Content-Type-Options", "nosniff"),
            ("Connection", "close"),
        ]
        if self.status in (429, 503):
            headers.append(("Retry-After", "5"))
        return WsgiResponse(self.status, headers, body)


class BodyIncomplete(RequestRefused):
    """Fewer bytes than were announced."""

    status = 400
    code = "INVALID_REQUEST"
    message = "The body ended before its announced length"


class BodyTooLarge(RequestRefused):
    """More than any endpoint accepts."""

    status = 413
    code = "PAYLOAD_TOO_LARGE"

    def __init__(self, bytes_max: int) -> None:
        super().__init__(f"The body is too large; at most {bytes_max:,} bytes are accepted")


class BodyTimeout(RequestRefused):
    """Nothing came, or it came too slowly."""

    status = 408
    code = "REQUEST_TIMEOUT"
    message = "The body did not arrive in time; send the request again, in one go"


class TooManyBodies(RequestRefused):
    """Request bodies in memory have reached their total limit."""

    message = "Too many large requests at once; try again in a few seconds"


class TooManyRequests(RequestRefused):
    """More requests wait for a thread than are served within seconds."""

    message = "The registry is overloaded; try again in a few seconds"


class OutOfMemory(RequestRefused):
    """The process may not grow enough for this request; what it has begun was rolled back."""

    message = OUT_OF_MEMORY


class ServerStopping(RequestRefused):
    """The process ends, and the body had not arrived."""

    message = "This process is stopping; send the request again"


class NotFromGateway(RequestRefused):
    """Sent past the gateway, or after a request whose end it saw elsewhere."""

    status = 400
    code = "INVALID_REQUEST"
    message = "The request did not come through the gateway"
