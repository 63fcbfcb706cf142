"""Second factors of an account: codes of an authenticator app, passkeys and recovery codes.

The rows, the codes and their algorithms are django-allauth's (`allauth.mfa`); here each change is a write with its
audit event, and a code is accepted once, whichever process it reaches.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal

from allauth.mfa.models import Authenticator
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from capability_rules.errors import InvalidRequest
from registry.access.operators import get_operator
from registry.access.stored_secrets import SecretUnreadable, decrypt_secret, encrypt_secret, is_current
from registry.common.actors import Actor
from registry.common.errors import NotFound, StatusConflict
from registry.core import audit
from registry.core.jobs.queue import CommitAction, Lease
from registry.core.rows import get_row, update_row
from registry.core.transactions import write_transaction
from registry.models import Operator

logger = logging.getLogger(__name__)

# Named by job, in registry/wiring.py.
KIND: Final = "second_factor.encrypt"
_UNREADABLE: Final = "name that key in SECRET_KEY_FALLBACKS, or reset the factor (docs/operate.md)"
CodeKind = Literal["totp", "recovery_code"]
PASSKEYS_MAX: Final = 20
PASSKEY_NAME_MAX: Final = 80
# A key's answer has about 1,500 characters.
CREDENTIAL_CHARACTERS_MAX: Final = 16_000
_Type: Final = Authenticator.Type


@dataclass(frozen=True, slots=True)
class Passkey:
    """A passkey of an account; `key` is its number."""

    key: int
    name: str
    created_at: datetime
    last_used_at: datetime | None


@dataclass(frozen=True, slots=True)
class SecondFactors:
    """What an account has: an authenticator app, passkeys in the order in which they were added, unused codes."""

    has_app: bool = False
    passkeys: tuple[Passkey, ...] = ()
    codes_left: int = 0

    @property
    def is_enabled(self) -> bool:
        """Whether signing in with the password asks for a second factor."""
        return self.has_app or bool(self.passkeys)


def list_second_factors(operator: Operator) -> SecondFactors:
    """The second factors of an account; one query."""
    rows = list(Authenticator.objects.filter(user=operator).order_by("pk"))
    codes = next((row for row in rows if row.type == _Type.RECOVERY_CODES), None)
    return SecondFactors(
        has_app=any(row.type == _Type.TOTP for row in rows),
        passkeys=tuple(
            Passkey(row.pk, row.data["name"], row.created_at, row.last_used_at)
            for row in rows
            if row.type == _Type.WEBAUTHN
        ),
        codes_left=_count_codes(codes) if codes else 0,
    )


def _count_codes(row: Authenticator) -> int:
    """How many are unused; 0 where they cannot be read, for then none is good."""
    with suppress(SecretUnreadable):
        return len(row.wrap().get_unused_codes())
    return 0


def has_second_factor(operator: Operator) -> bool:
    """Whether there is an authenticator app or a passkey; one query."""
    return bool(Authenticator.objects.filter(user=operator, type__in=(_Type.TOTP, _Type.WEBAUTHN)).exists())


def create_app_secret() -> str:
    """A new secret for an authenticator app, in base 32."""
    from allauth.mfa.totp.internal.auth import generate_totp_secret

    return str(generate_totp_secret())


def enable_app(*, username: str, secret: str, code: str, by: Actor) -> tuple[str, ...]:
    """Sign-ins ask for a code of the app that has `secret`. Returns recovery codes where these are the first ones.

    Raises `InvalidRequest` where `code` is not the app's, and `StatusConflict` where the account has an app already.
    """
    from allauth.mfa.totp.internal.auth import TOTP

    with write_transaction():
        operator = get_operator(username)
        if Authenticator.objects.filter(user=operator, type=_Type.TOTP).exists():
            raise StatusConflict("An authenticator app is set up already: remove it first")
        row = TOTP.activate(operator, secret).instance
        if not _accepts_app_code(row, _digits(code)):
            # The row is rolled back with the transaction.
            raise InvalidRequest("This code is not correct. Check the clock of your phone and enter a new code")
        audit.record(by=by, verb="operator.enable_totp", subject=username)
        return _first_codes(operator, by)


def disable_app(*, username: str, by: Actor) -> None:
    """Sign-ins no longer ask for a code. Raises `NotFound`."""
    with write_transaction():
        operator = get_operator(username)
        if not Authenticator.objects.filter(user=operator, type=_Type.TOTP).delete()[0]:
            raise NotFound("There is no authenticator app to remove")
        audit.record(by=by, verb="operator.disable_totp", subject=username)
        _drop_lone_codes(operator)


def add_passkey(*, username: str, name: str, credential: Mapping[str, Any], by: Actor) -> tuple[str, ...]:
    """Store a passkey whose registration has been verified. Returns recovery codes where these are the first ones.

    Raises `InvalidRequest` for a name that is empty or too long, and where there are `PASSKEYS_MAX`.
    """
    from allauth.mfa.webauthn.internal.auth import WebAuthn

    name = _passkey_name(name)
    with write_transaction():
        operator = get_operator(username)
        if Authenticator.objects.filter(user=operator, type=_Type.WEBAUTHN).count() >= PASSKEYS_MAX:
            raise InvalidRequest(f"An account has at most {PASSKEYS_MAX} passkeys: remove one first")
        WebAuthn.add(operator, name, dict(credential))
        audit.record(by=by, verb="operator.add_passkey", subject=username, detail={"name": name})
        return _first_codes(operator, by)


def rename_passkey(*, username: str, key: int, name: str, by: Actor) -> None:
    """Raises `NotFound`, and `InvalidRequest` for a name that is empty or too long."""
    name = _passkey_name(name)
    with write_transaction():
        row = _get_passkey(username, key)
        was = row.data["name"]
        update_row(row, data=row.data | {"name": name})
        audit.record(by=by, verb="operator.rename_passkey", subject=username, detail={"was": was, "name": name})


def remove_passkey(*, username: str, key: int, by: Actor) -> str:
    """Returns the name that it had. Raises `NotFound`."""
    with write_transaction():
        row = _get_passkey(username, key)
        name = str(row.data["name"])
        row.delete()
        audit.record(by=by, verb="operator.remove_passkey", subject=username, detail={"name": name})
        _drop_lone_codes(get_operator(username))
    return name


def replace_recovery_codes(*, username: str, by: Actor) -> tuple[str, ...]:
    """New codes; those of before are void. Raises `StatusConflict` where there is nothing to recover from."""
    with write_transaction():
        operator = get_operator(username)
        if not has_second_factor(operator):
            raise StatusConflict("Set up an authenticator app or a passkey first")
        Authenticator.objects.filter(user=operator, type=_Type.RECOVERY_CODES).delete()
        return _first_codes(operator, by)


def reset_second_factors(*, username: str, by: Actor) -> int:
    """Remove every second factor and end every session: for a device that was lost. Returns how many there were.

    Raises `NotFound`.
    """
    with write_transaction():
        operator = get_operator(username)
        count: int = Authenticator.objects.filter(user=operator).exclude(type=_Type.RECOVERY_CODES).count()
        Authenticator.objects.filter(user=operator).delete()
        update_row(operator, session_epoch=operator.session_epoch + 1)
        audit.record(by=by, verb="operator.reset_second_factor", subject=username, detail={"removed": count})
    return count


def use_code(*, username: str, code: str) -> CodeKind | None:
    """Which second factor a code is of; None where it is of none. A code is good once."""
    given = _digits(code)
    if not given:
        return None
    with write_transaction():
        rows = Authenticator.objects.select_for_update().filter(
            user__username=username, type__in=(_Type.TOTP, _Type.RECOVERY_CODES)
        )
        for row in rows.order_by("-type"):
            try:
                if row.type == _Type.TOTP and _accepts_app_code(row, given):
                    return "totp"
                if row.type == _Type.RECOVERY_CODES and row.wrap().validate_code(given):
                    _record_recovery(username, row.pk)
                    return "recovery_code"
            except SecretUnreadable:
                logger.warning(
                    "a second factor of %s was encrypted under another SECRET_KEY: %s", username, _UNREADABLE
                )
    return None


def encrypt_stored(lease: Lease) -> CommitAction | None:  # noqa: ARG001 (the handler of a job without a payload)
    """The handler: encrypts what is plain text, or under a former key, with the present one; nothing else changes."""
    rows = Authenticator.objects.filter(type__in=(_Type.TOTP, _Type.RECOVERY_CODES))
    keys = [row.pk for row in rows if not all(is_current(row.data[name]) for name in _secrets(row))]
    return (lambda: _encrypt_rows(keys)) if keys else None


def _encrypt_rows(keys: list[int]) -> None:
    for row in Authenticator.objects.select_for_update().filter(pk__in=keys):
        with suppress(SecretUnreadable):
            secrets = {name: encrypt_secret(decrypt_secret(row.data[name])) for name in _secrets(row)}
            update_row(row, data=row.data | secrets)


def _secrets(row: Authenticator) -> list[str]:
    return [name for name in ("secret", "seed") if name in row.data]


def record_passkey_use(key: int) -> None:
    """Keep when a passkey was used. Not audited by itself: the sign-in is."""
    Authenticator.objects.filter(pk=key).update(last_used_at=timezone.now())


def _record_recovery(username: str, key: int) -> None:
    row = Authenticator.objects.get(pk=key)
    row.record_usage()
    left = len(row.wrap().get_unused_codes())
    by = Actor("operator", username)
    audit.record(by=by, verb="operator.use_recovery_code", subject=username, detail={"left": left})


def _accepts_app_code(row: Authenticator, code: str) -> bool:
    """Whether it is the code of now, of the step before or of the next, and newer than the last one accepted (RFC 6238
    5.2: a code is good once)."""
    from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value, yield_hotp_counters_from_time
    from allauth.mfa.utils import decrypt

    secret = decrypt(row.data["secret"])
    for counter in yield_hotp_counters_from_time():
        is_new = counter > row.data.get("last_counter", 0)
        if is_new and constant_time_compare(code, format_hotp_value(hotp_value(secret, counter))):
            update_row(row, data=row.data | {"last_counter": counter}, last_used_at=timezone.now())
            return True
    return False


def _digits(code: str) -> str:
    """As typed, without the blanks and hyphens that people group digits with; empty for anything else."""
    digits = code.replace(" ", "").replace("-", "")
    return digits if digits.isascii() and digits.isdigit() and len(digits) <= 12 else ""


def _passkey_name(name: str) -> str:
    name = " ".join(name.split())
    if not 1 <= len(name) <= PASSKEY_NAME_MAX:
        raise InvalidRequest(f"A passkey's name has 1 to {PASSKEY_NAME_MAX} characters; found {len(name)}")
    return name


def _get_passkey(username: str, key: int) -> Authenticator:
    found = Authenticator.objects.filter(user__username=username, type=_Type.WEBAUTHN, pk=key)
    return get_row(found, NotFound("There is no such passkey"))


def _first_codes(operator: Operator, by: Actor) -> tuple[str, ...]:
    """Recovery codes where the account has none; empty where it has some."""
    from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes

    if Authenticator.objects.filter(user=operator, type=_Type.RECOVERY_CODES).exists():
        return ()
    codes = tuple(RecoveryCodes.activate(operator).generate_codes())
    audit.record(by=by, verb="operator.new_recovery_codes", subject=operator.username, detail={"codes": len(codes)})
    return codes


def _drop_lone_codes(operator: Operator) -> None:
    """Codes recover a factor that is gone; without any they would be a second password."""
    if not has_second_factor(operator):
        Authenticator.objects.filter(user=operator).delete()
