"""What a password must not be, beside Django's own rules."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from django.contrib.auth.password_validation import UserAttributeSimilarityValidator
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from registry.models import Operator

# Of a shorter name a good password may have the letters by chance.
_LENGTH_MIN: Final = 4


class AccountSimilarityValidator(UserAttributeSimilarityValidator):
    """Refuses a password like the account's name or address, and one that contains the username, the display name or
    the name in the e-mail address: `admin1234567` is the first guess for `admin`."""

    def validate(self, password: str, user: Operator | None = None) -> None:
        super().validate(password, user)
        if user is None:
            return
        whole, letters = password.casefold(), _letters(password)
        for field, name in _names(user):
            if len(_letters(name)) >= _LENGTH_MIN and (name.casefold() in whole or _letters(name) in letters):
                raise ValidationError(
                    self.get_error_message(), code="password_too_similar", params={"verbose_name": field}
                )


def _names(user: Operator) -> Iterator[tuple[str, str]]:
    """What the account is called, each with what that is."""
    yield _("username"), user.username
    yield _("display name"), user.get_full_name()
    yield _("email address"), user.email.partition("@")[0]


def _letters(text: str) -> str:
    """Letters and digits alone: `Ada Lovelace` is in `ada.lovelace-2026`."""
    return "".join(character for character in text.casefold() if character.isalnum())
