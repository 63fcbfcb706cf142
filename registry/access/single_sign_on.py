"""People whom an identity provider signs in (OpenID Connect): which account they have here, and which role.

The role follows from the provider's groups at each sign-in, by the setting `OIDC_ROLES`. Nothing here speaks HTTP: the
protocol is django-allauth's (studio/pages/views/single_sign_on.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from allauth.socialaccount.models import SocialAccount
from django.conf import settings

from capability_rules.errors import InvalidRequest
from registry.access import operators
from registry.common.actors import SYSTEM
from registry.common.errors import Forbidden, StatusConflict
from registry.core import audit
from registry.core.rows import update_row
from registry.core.transactions import write_transaction
from registry.models import Operator

_NOT_IN_A_NAME: Final = re.compile(r"[^\w.@+-]+")
_GROUPS_SHOWN_MAX: Final = 20


@dataclass(frozen=True, slots=True)
class Identity:
    """What the provider says of a person. `provider` stands for the issuer, `subject` is its name for the person and
    never changes; `username`, `name` and `email` may be empty."""

    provider: str
    subject: str
    username: str = ""
    name: str = ""
    email: str = ""
    groups: tuple[str, ...] = ()


def get_role(groups: Iterable[str]) -> str:
    """The highest role that one of the groups has by `OIDC_ROLES`; empty where none has."""
    found = {settings.OIDC_ROLES[group] for group in groups if group in settings.OIDC_ROLES}
    return next((role for role in reversed(operators.ROLES) if role in found), "")


def find_account(identity: Identity) -> Operator | None:
    """The account of somebody who has signed in before."""
    link = SocialAccount.objects.filter(provider=identity.provider, uid=identity.subject).select_related("user").first()
    return link.user if link else None


def admit(identity: Identity) -> Operator:
    """The account of the person, made at the first sign-in, with the role of their groups.

    Raises `Forbidden`, with the reason in words, where no group has a role, the account is deactivated or is the last
    admin and would be demoted, or the user name belongs to another account. The refusal is audited, and it ends the
    sessions of an account that lost its last group.
    """
    role = get_role(identity.groups)
    operator = find_account(identity)
    reason = _refusal(identity, operator, role)
    if reason:
        _record_refusal(identity, operator, reason, has_lost_access=not role)
        raise Forbidden(reason)
    try:
        return _with_role(operator, role) if operator else _create(identity, role)
    except StatusConflict:
        reason = (
            "Your groups no longer make you an admin, and you are the last one here. Make another member an admin first"
        )
        _record_refusal(identity, operator, reason, has_lost_access=True)
        raise Forbidden(reason) from None


def _refusal(identity: Identity, operator: Operator | None, role: str) -> str:
    """Why the person is not let in, in words; empty where nothing speaks against it."""
    if operator is not None and not operator.is_active:
        return "Your account is deactivated. Ask an admin"
    if not role:
        return (
            "None of your groups has access to this Studio. Ask the people who run your identity provider to add you "
            "to a group that has"
        )
    if operator is None and Operator.objects.filter(username=_username(identity)).exists():
        return (
            f"There is a member named '{_username(identity)}' who signs in with a password. Ask an admin to rename or "
            "deactivate that account, or sign in with its password"
        )
    alike = operators.find_lookalike_operator(_username(identity)) if operator is None else ""
    if alike:
        return (
            f"Your name at the identity provider, '{_username(identity)}', can be taken for the member '{alike}'. Ask "
            "the people who run it for a name that differs by more than case, look-alike letters or digits"
        )
    return ""


def _with_role(operator: Operator, role: str) -> Operator:
    if operator.role == role:
        return operator
    return operators.set_role(username=operator.username, role=role, by=SYSTEM)


def _create(identity: Identity, role: str) -> Operator:
    with write_transaction():
        # Another first sign-in of the same person may have come first.
        known = find_account(identity)
        if known is not None:
            return known
        operator = operators.create_passwordless(
            username=_username(identity), role=role, name=identity.name, email=identity.email, by=SYSTEM
        )
        SocialAccount.objects.create(user=operator, provider=identity.provider, uid=identity.subject, extra_data={})
        detail = {"provider": identity.provider, "subject": identity.subject[:200]}
        audit.record(by=SYSTEM, verb="operator.link_identity", subject=operator.username, detail=detail)
    return operator


def _username(identity: Identity) -> str:
    """What the provider calls the person, in the letters that a user name may have.

    Raises `InvalidRequest` where nothing is left of it.
    """
    candidates = (identity.username, identity.email.partition("@")[0], identity.subject)
    found = next((text for text in (_NOT_IN_A_NAME.sub("-", one).strip("-")[:150] for one in candidates) if text), "")
    if not found:
        raise InvalidRequest("The identity provider names no user: expected preferred_username or email")
    return found


def _record_refusal(identity: Identity, operator: Operator | None, reason: str, *, has_lost_access: bool) -> None:
    with write_transaction():
        if operator is not None and has_lost_access:
            update_row(operator, session_epoch=operator.session_epoch + 1)
        detail = {"reason": reason, "groups": list(identity.groups)[:_GROUPS_SHOWN_MAX], "provider": identity.provider}
        subject = operator.username if operator else identity.username[:150] or identity.subject[:150]
        audit.record(by=SYSTEM, verb="operator.sign_in_refused", subject=subject, detail=detail)
