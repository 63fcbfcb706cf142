"""Doing what a form asks, and saying what came of it: in the form, or on the next page, with a way back.

And what the headers of such pages say to caches.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from django import forms
from django.contrib import messages
from django.contrib.messages.storage.base import Message
from django.http import HttpRequest, HttpResponse
from django.shortcuts import resolve_url
from django.utils.cache import patch_vary_headers

from capability_rules.errors import RegistryError
from registry.common.errors import Forbidden
from studio.pages.permissions import StudioRequest, actor_of

Done = TypeVar("Done")


@dataclass(frozen=True)
class Undo:
    """The *Undo* button beside a message: the reverse action as one POST. Where its form is sent, and its fields; a
    field may have several values."""

    address: str
    fields: Mapping[str, str | Sequence[str]] = field(default_factory=dict)

    @classmethod
    def by(cls, url_name: str, *args: object, **fields: str | Sequence[str]) -> Undo:
        """The view of this name, such as `demand_bring_back`, which runs for a POST without a question."""
        return cls(resolve_url(f"studio:{url_name}", *args), fields)

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Name and value of each hidden field."""
        return [
            (name, value)
            for name, values in self.fields.items()
            for value in ([values] if isinstance(values, str) else values)
        ]


def report_done(request: HttpRequest, words: str, undo: Undo | None = None) -> None:
    """Show a message on the next page, with the button where there is a way back."""
    # A message is stored as texts; its tags are the only one that is free.
    messages.success(request, words, extra_tags=json.dumps([undo.address, undo.fields]) if undo else "")


def undo_of(message: Message) -> Undo | None:
    """The way back that a message was stored with."""
    return Undo(*json.loads(message.extra_tags)) if message.extra_tags else None


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
    (`to` where it is left out) with the reason of a refusal. Raises `Forbidden`, which is a page with 403.
    """
    try:
        done = verb(by=actor_of(request), **arguments)
    except Forbidden:
        raise
    except RegistryError as error:
        messages.error(request, error.message)
        return back or to
    report_done(request, words(done) if callable(words) else words, undo)
    return to


def submit_form(
    request: StudioRequest,
    form: forms.Form,
    verb: Callable[..., Done],
    *,
    field: str | Callable[[RegistryError], str | None] | None,
    **arguments: Any,
) -> Done | None:
    """Call `verb(by=..., **arguments)` with what a valid form holds besides; None where nothing was done.

    A refusal is shown beside `field`, which may be chosen by the error, or above the form where that is None.
    """
    if not form.is_valid():
        return None
    try:
        return verb(by=actor_of(request), **arguments, **form.cleaned_data)
    except RegistryError as error:
        form.add_error(field(error) if callable(field) else field, error.message)
        return None


def no_store(response: HttpResponse) -> HttpResponse:
    """A page with a secret that is shown once: neither a proxy nor the browser's history keeps it."""
    response["Cache-Control"] = "no-store"
    return response


def is_fragment(request: StudioRequest) -> bool:
    """Whether htmx asks for a part of the page. Going back in the browser may ask with its header too, and wants the
    whole page."""
    return bool(request.htmx and not request.htmx.boosted and not request.htmx.history_restore_request)


def vary_on_htmx(response: HttpResponse) -> HttpResponse:
    """A page of which htmx gets a part: no cache gives one for the other."""
    patch_vary_headers(response, ["HX-Request"])
    return response
