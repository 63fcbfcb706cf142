"""Asking for a password of somebody's own, only as often as `registry.access.sign_ins` allows."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.utils.translation import ngettext

from registry.access import sign_ins
from registry.access.sign_ins import SignInAttempt
from registry.common.rate_limits import RateLimited
from studio.pages.permissions import StudioRequest


def client_address(request: HttpRequest) -> str:
    """The network address of the browser."""
    return str(request.META.get("REMOTE_ADDR"))


def wait_message(error: RateLimited) -> str:
    """When the next attempt is taken, in words."""
    seconds = error.retry_after_seconds
    return ngettext(
        "Too many attempts. Try again in %(seconds)s second.",
        "Too many attempts. Try again in %(seconds)s seconds.",
        seconds,
    ) % {"seconds": seconds}


def too_many(response: HttpResponse, error: RateLimited) -> HttpResponse:
    """The page as a 429 with `Retry-After`."""
    response.status_code = 429
    response["Retry-After"] = str(error.retry_after_seconds)
    return response


def is_current_password(request: StudioRequest, password: str) -> bool:
    """Whether it is the password of the signed-in operator.

    Raises `RateLimited`: a stolen session must not be enough to guess the password.
    """
    attempt = SignInAttempt(request.user.get_username(), client_address(request), where="password")
    with sign_ins.counted_attempt(attempt):
        is_right = request.user.check_password(password)
    record = sign_ins.record_success if is_right else sign_ins.record_failure
    record(attempt)
    return is_right
