"""Why a request is refused before any view sees it."""

from __future__ import annotations

from typing import ClassVar

import orjson

from registry.common.errors import OUT_OF_MEMORY
from studio.server.wsgi_call import WsgiResponse


class RequestRefused(Exception):
    """A request that gets no further than the event loop; what is left of its body is not waited for."""

    status: ClassVar[int]
    code: ClassVar[str]

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
        if self.status == 503:
            headers.append(("Retry-After", "5"))
        return WsgiResponse(self.status, headers, body)


class BodyIncomplete(RequestRefused):
    """Fewer bytes than were announced."""

    status = 400
    code = "INVALID_REQUEST"

    def __init__(self) -> None:
        super().__init__("The body ended before its announced length")


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

    def __init__(self) -> None:
        super().__init__("The body did not arrive in time; send the request again, in one go")


class TooManyBodies(RequestRefused):
    """Request bodies in memory have reached their total limit."""

    status = 503
    code = "REGISTRY_UNAVAILABLE"

    def __init__(self) -> None:
        super().__init__("Too many large requests at once; try again in a few seconds")


class TooManyRequests(RequestRefused):
    """More requests wait for a thread than are served within seconds."""

    status = 503
    code = "REGISTRY_UNAVAILABLE"

    def __init__(self) -> None:
        super().__init__("The registry is overloaded; try again in a few seconds")


class OutOfMemory(RequestRefused):
    """The process may not grow enough for this request; what it has begun was rolled back."""

    status = 503
    code = "REGISTRY_UNAVAILABLE"

    def __init__(self) -> None:
        super().__init__(OUT_OF_MEMORY)


class ServerStopping(RequestRefused):
    """The process ends, and the body had not arrived."""

    status = 503
    code = "REGISTRY_UNAVAILABLE"

    def __init__(self) -> None:
        super().__init__("This process is stopping; send the request again")


class NotFromGateway(RequestRefused):
    """Sent past the gateway, or after a request whose end it saw elsewhere."""

    status = 400
    code = "INVALID_REQUEST"

    def __init__(self) -> None:
        super().__init__("The request did not come through the gateway")
