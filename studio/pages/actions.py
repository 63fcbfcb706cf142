"""Doing one verb for a form, and saying on the next page what came of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import HttpResponse

from registry.common.errors import RegistryError
from studio.pages.permissions import StudioRequest, actor_of
from studio.pages.undo import Undo, report_done


def run_action(
    request: StudioRequest,
    verb: Callable[..., Any],
    words: str | Callable[[Any], str],
    *,
    to: HttpResponse,
    back: HttpResponse | None = None,
    undo: Undo | None = None,
    **arguments: Any,
) -> HttpResponse:
    """Call `verb(by=..., **arguments)` in the operator's name and redirect with the outcome in words.

    To `to` with `words`, which may be made from what the verb returned, and a button for `undo`; or to `back`
    (`to` where it is left out) with the reason of a refusal.
    """
    try:
        done = verb(by=actor_of(request), **arguments)
    except RegistryError as error:
        messages.error(request, error.message)
        return back or to
    report_done(request, words(done) if callable(words) else words, undo)
    return to
