"""The registry's responses that are handed on as they are: JSON objects with known keys (docs/contract.md 4)."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict


class ConfidenceAnswer(TypedDict):
    """How far a playbook can be trusted; `score` is 0 to 1, `single_key` says that one key has reported all of it."""

    score: float
    uses: int
    confirmed: int
    single_key: NotRequired[bool]


class MatchedTrigger(TypedDict):
    """A trigger in the message, at these code points."""

    trigger: str
    start: int
    end: int


class MatchRow(TypedDict):
    """One capability that a message may be about. `status` is there for what is deprecated."""

    capability_id: str
    score: float
    matched_triggers: list[MatchedTrigger]
    parts: dict[str, float]
    below_threshold: bool
    confidence: NotRequired[ConfidenceAnswer]
    status: NotRequired[str]
    replaced_by: NotRequired[str | None]


class MatchAnswer(TypedDict):
    """What a message asks for. `needed` names it, in the order of the message."""

    decision: Literal["match", "ambiguous", "none"]
    reason: str
    matches: list[MatchRow]
    needed: list[str]
    skill_groups: list[str]
    exclusive_groups: list[str]
    registry_revision: int
    index_revision: int


class SearchRow(TypedDict):
    """One capability that was found."""

    capability_id: str
    name: str
    score: float
    parts: dict[str, float]
    confidence: NotRequired[ConfidenceAnswer]
    status: NotRequired[str]
    replaced_by: NotRequired[str | None]
    disable_model_invocation: NotRequired[bool]


class SearchAnswer(TypedDict):
    """What was found, best first."""

    results: list[SearchRow]
    ranking: str
    index_revision: int


class _KeptConversation(TypedDict, total=False):
    conversation_kept: bool


class FeedbackAnswer(_KeptConversation):
    """The confidence after the report, and whether the conversation that was sent is kept."""

    capability_id: str
    confidence: ConfidenceAnswer
    event_id: str


class InstallAnswer(TypedDict):
    """What an install code stands for."""

    capability_id: str
    name: str
    digest: str


class ProposeAnswer(TypedDict):
    """A proposal and its findings."""

    proposal_id: str
    capability_id: str
    status: str
    near_duplicates: list[dict[str, object]]
    findings: list[dict[str, object]]


class ProposalAnswer(ProposeAnswer):
    """What has become of a proposal."""

    note: str
    created_at: str
    decided_at: str | None
    decision_note: str
    revision: int | None
