"""What publishing asks for, in the whole registry and for each skill group."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from capability_rules.errors import RegistryError
from registry.matching.training_progress import get_training_progress
from registry.publishing import release_rules
from studio.pages.actions import run_action
from studio.pages.confirmations import bundles as questions
from studio.pages.confirmations.page import confirmed_first
from studio.pages.form_data import get_text
from studio.pages.permissions import StudioRequest, actor_of, admin_required

LOOSENING = (
    ("publisher", gettext_lazy("Any publisher")),
    ("admin", gettext_lazy("Admins only")),
    ("second_person", gettext_lazy("Publishers, with approval")),
)


@admin_required("GET", "POST")
def release_rule_list(request: StudioRequest) -> HttpResponse:
    """The registry's rule and those of groups, each with its form, and which languages are compared by meaning."""
    if request.method == "POST":
        return _set(request)
    return _page(request)


def _page(request: StudioRequest, *, error: str = "", status: int = 200) -> HttpResponse:
    # The models' packages: no other page of an operator needs them.
    from registry.matching.readability import describe_languages, describe_model

    registry_rule, groups = release_rules.list_rules()
    context = {
        "registry_rule": registry_rule,
        "groups": groups,
        "without": release_rules.list_groups_without_rule(),
        "choices": LOOSENING,
        "error": error,
        "model": describe_model(),
        "training": get_training_progress(),
        "languages": describe_languages(),
        "typed": get_text(request, "group_id", most=80) if error else "",
    }
    return render(request, "studio/registry_settings/show.html", context, status=status)


def _set(request: StudioRequest) -> HttpResponse:
    group_id = get_text(request, "group_id", most=80)
    if not group_id and request.POST.get("scope") == "group":
        return _page(request, error=_("Enter a group."), status=400)
    try:
        release_rules.set_rule(
            group_id=group_id,
            four_eyes="four_eyes" in request.POST,
            loosening=get_text(request, "loosening", most=32),
            note_required="note_required" in request.POST,
            comments_resolved="comments_resolved" in request.POST,
            held_requires_review="held_requires_review" in request.POST,
            by=actor_of(request),
        )
    except RegistryError as error:
        return _page(request, error=error.message, status=400)
    saved = _("Policy saved.")
    if group_id:
        saved = _("Policy of group %(group_id)s saved.") % {"group_id": group_id}
    messages.success(request, saved)
    return redirect("studio:release_rule_list")


@admin_required("GET", "POST")
@confirmed_first(questions.remove_policy, page="studio:release_rule_list")
def release_rule_delete(request: StudioRequest) -> HttpResponse:
    """Delete the release rule of a skill group; the rule of the registry stays."""
    group_id = get_text(request, "group_id", most=80)
    words = _("Rule of group %(group_id)s removed.") % {"group_id": group_id}
    return run_action(
        request, release_rules.delete_rule, words, to=redirect("studio:release_rule_list"), group_id=group_id
    )
