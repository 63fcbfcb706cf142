"""The gate: everything to know before publishing, on one page, and what can be done about it."""

from __future__ import annotations

from functools import wraps
from typing import Any, Final

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from capability_rules.validation import Report
from features.acceptances.held_passages import evaluate_right
from registry.catalog import drafts
from registry.catalog.facets import list_facets
from registry.common.errors import DraftConflict, DraftNotFound
from registry.core import queries
from registry.models import Capability, Draft
from registry.publishing import publication, publish_context
from registry.publishing.gate import GateReport
from registry.publishing.publish_context import PublishContext
from registry.publishing.quarantine import is_quarantine_open
from registry.publishing.reviews import is_waived_since
from studio.middleware.time_zones import typed_zone
from studio.pages.bundle_view import build_bundle_context
from studio.pages.form_data import NOTE_MAX, get_acknowledged, get_int, get_note, get_text
from studio.pages.gate_panels import Changes, Issues
from studio.pages.permissions import StudioRequest, View, actor_of, denial_reason, operator_required
from studio.pages.powers import group_powers
from studio.pages.release_steps import PLACEHOLDER, list_release_steps
from studio.pages.scheduled import build_scheduled_context

DRAFT_CHANGED: Final = gettext_lazy("The draft has changed since you opened this page. Check the changes again.")


def draft_required(view: View) -> View:
    """Give a view the capability and its draft; one without a draft is led back to."""

    @wraps(view)
    def with_draft(request: StudioRequest, capability_id: str) -> HttpResponse:
        capability = queries.get_capability(capability_id)
        draft = drafts.get_active_draft(capability)
        if draft is None:
            messages.info(request, _("Nothing to publish."))
            return redirect("studio:capability_show", capability_id)
        return view(request, capability, draft)

    return with_draft


@operator_required("GET", "POST")
@draft_required
def gate_show(request: StudioRequest, capability: Capability, draft: Draft) -> HttpResponse:
    """Findings, differences and the button; the same report that command line and API give."""
    if request.method == "POST":
        return _publish(request, capability, draft)
    return render_gate(request, capability, draft)


def _show_published_meanwhile(request: StudioRequest, capability_id: str) -> HttpResponse:
    """The draft was there when the request came, and is not any more."""
    messages.info(request, _("This draft was just published by someone else."))
    return redirect("studio:capability_show", capability_id)


def _sort_questions(gate: GateReport, *, can_tick: bool) -> tuple[list[str], list[str]]:
    """The codes of the open questions: those that are ticked on this page, and those that stop the publish."""
    asked = [
        code
        for code in gate.open_questions
        if code != "POLICY_LOOSENED" or "LOOSENING_NOT_ALLOWED" not in gate.open_questions
    ]
    to_confirm = [code for code in asked if can_tick and code in gate.to_acknowledge]
    return to_confirm, [code for code in asked if code not in to_confirm]


def _list_typed(request: StudioRequest) -> dict[str, Any]:
    """What was typed into the form, to be shown again."""
    return {
        "acknowledged": request.POST.getlist("acknowledge"),
        "note": get_note(request),
        "due_at": get_text(request, "due_at", most=32),
        # What was typed is shown again in the zone in which it was typed.
        "due_at_zone": typed_zone(request.POST, "due_at"),
    }


def build_gate_context(
    request: StudioRequest,
    gate: GateReport,
    *,
    can_confirm: bool = True,
    standing: PublishContext | None = None,
    has_placeholders: bool = False,
) -> dict[str, Any]:
    """What the parts of the page need that show a gate's report: errors of the texts, questions of policy apart from
    them, and what was typed. `can_confirm` says that the page has a form in which a publisher confirms, `standing` and
    `has_placeholders` are those of a draft."""
    can_tick = can_confirm and request.user.can_publish
    issues = Issues.of(gate, for_publisher=request.user.can_publish)
    to_confirm, questions = _sort_questions(gate, can_tick=can_tick)
    return {
        "gate": gate,
        "release_steps": list_release_steps(
            gate,
            errors=len(issues.errors),
            questions=questions,
            to_confirm=to_confirm,
            standing=standing,
            has_placeholders=has_placeholders and can_tick,
        ),
        # What no tick of this person's can lift.
        "is_blocked": bool(issues.errors or questions),
        "needs_approval": "APPROVAL_REQUIRED" in gate.open_questions,
        "can_be_reviewed": gate.report.ok,
        "issues": issues,
        "missing_scans": [one for one in gate.findings if one.code == "SCAN_MISSING" and one.is_error],
        "changes": Changes.of(gate.changes, introduces=gate.introduces),
        # Not every page that shows the report shows them.
        "power_groups": lambda: group_powers(gate.powers),
        **_list_typed(request),
    }


def render_gate(
    request: StudioRequest, capability: Capability, draft: Draft, *, error: str = "", status: int = 200
) -> HttpResponse:
    """The page, with whatever was typed into its form."""
    capability_id = capability.capability_id
    try:
        outcome = publication.publish_draft(capability_id=capability_id, by=actor_of(request), note=None, dry_run=True)
    except DraftNotFound:
        return _show_published_meanwhile(request, capability_id)
    found = publish_context.get_publish_context(capability)
    context = {
        "capability": capability,
        **build_scheduled_context(capability),
        "stays_quarantined": is_quarantine_open(capability),
        "capability_id": capability_id,
        "display_name": list_facets(draft.capability_json).name_or(capability_id),
        "draft": draft,
        "outcome": outcome,
        "error": error,
        "standing": found,
        # What is in review, or was approved, need not be submitted again.
        "is_in_review": _is_in_review(found, outcome.gate),
        **_describe_gate(request, outcome.gate, found),
        "note": get_note(request) or _note_of_review(request, found),
        "held_refusal": _explain_undecided(request, draft, outcome.gate),
        "live": capability.published_revision,
        "next_number": queries.get_next_number(capability),
    }
    return render(request, "studio/gate/show.html", context, status=status)


def _describe_gate(request: StudioRequest, gate: GateReport | None, standing: PublishContext) -> dict[str, Any]:
    """What the page says of the draft's texts. A first release is drawn as agents and users will see it."""
    if gate is None:
        return {}
    context = build_gate_context(request, gate, standing=standing, has_placeholders=_has_placeholders(gate.report))
    changed = [diff for diff in gate.diffs if diff.added or diff.removed]
    context["diffs_below"] = {
        "files": len(changed),
        "added": sum(diff.added for diff in changed),
        "removed": sum(diff.removed for diff in changed),
    }
    if gate.published is None and gate.report.ok and gate.report.bundle is not None:
        context |= build_bundle_context(gate.report.bundle)
    return context


def _note_of_review(request: StudioRequest, found: PublishContext) -> str:
    """What the author said that the texts are for, in one line; a form that was sent has its own note.

    Who publishes gets it for these very texts alone; an author who submits again may have changed them.
    """
    if request.method == "POST" or found.review is None:
        return ""
    if request.user.can_publish and not found.review_is_current:
        return ""
    return " ".join(found.review.note.split())[:NOTE_MAX]


def _explain_undecided(request: StudioRequest, draft: Draft, gate: GateReport | None) -> str:
    """Why this person cannot decide about what is held, and who can; empty where they can, or nothing is."""
    if gate is None or "SEC_HELD" not in gate.open_questions:
        return ""
    return evaluate_right(draft.capability.capability_id, drafts.list_editors(draft), actor_of(request)).refusal


def _is_in_review(found: PublishContext, gate: GateReport | None) -> bool:
    """Whether the draft waits for a review, or was approved with all that is waived in it now."""
    if found.review is None or not found.review_is_current or found.review.state == "sent_back":
        return False
    return gate is None or found.review.state != "approved" or not is_waived_since(found.review, gate.report)


def _has_placeholders(report: Report) -> bool:
    return any(finding.code == PLACEHOLDER for finding in report.findings)


def find_unconfirmed(request: StudioRequest, draft: Draft) -> str:
    """Why a draft with placeholder text is not published yet: the form's tick is missing. Empty where nothing is.

    A draft that has changed since the page was opened is left to the check of its version.
    """
    if PLACEHOLDER in request.POST.getlist("acknowledge") or get_int(request, "draft_version") != draft.version:
        return ""
    if not _has_placeholders(drafts.validate_draft(draft)):
        return ""
    return _("Replace the placeholder text, or confirm that you publish with it.")


def refused_words(gate: GateReport | None) -> str:
    """Why nothing was published, in a sentence: a confirmation is missing, or something that the page lists."""
    if gate is not None and gate.to_acknowledge and not any(f.is_error for f in gate.text_findings):
        return _("Confirm before publishing: this release is less restrictive.")
    return _("Not published. The reasons are below.")


def _publish(request: StudioRequest, capability: Capability, draft: Draft) -> HttpResponse:
    if not request.user.can_publish:
        error = denial_reason(request, _("publish"), capability.capability_id)
        return render_gate(request, capability, draft, error=error, status=403)
    note = get_note(request)
    if not note:
        return render_gate(request, capability, draft, error=_("Enter a release note."), status=400)
    if request.POST.get("when") == "later":
        # The Enter key presses the first button of a form, also one that is not shown.
        return render_gate(request, capability, draft, error=_("Press Schedule release to publish later."), status=400)
    if unconfirmed := find_unconfirmed(request, draft):
        return render_gate(request, capability, draft, error=unconfirmed, status=422)
    capability_id = capability.capability_id
    try:
        outcome = publication.publish_draft(
            capability_id=capability_id,
            draft_version=get_int(request, "draft_version") or 0,
            by=actor_of(request),
            note=note,
            acknowledge=get_acknowledged(request),
        )
    except DraftConflict:
        return render_gate(request, capability, draft, error=str(DRAFT_CHANGED), status=409)
    except DraftNotFound:
        return _show_published_meanwhile(request, capability_id)
    if outcome.status == "refused":
        return render_gate(request, capability, draft, error=refused_words(outcome.gate), status=422)
    words = {"unchanged": _("Nothing to publish. This draft matches the live version.")}
    messages.success(
        request, words.get(outcome.status, _("Revision %(revision)s is live.") % {"revision": outcome.revision})
    )
    if outcome.status == "published" and outcome.revision == 1:
        return redirect("studio:capability_live", capability_id)
    return redirect("studio:capability_show", capability_id)
