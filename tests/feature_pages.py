"""What tests of all pages need to know of those of installed features: each has it in its `tests/page_rules.py`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Final

from django.db.models import Model

from registry.feature import installed_feature_names


@dataclass(frozen=True, kw_only=True)
class FeaturePages:
    """Tables by the names of URLs.

    `roles` are the least role for GET and for POST, of what is not for every operator to read or takes a POST;
    `confirmed` what a confirmed page is about, as its button sends it; `harmless` why another one needs no
    confirmation; `ordinary` those that are not dangerous actions. `numbered` are the models of the numbers in
    addresses, by the beginning of a name, and `furnish` stores a row in each table. `own` are pages of a row that is
    the admin's alone: for all others it is not there. `variants` are addresses where a page shows something else by its
    query.
    """

    roles: Mapping[str, tuple[str | None, str | None]]
    confirmed: Mapping[str, Callable[[], dict[str, Any]]] = field(default_factory=dict)
    harmless: Mapping[str, str] = field(default_factory=dict)
    ordinary: frozenset[str] = frozenset()
    numbered: Mapping[str, type[Model]] = field(default_factory=dict)
    furnish: Callable[[], object] = lambda: None
    own: frozenset[str] = frozenset()
    variants: tuple[str, ...] = ()


ALL: Final[tuple[FeaturePages, ...]] = tuple(
    import_module(f"features.{name}.tests.page_rules").PAGES for name in installed_feature_names()
)
NUMBERED: Final = {beginning: model for pages in ALL for beginning, model in pages.numbered.items()}
