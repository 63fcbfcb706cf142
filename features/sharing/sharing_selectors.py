"""Who can see a capability beside the keys that see all: install code, share links, the first run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from features.sharing import install_codes
from features.sharing.models import InstallCodeRedemption, ShareLink
from registry.catalog.facets import list_facets
from registry.catalog.first_run import get_first_run
from registry.models import Capability

LINKS_MAX = 100


@dataclass(frozen=True, slots=True)
class Sharing:
    """`links` are those in force that show the capability; `first_run` is the id that new sessions begin with."""

    redemptions: Sequence[InstallCodeRedemption]
    links: Sequence[ShareLink]
    groups: Sequence[str]
    first_run: str


def describe_sharing(capability: Capability) -> Sharing:
    """Who can get a capability by codes, links, groups and the first run; three queries."""
    revision = capability.published_revision
    groups = sorted(list_facets(revision.capability_json if revision else None).groups)
    links = ShareLink.objects.filter(revoked_at__isnull=True, skill_group__in=["", *groups], set_id="")
    # A share link shows what is listed.
    shown = [link for link in links[:LINKS_MAX] if capability.visibility == "listed"]
    return Sharing(install_codes.list_redemptions(capability), shown, groups, get_first_run())


def get_active_link(name: str) -> ShareLink | None:
    """A link that is in force, or None."""
    return ShareLink.objects.filter(name=name, revoked_at__isnull=True).first()
