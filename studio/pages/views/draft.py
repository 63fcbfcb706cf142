"""The four-file editor: check while typing, save, merge and discard."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from capability_rules.bundles.scaffolds import PROFILES
from capability_rules.errors import RegistryError
from capability_rules.schema_loader import read_schema
from capability_rules.validation import BUNDLE_FILES, Report
from capability_rules.validation.rules.sections import SAMPLES, list_sections
from registry.authoring import capability_creation, three_way_merge
from registry.catalog import drafts
from registry.catalog.facets import list_facets
from registry.common.errors import DraftConflict
from registry.core import queries
from registry.matching import skill_groups
from registry.models import Capability, Operator
from registry.publishing import reviews
from registry.publishing.gate_check import add_trigger_findings
from registry.selectors.example_messages import read_first_example
from studio.pages.actions import Undo, run_action
from studio.pages.confirmations import bundles as questions
from studio.pages.confirmations.page import confirmed_first
from studio.pages.draft_findings import FINDINGS_SHOWN, group_findings
from studio.pages.draft_outline import LABELS, build_outline
from studio.pages.editor_comments import build_comments_context
from studio.pages.form_data import get_int, get_text
from studio.pages.formatting import actor_name
from studio.pages.permissions import StudioRequest, actor_of, author_required
from studio.pages.scheduled import build_scheduled_context

# With fewer of them, others are suggested.
FEW_TRIGGERS: Final = 3
# Form fields cannot hold a dot in every tool; the file's own name stands beside it.
FIELDS: Final[dict[str, str]] = {name: name.replace(".", "_") for name in BUNDLE_FILES}


@dataclass(frozen=True)
class FilePanel:
    """One file of the editor."""

    name: str
    field: str
    label: str
    text: str


def _facts(files: Mapping[str, str]) -> dict[str, Any]:
    """What the forms and the completion know: the schemas by file, the sections that each profile can demand, lines
    that are there to be replaced, the names of skill groups by id, phrases to take as triggers where there are few."""
    schemas = {f"{name}.json": read_schema(name) for name in ("capability", "tools", "ui_schemas")}
    sections = {
        profile: [{"name": one.name, "also": one.also, "hint": one.hint} for one in list_sections(profile)]
        for profile in PROFILES
    }
    known = list_facets(files.get("capability.json")).known
    suggested = (
        capability_creation.suggest_triggers(name=known.name, description=known.description, given=known.triggers)
        if len(known.triggers) < FEW_TRIGGERS
        else []
    )
    groups = {one.group_id: one.name for one in skill_groups.list_groups()}
    return {
        "schemas": schemas,
        "sections": sections,
        "samples": sorted(SAMPLES),
        "suggested_triggers": suggested,
        "skill_groups": groups,
    }


def get_submitted_files(request: StudioRequest, stored: Mapping[str, str] | None = None) -> dict[str, str]:
    """The four texts. Browsers send CRLF; a file whose text is empty is absent. A page that is left sends only those
    that were changed (`only_changed`): the others are as in `stored`."""
    rest = stored or {} if request.POST.get("only_changed") else {}
    texts = {name: request.POST.get(field, rest.get(name, "")).replace("\r\n", "\n") for name, field in FIELDS.items()}
    return {name: text for name, text in texts.items() if text}


def _get_files_to_save(request: StudioRequest, capability: Capability) -> dict[str, str]:
    """The submitted texts, and where one was not touched the stored form of it.

    A textarea turns a lone CR into the end of a line, and cannot tell an empty file from an absent one.
    """
    stored, _ = drafts.editable_files(capability)
    files = get_submitted_files(request, stored)
    untouched = {name: text for name, text in stored.items() if text.replace("\r", "\n") == files.get(name, "")}
    return files | untouched


def _context(capability_id: str, files: Mapping[str, str], based_on: int | None, report: Report) -> dict[str, Any]:
    # What the page of the gate would be the first to say.
    report = add_trigger_findings(report)
    outline, example = build_outline(report), read_first_example(files.get("capability.json"))
    facets = list_facets(files.get("capability.json"))
    return {
        "capability_id": capability_id,
        "capability_name": facets.name_or(capability_id),
        "capability_emoji": facets.emoji,
        "panels": [FilePanel(name, FIELDS[name], str(LABELS[name]), files.get(name, "")) for name in BUNDLE_FILES],
        "outline": outline,
        "test_query": urlencode({"drafts": "yes"} | ({"m": example} if example else {})),
        "kinds": group_findings(report, capability_id, files, outline),
        "findings_left_out": max(0, len(report.findings) - FINDINGS_SHOWN),
        "report": report,
        "plain_warnings": [finding for finding in report.warnings if not finding.held],
        "based_on": based_on,
    }


@author_required("GET")
def draft_edit(request: StudioRequest, capability_id: str) -> HttpResponse:
    """The draft, or the published texts to begin one from."""
    capability = queries.get_capability(capability_id)
    files, version = drafts.editable_files(capability)
    report = drafts.validate_draft_files(capability_id, files)
    context = _context(capability_id, files, version, report) | {"facts": _facts(files)}
    context |= build_scheduled_context(capability)
    context |= build_comments_context(capability, files)
    context["changes_requested"] = reviews.list_changes_requested().filter(capability=capability).first()
    return render(request, "studio/draft/edit.html", context)


@author_required("POST")
def draft_check(request: StudioRequest, capability_id: str) -> HttpResponse:
    """Findings for the texts in the browser, and where they are; stores nothing."""
    files = get_submitted_files(request)
    report = drafts.validate_draft_files(capability_id, files)
    return render(request, "studio/draft/edit.html#checked", _context(capability_id, files, None, report))


@author_required(form_on="studio:draft_edit")
def draft_save(request: StudioRequest, capability_id: str) -> HttpResponse:
    """Keep the texts. A stale save shows both, and loses neither."""
    capability = queries.get_capability(capability_id)
    files, based_on = _get_files_to_save(request, capability), get_int(request, "based_on")
    if other := _find_other_author(request):
        words = _("You're signed in as %(now)s now, and this was typed as %(before)s")
        return _refused(
            request, capability_id, files, based_on, words % {"now": request.user.username, "before": other}
        )
    try:
        saved = drafts.save_draft(
            capability_id=capability_id,
            files=files,
            based_on=based_on,
            by=actor_of(request),
            preserve_supporting_files_of=capability,
        )
    except DraftConflict as conflict:
        return _conflict(request, capability_id, conflict)
    except RegistryError as error:
        return _refused(request, capability_id, files, based_on, error.message)
    if request.htmx:
        context = _context(capability_id, saved.files, saved.version, saved.report)
        return _answer(request, saved.files, context | {"saved": True}, status=200)
    if request.POST.get("then") == "publish":
        return redirect("studio:gate_show", capability_id)
    messages.success(request, _("Draft saved."))
    return _back_to_editor(request, capability_id)


@author_required(form_on="studio:draft_edit")
def draft_merge(request: StudioRequest, capability_id: str) -> HttpResponse:
    """Save what the two versions come to together, with a choice for each place that both changed."""
    mine = _get_files_to_save(request, queries.get_capability(capability_id))
    base = _base(request)
    choices = {name: _choices(request, field) for name, field in FIELDS.items()}
    based_on = get_int(request, "based_on")
    try:
        three_way_merge.merge_draft(
            capability_id=capability_id, mine=mine, base=base, choices=choices, based_on=based_on, by=actor_of(request)
        )
    except DraftConflict as conflict:
        return _conflict(request, capability_id, conflict)
    except RegistryError as error:
        return _refused(request, capability_id, mine, based_on, error.message)
    messages.success(request, _("Versions merged. Review the result before you continue."))
    return _back_to_editor(request, capability_id)


def _back_to_editor(request: StudioRequest, capability_id: str) -> HttpResponse:
    """With the name of the copy in the browser that is settled by this, so that it is not offered any more."""
    copy = get_text(request, "copy", most=200)
    query = f"?{urlencode({'settled': copy})}" if copy else ""
    return redirect(reverse("studio:draft_edit", args=[capability_id]) + query)


def _base(request: StudioRequest) -> dict[str, str]:
    """The texts that a person began with, as far as the browser knew them."""
    given = {name: request.POST.get(f"base_{field}") for name, field in FIELDS.items()}
    return {name: text.replace("\r\n", "\n") for name, text in given.items() if text is not None}


def _choices(request: StudioRequest, field: str) -> list[three_way_merge.Choice]:
    """One for each conflict of a file, in order."""
    chosen: list[three_way_merge.Choice] = []
    for number in range(three_way_merge.CONFLICTS_MAX):
        given = request.POST.get(f"choice_{field}_{number}", "mine")
        chosen.append(next((choice for choice in three_way_merge.CHOICES if choice == given), "mine"))
    return chosen


def _refused(
    request: StudioRequest, capability_id: str, files: dict[str, str], based_on: int | None, error: str
) -> HttpResponse:
    context = _context(capability_id, files, based_on, drafts.validate_draft_files(capability_id, files))
    return _answer(request, files, context | {"error": error}, status=422)


def _find_other_author(request: StudioRequest) -> str:
    """Who had opened the editor, where it is not the one who is signed in now: in another tab somebody else signed in.
    Empty where it is."""
    typed_by = get_int(request, "typed_by")
    if typed_by is None or typed_by == request.user.pk:
        return ""
    return Operator.objects.filter(pk=typed_by).values_list("username", flat=True).first() or _("somebody else")


def _answer(request: StudioRequest, files: Mapping[str, str], context: dict[str, Any], *, status: int) -> HttpResponse:
    """The editor, or the parts of it that a save changes."""
    capability = queries.get_capability(context["capability_id"])
    context |= build_scheduled_context(capability) | build_comments_context(capability, files)
    template = "studio/draft/edit.html" + ("#saved" if request.htmx else "")
    return render(request, template, context | {"facts": _facts(files)}, status=status)


def _conflict(request: StudioRequest, capability_id: str, conflict: DraftConflict) -> HttpResponse:
    """A page of its own; editor.js sends its form as a browser does when it gets a 409."""
    yours, theirs, base = conflict.extra["yours"], conflict.extra["theirs"], _base(request)
    merged = three_way_merge.merge_files(base, yours, theirs)
    context = {
        "capability_id": capability_id,
        "capability_name": list_facets(theirs.get("capability.json")).name_or(capability_id),
        "files": [_merged_file(name, chunks) for name, chunks in merged.items()],
        "yours": [(FIELDS[name], text) for name, text in yours.items() if name in FIELDS],
        "base": [(f"base_{FIELDS[name]}", text) for name, text in base.items()],
        "draft_version": conflict.extra["draft_version"],
        "title": _describe_conflict(request, capability_id),
        "copy": get_text(request, "copy", most=200),
    }
    return render(request, "studio/draft/conflict.html", context, status=409)


def _describe_conflict(request: StudioRequest, capability_id: str) -> str:
    """Who changed the draft meanwhile: the reader in another tab, or whom."""
    draft = drafts.get_active_draft(queries.get_capability(capability_id))
    if draft is None:
        return _("This draft was published or discarded")
    if draft.saved_by == str(actor_of(request)):
        return _("You saved this draft in another tab")
    return _("%(who)s saved this draft") % {"who": actor_name(draft.saved_by)}


@dataclass(frozen=True)
class MergedFile:
    """One file of two versions: `parts` are its stretches, each with the name of the choice that it needs, or none."""

    name: str
    parts: list[tuple[three_way_merge.MergeChunk, str]]
    conflicts: int
    mine: int
    theirs: int


def _merged_file(name: str, chunks: Sequence[three_way_merge.MergeChunk]) -> MergedFile:
    count = 0
    parts = []
    for chunk in chunks:
        is_choice = chunk.kind == "conflict"
        parts.append((chunk, f"choice_{FIELDS[name]}_{count}" if is_choice else ""))
        count += is_choice
    mine, theirs = (sum(chunk.kind == kind for chunk in chunks) for kind in ("mine", "theirs"))
    return MergedFile(name, parts, count, mine, theirs)


@author_required("GET", "POST")
@confirmed_first(questions.discard_draft, page="studio:capability_show")
def draft_discard(request: StudioRequest, capability_id: str) -> HttpResponse:
    """Discard the draft; it stays in the draft history for 30 days."""
    words = _("Draft discarded. You can restore it from the draft history for 30 days.")
    to, version = redirect("studio:capability_show", capability_id), get_int(request, "draft_version")
    undo = Undo.by("draft_version_restore", capability_id, version) if version else None
    return run_action(
        request, drafts.discard_draft, words, to=to, undo=undo, capability_id=capability_id, draft_version=version
    )
