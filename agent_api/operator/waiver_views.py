"""The operator API of accepted findings and outside scanners (docs/contract.md 5)."""

from __future__ import annotations

from datetime import date
from typing import Any, Final

from rest_framework.request import Request
from rest_framework.response import Response

from agent_api.http import parameters
from agent_api.http.authentication import Caller, require_scope
from agent_api.http.endpoint import endpoint
from agent_api.http.idempotent_writes import idempotent_write
from agent_api.http.parsers import BoundedJSONParser
from agent_api.openapi.annotations import CAPABILITY_ID, CONFLICT, NO_WAIVER, NOT_FOUND, describe, query_parameter
from registry import snapshot
from registry.common.errors import InvalidRequest
from registry.core import queries
from registry.publishing import scan_results, waivers
from registry.validation.rules.json_schema import type_word
from registry.validation.sarif_reader import BYTES_MAX

# The log, and what is around it in the body.
_ENVELOPE_BYTES: Final = 8 * 1024


class ScanResultsParser(BoundedJSONParser):
    """A SARIF log of at most 1 MiB with its few keys beside it."""

    bytes_max = BYTES_MAX + _ENVELOPE_BYTES


@describe(answer="Waiver", body="WaiverRequest", also=NOT_FOUND | CONFLICT, tags=("operators",))
@endpoint("POST")
@idempotent_write("publish")
def waiver_create(request: Request, caller: Caller) -> Response:
    """Accept a warning until a day; errors are waived by admins, in the Studio or at the command line."""
    values = parameters.json_object(request)
    waiver = waivers.create_waiver(
        capability_id=parameters.capability_id(values),
        code=parameters.string(values, "code", most=64),
        place=parameters.string(values, "place", most=400),
        reason=parameters.string(values, "reason", most=waivers.REASON_MAX),
        until=_day(values),
        by=caller.actor,
    )
    return Response(waivers.describe_waiver_row(waiver))


def _day(values: dict[str, Any]) -> date:
    try:
        return date.fromisoformat(parameters.string(values, "until", most=10))
    except ValueError:
        raise InvalidRequest("until must be a day such as 2030-01-31") from None


@describe(answer="Waiver", body="WaiverEndRequest", also=NO_WAIVER | CONFLICT, tags=("operators",))
@endpoint("POST")
@idempotent_write("publish")
def waiver_end(request: Request, caller: Caller) -> Response:
    """End a waiver before its day: the finding counts at the next gate."""
    values = parameters.json_object(request)
    waiver_id = parameters.integer(values, "waiver_id", least=1)
    if waiver_id is None:
        raise InvalidRequest("waiver_id is missing; waiver_list has them")
    capability_id = parameters.capability_id(values)
    waiver = waivers.end_waiver(capability_id=capability_id, waiver_id=waiver_id, by=caller.actor)
    return Response(waivers.describe_waiver_row(waiver))


_ID_PARAMETERS: Final = (query_parameter("capability_id", "Which capability.", kind=CAPABILITY_ID, required=True),)


@describe(answer="WaiverList", parameters=_ID_PARAMETERS, also=NOT_FOUND, tags=("operators",))
@endpoint("GET")
def waiver_list(request: Request) -> Response:
    """The waivers of a capability, those that ended too."""
    require_scope(request, snapshot.current_snapshot(), "publish")
    capability = queries.get_capability(parameters.capability_id(parameters.query(request)))
    rows = [waivers.describe_waiver_row(waiver) for waiver in waivers.list_waivers(capability)]
    return Response({"waivers": rows})


@describe(answer="ScanResults", body="ScanResultsRequest", also=NOT_FOUND | CONFLICT, tags=("operators",))
@endpoint("POST", parsers=(ScanResultsParser,))
@idempotent_write("publish")
def scan_results_upload(request: Request, caller: Caller) -> Response:
    """Store what a scanner found in exactly these texts, in the place of what it reported for them before."""
    values = parameters.json_object(request)
    digest = parameters.digest(values, "files_digest")
    if digest is None:
        raise InvalidRequest("files_digest is missing: draft_get and bundle export --format json print it")
    if not isinstance(values.get("sarif"), dict):
        raise InvalidRequest(f"sarif must be an object, a SARIF 2.1.0 log, found {type_word(values.get('sarif'))}")
    stored = scan_results.store_scan_results(
        capability_id=parameters.capability_id(values),
        log=values["sarif"],
        by=caller.actor,
        digest=digest,
        below=parameters.string(values, "below", most=1000),
    )
    return Response(stored.as_dict())
