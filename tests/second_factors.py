"""An authenticator app as a test holds it."""

from __future__ import annotations

import time

from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value

from registry.access import second_factors
from registry.common.actors import Actor
from registry.models import Operator

SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"


def app_code(steps: int = 0, *, secret: str = SECRET) -> str:
    """The code of the next half minute, or of so many later.

    The server takes the codes of the half minutes beside its own. The next one is still good where this half minute
    ends before the server looks; the one before would not be.
    """
    return str(format_hotp_value(hotp_value(secret.replace(" ", ""), int(time.time()) // 30 + 1 + steps)))


def enable_app(operator: Operator) -> tuple[str, ...]:
    """Set the app up, with the code of the step before, so that the next one is still good; the recovery codes."""
    name = operator.get_username()
    return second_factors.enable_app(username=name, secret=SECRET, code=app_code(-1), by=Actor("operator", name))
