"""Questions about capabilities and what is written for them: drafts, files, groups, proposals, reviews, releases."""

from __future__ import annotations

from uuid import UUID

from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from capability_rules.bundles.supporting_files import find_supporting_files
from registry.access.teams import require_edit_permission
from registry.catalog import drafts
from registry.catalog.facets import get_display_name
from registry.common.errors import DraftNotFound, Forbidden, NotFound, StatusConflict
from registry.core import queries
from registry.matching import skill_groups
from registry.models import Capability, Draft
from registry.publishing import proposals, release_rules, reviews, scheduled_releases
from registry.publishing.audience import Audience, get_audience
from registry.publishing.quarantine import evaluate_end, is_quarantine_open
from registry.selectors import effects
from studio.pages.confirmations.page import (
    CONFIRMED,
    Confirmation,
    Note,
    NothingToConfirm,
    found_or_404,
    sent,
    sent_line,
)
from studio.pages.form_data import get_int_at
from studio.pages.formatting import (
    actor_name,
    capabilities_words,
    figure,
    keys_words,
    loads_words,
    local_time,
    names_words,
    relative_time,
)
from studio.pages.labels import label
from studio.pages.permissions import StudioRequest, actor_of, denial_reason, restrict_to_read_only

_IN_HISTORY = gettext_lazy("It appears in the history.")


def retire_capability(request: StudioRequest, capability_id: str) -> Confirmation:  # noqa: ARG001 (a question)
    """Whether to take a capability from agents."""
    capability = found_or_404(queries.get_capability, capability_id)
    if capability.status == "retired":
        raise NothingToConfirm(_("%(name)s is already retired.") % {"name": get_display_name(capability)})
    if capability.status not in queries.HELD_STATUSES:
        raise StatusConflict(
            _("%(name)s is not published, so it can't be retired.") % {"name": get_display_name(capability)}
        )
    audience = get_audience(capability_id)
    changes = [
        *_audience_words(audience),
        _("Agents can no longer find or load it. Sessions that pinned a revision fail too."),
    ]
    replaced = effects.replaced_by(capability_id)
    if replaced:
        changes.append(
            _("Deprecated in favor of it, and then without a replacement: %(names)s.")
            % {"names": names_words(replaced)}
        )
    affected = effects.get_retirement_effects(capability_id)
    if affected.needed_by:
        words = _("These say that they need it, and may hand over to it: %(names)s.")
        changes.append(words % {"names": names_words(affected.needed_by)})
    changes.append(_("Its tool names become available to other capabilities."))
    if affected.ends_release is not None:
        due = local_time(affected.ends_release.due_at)
        changes.append(format_html(_("Its release scheduled for {when} is canceled."), when=due))
    if affected.followed_from:
        words = _("It comes from %(names)s. What is new there becomes a draft, until somebody publishes it.")
        changes.append(words % {"names": names_words(affected.followed_from)})
    return Confirmation(
        title=_("Retire capability “%(name)s”?") % {"name": get_display_name(capability)},
        button=_("Retire capability"),
        effects=changes,
        undo=_("You can restore it later, if it passes the publishing checks then. Calls until then fail."),
        figures=_audience_figures(audience),
        note=Note(label=_("Why is it retired?"), help=_IN_HISTORY, is_required=True),
        typed=capability_id if audience.loads else "",
        state=capability.status,
    )


def quarantine_capability(request: StudioRequest, capability_id: str) -> Confirmation:  # noqa: ARG001 (a question)
    """Whether to hold a capability back from agents because it may do harm."""
    capability = found_or_404(queries.get_capability, capability_id)
    name = get_display_name(capability)
    if capability.status == "quarantined":
        raise NothingToConfirm(_("%(name)s is already quarantined.") % {"name": name})
    if capability.status not in queries.LOADABLE_STATUSES:
        raise StatusConflict(_("Agents can't load %(name)s, so it can't be quarantined.") % {"name": name})
    audience = get_audience(capability_id)
    changes = [
        *_audience_words(audience),
        _("Agents can no longer find or load it, pinned revisions included, and must stop using it."),
        _("It stays quarantined until you restore it. No other capability can use its tool names."),
    ]
    if replaced := effects.replaced_by(capability_id):
        words = _("Without a replacement until then: %(names)s.")
        changes.append(words % {"names": names_words(replaced)})
    return Confirmation(
        title=_("Quarantine capability “%(name)s”?") % {"name": name},
        button=_("Quarantine capability"),
        effects=changes,
        undo=_("A member who neither published nor edited it can end the quarantine, with a reason."),
        figures=_audience_figures(audience),
        note=Note(label=_("Why is it quarantined?"), help=_IN_HISTORY, is_required=True),
        state=capability.status,
    )


def restore_capability(request: StudioRequest, capability_id: str) -> Confirmation | None:
    """Whether to restore what is deprecated or retired, or to end a quarantine.

    A form that has its own note, and *Undo*, restore without a question what no quarantine holds. Raises `Forbidden`
    for anyone who published or edited what is quarantined, but a sole admin.
    """
    capability = found_or_404(queries.get_capability, capability_id)
    if is_quarantine_open(capability):
        return _end_quarantine(request, capability)
    is_asked = request.method != "POST" or CONFIRMED in request.POST
    return _restore(capability) if is_asked and capability.status in ("deprecated", "retired") else None


def _restore(capability: Capability) -> Confirmation:
    number = capability.published_revision.number if capability.published_revision else ""
    if capability.status == "retired":
        changes = _("Agents can find and load revision %(number)s again, if it passes the current checks.")
        undo = _("You can retire it again at any time.")
    else:
        changes = _("Agents that load revision %(number)s no longer see a notice that it is deprecated.")
        undo = _("You can deprecate it again at any time.")
    return Confirmation(
        title=_("Restore capability “%(name)s”?") % {"name": get_display_name(capability)},
        button=_("Restore capability"),
        effects=[changes % {"number": number}],
        undo=undo,
        note=Note(label=_("Why is it restored?"), help=_IN_HISTORY),
        state=f"{capability.status} {number}",
    )


def _end_quarantine(request: StudioRequest, capability: Capability) -> Confirmation:
    end = evaluate_end(capability, actor_of(request))
    if end.refusal:
        raise Forbidden(end.refusal)
    name, revision = get_display_name(capability), capability.published_revision
    changes = [_("Agents can find and load it again, if it passes the current checks.")]
    if revision is not None:
        changes.append(
            _("They get revision %(number)s, published by %(who)s.")
            % {"number": revision.number, "who": actor_name(revision.created_by)}
        )
    if end.is_alone:
        changes.append(
            _("You published or edited it, and no other member can end the quarantine. The history says so.")
        )
    return Confirmation(
        title=_("End quarantine of “%(name)s”?") % {"name": name},
        button=_("End quarantine"),
        effects=changes,
        undo=_("You can quarantine it again at any time."),
        note=Note(label=_("Why is it harmless?"), help=_IN_HISTORY, is_required=True),
        state=f"{capability.status} {revision.number if revision else ''}",
    )


def _audience_figures(audience: Audience) -> list[tuple[str, str]]:
    if not audience.loads:
        return []
    loads = ngettext("load in 30 days", "loads in 30 days", audience.loads)
    return [(figure(audience.loads), loads), (figure(audience.keys), ngettext("API key", "API keys", audience.keys))]


def _audience_words(audience: Audience) -> list[str]:
    named = audience.keys - bool(audience.keyless_loads)
    if not audience.loads:
        return [_("No agent loaded it in the last 30 days.")]
    if not named:
        return [
            _("Calls without a key will fail: %(loads)s in the last 30 days.") % {"loads": loads_words(audience.loads)}
        ]
    changes = [
        _("Calls from %(keys)s will fail: %(loads)s in the last 30 days.")
        % {"loads": loads_words(audience.loads - audience.keyless_loads), "keys": keys_words(named)}
    ]
    if audience.keyless_loads:
        changes.append(_("%(loads)s without a key will fail too.") % {"loads": loads_words(audience.keyless_loads)})
    names = [reader.key_name for reader in audience.readers if reader.key_name]
    changes.append(_("Most used by: %(names)s.") % {"names": names_words(names, named)})
    return changes


def deprecate_chosen(request: StudioRequest) -> Confirmation:
    """Whether to deprecate several capabilities. Raises `NotFound` where none was chosen."""
    chosen = list(dict.fromkeys(one.replace("\0", "").strip()[:64] for one in sent(request).getlist("chosen")))[:500]
    if not chosen:
        raise NotFound(_("Select at least one capability"))
    loads = effects.count_loads(chosen)
    title = ngettext("Deprecate %(n)s capability?", "Deprecate %(n)s capabilities?", len(chosen))
    button = ngettext("Deprecate capability", "Deprecate capabilities", len(chosen))
    changes = [_("Agents can still load them, and see what to use instead.")]
    if loads:
        changes.append(
            _("%(loads)s in the last 30 days: these agents see the notice from now on.") % {"loads": loads_words(loads)}
        )
    else:
        changes.append(_("No agent loaded any of them in the last 30 days."))
    return Confirmation(
        title=title % {"n": figure(len(chosen))},
        button=button,
        effects=changes,
        undo=_("You can restore each of them on its page."),
        figures=[(figure(loads), ngettext("load in 30 days", "loads in 30 days", loads))] if loads else [],
        note=Note(),
        template="studio/capability/deprecate.html",
        more={"chosen": chosen, "replaced_by": sent_line(request, "replaced_by", most=64)},
    )


def discard_draft(request: StudioRequest, capability_id: str) -> Confirmation:  # noqa: ARG001 (a question)
    """Whether to put a draft away."""
    capability = found_or_404(queries.get_capability, capability_id)
    try:
        draft: Draft = drafts.get_draft(capability_id)
    except DraftNotFound:
        raise NothingToConfirm(_("The draft is gone: it was discarded or published already.")) from None
    changes: list[str] = [
        format_html(
            _("Draft version {version}, saved by {who} {since}, is removed from the editor."),
            version=draft.version,
            who=actor_name(draft.saved_by),
            since=relative_time(draft.saved_at),
        )
    ]
    if capability.published_revision is not None:
        changes.append(_("Agents aren't affected: they keep the published revision."))
    else:
        changes.append(_("It was never published, so agents aren't affected."))
    standing = reviews.get_active_review(capability)
    if standing is not None:
        changes.append(_("Its review can no longer be approved."))
    waiting = scheduled_releases.find_pending_release(capability.capability_id)
    if waiting is not None:
        changes.append(format_html(_("The release scheduled for {when} will fail."), when=local_time(waiting.due_at)))
    return Confirmation(
        title=_("Discard draft of “%(name)s”?") % {"name": get_display_name(capability)},
        button=_("Discard draft"),
        effects=changes,
        undo=_("You can restore it from the draft history for 30 days."),
        cancel=reverse("studio:draft_edit", args=[capability_id]),
        fields={"draft_version": str(draft.version)},
        state=str(draft.version),
    )


def remove_file(request: StudioRequest, capability_id: str) -> Confirmation:
    """Whether to take a supporting file out of the draft."""
    capability = found_or_404(queries.get_capability, capability_id)
    files, version = drafts.editable_files(capability)
    path = sent_line(request, "path", most=300)
    if path not in find_supporting_files(files):
        raise NothingToConfirm(_("The draft has no file “%(path)s”.") % {"path": path})
    changes = [_("The file is removed from the draft. Agents aren't affected until you publish.")]
    published = capability.published_revision
    if published is None or published.files.get(path) != files[path]:
        changes.append(_("This version of the file was never published."))
        undo = _("You can restore the draft with this file from the draft history for 30 days.")
    else:
        undo = _("Published revisions keep the file: you can copy it from there.")
    if path in files.get("skill.md", ""):
        changes.append(_("skill.md mentions it."))
    return Confirmation(
        title=_("Remove file “%(path)s”?") % {"path": path},
        button=_("Remove file"),
        effects=changes,
        undo=undo,
        fields={"path": path, "based_on": str(version or "")},
        state=str(version or ""),
    )


def delete_group_details(request: StudioRequest, group_id: str) -> Confirmation:  # noqa: ARG001 (a question)
    """Whether to delete the description of a skill group."""
    found = found_or_404(skill_groups.get_group, group_id)
    if not found.group.is_described:
        raise NothingToConfirm(_("The details of %(group)s are already deleted.") % {"group": group_id})
    changes = [
        _("Name, description, %(n)s examples and the setting “One at a time” are deleted.")
        % {"n": figure(len(found.group.examples))}
    ]
    if found.members:
        changes.append(
            _("%(capabilities)s still name the group; messages are matched without its description.")
            % {"capabilities": capabilities_words(len(found.members))}
        )
    else:
        changes.append(_("No published capability names the group."))
    return Confirmation(
        title=_("Delete details of group “%(group)s”?") % {"group": group_id},
        button=_("Delete group details"),
        effects=changes,
        undo=_("This can't be undone. You would have to write them again."),
    )


def remove_policy(request: StudioRequest) -> Confirmation:
    """Whether a group goes without a publishing policy of its own."""
    group_id = sent_line(request, "group_id", most=80)
    rule = next((one for one in release_rules.list_rules()[1] if one.group_id == group_id), None)
    if rule is None:
        raise NotFound(_("There is no rule for “%(group_id)s”") % {"group_id": group_id})
    asks = [
        words
        for is_set, words in (
            (rule.four_eyes, _("This rule no longer requires approval from another person.")),
            (rule.note_required, _("This rule no longer requires a release note.")),
            (rule.held_requires_review, _("Doubtful passages no longer require approval from another person.")),
            (rule.comments_resolved, _("This rule no longer requires comments to be resolved.")),
            (rule.loosening != "publisher", _("It no longer limits who can make permissions less strict.")),
        )
        if is_set
    ]
    return Confirmation(
        title=_("Remove rule of group “%(group_id)s”?") % {"group_id": group_id},
        button=_("Remove rule"),
        effects=[*asks, _("Its capabilities follow the default rule and those of their other groups.")],
        undo=_("You can add a rule for the group again."),
        fields={"group_id": group_id},
        state=rule.updated_at.isoformat(),
    )


def reject_proposal(request: StudioRequest, proposal_id: UUID) -> Confirmation:
    """Whether to decline what an agent proposed."""
    proposal = found_or_404(proposals.get_proposal, proposal_id)
    if not proposal.is_open:
        raise NothingToConfirm(
            _("The proposal was already decided by %(who)s.") % {"who": actor_name(proposal.decided_by)}
        )
    capability_id = proposal.capability.capability_id
    require_edit_permission(capability_id, actor_of(request))
    changes = [_("The owner of API key %(name)s sees your note.") % {"name": proposal.key_name}]
    draft = drafts.get_active_draft(proposal.capability)
    if draft is not None and draft.proposal == proposal:
        changes.append(
            _("The draft of %(capability_id)s is this proposal: it is discarded, and can be restored for 30 days.")
            if draft.files == proposal.files
            else _("The draft of %(capability_id)s was edited since: it stays.")
        )
        changes[-1] %= {"capability_id": capability_id}
    return Confirmation(
        title=_("Decline proposal for “%(capability_id)s”?") % {"capability_id": capability_id},
        button=_("Decline proposal"),
        effects=changes,
        undo=_("This can't be undone. The agent would have to propose it again."),
        note=Note(label=_("Why is it declined?"), help=_("The agent's owner sees this note."), is_required=True),
    )


def withdraw_review(request: StudioRequest, number: int) -> Confirmation:
    """Whether to end a review without a decision. Raises `Forbidden` for anyone but its author and admins."""
    review = found_or_404(reviews.get_review, number)
    restrict_to_read_only(request, review.capability.capability_id)
    if not request.user.can_edit:
        raise Forbidden(denial_reason(request, _("cancel reviews"), review.capability.capability_id).removesuffix("."))
    if not reviews.may_withdraw(review, actor_of(request)):
        raise Forbidden(_("Only the author of the review and admins can cancel it"))
    if not review.is_active:
        raise NothingToConfirm(
            _("The review has already ended: it is %(state)s.") % {"state": label(review.state).lower()}
        )
    changes: list[str] = [
        format_html(
            _("Reviewers no longer see it as waiting. {who} submitted it {since}."),
            who=actor_name(review.requested_by),
            since=relative_time(review.requested_at),
        ),
        _("The comments stay readable. The draft stays as it is."),
    ]
    if review.state == "approved":
        changes.append(_("Its approval no longer counts."))
    return Confirmation(
        title=_("Cancel review of “%(capability_id)s”?") % {"capability_id": review.capability.capability_id},
        button=_("Cancel review"),
        keep=_("Keep review"),
        effects=changes,
        undo=_("This can't be undone, but you can submit it again."),
        note=Note(name="words", label=_("Comment"), max_length=reviews.COMMENT_LENGTH_MAX),
        state=f"{review.round} {review.state}",
    )


def cancel_release(request: StudioRequest) -> Confirmation:
    """Whether to call off a scheduled release."""
    release = scheduled_releases.get_release(get_int_at(sent(request), "release") or 0)
    capability_id = release.capability.capability_id
    restrict_to_read_only(request, capability_id)
    if not request.user.can_publish:
        raise Forbidden(denial_reason(request, _("publish"), capability_id).removesuffix("."))
    name = get_display_name(release.capability)
    if release.state != "waiting":
        raise NothingToConfirm(
            _("The release of %(name)s no longer waits: it is %(state)s.")
            % {"name": name, "state": release.get_state_display().lower()}
        )
    return Confirmation(
        title=_("Cancel release of “%(name)s”?") % {"name": name},
        button=_("Cancel release"),
        keep=_("Keep release"),
        effects=[
            format_html(_("The draft is not published on {when}."), when=local_time(release.due_at)),
            _("%(who)s scheduled it with this note: %(note)s")
            % {"who": actor_name(release.scheduled_by), "note": release.note},
            _("The draft stays as it is."),
        ],
        undo=_("You can schedule it again on the publish page."),
        fields={"release": str(release.pk)},
        state=release.due_at.isoformat(),
    )
