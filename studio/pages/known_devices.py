"""A cookie that recognizes a browser in which an account has signed in before.

It grants no right. Wrong passwords from such a browser are counted apart (registry/access/sign_ins.py), so that an
attacker elsewhere who tries passwords for the account cannot slow its owner down.
"""

from __future__ import annotations

import secrets
from typing import Final

from django.conf import settings
from django.core import signing
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import reverse

_AGE_SECONDS_MAX: Final = 180 * 24 * 3600


def find_device(request: HttpRequest, username: str) -> str:
    """The id of this browser where the account has signed in with it; otherwise empty."""
    try:
        return _signer(username).unsign(request.COOKIES.get(_cookie_name(), ""), max_age=_AGE_SECONDS_MAX)
    except signing.BadSignature:
        return ""


def remember_device(request: HttpRequest, response: HttpResponseBase, username: str) -> None:
    """Set the cookie that recognizes this browser at the next sign-in of the account."""
    device = find_device(request, username) or secrets.token_urlsafe(16)
    response.set_cookie(
        _cookie_name(),
        _signer(username).sign(device),
        max_age=_AGE_SECONDS_MAX,
        path=reverse("studio:sign_in"),
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def _cookie_name() -> str:
    # The session cookie's name has the port where several Studios may run on one machine.
    # It has a path of its own, which that prefix does not allow.
    return f"{settings.SESSION_COOKIE_NAME.removeprefix('__Host-')}_device"


def _signer(username: str) -> signing.TimestampSigner:
    # The name is part of the salt: the cookie is valid for that account only, and does not contain its name.
    return signing.TimestampSigner(salt=f"known device of {username}")
