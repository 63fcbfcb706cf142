"""The tab *Evaluations* of a capability: cases, runs and their results."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Final
from uuid import UUID

from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from capability_client.evaluation.report import as_document, as_junit
from capability_rules.errors import RegistryError
from features.evaluations import case_store, results, run_table, runs
from features.evaluations.case_form import CaseForm, initial_of, initial_of_report
from features.evaluations.case_store import CapabilityTexts
from features.evaluations.confirmations import delete_case_question
from features.evaluations.model_settings import is_model_set, list_admins, list_models, tokens_left
from features.evaluations.models import EvaluationRun
from features.evaluations.revision_chart import build_revision_chart
from features.evaluations.runs import RunRequest
from registry.common.errors import NotFound
from registry.core import queries
from registry.models import Capability, Draft
from registry.usage import outcome_reports
from studio.pages.actions import is_fragment, report_done, run_action, vary_on_htmx
from studio.pages.confirmations.page import confirmed_first
from studio.pages.downloads import file_response
from studio.pages.form_data import get_int, get_query_text
from studio.pages.permissions import StudioRequest, actor_of, author_required, operator_required

_FILE_LENGTH_MAX: Final = 1024 * 1024
# So many revisions are offered, the newest.
_REVISIONS_MAX: Final = 100


@operator_required("GET")
def evaluation_list(request: StudioRequest, capability_id: str) -> HttpResponse:
    """Its cases, its last runs, and how a run is started."""
    return _list(request, queries.get_capability(capability_id))


def _list(request: StudioRequest, capability: Capability, *, status: int = 200, **more: Any) -> HttpResponse:
    sides = _sides(capability)
    context = {
        "capability": capability,
        "cases": case_store.list_cases(capability),
        "runs": results.list_summaries(capability),
        "is_model_set": is_model_set(),
        "admins": list_admins(),
        "models": list_models(),
        "sides": sides,
        "repetitions_max": runs.REPETITIONS_MAX,
        "revisions": list(capability.revisions.order_by("-number").values_list("number", flat=True)[:_REVISIONS_MAX]),
        "tokens_left": tokens_left(str(actor_of(request))),
        "chart": build_revision_chart(capability),
    }
    return render(request, "studio/evaluation/list.html", context | more, status=status)


def _sides(capability: Capability) -> list[tuple[str, str, bool]]:
    """`(value, label, whether it is chosen)`: a draft is compared with what is live."""
    drafts = Draft.objects.filter(capability=capability, discarded_at__isnull=True)
    has_draft = drafts.exclude(digest="").exists()
    is_live = capability.published_revision is not None and capability.status in ("published", "deprecated")
    found = [("live", _("Live"), True)] if is_live else []
    found += [("draft", _("Draft"), True)] if has_draft else []
    return [*found, ("without", _("Without this capability"), False), ("silent", _("A model that does nothing"), True)]


@author_required("GET", "POST")
def evaluation_new(request: StudioRequest, capability_id: str) -> HttpResponse:
    """Show an empty form for a case, and save what it sends."""
    capability = queries.get_capability(capability_id)
    return _edit(request, capability, None)


@author_required("GET", "POST")
def evaluation_case(request: StudioRequest, capability_id: str, number: int) -> HttpResponse:
    """Show the form of a saved case, and save what it sends."""
    capability = queries.get_capability(capability_id)
    return _edit(request, capability, number)


def _edit(request: StudioRequest, capability: Capability, number: int | None) -> HttpResponse:
    texts = case_store.read_texts(capability)
    row = None if number is None else case_store.get_case(capability, number)
    stored = case_store.read_row(row) if row else None
    initial = initial_of(stored, texts) if stored else _initial_of_new(request, capability, texts)
    form = CaseForm(request.POST or None, initial=initial, texts=texts)
    if form.is_valid():
        try:
            saved = case_store.save_case(
                capability=capability, document=form.document(stored), by=actor_of(request), number=number
            )
        except RegistryError as error:
            form.add_error("name", error.message)
        else:
            report_done(request, _("Case “%(name)s” saved.") % {"name": saved.name})
            return redirect("studio:evaluation_list", capability.capability_id)
    context = {"capability": capability, "form": form, "row": row}
    return render(request, "studio/evaluation/case.html", context, status=400 if form.errors else 200)


def _initial_of_new(request: StudioRequest, capability: Capability, texts: CapabilityTexts) -> dict[str, Any]:
    """Of an empty form, or of what a host said of a use that failed (`?outcome=`)."""
    initial: dict[str, Any] = {"loads": capability.capability_id}
    with suppress(ValueError, NotFound):
        event_id = UUID(get_query_text(request, "outcome", most=36))
        initial |= initial_of_report(outcome_reports.get_report(event_id, capability=capability), texts)
    return initial


@author_required("GET", "POST")
@confirmed_first(delete_case_question, page="studio:evaluation_case", gone="studio:evaluation_list")
def evaluation_delete(request: StudioRequest, capability_id: str, number: int) -> HttpResponse:
    """Delete a case; results stay."""
    capability = queries.get_capability(capability_id)
    row = case_store.get_case(capability, number)
    to = redirect("studio:evaluation_list", capability_id)
    words = _("Case “%(name)s” deleted.") % {"name": row.name}
    return run_action(request, case_store.delete_case, words, to=to, capability=capability, number=number)


@author_required(form_on="studio:evaluation_list")
def evaluation_suggest(request: StudioRequest, capability_id: str) -> HttpResponse:
    """Cases from example messages, unmet requests and tools."""

    def words(count: int) -> str:
        if not count:
            return _("Every suggestion has a case already.")
        return ngettext("%(n)s case added.", "%(n)s cases added.", count) % {"n": count}

    capability = queries.get_capability(capability_id)
    to = redirect("studio:evaluation_list", capability_id)
    return run_action(request, case_store.suggest_cases, words, to=to, capability=capability)


@author_required("GET", "POST")
def evaluation_file(request: StudioRequest, capability_id: str) -> HttpResponse:
    """The cases as `evals.json`; a POST puts those of a file in their place."""
    capability = queries.get_capability(capability_id)
    if request.method != "POST":
        return file_response("evals.json", "application/json", case_store.export_cases(capability))
    given = request.FILES.get("file")
    text = given.read(_FILE_LENGTH_MAX + 1).decode("utf-8", "replace") if given is not None else ""

    def words(count: int) -> str:
        return ngettext("%(n)s case read from the file.", "%(n)s cases read from the file.", count) % {"n": count}

    to = redirect("studio:evaluation_list", capability_id)
    return run_action(request, case_store.replace_cases, words, to=to, capability=capability, text=text)


@author_required(form_on="studio:evaluation_list")
def evaluation_start(request: StudioRequest, capability_id: str) -> HttpResponse:
    """Play all cases with the chosen sides."""
    capability = queries.get_capability(capability_id)
    sides = request.POST.getlist("side")[: runs.SIDES_MAX + 1]
    if (number := get_int(request, "revision")) is not None:
        sides.append(f"revision-{number}")
    models = request.POST.getlist("model")[: runs.MODELS_MAX + 1]
    wanted = RunRequest(sides, models, get_int(request, "repetitions") or 1)
    try:
        started = runs.start_runs(capability=capability, wanted=wanted, by=actor_of(request))
    except RegistryError as error:
        return _list(request, capability, status=400, error=error.message)
    report_done(request, _("Evaluation started."))
    return redirect("studio:evaluation_run", capability_id, started[0].pk)


@operator_required("GET")
def evaluation_run(request: StudioRequest, capability_id: str, number: int) -> HttpResponse:
    """One run, case by case; asked for again while it runs."""
    run = _run_of(capability_id, number)
    columns = run_table.list_columns(run, results.find_comparison(run))
    shown = get_query_text(request, "case", most=200)
    context = {
        "capability": run.capability,
        "columns": columns,
        "rows": run_table.build_table(columns),
        "shown": shown,
        "sides": run_table.read_case(columns, shown) if shown else [],
        "is_running": any(one.run.state == EvaluationRun.State.RUNNING for one in columns),
        "run": run,
    }
    part = "#state" if is_fragment(request) else ""
    return vary_on_htmx(render(request, f"studio/evaluation/run.html{part}", context))


def _run_of(capability_id: str, number: int) -> EvaluationRun:
    run = runs.get_run(number)
    if run.capability.capability_id != capability_id:
        raise Http404
    return run


@author_required(form_on="studio:evaluation_run")
def evaluation_cancel(request: StudioRequest, capability_id: str, number: int) -> HttpResponse:
    """Play no more of its cases."""
    _run_of(capability_id, number)
    to = redirect("studio:evaluation_run", capability_id, number)
    return run_action(request, runs.cancel_run, _("Evaluation canceled."), to=to, number=number)


@operator_required("GET")
def evaluation_results(
    request: StudioRequest,  # noqa: ARG001 (every view takes a request)
    capability_id: str,
    number: int,
    form: str,
) -> HttpResponse:
    """The results as JSON or JUnit XML."""
    run = _run_of(capability_id, number)
    found = results.as_case_results(run)
    name = f"{capability_id}-{run.side}-{run.pk}"
    if form == "xml":
        return file_response(f"{name}.xml", "application/xml", as_junit(found, name=name))
    if form != "json":
        raise Http404
    about = {"capability_id": capability_id, "side": run.side, "digest": run.digest, "model": run.model}
    about |= {"tool": run.tool or "capability-studio", "settings": run.settings}
    headers = {"Content-Disposition": f'attachment; filename="{name}.json"'}
    return JsonResponse(as_document(found, **about), headers=headers, json_dumps_params={"ensure_ascii": False})
