"""Sessions end when they are not used for a while, and at last when they are old.

The times are in the session itself, so that a page costs no further query. They are written every few minutes, with
the row that the page Security shows.
"""

from __future__ import annotations

import time
from typing import Any, Final

from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.auth import SESSION_KEY, logout
from django.http import HttpRequest
from django.utils.deprecation import MiddlewareMixin

BEGAN_AT: Final = "began_at"
SEEN_AT: Final = "seen_at"
# How somebody signed in: the names of the steps, in order.
HOW: Final = "signed_in_by"
_WRITE_EVERY_SECONDS: Final = 5 * 60
# Other addresses belong to agents and are cached without regard to cookies.
_APP_NAMES: Final = frozenset({"studio", "admin"})


class SessionLimitMiddleware(MiddlewareMixin):
    """Signs out anyone who has been away for `SESSION_IDLE_HOURS`, or signed in `SESSION_DAYS` ago."""

    def process_view(self, request: HttpRequest, *_view: Any) -> None:
        """The address is resolved by now."""
        if request.resolver_match and not _APP_NAMES.isdisjoint(request.resolver_match.app_names):
            check_session(request)


def check_session(request: HttpRequest) -> None:
    """End the session where it is past a limit; otherwise keep, every few minutes, that it was used."""
    session, now = request.session, time.time()
    if SESSION_KEY not in session:
        return
    began, seen = session.get(BEGAN_AT, now), session.get(SEEN_AT, 0)
    if (seen and now - seen > settings.SESSION_IDLE_SECONDS) or now - began > settings.SESSION_COOKIE_AGE:
        logout(request)
    elif now - seen > _WRITE_EVERY_SECONDS:
        session[BEGAN_AT], session[SEEN_AT] = began, now
        if request.user.is_authenticated:
            UserSession.objects.create_from_request(request)


def begin_session(request: HttpRequest) -> None:
    """Start both limits: somebody has signed in."""
    request.session[BEGAN_AT] = request.session[SEEN_AT] = time.time()
