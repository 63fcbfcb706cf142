"""The page Security of one's own account: second factors, and where one is signed in."""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from typing import Any, Final

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from capability_rules.errors import InvalidRequest, RegistryError
from registry.access import operators, second_factors, sessions
from studio.pages.actions import no_store, run_action
from studio.pages.confirmations import security as questions
from studio.pages.confirmations.page import confirmed_first
from studio.pages.credentials import find_registration
from studio.pages.form_data import get_text
from studio.pages.permissions import StudioRequest, actor_of, operator_required

# Of the session: the secret of an app that is being set up.
_APP_SECRET: Final = "new_app_secret"  # noqa: S105 (the name of a key)
_PAGE: Final = "studio:security_show"
_BROWSERS: Final = (
    ("Edg", "Edge"),
    ("OPR", "Opera"),
    ("Firefox", "Firefox"),
    ("Chrom", "Chrome"),
    ("Safari", "Safari"),
)
_SYSTEMS: Final = (
    ("iPhone", "iPhone"), ("iPad", "iPad"), ("Android", "Android"), ("Windows", "Windows"), ("Macintosh", "macOS"),
    ("CrOS", "ChromeOS"), ("Linux", "Linux"),
)  # fmt: skip


def device_words(user_agent: str) -> str:
    """A browser and its system, such as `Firefox on Windows`, as far as the browser says."""
    browser = next((name for mark, name in _BROWSERS if mark in user_agent), "")
    system = next((name for mark, name in _SYSTEMS if mark in user_agent), "")
    if browser and system:
        return _("%(browser)s on %(system)s") % {"browser": browser, "system": system}
    return browser or system or re.sub(r"[^\w ./-]", "", user_agent)[:40] or _("Unknown device")


@operator_required("GET")
def security_show(request: StudioRequest) -> HttpResponse:
    """What protects the account, and where it is signed in."""
    return _page(request)


def _page(request: StudioRequest, *, codes: Sequence[str] = (), status: int = 200) -> HttpResponse:
    found = sessions.list_sessions(request.user, current=request.session.session_key or "")
    context = {
        "factors": second_factors.list_second_factors(request.user),
        "sessions": [(row, device_words(row.device)) for row in found],
        "codes": codes,
        "has_password": request.user.has_usable_password(),
        "single_sign_on": settings.OIDC_NAME if operators.uses_single_sign_on(request.user) else "",
        "is_required": request.user.role in settings.SECOND_FACTOR_ROLES,
        "idle_hours": settings.SESSION_IDLE_SECONDS // 3600,
        "days": settings.SESSION_COOKIE_AGE // 86_400,
    }
    return no_store(render(request, "studio/security/show.html", context, status=status))


def _done(request: StudioRequest, words: str, codes: Sequence[str]) -> HttpResponse:
    """Back to the page; with new recovery codes, which are shown this once."""
    messages.success(request, words)
    return _page(request, codes=codes) if codes else redirect(_PAGE)


@operator_required(form_on=_PAGE)
def app_enable(request: StudioRequest) -> HttpResponse:
    """Show the secret for an authenticator app; with its first code, the app is set up."""
    code = get_text(request, "code", most=40)
    secret = request.session.get(_APP_SECRET)
    if not secret or not (code or "code" in request.POST):
        secret = request.session[_APP_SECRET] = second_factors.create_app_secret()
        return _app_page(request, secret)
    try:
        codes = second_factors.enable_app(
            username=request.user.get_username(), secret=secret, code=code, by=actor_of(request)
        )
    except InvalidRequest as error:
        return _app_page(request, secret, fault=f"{error.message}.")
    except RegistryError as error:
        messages.error(request, error.message)
        return redirect(_PAGE)
    del request.session[_APP_SECRET]
    return _done(request, _("Authenticator app set up."), codes)


def _app_page(request: StudioRequest, secret: str, fault: str = "") -> HttpResponse:
    from allauth.mfa.adapter import get_adapter

    adapter: Any = get_adapter()
    picture = adapter.build_totp_svg(adapter.build_totp_url(request.user, secret))
    context = {
        "picture": f"data:image/svg+xml;base64,{base64.b64encode(picture.encode()).decode()}",
        "secret": " ".join(secret[at : at + 4] for at in range(0, len(secret), 4)),
        "fault": fault,
    }
    return no_store(render(request, "studio/security/app.html", context, status=400 if fault else 200))


@operator_required("GET", "POST")
@confirmed_first(questions.remove_app, page=_PAGE)
def app_disable(request: StudioRequest) -> HttpResponse:
    """Remove the authenticator app."""
    words, name = _("Authenticator app removed."), request.user.get_username()
    return run_action(request, second_factors.disable_app, words, to=redirect(_PAGE), username=name)


@operator_required(form_on=_PAGE)
def passkey_add(request: StudioRequest) -> HttpResponse:
    """The page on which the browser makes a passkey; with its answer, the passkey is stored."""
    if "credential" not in request.POST:
        return render(request, "studio/security/passkey.html", {"name": ""})
    name = get_text(request, "name", most=200) or _("Passkey")
    credential = find_registration(request.POST["credential"])
    fault = "" if credential else _("The browser's answer was not accepted. Try again.")
    if credential:
        try:
            codes = second_factors.add_passkey(
                username=request.user.get_username(), name=name, credential=credential, by=actor_of(request)
            )
        except RegistryError as error:
            fault = f"{error.message}."
        else:
            return _done(request, _("Passkey “%(name)s” added.") % {"name": name}, codes)
    return render(request, "studio/security/passkey.html", {"name": name, "fault": fault}, status=400)


@operator_required(form_on=_PAGE)
def passkey_rename(request: StudioRequest) -> HttpResponse:
    """Give a passkey another name."""
    return run_action(
        request, second_factors.rename_passkey, _("Passkey renamed."), to=redirect(_PAGE),
        username=request.user.get_username(), key=_key(request), name=get_text(request, "name", most=200),
    )  # fmt: skip


@operator_required("GET", "POST")
@confirmed_first(questions.remove_passkey, page=_PAGE)
def passkey_remove(request: StudioRequest) -> HttpResponse:
    """Remove a passkey of the operator who is signed in."""
    return run_action(
        request, second_factors.remove_passkey, lambda name: _("Passkey “%(name)s” removed.") % {"name": name},
        to=redirect(_PAGE), username=request.user.get_username(), key=_key(request),
    )  # fmt: skip


@operator_required("GET", "POST")
@confirmed_first(questions.replace_codes, page=_PAGE)
def recovery_codes_replace(request: StudioRequest) -> HttpResponse:
    """Make new recovery codes, shown once; those of before are void."""
    try:
        codes = second_factors.replace_recovery_codes(username=request.user.get_username(), by=actor_of(request))
    except RegistryError as error:
        messages.error(request, error.message)
        return redirect(_PAGE)
    return _page(request, codes=codes)


@operator_required(form_on=_PAGE)
def session_end(request: StudioRequest) -> HttpResponse:
    """Sign oneself out in one other place."""
    to = redirect(_PAGE)
    return run_action(
        request, sessions.end_session, _("Session ended."), to=to, operator=request.user, key=_key(request)
    )


@operator_required(form_on=_PAGE)
def session_end_others(request: StudioRequest) -> HttpResponse:
    """Sign oneself out everywhere but here."""
    current = request.session.session_key or ""

    def words(count: int) -> str:
        return ngettext("%(count)s other session ended.", "%(count)s other sessions ended.", count) % {"count": count}

    return run_action(
        request, sessions.end_other_sessions, words, to=redirect(_PAGE), operator=request.user, current=current
    )


def _key(request: StudioRequest) -> int:
    text = get_text(request, "key", most=18)
    return int(text) if text.isascii() and text.isdigit() else 0
