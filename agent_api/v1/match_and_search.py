"""`capability_match` and `capability_search`: the capability that a message asks for, and those found for a query.

Matching loads numpy and, with an embedder, a model into the process: both are loaded with the first request.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

from agent_api.http import parameters
from agent_api.http.authentication import Caller
from agent_api.v1.registry_list import OS
from capability_rules.errors import InvalidRequest
from registry.common import rate_limits
from registry.snapshot import Principal, Snapshot, SnapshotEntry
from registry.snapshot.visibility import is_restricted, restricted_view
from registry.usage import usage_counters

if TYPE_CHECKING:
    from registry.matching.index import MatchIndex
    from registry.matching.search import Ranking

MESSAGE_MAX = 100_000
# What is said in a conversation is shorter; a message of 100,000 characters takes as long as some hundred others.
CHARACTERS_OF_ONE_MATCH = 2_000
CHARACTERS_OF_EACH_MORE = 200
QUERY_MAX = 2_000
RANKINGS = ("hybrid", "coverage")
TOP_MATCHES_MAX = 20
TOP_FOUND_MAX = 50


def match_response(held: Snapshot, caller: Caller, values: Mapping[str, Any]) -> dict[str, Any]:
    """Build the response to `{"message", "top_k"?, "group"?, "os"?}` (schemas/api/match.schema.json).

    Raises `InvalidRequest`, `RateLimited`, `RegistryUnavailable`.
    """
    # numpy takes a tenth of a second to import: only what matches pays for it.
    from registry.matching.index import get_index

    message = _required_text(values, "message", most=MESSAGE_MAX)
    rate_limits.consume("match", caller.limit_subject, cost=match_cost(message))
    top = parameters.integer(values, "top_k", least=1, most=TOP_MATCHES_MAX) or 3
    # Both are read here: what is cached has been checked.
    limits = (parameters.string(values, "group", most=200), parameters.choice(values, "os", OS))
    index = get_index(held, caller.principal.sight)
    # A longer one is a document, which nobody asks for twice, and 256 of them would be 25 MB.
    key = (message, top, *limits, caller.principal.sight) if len(message) <= CHARACTERS_OF_ONE_MATCH else None
    found = index.answers.get_or_make(held, key, lambda: _match(held, index, caller, values, message, top))
    usage_counters.count_match(found["decision"])
    if found["decision"] != "match":
        nearest = found["matches"][0]["capability_id"] if found["matches"] else ""
        usage_counters.count_unmatched(
            message=message, decision=found["decision"], nearest=nearest, key_name=caller.key_name
        )  # fmt: skip
    return found


def _match(
    held: Snapshot, index: MatchIndex, caller: Caller, values: Mapping[str, Any], message: str, top: int
) -> dict[str, Any]:
    takes = _filter(held, caller, values, is_behind=not index.is_made_of(held))
    verdict = index.match(message, top=top, takes=takes)
    matched = [one.capability_id for one in verdict.matches if not one.is_below_threshold]
    groups = [group for name in dict.fromkeys([*verdict.needed, *matched]) for group in index.groups_of(name)]
    near = index.match_groups(message, top=top)
    groups += [group for group in near if _may_know(held, caller.principal, group)]
    groups = list(dict.fromkeys(groups))
    seen = restricted_view(held, caller.principal).entries
    return {
        "decision": verdict.decision,
        "reason": verdict.reason,
        "matches": [
            {
                "capability_id": one.capability_id,
                "score": one.score,
                "matched_triggers": [
                    {"trigger": hit.trigger, "start": hit.start, "end": hit.end} for hit in one.triggers
                ],
                "parts": one.parts,
                "below_threshold": one.is_below_threshold,
                **_standing(held, seen.get(one.capability_id)),
            }
            for one in verdict.matches
        ],
        "needed": list(verdict.needed),
        "skill_groups": groups,
        "exclusive_groups": [group for group in groups if group in index.exclusive],
        "registry_revision": held.registry_revision,
        "index_revision": index.revisions.registry_revision,
    }


def match_cost(message: str) -> int:
    """As how many calls a message counts against the limit: 1, and one more for each 200 characters past 2,000."""
    return 1 + max(0, len(message) - CHARACTERS_OF_ONE_MATCH) // CHARACTERS_OF_EACH_MORE


def search_response(held: Snapshot, caller: Caller, values: Mapping[str, Any]) -> dict[str, Any]:
    """Build the response to `q`, `top_k`, `min_score`, `group` and `ranking` (schemas/api/search.schema.json).

    Raises `InvalidRequest`, `RateLimited`, `RegistryUnavailable`.
    """
    # numpy takes a tenth of a second to import: only what matches pays for it.
    from registry.matching.index import get_index
    from registry.matching.search import default_ranking

    rate_limits.consume("match", caller.limit_subject)
    query = _required_text(values, "q", most=QUERY_MAX)
    top = parameters.integer(values, "top_k", least=1, most=TOP_FOUND_MAX) or 5
    min_score = parameters.fraction(values, "min_score")
    asked = parameters.choice(values, "ranking", RANKINGS)
    index = get_index(held, caller.principal.sight)
    vector = index.vector(query)
    ranking = cast("Ranking", asked) if asked else default_ranking(vector)
    takes = _filter(held, caller, values, is_behind=not index.is_made_of(held))
    found = index.search.search(query, vector, top=top, min_score=min_score, ranking=ranking, takes=takes)
    seen = restricted_view(held, caller.principal).entries
    return {
        "results": [
            {
                "capability_id": one.capability_id,
                "name": one.name,
                "score": one.score,
                "parts": {"vector": one.vector, "keyword": one.keyword},
                **_standing(held, seen.get(one.capability_id)),
            }
            for one in found
        ],
        "ranking": ranking,
        "index_revision": index.revisions.registry_revision,
    }


def _standing(held: Snapshot, entry: SnapshotEntry | None) -> dict[str, Any]:
    """What speaks for or against a capability: a playbook's confidence, what to use instead of a deprecated one, and
    that the user alone starts it."""
    if entry is None:
        return {}
    score = held.confidence(entry)
    deprecated = {"status": entry.status, "replaced_by": entry.replaced_by} if entry.status == "deprecated" else {}
    closed = {"disable_model_invocation": True} if entry.is_closed_to_model else {}
    return ({"confidence": score.as_dict()} if score is not None else {}) | deprecated | closed


def _required_text(values: Mapping[str, Any], name: str, *, most: int) -> str:
    text = parameters.string(values, name, most=most)
    if not text.strip():
        raise InvalidRequest(f"{name} is missing: send what the user said, 1 to {most:,} characters")
    return text


def _may_know(held: Snapshot, principal: Principal, group: str) -> bool:
    """Whether a skill group may be named to the key: not where it has members and the key sees none of them."""
    limit = principal.sight.groups
    if limit is not None and group not in limit:
        return False
    return group not in held.groups or group in restricted_view(held, principal).groups


def _filter(
    held: Snapshot, caller: Caller, values: Mapping[str, Any], *, is_behind: bool
) -> Callable[[Any], bool] | None:
    """What the caller may see, and what `group` and `os` leave of that; None where that is everything.

    `is_behind` says that the index may still have what is no longer published.
    """
    group = parameters.string(values, "group", most=200)
    os = parameters.choice(values, "os", OS)
    is_limited = is_behind or is_restricted(held, caller.principal)
    known = restricted_view(held, caller.principal).entries if is_limited else None
    if not group and os is None and known is None:
        return None
    return lambda one: (
        (known is None or one.capability_id in known)
        and (not group or group in one.skill_groups)
        and (os is None or os in one.os or "common" in one.os)
    )
