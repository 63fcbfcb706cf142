"""Capabilities: a new one, one of them, and the verbs that change its status."""

from __future__ import annotations

import re
from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from registry import drafts, publishing, queries, skeletons
from registry.errors import CapabilityNotFound, DraftConflict, RegistryError
from registry.models import Capability
from registry.soundness import is_intact
from studio.access import (
    StudioRequest,
    actor_of,
    author_required,
    operator_required,
    posted_from,
    publisher_required,
)
from studio.views.given import line_of, note_of


def get_capability_or_404(capability_id: str) -> Capability:
    """The capability of a page's address."""
    try:
        return queries.get_capability(capability_id)
    except CapabilityNotFound as error:
        raise Http404(error.message) from None


class NewCapabilityForm(forms.Form):
    """What a first draft is made of."""

    name = forms.CharField(label="Name", max_length=80, help_text="What people call it, such as Weight Tracking.")
    capability_id = forms.CharField(
        label="Id", max_length=64, help_text="Lower-case words joined by _, such as weight_tracking. It never changes."
    )
    description = forms.CharField(
        label="What it does, and when to use it", max_length=1024, widget=forms.Textarea(attrs={"rows": 3})
    )
    skill_profile = forms.ChoiceField(label="Kind", choices=skeletons.PROFILE_CHOICES)

    def clean_description(self) -> str:
        # Browsers send CRLF.
        value: str = self.cleaned_data["description"]
        return value.replace("\r\n", "\n")

    def clean_capability_id(self) -> str:
        value: str = self.cleaned_data["capability_id"]
        if not re.fullmatch(r"[a-z0-9]+(?:_[a-z0-9]+)*", value):
            raise forms.ValidationError("Use lower-case words and digits, joined by single underscores.")
        return value


@author_required
@require_http_methods(["GET", "HEAD", "POST"])
def capability_new(request: StudioRequest) -> HttpResponse:
    """Start a capability from a working skeleton."""
    form = NewCapabilityForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        given = form.cleaned_data
        try:
            files = skeletons.skeleton(**given)
            drafts.save_draft(
                capability_id=given["capability_id"], files=files, based_on=None, by=actor_of(request), create=True
            )
        except DraftConflict:
            form.add_error("capability_id", "A capability with this id exists already.")
        except RegistryError as error:
            form.add_error("capability_id", error.message)
        else:
            return redirect("studio:draft_edit", given["capability_id"])
    return render(request, "studio/capability/new.html", {"form": form}, status=400 if form.errors else 200)


@operator_required
@require_safe
def capability_show(request: StudioRequest, capability_id: str) -> HttpResponse:
    """One capability: what agents see of it, and what can be done."""
    capability = get_capability_or_404(capability_id)
    revision = capability.published_revision
    # A row that was damaged may hold anything: it is not shown as what agents get, since they do not get it.
    intact = revision is not None and is_intact(revision)
    context = {
        "capability": capability,
        "revision": revision,
        "is_damaged": not intact and revision is not None,
        "bundle": queries.bundle_of(revision) if revision and intact else None,
        "draft": capability.drafts.filter(discarded_at__isnull=True).first(),
        "put_away": capability.drafts.filter(discarded_at__isnull=False).order_by("-discarded_at")[:10],
        "incidents": capability.incidents.filter(closed_at__isnull=True),
        "others": queries.published_ids(without=capability_id) if capability.status != "draft" else [],
    }
    return render(request, "studio/capability/show.html", context)


def _told(request: StudioRequest, capability_id: str, words: str, verb: Any, **arguments: Any) -> HttpResponse:
    """Do one verb and come back to the capability with a sentence on what happened."""
    get_capability_or_404(capability_id)
    try:
        outcome = verb(capability_id=capability_id, by=actor_of(request), note=note_of(request), **arguments)
    except RegistryError as error:
        messages.error(request, error.message)
    else:
        if isinstance(outcome, publishing.Outcome) and outcome.status == "refused":
            reasons = "; ".join(finding.message for finding in outcome.findings if finding.is_error)
            messages.error(request, f"Refused by today's rules: {reasons}")
        else:
            messages.success(request, words)
    return redirect("studio:capability_show", capability_id)


@publisher_required
@posted_from("studio:capability_show")
def capability_deprecate(request: StudioRequest, capability_id: str) -> HttpResponse:
    """Say that it is on its way out."""
    replaced_by = line_of(request, "replaced_by", most=64) or None
    words = f"{capability_id} is deprecated; agents that load it are told."
    return _told(request, capability_id, words, publishing.deprecate, replaced_by=replaced_by)


@publisher_required
@posted_from("studio:capability_show")
def capability_retire(request: StudioRequest, capability_id: str) -> HttpResponse:
    """Take it from agents."""
    return _told(request, capability_id, f"{capability_id} is retired; no agent can load it.", publishing.retire)


@publisher_required
@posted_from("studio:capability_show")
def capability_restore(request: StudioRequest, capability_id: str) -> HttpResponse:
    """Bring it back."""
    return _told(request, capability_id, f"{capability_id} is published again.", publishing.restore)
