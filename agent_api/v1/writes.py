"""What agents tell the registry: outcomes of uses, bundles for review (docs/contract.md 4)."""

from __future__ import annotations

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from agent_api.http import parameters
from agent_api.http.authentication import Caller
from agent_api.openapi.annotations import NOT_FOUND, QUARANTINED, query_parameter, read_endpoint, write_endpoint
from agent_api.v1.skill_load import require_entry
from capability_rules.errors import InvalidRequest
from capability_rules.validation import Report
from registry import snapshot
from registry.models import Proposal
from registry.publishing import proposals
from registry.snapshot import Snapshot
from registry.usage import feedback, outcome_reports
from registry.usage.confidence import OUTCOMES

NOTE_MAX = 2000
_PROPOSAL_ID = {"type": "string", "minLength": 1, "maxLength": 100, "pattern": r"^[^\u0000-\u001f\u007f]+$"}
_REFUSED = {
    409: ("Error", "The key has as many open proposals as it may (TOO_MANY_PROPOSALS)."),
    422: ("Error", "The texts can be no draft (BUNDLE_REFUSED, with findings); or IDEMPOTENCY_KEY_REUSED."),
}
_NO_PROPOSAL = {404: ("Error", "No such proposal, or another key's (PROPOSAL_NOT_FOUND).")}


@write_endpoint("feedback", answer="Feedback", body="FeedbackRequest", also=NOT_FOUND | QUARANTINED)
def capability_feedback(request: Request, caller: Caller) -> Response:
    """Report how one use of a capability ended; this changes a playbook's confidence."""
    return Response(build_feedback_response(snapshot.current_snapshot(), caller, parameters.json_object(request)))


def build_feedback_response(held: Snapshot, caller: Caller, values: dict[str, Any]) -> dict[str, Any]:
    """Record `{"capability_id", "outcome", "revision"?, "reason"?, "failed_call"?, "conversation"?}`; return the
    response (schemas/api/feedback.schema.json).

    Raises `InvalidRequest`, `CapabilityNotFound`.
    """
    outcome = parameters.choice(values, "outcome", OUTCOMES)
    if outcome is None:
        raise InvalidRequest(f"outcome is missing: one of {', '.join(OUTCOMES)}")
    revision = parameters.integer(values, "revision", least=1)
    entry = require_entry(held, caller, parameters.capability_id(values))
    if entry.capability_id not in held.entries:
        raise InvalidRequest(f"'{entry.capability_id}' is a draft; feedback is counted for what was published")
    conversation = values.get("conversation")
    said = outcome_reports.read_reason(values.get("reason"), values.get("failed_call"), conversation)
    recorded = feedback.record_outcome(
        capability_id=entry.capability_id, outcome=outcome, revision=revision, by=caller.actor, said=said
    )
    confidence = recorded.score.as_dict()
    done = {"capability_id": recorded.capability_id, "confidence": confidence, "event_id": str(recorded.event_id)}
    return done if conversation is None else done | {"conversation_kept": said.conversation is not None}


@write_endpoint("propose", answer="Proposed", body="ProposeRequest", also=_REFUSED, status=201)
def capability_propose(request: Request, caller: Caller) -> Response:
    """Hand a bundle in for review; an operator decides whether it is published."""
    return Response(build_propose_response(caller, parameters.json_object(request)), status=201)


def build_propose_response(caller: Caller, values: dict[str, Any]) -> dict[str, Any]:
    """Store a proposal of `{"files", "note"?}` and build the response (schemas/api/proposed.schema.json)."""
    files: Any = parameters.files(values)
    note = parameters.string(values, "note", most=NOTE_MAX)
    done = proposals.propose(files=files, note=note, by=caller.actor, is_visible=caller.is_visible)
    return {**_head(done.proposal, caller), "findings": _list_findings(done.report)}


@read_endpoint(
    "GET",
    scopes=("propose", "publish"),
    answer="Proposal",
    parameters=(query_parameter("proposal_id", "Which one.", kind=_PROPOSAL_ID, required=True),),
    also=_NO_PROPOSAL,
)
def capability_proposal(request: Request, _held: Snapshot, caller: Caller) -> Response:
    """What became of a proposal; for the key that made it, and for those that may publish."""
    wanted = parameters.string(parameters.query(request), "proposal_id", most=100)
    if not wanted:
        raise InvalidRequest("proposal_id is missing: capability_propose answered it")
    own = None if "publish" in caller.scopes else caller.key_name
    proposal = proposals.get_proposal(wanted, key_name=own)
    findings = _list_findings(proposals.validate_proposal(proposal, is_visible=caller.is_visible))
    return Response({**_head(proposal, caller), "findings": findings, **_decision(proposal)})


def _head(proposal: Proposal, caller: Caller) -> dict[str, Any]:
    return {
        "proposal_id": str(proposal.proposal_id),
        "capability_id": proposal.capability.capability_id,
        "status": proposal.status,
        "near_duplicates": [near for near in proposal.near_duplicates if caller.is_visible(near["capability_id"])],
    }


def _list_findings(report: Report) -> list[dict[str, Any]]:
    return [finding.as_dict() for finding in report.findings]


def _decision(proposal: Proposal) -> dict[str, Any]:
    return {
        "note": proposal.note,
        "created_at": proposal.created_at.isoformat(),
        "decided_at": proposal.decided_at.isoformat() if proposal.decided_at else None,
        "decision_note": proposal.decision_note,
        "revision": proposal.published_revision,
    }
