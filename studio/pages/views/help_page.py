"""Help: what the pages are for, what each finding means, and the way back to the tour."""

from __future__ import annotations

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _

from capability_rules.validation.codes import list_codes, list_families
from studio.pages import tour
from studio.pages.form_data import get_query_text
from studio.pages.permissions import StudioRequest, operator_required


@operator_required("GET")
def help_show(request: StudioRequest) -> HttpResponse:
    """Show the help page: where to look things up, and how to see the first steps again."""
    return render(request, "studio/help/show.html", {"tour": tour.get_tour(request)})


@operator_required("GET")
def finding_list(request: StudioRequest) -> HttpResponse:
    """Every code by family, those alone that have the words that were typed."""
    text = get_query_text(request, "q", most=100)
    words = text.casefold().split()
    shown = [(one, [row for row in one.codes if _has(f"{row.code} {row.cause}", words)]) for one in list_families()]
    context = {"families": [(family, rows) for family, rows in shown if rows], "text": text}
    return render(request, "studio/help/findings.html", context)


def _has(text: str, words: list[str]) -> bool:
    folded = text.casefold()
    return all(word in folded for word in words)


@operator_required("GET")
def finding_show(request: StudioRequest, code: str) -> HttpResponse:
    """One finding code: cause, example and fix."""
    row = list_codes().get(code)
    if row is None:
        raise Http404(_("There is no issue %(code)s") % {"code": code})
    family = next(one for one in list_families() if row in one.codes)
    return render(request, "studio/help/finding.html", {"row": row, "family": family})
