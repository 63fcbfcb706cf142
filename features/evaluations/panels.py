"""What stands on pages of the core: how the cases fare with what is to be published."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from features.evaluations.models import EvaluationRun
from features.evaluations.results import RunSummary, summarize
from registry.models import Capability


def draw_line(request: HttpRequest, context: Mapping[str, Any]) -> SafeString:
    """The last run of exactly these texts, and that of what is live by the same model; two queries at most."""
    capability: Capability = context["capability"]
    draft = _find_last(capability, context["draft"].digest)
    revision = capability.published_revision
    live = None
    if draft is not None and revision is not None and revision.digest != draft.run.digest:
        live = _find_last(capability, revision.digest, model=draft.run.model)
    shown = {"capability": capability, "draft": draft, "live": live}
    return render_to_string("studio/evaluation/gate_line.html", shown, request)


def _find_last(capability: Capability, digest: str, **where: str) -> RunSummary | None:
    runs = EvaluationRun.objects.filter(capability=capability, digest=digest, state=EvaluationRun.State.DONE, **where)
    return next(iter(summarize(runs, 1)), None) if digest else None
