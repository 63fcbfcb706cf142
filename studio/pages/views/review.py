"""Reviews: asked for at the gate, read and answered here."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from capability_rules.bundles.text_diff import FileDiff, diff_files
from capability_rules.errors import InvalidRequest, RegistryError
from capability_rules.validation import BUNDLE_FILES
from registry.catalog import drafts
from registry.catalog.facets import list_facets
from registry.common import errors
from registry.models import Capability, Draft, Review, ReviewEntry, Revision
from registry.publishing import publication, review_comments, reviewers, reviews
from registry.publishing.audience import get_audience
from registry.publishing.comment_anchors import QUOTE_MAX, quote_line
from registry.publishing.review_comments import CommentThread
from registry.publishing.review_outcome import find_base, find_discard, get_outcome
from studio.pages.actions import Undo, report_done
from studio.pages.confirmations import bundles as questions
from studio.pages.confirmations.page import confirmed_first
from studio.pages.editor_comments import build_comments_context
from studio.pages.form_data import get_choice, get_int, get_note, get_text
from studio.pages.lists import FilterBar, FilterField, get_page
from studio.pages.permissions import StudioRequest, actor_of, denial_reason, operator_required, restrict_to_read_only
from studio.pages.rendered_comparison import build_rendered_comparison
from studio.pages.views.draft import get_submitted_files
from studio.pages.views.gate import DRAFT_CHANGED, build_gate_context, draft_required, render_gate

RETURNED_MAX: Final = 10
SHOWN: Final = {"waiting": ("open",), "work": ("open", "approved", "sent_back"), "all": ()}
_SEARCH: Final = FilterField("q", gettext_lazy("Search by ID or note"))
WORDS_MAX: Final = reviews.COMMENT_LENGTH_MAX + 1
# What each decision does, the right to it, and the sentence when it was done.
_DECISIONS: Final[dict[str, tuple[Any, Any, Any]]] = {
    "approve": (reviews.approve, gettext_lazy("approve"), gettext_lazy("Approved. Ready to publish.")),
    "request_changes": (reviews.request_changes, gettext_lazy("request changes"), gettext_lazy("Changes requested.")),
}
_STATUS: Final[dict[type[RegistryError], int]] = {
    InvalidRequest: 400,
    # Of a comment: the review itself stands in the address.
    errors.NotFound: 400,
    errors.Forbidden: 403,
    errors.SelfApprovalForbidden: 403,
    errors.ReviewConflict: 409,
}


@operator_required("GET")
def review_list(request: StudioRequest) -> HttpResponse:
    """What waits for somebody, the newest first."""
    show = get_choice(request, "show", (*SHOWN, "mine")) or "waiting"
    filters = FilterBar(request.GET, _SEARCH)
    mine = str(actor_of(request)) if show == "mine" else ""
    found = reviews.list_reviews(states=SHOWN.get(show, ()), requested_by=mine, search=filters.get("q"))
    page = get_page(request, found)
    context: dict[str, Any] = {"page": page, "show": show, "filters": filters, "query": filters.query}
    if show == "waiting":
        # What waits for the reader: their own, with what a publisher asks for.
        asker = str(actor_of(request))
        context["returned"] = reviews.list_changes_requested().filter(requested_by=asker)[:RETURNED_MAX]
    return render(request, "studio/review/list.html", context)


@operator_required(form_on="studio:gate_show")
@draft_required
def review_request(request: StudioRequest, capability: Capability, draft: Draft) -> HttpResponse:
    """Hand the draft in; whatever is wrong comes back as the gate's page with what was typed."""
    capability_id = capability.capability_id
    if not request.user.can_edit:
        error = denial_reason(request, _("submit drafts for review"), capability_id)
        return render_gate(request, capability, draft, error=error, status=403)
    try:
        review = reviews.request_review(
            capability_id=capability_id,
            draft_version=get_int(request, "draft_version") or 0,
            by=actor_of(request),
            note=get_note(request),
        )
    except errors.DraftConflict:
        return render_gate(request, capability, draft, error=str(DRAFT_CHANGED), status=409)
    except RegistryError as refusal:
        return render_gate(request, capability, draft, error=refusal.message, status=_STATUS.get(type(refusal), 422))
    messages.success(request, _("Submitted for review. Publishers have been notified."))
    return redirect("studio:review_show", review.pk)


@operator_required("GET")
def review_show(request: StudioRequest, number: int) -> HttpResponse:
    """The submitted texts, compared with what agents get now, and the comments on them."""
    return _page(request, reviews.get_review(number))


def _page(
    request: StudioRequest, review: Review, *, error: str = "", status: int = 200, answering: int | None = None
) -> HttpResponse:
    """With what was typed: in the form of the comment that was being answered, or in the one below."""
    restrict_to_read_only(request, review.capability.capability_id)
    actor = actor_of(request)
    threads = review_comments.list_threads(review)
    needs_other = reviews.requires_independent_reviewer(review) and not reviews.is_independent_reviewer(
        review, str(actor)
    )
    is_current = review.is_active and reviews.is_current(review)
    capability_json = review.files.get("capability.json")
    states = reviewers.list_reviewer_states(review)
    named = {one.username for one in states}
    possible = reviewers.list_possible_reviewers(review) if review.is_active and request.user.can_edit else []
    context: dict[str, Any] = {
        "review": review,
        "actor": str(actor),
        "capability": review.capability,
        "capability_id": review.capability.capability_id,
        "display_name": list_facets(capability_json).name_or(review.capability.capability_id),
        "emoji": list_facets(capability_json).emoji,
        "threads": threads,
        "open_count": sum(thread.is_open for thread in threads),
        "resolved_count": sum(thread.is_resolved for thread in threads),
        "said_at": _by_line(threads, review),
        "place": _place(request),
        "words": _words(request),
        "suggested": _suggested(request, review),
        "answering": answering,
        "is_current": is_current,
        "needs_other": needs_other,
        "can_withdraw": review.is_active and request.user.can_edit and reviews.may_withdraw(review, actor),
        "can_decide": review.state == "open" and request.user.can_publish,
        "decision": get_text(request, "decision", most=20) or "comment",
        "reviewers": states,
        "possible_reviewers": [one for one in possible if one.username not in named],
        "audience": get_audience(review.capability.capability_id),
        "error": error,
    }
    if review.is_active:
        context |= _at_work(request, review, threads, is_current=is_current)
    else:
        context |= _ended(request, review)
    return render(request, "studio/review/show.html", context, status=status)


@dataclass(frozen=True, slots=True)
class ProgressStep:
    """One of the three steps of a review; `tone` is `done`, `warn` or empty."""

    words: str
    tone: str = ""
    is_here: bool = False


def _progress(review: Review, threads: Sequence[CommentThread]) -> list[ProgressStep]:
    """How far an active review is: submitted, decided about, published."""
    was_sent_back = any(
        one.entry.kind == ReviewEntry.Kind.CHANGES_REQUESTED and one.entry.round < review.round for one in threads
    )
    first = ProgressStep(_("Changes requested"), "warn") if was_sent_back else ProgressStep(_("Submitted"), "done")
    here = {
        "approved": ProgressStep(_("Approved"), "done"),
        "sent_back": ProgressStep(_("Changes requested"), "warn", is_here=True),
    }.get(review.state, ProgressStep(_("Round %(number)s: to review") % {"number": review.round}, is_here=True))
    return [first, here, ProgressStep(_("Publish"), is_here=review.state == "approved")]


def _at_work(
    request: StudioRequest, review: Review, threads: Sequence[CommentThread], *, is_current: bool
) -> dict[str, Any]:
    """What publishing the texts would mean today."""
    gate = publication.preview_publish(files=review.files, by=actor_of(request))
    # That somebody has to approve is why this page is open.
    findings = tuple(finding for finding in gate.findings if finding.code != "APPROVAL_REQUIRED")
    context = build_gate_context(request, replace(gate, findings=findings), can_confirm=False)
    # A waiver is of a finding of the draft: of texts that it has left behind there is nothing to waive.
    context["waive_of"] = review.capability.capability_id if is_current else ""
    context["discarded"] = find_discard(review.capability)
    context["since_words"] = _("Changes since live")
    context["steps"] = _progress(review, threads)
    return context | _compared(request, review, review.capability.published_revision, gate.diffs)


def _ended(request: StudioRequest, review: Review) -> dict[str, Any]:
    """What became of the texts, and what they changed then."""
    base = find_base(review)
    words = _("Changes since revision %(number)s") % {"number": base.number} if base else _("Changes")
    diffs = diff_files(base.files if base else {}, review.files)
    return {"outcome": get_outcome(review), "since_words": words, **_compared(request, review, base, diffs)}


def _compared(
    request: StudioRequest, review: Review, base: Revision | None, since_base: Sequence[FileDiff]
) -> dict[str, Any]:
    """The changes since the round before, which the reviewer has read, or those since what readers have or had: as
    texts, or rendered before and after."""
    earlier = reviews.get_previous_round(review)
    is_since_round = earlier is not None and request.GET.get("since") != "live"
    context: dict[str, Any] = {"diffs": since_base, "since": "" if is_since_round or earlier is None else "live"}
    if earlier is not None:
        diffs = diff_files(earlier, review.files) if is_since_round else since_base
        context |= {"diffs": diffs, "earlier_round": review.round - 1, "is_since_round": is_since_round}
    if request.GET.get("view") == "rendered":
        before = earlier if is_since_round else base.files if base is not None else None
        context["rendered"] = build_rendered_comparison(before, review.files)
    return context


def _by_line(threads: list[CommentThread], review: Review) -> dict[str, dict[int, list[CommentThread]]]:
    """`{file: {line: comments}}`: of the round that is shown, and open ones of earlier rounds at the line that has
    become of theirs."""
    found: dict[str, dict[int, list[CommentThread]]] = defaultdict(lambda: defaultdict(list))
    for thread in threads:
        entry = thread.entry
        is_moved = entry.round != review.round
        if is_moved and not thread.is_open:
            continue
        line = thread.line_in(review.files.get(entry.file, "")) if is_moved else entry.line
        if line is not None:
            found[entry.file][line].append(thread)
    return {file: dict(lines) for file, lines in found.items()}


def _place(request: StudioRequest) -> dict[str, str]:
    """The line or finding that a comment is about, from a link or the form; nothing if that is invalid."""
    given = request.POST if request.method == "POST" else request.GET
    file, line, code = (given.get(name, "").replace("\0", "")[:64] for name in ("file", "line", "code"))
    if file in BUNDLE_FILES and line.isdecimal() and len(line) < 8:
        return {"file": file, "line": line}
    return {"code": code} if code.replace("_", "").isalnum() and code.isascii() else {}


def _suggested(request: StudioRequest, review: Review) -> str:
    """What the field for a suggestion has: what was typed, else the line."""
    place = _place(request)
    line = quote_line(review.files.get(place.get("file", ""), ""), int(place.get("line", 0)) or None)
    return request.POST.get("suggestion", line)


def _change(
    request: StudioRequest,
    number: int,
    verb: Any,
    done: str,
    *,
    missing_right: str = "",
    comment: int | None = None,
    undo: Undo | None = None,
    **given: Any,
) -> HttpResponse:
    """Do one verb and show the review again, at the `comment` that it is about: with a sentence on what happened, or
    with what was typed and why not. The person's role may have changed while the page was open: `missing_right` is
    what they then lack."""
    review = reviews.get_review(number)
    if request.htmx and "from_editor" in request.POST and not missing_right:
        return _change_in_editor(request, review, verb, given)
    if missing_right:
        error = denial_reason(request, missing_right, review.capability.capability_id)
        return _page(request, review, error=error, status=403, answering=comment)
    try:
        made = verb(review_id=review.pk, by=actor_of(request), **given)
    except RegistryError as refusal:
        status = _STATUS.get(type(refusal), 422)
        return _page(request, review, error=refusal.message, status=status, answering=comment)
    report_done(request, done, undo)
    if "from_editor" in request.POST:
        return redirect("studio:draft_edit", review.capability.capability_id)
    place = f"#comment-{comment}" if comment is not None else ""
    if isinstance(made, ReviewEntry) and comment is None:
        # On a line of the texts it stands below that line, where its writer was reading.
        place = f"#{'line-' if made.line else ''}comment-{made.pk}"
    return redirect(reverse("studio:review_show", args=[number]) + place)


def _change_in_editor(request: StudioRequest, review: Review, verb: Any, given: dict[str, Any]) -> HttpResponse:
    """Do one verb from beside the draft, and show the comments there again."""
    error = ""
    try:
        verb(review_id=review.pk, by=actor_of(request), **given)
    except RegistryError as refusal:
        error = refusal.message
    files, _version = drafts.editable_files(review.capability)
    # What is typed may not be saved yet, and its lines are where the comments stand.
    context = build_comments_context(review.capability, files | get_submitted_files(request)) | {"comment_error": error}
    return render(request, "studio/draft/edit.html#comments", context)


def _words(request: StudioRequest) -> str:
    return get_text(request, "words", most=WORDS_MAX)


@operator_required(form_on="studio:review_show")
def review_comment(request: StudioRequest, number: int) -> HttpResponse:
    """In general, on a line or on a finding."""
    place = _place(request)
    line = int(place["line"]) if "line" in place else None
    more: dict[str, Any] = {
        "file": place.get("file", ""),
        "line": line,
        "code": place.get("code", ""),
        "words": _words(request),
        "suggestion": _suggestion(request, number, place.get("file", ""), line),
    }
    right = "" if request.user.can_edit else _("comment")
    return _change(request, number, review_comments.add_comment, _("Comment added."), missing_right=right, **more)


def _suggestion(request: StudioRequest, number: int, file: str, line: int | None) -> str:
    """What the line should be; the form has the line as it is, which is none."""
    typed = request.POST.get("suggestion", "").replace("\0", "").replace("\r\n", "\n")[: QUOTE_MAX + 1]
    is_other = typed and typed != quote_line(reviews.get_review(number).files.get(file, ""), line)
    return typed if is_other else ""


def _on_comment(
    request: StudioRequest, number: int, verb: Any, done: str, *, undo: str = "", **given: str
) -> HttpResponse:
    """Do something about a comment."""
    entry = get_int(request, "entry") or 0
    back = Undo.by(undo, number, entry=str(entry)) if undo else None
    right = "" if request.user.can_edit else _("comment")
    return _change(request, number, verb, done, missing_right=right, comment=entry, undo=back, entry_id=entry, **given)


@operator_required(form_on="studio:review_show")
def review_reply(request: StudioRequest, number: int) -> HttpResponse:
    """Add a reply to a comment of the review."""
    return _on_comment(request, number, review_comments.add_reply, _("Reply added."), words=_words(request))


@operator_required(form_on="studio:review_show")
def review_resolve(request: StudioRequest, number: int) -> HttpResponse:
    """What a comment asks for is settled, or what it suggests is in the draft."""
    verb = partial(review_comments.resolve_thread, is_accepted="accepted" in request.POST)
    return _on_comment(request, number, verb, _("Comment resolved."), undo="review_reopen")


@operator_required(form_on="studio:review_show")
def review_reopen(request: StudioRequest, number: int) -> HttpResponse:
    """It is not settled after all."""
    return _on_comment(request, number, review_comments.reopen_thread, _("Comment reopened."), undo="review_resolve")


@operator_required(form_on="studio:review_show")
def review_decide(request: StudioRequest, number: int) -> HttpResponse:
    """Comment, approve exactly the submitted texts so that they may be published, or request changes."""
    decision = get_text(request, "decision", most=20)
    if decision not in _DECISIONS:
        return review_comment(request, number)
    verb, right, done = _DECISIONS[decision]
    lacks = "" if request.user.can_publish else str(right)
    more: dict[str, Any] = {"words": _words(request), "round_seen": get_int(request, "round") or 0}
    return _change(request, number, verb, str(done), missing_right=lacks, **more)


@operator_required(form_on="studio:review_show")
def review_reviewer_add(request: StudioRequest, number: int) -> HttpResponse:
    """Ask a person by name to review."""
    return _change_reviewers(request, number, reviewers.add_reviewer, _("Reviewer added."))


@operator_required(form_on="studio:review_show")
def review_reviewer_remove(request: StudioRequest, number: int) -> HttpResponse:
    """Ask a person no longer."""
    undo = Undo.by("review_reviewer_add", number, username=get_text(request, "username", most=150))
    return _change_reviewers(request, number, reviewers.remove_reviewer, _("Reviewer removed."), undo)


def _change_reviewers(
    request: StudioRequest, number: int, verb: Any, done: str, undo: Undo | None = None
) -> HttpResponse:
    right, name = "" if request.user.can_edit else _("choose reviewers"), get_text(request, "username", most=150)
    return _change(request, number, verb, done, missing_right=right, undo=undo, username=name)


@operator_required("GET", "POST")
@confirmed_first(questions.withdraw_review, page="studio:review_show")
def review_withdraw(request: StudioRequest, number: int) -> HttpResponse:
    """End the review without a decision, by its author or an admin."""
    return _change(request, number, reviews.withdraw, _("Review canceled."), words=_words(request))
