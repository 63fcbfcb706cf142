"""What an identity provider says of a person, read with a type and a length for each claim."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from django.conf import settings
from django.utils.translation import gettext as _

from capability_rules.errors import InvalidRequest
from registry.access.single_sign_on import Identity

# What the database has room for; a display name is cut instead.
LENGTHS: Final = {"sub": 191, "preferred_username": 150, "email": 254}
_NAMES: Final = ("name", "given_name", "family_name")
_GROUPS_MAX: Final = 2000
_GROUP_LENGTH_MAX: Final = 1000
# Past the year 33,000: a number that is not a time.
_SECONDS_MAX: Final = 1e12


def read_identity(claims: Mapping[str, Any]) -> Identity:
    """The person of the claims. Raises `InvalidRequest`, which names the claim, for one of another type or too long."""
    name, given, family = (_text(claims, key) for key in _NAMES)
    return Identity(
        provider=settings.OIDC_PROVIDER_ID,
        subject=read_subject(claims),
        username=_text(claims, "preferred_username"),
        name=name or f"{given} {family}",
        email=_text(claims, "email"),
        groups=_groups(claims),
    )


def read_subject(claims: Mapping[str, Any]) -> str:
    """The provider's own name for the person. Raises `InvalidRequest`."""
    subject = _text(claims, "sub")
    if not subject:
        raise InvalidRequest(_("The identity provider's answer names no person: the claim sub is empty"))
    return subject


def read_auth_time(claims: Mapping[str, Any]) -> float | None:
    """When the provider last asked the person who they are, in seconds of the epoch; None where it does not say so."""
    at = claims.get("auth_time")
    if isinstance(at, bool) or not isinstance(at, int | float) or not 0 <= at < _SECONDS_MAX:
        return None
    return float(at)


def _text(claims: Mapping[str, Any], name: str) -> str:
    value, most = claims.get(name), LENGTHS.get(name)
    if value is None:
        return ""
    expected = _("text of at most %(most)d characters") % {"most": most} if most else _("text")
    if not isinstance(value, str) or (most is not None and len(value) > most) or not _is_plain(value):
        raise InvalidRequest(
            _(
                "The identity provider's answer can't be used: its claim %(name)s is not %(expected)s. "
                "Ask the people who run it"
            )
            % {"name": name, "expected": expected}
        )
    return value


def _is_plain(value: str) -> bool:
    """Whether the text can be stored and shown: without control characters, half characters and marks of direction."""
    return value.isprintable()


def _groups(claims: Mapping[str, Any]) -> tuple[str, ...]:
    """The groups of the claim `OIDC_GROUPS_CLAIM`, which is a list or one name. A claim whose own name has dots, as a
    URL has, is found by the whole name. A group that no setting could name is left out."""
    value: Any = claims.get(settings.OIDC_GROUPS_CLAIM)
    if value is None:
        value = claims
        for part in settings.OIDC_GROUPS_CLAIM.split("."):
            value = value.get(part) if isinstance(value, dict) else None
    found = value if isinstance(value, list) else [value]
    texts = (one for one in found[:_GROUPS_MAX] if isinstance(one, str))
    return tuple(one for one in texts if len(one) <= _GROUP_LENGTH_MAX and _is_plain(one))
