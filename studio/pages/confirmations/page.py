"""The confirmation page of irreversible actions, which works without scripts.

A view behind `confirmed_first` runs only for a POST from that page. A GET of its address, and a POST from anywhere
else, show the page: what will happen, in figures, and whether it can be undone. The question is put together again for
the POST, so a page that is out of date is not acted on.

Where scripts run, the form that leads to the page opens its content as a dialog instead
(studio/static/studio/confirm_dialog.js): the same address, asked for as a fragment. The dialog's form is sent as the
page's is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

from django.contrib import messages
from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django_htmx.http import HttpResponseClientRedirect

from capability_rules.errors import RegistryError
from registry.common.errors import Forbidden
from studio.pages.actions import vary_on_htmx
from studio.pages.form_data import NOTE_MAX, get_text_at
from studio.pages.permissions import StudioRequest, View, is_own_address

# Fields of the page itself.
CONFIRMED: Final = "confirmed"
STATE: Final = "seen_state"
TYPED: Final = "typed"
BACK: Final = "back"
_BACK_MAX: Final = 2000
_NOTE: Final = gettext_lazy("Note")
_CANCEL: Final = gettext_lazy("Cancel")


@dataclass(frozen=True, kw_only=True)
class Note:
    """A text that the page asks for; `name` is the field that the view reads."""

    name: str = "note"
    label: str | Promise = _NOTE
    help: str | Promise = ""
    is_required: bool = False
    max_length: int = NOTE_MAX


@dataclass(frozen=True, kw_only=True)
class Confirmation:
    """What the page says and asks.

    `title` is the question, `button` a verb with its noun, `effects` are sentences, and
    `figures` pairs of a number and what it counts. `undo` says whether there is a way
    back, `cancel` is the address that *Cancel* leads to where the browser does not say which page was before; empty for
    the page that has the button. `keep` is the label of *Cancel* where `button` itself cancels something. `fields`
    are sent with the form. `state` is what was looked at, such as the version of a draft: where it differs when the
    form arrives, the page is shown again. `typed` is the id that has to be typed, empty where none has to be.
    """

    title: str
    button: str
    effects: Sequence[str]
    undo: str | Promise
    cancel: str = ""
    keep: str | Promise = _CANCEL
    figures: Sequence[tuple[str, str]] = ()
    fields: Mapping[str, str] = field(default_factory=dict)
    state: str = ""
    note: Note | None = None
    typed: str = ""
    template: str = "studio/confirm.html"
    more: Mapping[str, Any] = field(default_factory=dict)


class NothingToConfirm(Exception):
    """Raised by a question about something that has happened already; the message says so. Not an error."""


Found = TypeVar("Found")
Ask = Callable[..., Confirmation | None]


def sent(request: StudioRequest) -> QueryDict:
    """What the request says that it is about: its form, or the query of its address."""
    return request.POST if request.method == "POST" else request.GET


def sent_line(request: StudioRequest, name: str, *, most: int) -> str:
    """One field of `sent`, of at most so many characters."""
    return get_text_at(sent(request), name, most=most)


def found_or_404(find: Callable[..., Found], *key: Any) -> Found:
    """What the page is about. Raises `Http404` where it does not exist."""
    try:
        return find(*key)
    except Forbidden:
        raise
    except RegistryError as error:
        raise Http404(error.message) from None


def confirmed_first(ask: Ask, *, page: str, gone: str = "") -> Callable[[View], View]:
    """A view that runs only once a person has confirmed `ask(request, **kwargs)`.

    `page` is the view that has the button, with the same arguments; where nothing can be asked, it redirects there
    with the reason. `gone` is the list to go to, of the same capability if there is one, where the object
    was deleted while the page was open. A question that
    returns None needs no confirmation: the action loses nothing as things stand.
    """

    def decorate(view: View) -> View:
        @wraps(view)
        def confirmed(request: StudioRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            back: HttpResponse = redirect(page, *args, **kwargs)
            if request.method != "POST" and not kwargs and not request.GET:
                return back
            is_dialog = bool(request.htmx) and request.method != "POST"
            try:
                question = ask(request, *args, **kwargs)
            except Http404:
                if not (_is_confirmed(request) and gone):
                    raise
                messages.info(request, _("Nothing was changed: it no longer exists."))
                above = {name: kwargs[name] for name in kwargs if name == "capability_id"}
                to_list: HttpResponse = redirect(gone, **above)
                return to_list
            except (NothingToConfirm, RegistryError) as why:
                refused = _refused(request, why, back)
                return HttpResponseClientRedirect(back["Location"]) if is_dialog else refused
            if question is None:
                if is_dialog:
                    # The form can be sent as it is.
                    return HttpResponse(status=204)
                return view(request, *args, **kwargs) if request.method == "POST" else back
            faults = _faults(request, question) if _is_confirmed(request) else {}
            if _is_confirmed(request) and not faults:
                return view(request, *args, **kwargs)
            return _page(request, question, faults, back["Location"], is_dialog=is_dialog)

        confirmed.confirms_first = True  # type: ignore[attr-defined]
        return confirmed

    return decorate


def _is_confirmed(request: StudioRequest) -> bool:
    return request.method == "POST" and CONFIRMED in request.POST


def _refused(request: StudioRequest, why: Exception, back: HttpResponse) -> HttpResponse:
    """To the page that has the button, with the reason; a lacking right is a page of its own."""
    if isinstance(why, Forbidden):
        raise why
    if isinstance(why, RegistryError):
        messages.error(request, why.message)
    else:
        messages.info(request, str(why))
    return back


def _faults(request: StudioRequest, question: Confirmation) -> dict[str, str]:
    """What keeps the form from being acted on, by field; empty where nothing does."""
    faults = {}
    if question.state != request.POST.get(STATE, ""):
        faults[STATE] = _("This has changed since you opened the page. Check what it says now.")
    if question.note and question.note.is_required and not sent_line(request, question.note.name, most=1):
        faults["note"] = _("Write a note.")
    if question.typed and sent_line(request, TYPED, most=200) != question.typed:
        faults[TYPED] = _("Type %(name)s to confirm.") % {"name": question.typed}
    return faults


def _page(
    request: StudioRequest, question: Confirmation, faults: dict[str, str], page: str, *, is_dialog: bool
) -> HttpResponse:
    """The page, with whatever was typed, or what the dialog shows of it."""
    note = question.note
    context = {
        "question": question,
        "cancel": find_page_before(request) or question.cancel or page,
        "faults": faults,
        "note": sent_line(request, note.name, most=note.max_length) if note else "",
        "typed": sent_line(request, TYPED, most=200),
        # The first field that is wrong, else the first field, else Cancel; a dialog begins with Cancel.
        "focus": "cancel"
        if is_dialog
        else next((name for name in ("note", TYPED) if name in faults), _first_field(question)),
        "is_dialog": is_dialog,
        "layout": "components/dialog.html" if is_dialog else "studio/base.html",
        **question.more,
    }
    status = 409 if STATE in faults else 400 if faults else 200
    return vary_on_htmx(render(request, question.template, context, status=status))


def _first_field(question: Confirmation) -> str:
    return "note" if question.note else TYPED if question.typed else "cancel"


def find_page_before(request: StudioRequest) -> str:
    """The page that the button was on, from the field `BACK` or the Referer header if it is one of ours; else empty."""
    kept, before = request.POST.get(BACK, "")[:_BACK_MAX], request.headers.get("Referer", "")
    for address in (kept, before):
        if not is_own_address(request, address):
            continue
        parts = urlsplit(address)
        if parts.path.startswith("/") and parts.path not in (request.path, "/sign-in/"):
            return parts._replace(scheme="", netloc="", fragment="").geturl()
    return ""
