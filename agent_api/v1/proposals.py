"""`capability_propose` and `capability_proposal`: bundles for review, and what became of them (docs/contract.md 4)."""

from __future__ import annotations

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from agent_api.http import parameters
from agent_api.http.authentication import Caller
from agent_api.openapi.annotations import query_parameter, read_endpoint, write_endpoint
from registry.common.errors import InvalidRequest
from registry.models import Proposal
from registry.publishing import proposals
from registry.snapshot import Snapshot
from registry.validation import Report

NOTE_MAX = 2000
_PROPOSAL_ID = {"type": "string", "minLength": 1, "maxLength": 100, "pattern": r"^[^\u0000-\u001f\u007f]+$"}
_REFUSED = {
    409: ("Error", "The key has as many open proposals as it may (TOO_MANY_PROPOSALS)."),
    422: ("Error", "The texts can be no draft (BUNDLE_REFUSED, with findings); or IDEMPOTENCY_KEY_REUSED."),
}
_UNKNOWN = {404: ("Error", "No such proposal, or another key's (PROPOSAL_NOT_FOUND).")}


@write_endpoint("propose", answer="Proposed", body="ProposeRequest", also=_REFUSED, status=201)
def capability_propose(request: Request, caller: Caller) -> Response:
    """Hand a bundle in for review; an operator decides whether it is published."""
    return Response(build_propose_response(caller, parameters.json_object(request)), status=201)


def build_propose_response(caller: Caller, values: dict[str, Any]) -> dict[str, Any]:
    """Store a proposal of `{"files", "note"?}` and build the response (schemas/api/proposed.schema.json)."""
    files: Any = parameters.files(values)
    note = parameters.string(values, "note", most=NOTE_MAX)
    done = proposals.propose(files=files, note=note, by=caller.actor, is_visible=caller.is_visible)
    return {**_head(done.proposal, caller), "findings": _findings(done.report)}


@read_endpoint(
    "GET",
    scopes=("propose", "publish"),
    answer="Proposal",
    parameters=(query_parameter("proposal_id", "Which one.", kind=_PROPOSAL_ID, required=True),),
    also=_UNKNOWN,
)
def capability_proposal(request: Request, _held: Snapshot, caller: Caller) -> Response:
    """What became of a proposal; for the key that made it, and for those that may publish."""
    wanted = parameters.string(parameters.query(request), "proposal_id", most=100)
    if not wanted:
        raise InvalidRequest("proposal_id is missing: capability_propose answered it")
    own = None if "publish" in caller.scopes else caller.key_name
    proposal = proposals.get_proposal(wanted, key_name=own)
    findings = _findings(proposals.validate_proposal(proposal, is_visible=caller.is_visible))
    return Response({**_head(proposal, caller), "findings": findings, **_end(proposal)})


def _head(proposal: Proposal, caller: Caller) -> dict[str, Any]:
    return {
        "proposal_id": str(proposal.proposal_id),
        "capability_id": proposal.capability.capability_id,
        "status": proposal.status,
        "near_duplicates": [near for near in proposal.near_duplicates if caller.is_visible(near["capability_id"])],
    }


def _findings(report: Report) -> list[dict[str, Any]]:
    return [finding.as_dict() for finding in report.findings]


def _end(proposal: Proposal) -> dict[str, Any]:
    return {
        "note": proposal.note,
        "created_at": proposal.created_at.isoformat(),
        "decided_at": proposal.decided_at.isoformat() if proposal.decided_at else None,
        "decision_note": proposal.decision_note,
        "revision": proposal.published_revision,
    }
