"""The Studio's navigation: one table, in the order in which it is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse
from django.utils.functional import Promise
from django.utils.module_loading import import_string
from django.utils.translation import gettext_lazy

from registry.feature import installed_features
from registry.models import Operator
from registry.selectors import inbox

Right = Literal["read", "edit", "publish", "administer"]
MAY: Final[dict[Right, Callable[[Operator], bool]]] = {
    "read": lambda _: True,
    "edit": lambda operator: operator.can_edit,
    "publish": lambda operator: operator.can_publish,
    "administer": lambda operator: operator.can_administer,
}
Tone = Literal["", "accent", "alert"]
_COUNT_MAX: Final = inbox.COUNTED_MAX - 1


@dataclass(frozen=True, slots=True)
class NavItem:
    """A page of the navigation. `shortcut` is typed after `g`; `around` begins the url names of the pages that belong
    to this one, beside its own and, for the list of capabilities, those of one capability."""

    label: str | Promise
    url_name: str
    shortcut: str = ""
    right: Right = "read"
    around: tuple[str, ...] = ()

    @property
    def url(self) -> str:
        """The URL of the page."""
        return reverse(self.url_name)


@dataclass(frozen=True, slots=True)
class NavSection:
    """An entry of the sidebar: its pages are tabs of one another. `count` is shown beside it, in `tone`."""

    group: str | Promise
    label: str | Promise
    icon: str
    pages: tuple[NavItem, ...]
    count: Callable[[Operator], int] | None = None
    tone: Tone = ""


@dataclass(frozen=True, slots=True)
class NavTab:
    """A page as a tab or in the palette; `current` is a value of `aria-current`, or empty."""

    page: NavItem
    current: Literal["", "page", "true"] = ""


@dataclass(frozen=True, slots=True)
class NavLink:
    """An entry of the sidebar for one person on one page; `count` is empty where nothing waits."""

    section: NavSection
    tabs: tuple[NavTab, ...]
    count: str = ""

    @property
    def url(self) -> str:
        """The first of its pages that this person may open."""
        return self.tabs[0].page.url

    @property
    def current(self) -> Literal["", "page", "true"]:
        """`page` on its first page, `true` on any other of it."""
        if self.tabs[0].current == "page":
            return "page"
        return "true" if any(tab.current for tab in self.tabs) else ""


@dataclass(frozen=True, slots=True)
class NavGroup:
    """Entries of the sidebar under one heading."""

    label: str | Promise
    links: tuple[NavLink, ...]


BUILD: Final = gettext_lazy("Build")
MONITOR: Final = gettext_lazy("Test & monitor")
ADMIN: Final = gettext_lazy("Admin")
RESOURCES: Final = gettext_lazy("Resources")

_OF_CORE: Final = (
    NavSection(
        BUILD, gettext_lazy("Home"), "house",
        (NavItem(gettext_lazy("Home"), "studio:home", "h", around=("studio:tour",)),),
    ),
    NavSection(
        BUILD, gettext_lazy("Capabilities"), "blocks",
        (
            NavItem(
                gettext_lazy("Capabilities"), "studio:capability_list", "c",
                around=("studio:capability", "studio:bulk", "studio:feedback_show", "studio:tool_"),
            ),
            NavItem(gettext_lazy("Compatibility"), "studio:capability_matrix", "x"),
            NavItem(
                gettext_lazy("Skill groups"), "studio:skill_group_list", "s", around=("studio:skill_group",),
            ),
        ),
    ),
    NavSection(
        BUILD, gettext_lazy("Reviews"), "git-pull-request",
        (
            NavItem(gettext_lazy("Reviews"), "studio:review_list", "r", around=("studio:review",)),
            NavItem(gettext_lazy("Decisions"), "studio:decision_list", "z", ),
            NavItem(gettext_lazy("Scheduled releases"), "studio:release_list", "e"),
            NavItem(gettext_lazy("Agent proposals"), "studio:proposal_list", "b", around=("studio:proposal",)),
        ),
        inbox.count_reviews, "accent",
    ),
    NavSection(
        MONITOR, gettext_lazy("Insights"), "chart-column",
        (
            NavItem(gettext_lazy("Usage"), "studio:usage_show", "u", around=("studio:usage",)),
            NavItem(gettext_lazy("Feedback"), "studio:feedback_list", "f", around=("studio:feedback",)),
        ),
    ),
    NavSection(
        MONITOR, gettext_lazy("Unmet requests"), "search-x",
        (
            NavItem(
                gettext_lazy("Unmet requests"), "studio:demand_list", "n", around=("studio:demand", "studio:sentence"),
            ),
        ),
        inbox.count_unmet_requests,
    ),
    NavSection(
        MONITOR, gettext_lazy("Incidents"), "triangle-alert",
        (NavItem(gettext_lazy("Incidents"), "studio:incident_list", "i", around=("studio:incident",)),),
        inbox.count_incidents, "alert",
    ),
    NavSection(
        ADMIN, gettext_lazy("Settings"), "settings",
        (
            NavItem(
                gettext_lazy("Members"), "studio:operator_list", "m", "administer", around=("studio:operator",),
            ),
            NavItem(gettext_lazy("Teams"), "studio:team_list", "t", around=("studio:team",)),
            NavItem(
                gettext_lazy("API keys"), "studio:agent_key_list", "k", "administer", around=("studio:agent_key",),
            ),
            NavItem(
                gettext_lazy("Publishing policy"), "studio:release_rule_list", "o", "administer",
                around=("studio:release_rule",),
            ),
            NavItem(gettext_lazy("Audit log"), "studio:audit_list", "y", "administer", around=("studio:audit",)),
            NavItem(gettext_lazy("Backup"), "studio:backup_show", "v", "administer"),
        ),
    ),
    NavSection(
        RESOURCES, gettext_lazy("Docs"), "book-open",
        (
            NavItem(gettext_lazy("Docs"), "studio:docs_list", "a", around=("studio:docs",)),
            NavItem(gettext_lazy("API reference"), "docs", "j"),
        ),
    ),
    NavSection(
        RESOURCES, gettext_lazy("Help"), "circle-help",
        (
            NavItem(
                gettext_lazy("Help"), "studio:help_show", "l",
                around=("studio:help", "studio:finding", "studio:gallery"),
            ),
        ),
    ),
)  # fmt: skip


def _list_sections() -> Iterator[NavSection]:
    """Those of features come first in their group, tabs of features last in their section or where they say."""
    of_features = [
        one for feature in installed_features() if feature.navigation for one in import_string(feature.navigation)
    ]
    sections = {section.pages[0].url_name: section for section in (*of_features, *_OF_CORE)}
    for tab in (tab for feature in installed_features() for tab in feature.section_tabs):
        pages = list(sections[tab.section].pages)
        place = next((at for at, page in enumerate(pages, start=1) if page.url_name == tab.after), len(pages))
        pages.insert(place, NavItem(tab.label, tab.url_name, tab.shortcut, tab.right, tab.around))
        sections[tab.section] = replace(sections[tab.section], pages=tuple(pages))
    for group in dict.fromkeys(section.group for section in _OF_CORE):
        yield from (section for section in sections.values() if section.group == group)


SECTIONS: Final = tuple(_list_sections())
PAGES: Final = tuple(page for section in SECTIONS for page in section.pages)
_CAPABILITIES: Final = next(page for page in PAGES if page.url_name == "studio:capability_list")


def build_navigation(operator: Operator, request: HttpRequest) -> list[NavGroup]:
    """The sidebar's groups for one person, with what waits, the entry that the page belongs to marked."""
    here = find_current_page(request)
    links: dict[str | Promise, list[NavLink]] = {}
    for section in SECTIONS:
        tabs = tuple(NavTab(page, _current(page, here, request)) for page in section.pages if MAY[page.right](operator))
        if tabs:
            links.setdefault(section.group, []).append(NavLink(section, tabs, _count(section, operator)))
    return [NavGroup(label, tuple(found)) for label, found in links.items()]


def get_first_settings_url(operator: Operator) -> str:
    """Where *Settings* of the sidebar leads this person."""
    pages = next(section.pages for section in SECTIONS if section.pages[0].url_name == "studio:operator_list")
    return next(page.url for page in pages if MAY[page.right](operator))


def find_current_page(request: HttpRequest) -> NavItem | None:
    """The page of the navigation that a request's page is, or belongs to."""
    match, name = request.resolver_match, _page_name(request)
    exact = next((page for page in PAGES if page.url_name == name), None)
    around = next((page for page in PAGES if page.around and name.startswith(page.around)), None)
    return exact or around or (_CAPABILITIES if match and "capability_id" in match.kwargs else None)


def _page_name(request: HttpRequest) -> str:
    """The URL name of the page that is shown; of a form with an error, that of the page that it is on."""
    match = request.resolver_match
    return getattr(request, "form_on", "") or (match.view_name if match else "")


def find_url(url_name: str) -> str:
    """The address of a page, "" where the feature that it is of is not installed."""
    try:
        return reverse(url_name)
    except NoReverseMatch:
        return ""


def list_section_tabs(groups: Sequence[NavGroup]) -> tuple[NavTab, ...]:
    """The tabs of the section that is open, where the page is one of several of them."""
    for link in (link for group in groups for link in group.links):
        if any(tab.current == "page" for tab in link.tabs):
            return link.tabs if len(link.tabs) > 1 else ()
    return ()


def list_breadcrumbs(groups: Sequence[NavGroup]) -> list[tuple[str | Promise, str]]:
    """`(label, url)` of the section that is open and of its page; the last has no URL where it is the page itself."""
    for link in (link for group in groups for link in group.links):
        tab = next((tab for tab in link.tabs if tab.current), None)
        if tab is None:
            continue
        crumbs = [(link.section.label, link.url)]
        if str(tab.page.label) != str(link.section.label):
            crumbs.append((tab.page.label, tab.page.url))
        if tab.current == "page":
            crumbs[-1] = (crumbs[-1][0], "")
        return crumbs
    return []


def _current(page: NavItem, here: NavItem | None, request: HttpRequest) -> Literal["", "page", "true"]:
    if page is not here:
        return ""
    return "page" if _page_name(request) == page.url_name else "true"


def _count(section: NavSection, operator: Operator) -> str:
    number = section.count(operator) if section.count else 0
    return f"{_COUNT_MAX}+" if number > _COUNT_MAX else str(number or "")
