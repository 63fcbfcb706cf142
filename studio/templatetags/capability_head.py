"""The head that all pages of a capability share, and where they are."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import urlencode

from django import template
from django.http import HttpRequest
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.module_loading import import_string
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from registry.core.queries import LOADABLE_STATUSES
from registry.feature import installed_features
from registry.models import Capability
from registry.selectors.capability_head import CapabilityHead, describe_head
from studio.pages.navigation import find_url

register = template.Library()
# The label of each tab, and its pages by url name.
_TABS: dict[str, tuple[Promise | str, tuple[str, ...]]] = {
    "capability_show": (gettext_lazy("Overview"), ("capability_show", "capability_share", "share_link_create")),
    "capability_instructions": (gettext_lazy("Instructions"), ("capability_instructions",)),
    "capability_tools": (gettext_lazy("Tools"), ("capability_tools",)),
    "capability_forms": (gettext_lazy("Forms"), ("capability_forms",)),
    "supporting_list": (
        gettext_lazy("Attached files"), ("supporting_list", "supporting_show", "supporting_save", "supporting_remove"),
    ),
    "revision_list": (
        gettext_lazy("History"),
        (
            "revision_list", "revision_show", "revision_compare", "rollback", "draft_version_list",
            "draft_version_show",
        ),
    ),
    "feedback_show": (gettext_lazy("Insights"), ("feedback_show", "outcome_list", "outcome_erase")),
}  # fmt: skip
_TABS |= {
    tab: row
    for feature in installed_features()
    if feature.capability_tabs
    for tab, row in import_string(feature.capability_tabs).items()
}

# What only a published capability has.
_OF_RELEASE: Final = ("capability_instructions", "capability_tools", "capability_forms")


@register.inclusion_tag("components/capability_head.html", takes_context=True)
def capability_head(context: dict[str, Any], capability: Capability) -> dict[str, Any]:
    """Its name, what can be done with it, and its tabs."""
    request, head = context["request"], _head(context["request"], capability)
    capability_id, playground = capability.capability_id, find_url("studio:playground_show")
    test = urlencode({"m": head.first_trigger}) if head.first_trigger and capability.status in LOADABLE_STATUSES else ""
    return {
        "capability": capability,
        "head": head,
        "user": request.user,
        "tabs": _tabs(request, capability, head),
        "test_url": playground and playground + (f"?{test}" if test else ""),
        "overview_url": reverse("studio:capability_show", args=[capability_id]),
        "can_publish_draft": head.has_draft and request.user.can_publish,
    }


@register.inclusion_tag("components/breadcrumbs.html", takes_context=True)
def capability_crumbs(context: dict[str, Any], capability: Capability, here: str = "") -> dict[str, Any]:
    """The list, the capability, its tab, and what of the tab the page is about."""
    request, head = context["request"], _head(context["request"], capability)
    tab = _tab(request)
    crumbs = [(_("Capabilities"), reverse("studio:capability_list"))]
    if tab == "capability_show" and not here:
        return {"breadcrumbs": crumbs, "here": head.name}
    crumbs.append((head.name, reverse("studio:capability_show", args=[capability.capability_id])))
    if tab != "capability_show":
        label = str(_TABS[tab][0])
        if not here:
            return {"breadcrumbs": crumbs, "here": label}
        crumbs.append((label, reverse(f"studio:{tab}", args=[capability.capability_id])))
    return {"breadcrumbs": crumbs, "here": here}


@register.simple_tag(takes_context=True)
def capability_title(context: dict[str, Any], capability: Capability) -> str:
    """Its display name, for the title of the page."""
    return _head(context["request"], capability).name


def _head(request: HttpRequest, capability: Capability) -> CapabilityHead:
    """Read once a page."""
    found: CapabilityHead | None = getattr(request, "capability_head", None)
    if found is None:
        found = describe_head(capability)
        request.capability_head = found  # type: ignore[attr-defined]
    return found


def _tab(request: HttpRequest) -> str:
    name = request.resolver_match.url_name if request.resolver_match else ""
    return next((tab for tab, (_label, names) in _TABS.items() if name in names), "capability_show")


def _tabs(request: HttpRequest, capability: Capability, head: CapabilityHead) -> list[dict[str, Any]]:
    counts = {
        "capability_tools": head.tools,
        "capability_forms": head.forms,
        "supporting_list": head.files,
        "revision_list": head.revisions,
    }
    open_tab = _tab(request)
    # `page` where the tab is the page itself, `true` where the page belongs to it.
    exact = request.resolver_match is not None and request.resolver_match.url_name == open_tab
    return [
        {
            "label": str(label),
            "url": reverse(f"studio:{tab}", args=[capability.capability_id]),
            "current": ("page" if exact else "true") if tab == open_tab else "",
            "count": counts.get(tab),
        }
        for tab, (label, _names) in _TABS.items()
        if capability.published_revision is not None or tab not in _OF_RELEASE
    ]
