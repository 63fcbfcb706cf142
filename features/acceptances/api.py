"""Waivers over HTTP, for keys with the scope `publish` (docs/contract.md 5)."""

from __future__ import annotations

from datetime import date
from typing import Any, Final

from rest_framework.request import Request
from rest_framework.response import Response

from agent_api.http import parameters
from agent_api.http.authentication import Caller
from agent_api.openapi.annotations import (
    CAPABILITY_ID,
    CONFLICT,
    NOT_FOUND,
    operator_read,
    operator_write,
    query_parameter,
)
from capability_rules.errors import InvalidRequest
from features.acceptances import waiver_store
from features.acceptances.acceptance_write import REASON_MAX
from registry.core import queries

_NO_WAIVER: Final = {
    404: ("Error", "An unknown capability, or one without this waiver (CAPABILITY_NOT_FOUND, NOT_FOUND).")
}
_OF_CAPABILITY: Final = (query_parameter("capability_id", "Which capability.", kind=CAPABILITY_ID, required=True),)


@operator_write(answer="Waiver", body="WaiverRequest", also=NOT_FOUND | CONFLICT)
def waiver_create(request: Request, caller: Caller) -> Response:
    """Accept a warning until a day; errors are waived by admins, in the Studio or at the command line."""
    values = parameters.json_object(request)
    waiver = waiver_store.create_waiver(
        capability_id=parameters.capability_id(values),
        code=parameters.string(values, "code", most=64),
        place=parameters.string(values, "place", most=400),
        reason=parameters.string(values, "reason", most=REASON_MAX),
        until=_day(values),
        by=caller.actor,
    )
    return Response(waiver_store.describe_waiver_row(waiver))


def _day(values: dict[str, Any]) -> date:
    try:
        return date.fromisoformat(parameters.string(values, "until", most=10))
    except ValueError:
        raise InvalidRequest("until must be a day such as 2030-01-31") from None


@operator_write(answer="Waiver", body="WaiverEndRequest", also=_NO_WAIVER | CONFLICT)
def waiver_end(request: Request, caller: Caller) -> Response:
    """End a waiver before its day: the finding counts at the next gate."""
    values = parameters.json_object(request)
    waiver_id = parameters.integer(values, "waiver_id", least=1)
    if waiver_id is None:
        raise InvalidRequest("waiver_id is missing; waiver_list has them")
    capability_id = parameters.capability_id(values)
    waiver = waiver_store.end_waiver(capability_id=capability_id, waiver_id=waiver_id, by=caller.actor)
    return Response(waiver_store.describe_waiver_row(waiver))


@operator_read("GET", answer="WaiverList", parameters=_OF_CAPABILITY, also=NOT_FOUND)
def waiver_list(request: Request) -> Response:
    """The waivers of a capability, those that ended too."""
    capability = queries.get_capability(parameters.capability_id(parameters.query(request)))
    rows = [waiver_store.describe_waiver_row(waiver) for waiver in waiver_store.list_waivers(capability)]
    return Response({"waivers": rows})
