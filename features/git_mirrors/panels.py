"""What stands on pages of the core: to where a capability is pushed, and will be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models import QuerySet
from django.db.models.fields.json import KeyTransform
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from features.git_mirrors.models import GitMirror
from features.sets.set_store import query_sets


def draw_mirrors(request: HttpRequest, context: Mapping[str, Any]) -> SafeString:
    """Each branch that has the capability, with its revision there; one query."""
    name = context["capability"].capability_id
    there = KeyTransform(name, KeyTransform("revisions", "pushed"))
    found = _without_files().annotate(there=there).filter(there__isnull=False)
    rows = [(each, each.there) for each in found]
    return render_to_string("studio/git_mirror/of_capability.html", {"rows": rows}, request)


def draw_destinations(request: HttpRequest, context: Mapping[str, Any]) -> SafeString:
    """To where a publish of the capability is pushed, and where its team has not agreed; at most two queries."""
    capability = context["capability"]
    rows = []
    if capability.visibility == "listed":
        found = list(_without_files().filter(started_at__isnull=False))
        held = _sets_with(capability.capability_id, found)
        team = capability.team_id
        rows = [
            (each, team is not None and str(team) not in each.consents)
            for each in found
            if not each.set_id or each.set_id in held
        ]
    return render_to_string("studio/git_mirror/destinations.html", {"rows": rows}, request)


def _sets_with(name: str, mirrors: Sequence[GitMirror]) -> set[str]:
    """The sets of these mirrors that give the newest revision of a capability."""
    wanted = {each.set_id for each in mirrors if each.set_id}
    rows = query_sets().filter(set_id__in=wanted) if wanted else ()
    member = {"capability_id": name}
    return {row.set_id for row in rows if member in row.document["members"]}


def _without_files() -> QuerySet[GitMirror]:
    """The mirrors without their lists of files, which would be read for every page of a capability."""
    return GitMirror.objects.defer("pushed", "pending")
