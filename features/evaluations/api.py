"""Results of evaluations over HTTP, for keys with the scope `publish` (docs/contract.md 5)."""

from __future__ import annotations

from rest_framework.request import Request
from rest_framework.response import Response

from agent_api.http import parameters
from agent_api.http.authentication import Caller
from agent_api.http.parsers import BoundedJSONParser
from agent_api.openapi.annotations import CONFLICT, NOT_FOUND, operator_write
from features.evaluations import uploads
from features.evaluations.results import get_summary


class ResultsParser(BoundedJSONParser):
    """The results of one run, with what was said where the harness writes it."""

    bytes_max = uploads.BYTES_MAX


@operator_write(
    parsers=(ResultsParser,),
    answer="EvaluationResults",
    body="EvaluationResultsRequest",
    also=NOT_FOUND | CONFLICT,
)
def evaluation_results_upload(request: Request, caller: Caller) -> Response:
    """Store what another harness found with exactly these texts and cases; release rules read it."""
    values = parameters.json_object(request)
    run = uploads.store_results(
        capability_id=parameters.capability_id(values), document=values.get("evaluation"), by=caller.actor
    )
    return Response(uploads.describe_run(run, get_summary(run).rate.passed))
