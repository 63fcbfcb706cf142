"""The rules of evaluations, on the page *Publishing policy* of the core."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from features.evaluations import rules
from features.evaluations.confirmations import remove_rule_question
from features.evaluations.model_settings import list_models
from registry.publishing.release_rules import list_groups_without_rule
from studio.pages.actions import run_action
from studio.pages.confirmations.page import confirmed_first
from studio.pages.form_data import get_int, get_text
from studio.pages.permissions import StudioRequest, admin_required

_PAGE = "studio:release_rule_list"


def draw_rules(request: HttpRequest, context: Mapping[str, Any]) -> SafeString:
    """The rules with their forms."""
    values = {
        "rules": rules.list_rules(),
        "models": list_models(),
        "groups": [*(one.group_id for one in context["groups"]), *list_groups_without_rule()],
    }
    return render_to_string("studio/evaluation/rules.html", values, request)


@admin_required(form_on=_PAGE)
def evaluation_rule_set(request: StudioRequest) -> HttpResponse:
    """Ask for evaluations, everywhere or in a group."""
    group_id = get_text(request, "group_id", most=80).strip()
    words = _("Evaluations are required for every publish.")
    if group_id:
        words = _("Evaluations are required in group %(group_id)s.") % {"group_id": group_id}
    share, model = get_int(request, "share") or 0, get_text(request, "model", most=201).strip()
    to = redirect(_PAGE)
    return run_action(request, rules.set_rule, words, to=to, group_id=group_id, share=share, model=model)


@admin_required("GET", "POST")
@confirmed_first(remove_rule_question, page=_PAGE)
def evaluation_rule_drop(request: StudioRequest) -> HttpResponse:
    """Ask for evaluations no more."""
    group_id = get_text(request, "group_id", most=80)
    words = _("Evaluations are no longer required there.")
    return run_action(request, rules.delete_rule, words, to=redirect(_PAGE), group_id=group_id)
