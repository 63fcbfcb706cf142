"""What a password must not be, beside Django's own rules."""

from __future__ import annotations

from typing import Final

from django.contrib.auth.password_validation import UserAttributeSimilarityValidator
from django.core.exceptions import ValidationError

from registry.models import Operator

# Of a shorter name a good password may have the letters by chance.
_LENGTH_MIN: Final = 4


class AccountSimilarityValidator(UserAttributeSimilarityValidator):
    """Refuses a password like the account's name or address, and one that contains the username: `admin1234567` is the
    first guess for `admin`."""

    def validate(self, password: str, user: Operator | None = None) -> None:
        """Raises `ValidationError`."""
        super().validate(password, user)
        name = user.username.casefold() if user is not None else ""
        if len(name) >= _LENGTH_MIN and name in password.casefold():
            raise ValidationError(
                self.get_error_message(),
                code="password_too_similar",
                params={"verbose_name": Operator._meta.get_field("username").verbose_name},  # noqa: SLF001
            )
