"""Questions about keys, members and teams."""

from __future__ import annotations

from typing import Final

from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from registry.access import agent_keys, operators, teams
from registry.access.key_limits import describe_limit
from registry.common.actors import Actor
from registry.common.errors import NotFound, StatusConflict
from registry.models import AgentKey
from registry.selectors import effects
from registry.selectors.effects import MemberWork
from studio.pages.confirmations.page import Confirmation, NothingToConfirm, found_or_404, sent_line
from studio.pages.formatting import (
    CANNOT_UNDO,
    actor_name,
    capabilities_words,
    figure,
    loads_words,
    names_words,
    relative_time,
)
from studio.pages.permissions import StudioRequest, actor_of

KEYS_SHOWN: Final = 20
_SCOPES = {
    "read": gettext_lazy("list and load capabilities"),
    "feedback": gettext_lazy("report outcomes"),
    "propose": gettext_lazy("propose drafts"),
    "publish": gettext_lazy("publish"),
}


def revoke_key(request: StudioRequest) -> Confirmation:
    """Whether to end a key."""
    row = agent_keys.get_key(sent_line(request, "name", most=80))
    if row.revoked_at is not None:
        raise NothingToConfirm(
            _("API key %(name)s was already revoked by %(who)s.")
            % {"name": row.name, "who": actor_name(row.revoked_by)}
        )
    changes = [_("Every request with this key fails within a second.")]
    if row.has_two:
        changes.append(_("The previous key, which still works after a rotation, stops working too."))
    return Confirmation(
        title=_("Revoke API key “%(name)s”?") % {"name": row.name},
        button=_("Revoke key"),
        effects=[*changes, *_key_facts(row)],
        figures=_key_figures(row),
        undo=_("This can't be undone. Anyone who uses the key needs a new one."),
        cancel=reverse("studio:agent_key_show", args=[row.pk]),
        fields={"name": row.name},
    )


def _key_figures(row: AgentKey) -> list[tuple[str, str]]:
    use = effects.use_of_key(row.name)
    if not use.loads:
        return []
    loads = ngettext("load in 30 days", "loads in 30 days", use.loads)
    return [
        (figure(use.loads), loads),
        (figure(use.capabilities), ngettext("capability", "capabilities", use.capabilities)),
    ]


def _key_facts(row: AgentKey) -> list[str]:
    use = effects.use_of_key(row.name)
    facts = [_("Scopes: %(rights)s.") % {"rights": ", ".join(str(_SCOPES[one]) for one in row.scopes)}]
    if limit := describe_limit(row):
        facts.append(_("It may change: %(limit)s.") % {"limit": limit})
    if row.last_used_at is None:
        facts.append(_("It was never used."))
    else:
        facts.append(format_html(_("Last used {when}."), when=relative_time(row.last_used_at)))
    if use.loads:
        facts.append(
            _("%(loads)s of %(capabilities)s in the last 30 days.")
            % {"loads": loads_words(use.loads), "capabilities": capabilities_words(use.capabilities)}
        )
    else:
        facts.append(_("No loads in the last 30 days."))
    return facts


def rotate_key(request: StudioRequest, number: int) -> Confirmation | None:
    """Whether to replace a key at once; nothing is asked where the key in use stays valid for a while."""
    row = found_or_404(agent_keys.get_key_by_id, number)
    if row.revoked_at is not None:
        # The verb says so.
        return None
    overlap = sent_line(request, "overlap", most=8) or "0"
    ends_now = overlap == "0"
    if not ends_now and not row.has_two:
        return None
    changes = [_("A new key is created and shown once. Name and scopes stay the same.")]
    if ends_now:
        changes.append(_("The current key stops working within a second."))
    if row.has_two:
        changes.append(_("The previous key, which still works after the last rotation, stops working within a second."))
    return Confirmation(
        title=_("Rotate API key “%(name)s”?") % {"name": row.name},
        button=_("Rotate key"),
        effects=[*changes, *_key_facts(row)],
        undo=CANNOT_UNDO,
        fields={"overlap": overlap},
    )


def deactivate_member(request: StudioRequest) -> Confirmation:
    """Whether to deactivate somebody. Raises `Forbidden` for oneself."""
    name = sent_line(request, "username", most=150)
    operators.require_other(name, actor_of(request), _("deactivate yourself; ask another admin"))
    work = effects.work_of_member(name)
    if not work.is_active:
        raise NothingToConfirm(_("%(name)s is already deactivated.") % {"name": name})
    operators.require_another_admin(operators.get_operator(name))
    known = agent_keys.list_keys_known_to(Actor("operator", name))
    changes = [_("%(name)s is signed out everywhere and can't sign in.") % {"name": name}]
    if work.is_invited:
        changes.append(_("The invitation or reset link stops working."))
    return Confirmation(
        title=_("Deactivate member “%(name)s”?") % {"name": name},
        button=_("Deactivate member"),
        effects=[
            *changes,
            *_work_words(work),
            _("The audit log keeps their name."),
        ],
        undo=_("You can reactivate them later, with the same password, role and teams."),
        fields={"username": name},
        template="studio/operator/deactivate.html",
        more={"keys": known[:KEYS_SHOWN], "key_count": len(known)},
    )


def _work_words(work: MemberWork) -> list[str]:
    changes = []
    if work.teams:
        changes.append(_("Their teams keep them as a member: %(names)s.") % {"names": names_words(work.teams)})
    if work.drafts:
        changes.append(_("Drafts that they saved last stay: %(names)s.") % {"names": names_words(work.drafts)})
    if work.reviews:
        words = ngettext(
            "%(n)s review that they submitted stays open.", "%(n)s reviews that they submitted stay open.", work.reviews
        )
        changes.append(words % {"n": figure(work.reviews)})
    if work.releases:
        words = ngettext(
            "%(n)s release that they scheduled will fail when it is due.",
            "%(n)s releases that they scheduled will fail when they are due.",
            work.releases,
        )
        changes.append(words % {"n": figure(work.releases)})
    return changes


def reset_password(request: StudioRequest) -> Confirmation:
    """Whether to take somebody's password away. Raises `Forbidden` for oneself."""
    name = sent_line(request, "username", most=150)
    operators.require_other(name, actor_of(request), _("reset your own password. Change it on the page Password"))
    work = effects.work_of_member(name)
    if not work.is_active:
        raise StatusConflict(f"'{name}' is deactivated: reactivate them first")
    changes = [_("You get a new link to send to %(name)s. It works once and expires in 3 days.") % {"name": name}]
    if work.is_invited:
        changes.append(_("Their previous link stops working."))
        title, button = _("Resend invite to “%(name)s”?"), _("Resend invite")
    else:
        changes.append(_("Their password stops working at once, and they are signed out everywhere."))
        title, button = _("Reset password of “%(name)s”?"), _("Reset password")
    return Confirmation(
        title=title % {"name": name},
        button=button,
        effects=changes,
        undo=_("This can't be undone. They choose a new password with the link."),
        fields={"username": name},
    )


def remove_team_member(request: StudioRequest, number: int) -> Confirmation:
    """Whether somebody leaves a team."""
    found, name = found_or_404(teams.get_team_page, number), sent_line(request, "username", most=150)
    operators.get_operator(name)
    if name not in {member.username for member in found.members}:
        raise NothingToConfirm(_("%(name)s is not in the team.") % {"name": name})
    changes = [_("%(name)s can still view what the team owns, but can't edit it.") % {"name": name}]
    if found.owned:
        changes.append(
            _("The team owns %(capabilities)s: %(names)s.")
            % {"capabilities": capabilities_words(len(found.owned)), "names": names_words(found.owned)}
        )
    if len(found.members) == 1:
        changes.append(_("The team has no other members: only admins can edit its capabilities."))
    return Confirmation(
        title=_("Remove “%(name)s” from team “%(team)s”?") % {"name": name, "team": found.team.name},
        button=_("Remove member"),
        effects=changes,
        undo=_("You can add them again."),
        fields={"username": name},
    )


def remove_team_capability(request: StudioRequest, number: int) -> Confirmation:
    """Whether a capability belongs to no team any more."""
    found, name = found_or_404(teams.get_team_page, number), sent_line(request, "owned", most=64)
    if name not in found.owned:
        raise NotFound(_("The team does not own '%(name)s'") % {"name": name})
    return Confirmation(
        title=_("Remove “%(name)s” from team “%(team)s”?") % {"name": name, "team": found.team.name},
        button=_("Remove capability"),
        effects=[
            _("It has no team: every author can edit it, and every publisher can publish it."),
            _("Agents notice nothing."),
        ],
        undo=_("You can add it to the team again."),
        fields={"owned": name},
    )


def delete_team(request: StudioRequest, number: int) -> Confirmation:  # noqa: ARG001 (a question)
    """Whether to delete a team."""
    found = found_or_404(teams.get_team_page, number)
    if found.owned:
        raise StatusConflict(
            ngettext(
                "'%(name)s' owns %(count)s capability. Assign it to another team first.",
                "'%(name)s' owns %(count)s capabilities. Assign them to another team first.",
                len(found.owned),
            )
            % {"name": found.team.name, "count": len(found.owned)}
        )
    names = [member.username for member in found.members]
    members = ngettext("%(n)s member loses the team", "%(n)s members lose the team", len(names))
    changes = [
        f"{members % {'n': figure(len(names))}}: {names_words(names)}." if names else _("It has no members."),
        _("It owns no capabilities."),
    ]
    return Confirmation(
        title=_("Delete team “%(team)s”?") % {"team": found.team.name},
        button=_("Delete team"),
        effects=changes,
        undo=_("This can't be undone. You would have to create the team and add its members again."),
        state=",".join(names)[:500],
    )
