"""The Studio's navigation: one table, in the order in which it is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Final, Literal

from django.http import HttpRequest
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from registry.models import Operator

Right = Literal["read", "edit", "publish", "administer"]
MAY: Final[dict[Right, Callable[[Operator], bool]]] = {
    "read": lambda _: True,
    "edit": lambda operator: operator.can_edit,
    "publish": lambda operator: operator.can_publish,
    "administer": lambda operator: operator.can_administer,
}


@dataclass(frozen=True, slots=True)
class NavItem:
    """A page of the navigation. `shortcut` is typed after `g`; `around` begins the url names of the pages that belong
    to this one, beside its own."""

    group: str | Promise
    label: str | Promise
    url_name: str
    shortcut: str = ""
    right: Right = "read"
    around: tuple[str, ...] = ()

    @property
    def url(self) -> str:
        """The URL of the entry."""
        return reverse(self.url_name)

    def holds(self, view_name: str) -> bool:
        """Whether a page belongs to this entry."""
        return view_name == self.url_name or view_name.startswith(self.around or ("\0",))


@dataclass(frozen=True, slots=True)
class NavLink:
    """An entry for one person on one page; `current` is a value of `aria-current`, or empty."""

    entry: NavItem
    current: Literal["", "page", "true"]


_WORK: Final = gettext_lazy("Work")
_LOOK: Final = gettext_lazy("Try and watch")
_RUN: Final = gettext_lazy("Registry")
_MORE: Final = gettext_lazy("Reference")

ENTRIES: Final = (
    NavItem(_WORK, gettext_lazy("Home"), "studio:home", "h", around=("studio:tour",)),
    NavItem(
        _WORK, gettext_lazy("Capabilities"), "studio:capability_list", "c",
        around=(
            "studio:capability", "studio:draft", "studio:gate", "studio:revision", "studio:supporting",
            "studio:rollback", "studio:bulk",
        ),
    ),
    NavItem(_WORK, gettext_lazy("Skill groups"), "studio:skill_group_list", "s", around=("studio:skill_group",)),
    NavItem(_WORK, gettext_lazy("Reviews"), "studio:review_list", "r", around=("studio:review",)),
    NavItem(_WORK, gettext_lazy("Planned releases"), "studio:release_list", "e", around=("studio:release_list",)),
    NavItem(_WORK, gettext_lazy("Proposals"), "studio:proposal_list", "b", around=("studio:proposal",)),
    NavItem(_LOOK, gettext_lazy("Playground"), "studio:playground_show", "p", around=("studio:playground",)),
    NavItem(_LOOK, gettext_lazy("Demand"), "studio:demand_list", "n", around=("studio:demand", "studio:sentence")),
    NavItem(_LOOK, gettext_lazy("Incidents"), "studio:incident_list", "i", around=("studio:incident",)),
    NavItem(_LOOK, gettext_lazy("Feedback"), "studio:feedback_list", "f", around=("studio:feedback",)),
    NavItem(_LOOK, gettext_lazy("Usage"), "studio:usage_show", "u", around=("studio:usage",)),
    NavItem(_RUN, gettext_lazy("Teams"), "studio:team_list", "t", around=("studio:team",)),
    NavItem(_RUN, gettext_lazy("Sources"), "studio:source_list", "d", around=("studio:source",)),
    NavItem(_RUN, gettext_lazy("Members"), "studio:operator_list", "m", "administer", around=("studio:operator",)),
    NavItem(_RUN, gettext_lazy("Keys"), "studio:agent_key_list", "k", "administer", around=("studio:agent_key",)),
    NavItem(_RUN, gettext_lazy("Webhooks"), "studio:webhook_list", "w", "administer", around=("studio:webhook",)),
    NavItem(_RUN, gettext_lazy("Audit log"), "studio:audit_list", "y", "administer", around=("studio:audit",)),
    NavItem(
        _RUN, gettext_lazy("Publishing rules"), "studio:release_rule_list", "o", "administer",
        around=("studio:release_rule",),
    ),
    NavItem(_MORE, gettext_lazy("API"), "docs", "a"),
    NavItem(
        _MORE, gettext_lazy("Help"), "studio:help_show", "l",
        around=("studio:help", "studio:finding", "studio:gallery"),
    ),
)  # fmt: skip


def list_nav_items(operator: Operator) -> list[NavItem]:
    """What this person may open."""
    return [entry for entry in ENTRIES if MAY[entry.right](operator)]


def list_nav_groups(operator: Operator, request: HttpRequest) -> Iterator[tuple[str | Promise, list[NavLink]]]:
    """The groups with their entries, the one that the page belongs to marked."""
    here = request.resolver_match.view_name if request.resolver_match else ""
    for group, entries in groupby(list_nav_items(operator), key=lambda entry: entry.group):
        yield group, [NavLink(entry, _current(entry, here)) for entry in entries]


def _current(entry: NavItem, here: str) -> Literal["", "page", "true"]:
    if here == entry.url_name:
        return "page"
    return "true" if entry.holds(here) else ""
