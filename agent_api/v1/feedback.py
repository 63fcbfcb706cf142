"""`capability_feedback`: agents report outcomes, which change a playbook's confidence (docs/contract.md 4)."""

from __future__ import annotations

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from agent_api.http import parameters
from agent_api.http.authentication import Caller
from agent_api.openapi.annotations import NOT_FOUND, QUARANTINED, write_endpoint
from agent_api.v1.skill_load import find_entry
from registry import snapshot
from registry.common.errors import InvalidRequest
from registry.snapshot import Snapshot
from registry.usage import feedback
from registry.usage.confidence import OUTCOMES


@write_endpoint("feedback", answer="Feedback", body="FeedbackRequest", also=NOT_FOUND | QUARANTINED)
def capability_feedback(request: Request, caller: Caller) -> Response:
    """Report how one use of a capability ended; this changes a playbook's confidence."""
    return Response(build_feedback_response(snapshot.current_snapshot(), caller, parameters.json_object(request)))


def build_feedback_response(held: Snapshot, caller: Caller, values: dict[str, Any]) -> dict[str, Any]:
    """Record `{"capability_id", "outcome", "revision"?}`; return the response (schemas/api/feedback.schema.json).

    Raises `InvalidRequest`, `CapabilityNotFound`.
    """
    outcome = _outcome(values)
    revision = parameters.integer(values, "revision", least=1)
    entry = find_entry(held, caller, parameters.capability_id(values))
    if entry.capability_id not in held.entries:
        raise InvalidRequest(f"'{entry.capability_id}' is a draft; feedback is counted for what was published")
    recorded = feedback.record_outcome(
        capability_id=entry.capability_id, outcome=outcome, revision=revision, by=caller.actor
    )
    confidence = recorded.score.as_dict()
    return {"capability_id": recorded.capability_id, "confidence": confidence, "event_id": str(recorded.event_id)}


def _outcome(values: dict[str, Any]) -> str:
    outcome = parameters.choice(values, "outcome", OUTCOMES)
    if outcome is None:
        raise InvalidRequest(f"outcome is missing: one of {', '.join(OUTCOMES)}")
    return outcome
