"""The people who sign in."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from allauth.socialaccount.models import SocialAccount
from django.contrib.auth.hashers import UNUSABLE_PASSWORD_PREFIX
from django.contrib.auth.password_validation import validate_password
from django.contrib.auth.tokens import default_token_generator
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db.models import Exists, F, OuterRef, Q, QuerySet

from capability_rules.errors import InvalidRequest
from capability_rules.validation.security.detectors.confusables import find_lookalike
from registry.common.actors import Actor
from registry.common.errors import Forbidden, NameConflict, NotFound, StatusConflict
from registry.core import audit
from registry.core.rows import get_row, update_row
from registry.core.transactions import write_transaction
from registry.models import Operator

ROLES: Final = tuple(Operator.Role.values)
_NAME: Final = re.compile(r"[\w.@+-]{1,150}")
_DISPLAY_NAME_MAX: Final = 150


def create_operator(
    *, username: str, password: str, role: str, by: Actor, must_change_password: bool = False
) -> Operator:
    """Raises `InvalidRequest` for an invalid name, role or weak password, and `NameConflict` for a name that somebody
    has, or that can be taken for somebody's."""
    operator = _new_operator(username, role)
    operator.must_change_password = must_change_password
    _check_password(password, operator)
    operator.set_password(password)
    with write_transaction():
        _store(operator, by)
    return operator


def _check_password(password: str, operator: Operator) -> None:
    try:
        validate_password(password, operator)
    except ValidationError as error:
        raise InvalidRequest(" ".join(error.messages)) from None


def set_password(*, username: str, password: str, by: Actor) -> Operator:
    """Raises `NotFound`, or `InvalidRequest` for a weak password."""
    operator = get_operator(username)
    _check_password(password, operator)
    operator.set_password(password)
    operator.must_change_password = False
    with write_transaction():
        operator.save(update_fields=["password", "must_change_password"])
        audit.record(by=by, verb="operator.set_password", subject=username)
    return operator


def set_email(*, username: str, email: str, by: Actor) -> Operator:
    """Set where e-mail goes; empty for nowhere. Raises `NotFound`, or `InvalidRequest` for an invalid address."""
    _check_email(email)
    operator = get_operator(username)
    with write_transaction():
        update_row(operator, email=email)
        audit.record(by=by, verb="operator.set_email", subject=username, detail={"has_email": bool(email)})
    return operator


def _check_email(email: str) -> None:
    if not email:
        return
    try:
        validate_email(email)
    except ValidationError:
        raise InvalidRequest(f"'{email[:80]}' is not an e-mail address") from None


def set_name(*, username: str, name: str, by: Actor) -> Operator:
    """What they are called beside the name they sign in with; empty for nothing else. Raises `NotFound`."""
    operator = get_operator(username)
    with write_transaction():
        update_row(operator, first_name=" ".join(name.split())[:_DISPLAY_NAME_MAX], last_name="")
        audit.record(by=by, verb="operator.set_name", subject=username, detail={"name": operator.first_name})
    return operator


def invite_operator(*, username: str, role: str, by: Actor, name: str = "", email: str = "") -> tuple[Operator, str]:
    """Make an operator who has no password yet; the second of the pair opens the page on which they choose one.

    Raises `InvalidRequest` for an invalid name, role or address, and `NameConflict`.
    """
    _check_email(email)
    operator = _new_operator(username, role)
    operator.first_name, operator.email = " ".join(name.split())[:_DISPLAY_NAME_MAX], email
    operator.set_unusable_password()
    with write_transaction():
        _store(operator, by, invited=True)
    return operator, default_token_generator.make_token(operator)


def create_passwordless(*, username: str, role: str, by: Actor, name: str = "", email: str = "") -> Operator:
    """An operator whom an identity provider signs in. An invalid address is left out.

    Raises `InvalidRequest` for an invalid name or role, and `NameConflict`.
    """
    operator = _new_operator(username, role)
    try:
        _check_email(email)
    except InvalidRequest:
        email = ""
    operator.first_name, operator.email = " ".join(name.split())[:_DISPLAY_NAME_MAX], email
    operator.set_unusable_password()
    with write_transaction():
        _store(operator, by, single_sign_on=True)
    return operator


def reset_password(*, username: str, by: Actor) -> tuple[Operator, str]:
    """Remove the password and end every session; the second of the pair opens the page to choose another one.

    Raises `NotFound`, `Forbidden` for oneself, and `StatusConflict` where they are deactivated or an identity provider
    signs them in.
    """
    require_other(username, by, "reset your own password; change it on the page Password")
    with write_transaction():
        operator = get_operator(username)
        if not operator.is_active:
            raise StatusConflict(f"'{username}' is deactivated: reactivate them first")
        if uses_single_sign_on(operator):
            raise StatusConflict(f"'{username}' has no password here: an identity provider signs them in")
        operator.set_unusable_password()
        operator.must_change_password = False
        operator.save(update_fields=["password", "must_change_password"])
        audit.record(by=by, verb="operator.reset_password", subject=username)
    return operator, default_token_generator.make_token(operator)


def get_invitation(key: int, token: str) -> Operator:
    """Whose link it is: good for three days, once, and until anything else has changed the password.

    Raises `NotFound`.
    """
    operator = Operator.objects.filter(pk=key, is_active=True).first()
    if operator is None or not default_token_generator.check_token(operator, token):
        raise NotFound("This link has expired or was already used")
    return operator


def accept_invitation(*, key: int, token: str, password: str) -> Operator:
    """Set one's own password by a link. Raises `NotFound`, or `InvalidRequest` for a weak password."""
    operator = get_invitation(key, token)
    _check_password(password, operator)
    operator.set_password(password)
    operator.must_change_password = False
    with write_transaction():
        # Works once: the first use changes what the link is derived from.
        get_invitation(key, token)
        operator.save(update_fields=["password", "must_change_password"])
        by = Actor("operator", operator.username)
        audit.record(by=by, verb="operator.choose_password", subject=operator.username)
    return operator


def set_role(*, username: str, role: str, by: Actor) -> Operator:
    """Another role. A lesser one ends every session of theirs. Raises `InvalidRequest`, `NotFound`, `StatusConflict`,
    and `Forbidden` for oneself.

    The last admin stays one. The same role changes nothing.
    """
    _require_role(role)
    require_other(username, by, "change your own role; ask another admin")
    with write_transaction():
        operator = get_operator(username)
        was = operator.role
        if role != was:
            if was == Operator.Role.ADMIN:
                require_another_admin(operator)
            _change_role(operator, role)
            if ROLES.index(role) < ROLES.index(was):
                operator.session_epoch += 1
            operator.save(update_fields=["role", "is_staff", "is_superuser", "session_epoch"])
            detail = {"was": was, "role": role} | audit.changed({"role": was}, {"role": role})
            audit.record(by=by, verb="operator.set_role", subject=username, detail=detail)
    return operator


def disable_operator(*, username: str, by: Actor) -> Operator:
    """Deactivate a member and end their sessions; their entries in the audit log stay. Doing it twice changes nothing.

    Raises `NotFound`, `Forbidden` for oneself, and `StatusConflict` for the last admin.
    """
    require_other(username, by, "deactivate yourself; ask another admin")
    with write_transaction():
        operator = get_operator(username)
        require_another_admin(operator)
        if operator.is_active:
            update_row(operator, is_active=False, session_epoch=operator.session_epoch + 1)
            detail = audit.changed({"is_active": True}, {"is_active": False})
            audit.record(by=by, verb="operator.disable", subject=username, detail=detail)
    return operator


def require_other(username: str, by: Actor, action: str) -> None:
    """Raises `Forbidden` where a signed-in operator would do `action` to their own account.

    Only `operator` actors can lock themselves out: someone at the command line of the server has the same access
    whatever becomes of an account of that name, and an agent key is not an account.
    """
    if by.kind == "operator" and by.name == username:
        raise Forbidden(f"You can't {action}")


def enable_operator(*, username: str, by: Actor) -> Operator:
    """Let them in again, with the password and the role that they had. Raises `NotFound`."""
    with write_transaction():
        operator = get_operator(username)
        if not operator.is_active:
            update_row(operator, is_active=True)
            detail = audit.changed({"is_active": False}, {"is_active": True})
            audit.record(by=by, verb="operator.enable", subject=username, detail=detail)
    return operator


def uses_single_sign_on(operator: Operator) -> bool:
    """Whether an identity provider signs them in."""
    return bool(SocialAccount.objects.filter(user=operator).exists())


def exclude_invited(found: QuerySet[Operator]) -> QuerySet[Operator]:
    """Those of them who can sign in: they have a password, or an identity provider signs them in."""
    linked = Exists(SocialAccount.objects.filter(user=OuterRef("pk")))
    return found.filter(~Q(password__startswith=UNUSABLE_PASSWORD_PREFIX) | linked)


def find_deactivated(username: str) -> Operator | None:
    """The operator of this name if the account is deactivated, otherwise None."""
    return Operator.objects.filter(username=username, is_active=False).first()


def require_another_admin(operator: Operator) -> None:
    """Raises `StatusConflict` for the last active admin."""
    if operator.role != Operator.Role.ADMIN or not operator.is_active:
        return
    if not Operator.objects.filter(role=Operator.Role.ADMIN, is_active=True).exclude(pk=operator.pk).exists():
        raise StatusConflict(f"'{operator.username}' is the last admin: make another operator an admin first")


def _new_operator(username: str, role: str) -> Operator:
    if not _NAME.fullmatch(username):
        raise InvalidRequest("An operator's name has letters, digits and @ . + - _, at most 150")
    _require_role(role)
    operator = Operator(username=username)
    _change_role(operator, role)
    return operator


def _require_role(role: str) -> None:
    if role not in ROLES:
        raise InvalidRequest(f"A role is one of {', '.join(ROLES)}; found '{role}'")


def _change_role(operator: Operator, role: str) -> None:
    operator.role = role
    operator.is_staff = operator.is_superuser = role == Operator.Role.ADMIN


def find_lookalike_operator(username: str) -> str:
    """The operator whose name this one would be taken for, in reviews and in the audit log; empty where there is none.
    Deactivated ones count: the log has their names."""
    return find_lookalike(username, Operator.objects.values_list("username", flat=True))


def _store(operator: Operator, by: Actor, **detail: bool) -> None:
    if Operator.objects.filter(username=operator.username).exists():
        raise NameConflict(f"There is an operator named '{operator.username}'")
    alike = find_lookalike_operator(operator.username)
    if alike:
        raise NameConflict(
            f"'{operator.username}' can be taken for '{alike}', who has an account here. Choose a name that differs by "
            "more than case, look-alike letters or digits"
        )
    operator.save()
    audit.record(by=by, verb="operator.create", subject=operator.username, detail={"role": operator.role, **detail})


@dataclass(frozen=True, slots=True)
class OperatorRow:
    """A line of the list; `teams` are their names. `is_invited` says that they have not chosen a password yet,
    `single_sign_on` that an identity provider signs them in; `name` and `email` may be empty."""

    key: int
    username: str
    role: str
    is_active: bool
    is_invited: bool
    last_login: datetime | None
    teams: tuple[str, ...]
    name: str = ""
    email: str = ""
    single_sign_on: bool = False


def list_operators(*, search: str = "", role: str = "", state: str = "", sort: str = "name") -> list[OperatorRow]:
    """Everybody, or those of a role and a state (`active`, `invited`, `deactivated`) with `search` in their name or
    address; three queries. `sort` is `name`, `role` or `seen`, downwards with `-`."""
    column = {"name": "username", "role": "role", "seen": "last_login"}[sort.removeprefix("-")]
    order = F(column).desc(nulls_last=True) if sort.startswith("-") else F(column).asc(nulls_last=True)
    found = Operator.objects.order_by(order, "username").prefetch_related("memberships__team")
    found = found.annotate(single_sign_on=Exists(SocialAccount.objects.filter(user=OuterRef("pk"))))
    if search:
        names = Q(username__icontains=search) | Q(first_name__icontains=search) | Q(last_name__icontains=search)
        found = found.filter(names | Q(email__icontains=search))
    if role:
        found = found.filter(role=role)
    if state:
        found = found.filter(is_active=state != "deactivated")
    rows = [
        OperatorRow(
            *(one.pk, one.username, one.role, one.is_active),
            is_invited=not one.has_usable_password() and not one.single_sign_on,
            last_login=one.last_login,
            teams=tuple(sorted(each.team.name for each in one.memberships.all())),
            name=one.get_full_name(),
            email=one.email,
            single_sign_on=one.single_sign_on,
        )
        for one in found
    ]
    return [one for one in rows if one.is_invited == (state == "invited")] if state in ("active", "invited") else rows


def set_tour_marks(operator: Operator, marks: Collection[str]) -> None:
    """Keep what a person has seen of the tour. A preference of their own, like the last sign-in not audited."""
    update_row(operator, tour_marks=".".join(sorted(marks)))


def is_admin(by: Actor | None) -> bool:
    """Admins, users of the registry's command line, and the registry itself; no key."""
    if by is None or by.kind != "operator":
        return by is not None and by.kind != "agent_key"
    return Operator.objects.filter(username=by.name, is_active=True, role=Operator.Role.ADMIN).exists()


def may_publish(by: Actor) -> bool:
    """Whether the role of an operator may change what readers see; True for others, whose scope decides."""
    if by.kind != "operator":
        return True
    operator = Operator.objects.filter(username=by.name, is_active=True).first()
    return operator is not None and operator.can_publish


def find_role(username: str) -> str:
    """The role of an operator; empty where there is none of this name."""
    operator = Operator.objects.filter(username=username).first()
    return operator.role if operator is not None else ""


def get_operator(username: str) -> Operator:
    """The operator with this name. Raises `NotFound`."""
    missing = NotFound(f"There is no operator named '{username}'")
    return get_row(Operator.objects.filter(username=username), missing)
