"""Pieces of sentences that several questions use."""

from __future__ import annotations

from collections.abc import Sequence

from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from registry.selectors.effects import NAMES_SHOWN

CANNOT_UNDO = gettext_lazy("This can't be undone.")


def figure(number: int) -> str:
    """With separators: 1,360."""
    return number_format(number, force_grouping=True)


def loads_words(number: int) -> str:
    """Such as `520 loads`."""
    return ngettext("%(n)s load", "%(n)s loads", number) % {"n": figure(number)}


def keys_words(number: int) -> str:
    """Such as `16 keys`."""
    return ngettext("%(n)s key", "%(n)s keys", number) % {"n": figure(number)}


def capabilities_words(number: int) -> str:
    """Such as `3 capabilities`."""
    return ngettext("%(n)s capability", "%(n)s capabilities", number) % {"n": figure(number)}


def names_words(names: Sequence[str], total: int | None = None) -> str:
    """The first few names, and how many more there are."""
    total = len(names) if total is None else total
    shown = ", ".join(names[:NAMES_SHOWN])
    left = total - min(len(names), NAMES_SHOWN)
    return _("%(names)s and %(n)s more") % {"names": shown, "n": figure(left)} if left else shown
