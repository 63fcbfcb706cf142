"""One POST to an address that an operator has named, and what is kept of its outcome."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from django.conf import settings

from capability_kit import tracing
from capability_kit.errors import describe_exception
from capability_rules.errors import InvalidRequest
from registry.common.net.guarded_client import GuardedRequest, allowed_addresses, parse_address
from registry.common.net.ip_policy import AddressNotAllowed, require_allowed

TOTAL_SECONDS: Final = 10.0
RESPONSE_BYTES_MAX: Final = 64 * 1024
EXCERPT_CHARACTERS_MAX: Final = 1000
URL_LENGTH_MAX: Final = 2000
_SETTING: Final = "WEBHOOK_ALLOWED_NETWORKS"


@dataclass(frozen=True, slots=True)
class DeliveryResponse:
    """The outcome of a POST: `status` is None without a response, and then `error` says why."""

    status: int | None
    excerpt: str
    error: str
    duration_ms: int

    @property
    def is_success(self) -> bool:
        """The status decides, whatever became of the body."""
        return self.status is not None and 200 <= self.status <= 299


def check_url(url: str) -> str:
    """The URL without blanks around it, as it may be kept. Raises `InvalidRequest` with what is expected.

    A name is resolved at each delivery; an address in the URL itself is checked here too.
    """
    url = url.strip()
    parsed = parse_address(url, length_max=URL_LENGTH_MAX)
    if parsed is None or not url.isprintable():
        raise InvalidRequest("A webhook's URL is absolute, such as https://hooks.example.com/studio")
    if parsed.userinfo or parsed.fragment:
        raise InvalidRequest("A webhook's URL has neither a password nor a fragment: deliveries are signed instead")
    if parsed.scheme == "http" and not settings.WEBHOOK_ALLOWED_NETWORKS:
        raise InvalidRequest(
            "A webhook's URL begins with https://. Plain http is for networks named in WEBHOOK_ALLOWED_NETWORKS"
        )
    try:
        require_allowed(
            [ip_address(parsed.host)], networks=settings.WEBHOOK_ALLOWED_NETWORKS, host=parsed.host, setting=_SETTING,
            scheme=parsed.scheme,
        )  # fmt: skip
    except ValueError:
        pass
    except AddressNotAllowed as refusal:
        raise InvalidRequest(str(refusal)) from None
    return url


def post_event(
    url: str, *, body: bytes, headers: Mapping[str, str], total_seconds: float = TOTAL_SECONDS
) -> DeliveryResponse:
    """Send it once; redirects are not followed, and at most 64 KiB of the response are read.

    Never raises for what the other side does.
    """
    parts = urlsplit(url)
    # The path may be a secret of the receiver's.
    attributes: tracing.Attributes = {
        "http.request.method": "POST",
        "server.address": parts.hostname or "",
        "server.port": parts.port or (80 if parts.scheme == "http" else 443),
    }
    with tracing.span("POST", attributes, kind="client") as span:
        answer = _post(url, body, {**headers, **tracing.carrier()}, total_seconds)
        if answer.status is not None:
            span.set("http.response.status_code", answer.status)
        if not answer.is_success:
            span.fail(str(answer.status) if answer.status else "no_response")
    return answer


def _post(url: str, body: bytes, headers: Mapping[str, str], total_seconds: float) -> DeliveryResponse:
    began = time.monotonic()
    request = GuardedRequest("POST", url, headers, RESPONSE_BYTES_MAX, body)
    error = ""
    try:
        request.send(allowed_addresses(url, _SETTING, total_seconds), began + total_seconds)
    except AddressNotAllowed as refusal:
        error = str(refusal)
    except TimeoutError:
        error = f"No answer within {total_seconds:g} s"
    except Exception as failure:  # noqa: BLE001 (whatever a hostile response makes it raise is a failed delivery)
        error = describe_exception(failure)
    text = request.received.decode("utf-8", errors="replace").replace("\0", "\ufffd")[:EXCERPT_CHARACTERS_MAX]
    duration_ms = round((time.monotonic() - began) * 1000)
    return DeliveryResponse(request.status, text, "" if request.status else error[:500], duration_ms)
