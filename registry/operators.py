"""The people who sign in."""

from __future__ import annotations

import re
from typing import Final

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.validators import validate_email

from registry import audit
from registry.actors import Actor
from registry.errors import InvalidRequest, NameTaken, NotFound
from registry.models import Operator
from registry.writing import writing

ROLES: Final = tuple(Operator.Role.values)
_NAME: Final = re.compile(r"[\w.@+-]{1,150}")


def create_operator(
    *, username: str, password: str, role: str, by: Actor, must_change_password: bool = False
) -> Operator:
    """Raises `InvalidRequest` for an odd name, role or weak password, and `NameTaken`."""
    if not _NAME.fullmatch(username):
        raise InvalidRequest("An operator's name has letters, digits and @ . + - _, at most 150")
    if role not in ROLES:
        raise InvalidRequest(f"A role is one of {', '.join(ROLES)}; found '{role}'")
    operator = Operator(
        username=username,
        role=role,
        must_change_password=must_change_password,
        is_staff=role == "admin",
        is_superuser=role == "admin",
    )
    _check_password(password, operator)
    operator.set_password(password)
    with writing():
        if Operator.objects.filter(username=username).exists():
            raise NameTaken(f"There is an operator named '{username}'")
        operator.save()
        audit.record(by=by, verb="operator.create", subject=username, detail={"role": role})
    return operator


def _check_password(password: str, operator: Operator) -> None:
    try:
        validate_password(password, operator)
    except ValidationError as error:
        raise InvalidRequest(" ".join(error.messages)) from None


def set_password(*, username: str, password: str, by: Actor, must_change_password: bool = False) -> Operator:
    """Raises `NotFound`, or `InvalidRequest` for a weak password."""
    operator = _get(username)
    _check_password(password, operator)
    operator.set_password(password)
    operator.must_change_password = must_change_password
    with writing():
        operator.save(update_fields=["password", "must_change_password"])
        audit.record(by=by, verb="operator.set_password", subject=username)
    return operator


def set_email(*, username: str, email: str, by: Actor) -> Operator:
    """Where letters go; empty for nowhere. Raises `NotFound`, or `InvalidRequest` for what is no address."""
    if email:
        try:
            validate_email(email)
        except ValidationError:
            raise InvalidRequest(f"'{email[:80]}' is no e-mail address") from None
    operator = _get(username)
    with writing():
        operator.email = email
        operator.save(update_fields=["email"])
        audit.record(by=by, verb="operator.set_email", subject=username, detail={"has_email": bool(email)})
    return operator


def disable_operator(*, username: str, by: Actor) -> Operator:
    """Shut the door; what this person did stays in the log. Raises `NotFound`."""
    operator = _get(username)
    with writing():
        operator.is_active = False
        operator.save(update_fields=["is_active"])
        audit.record(by=by, verb="operator.disable", subject=username)
    return operator


def _get(username: str) -> Operator:
    operator = Operator.objects.filter(username=username).first()
    if operator is None:
        raise NotFound(f"There is no operator named '{username}'")
    return operator
