"""Search for clients of other formats: `capability_search` over what they may download."""

from __future__ import annotations

from typing import Any, Final

from rest_framework.request import Request
from rest_framework.response import Response

from agent_api.http import parameters
from agent_api.http.endpoint import endpoint
from agent_api.integrations.access import ReaderContext, authorize_reader, base_url
from agent_api.v1.match_and_search import TOP_FOUND_MAX, search_response
from capability_kit.bundles.skill_names import skill_name_of
from registry.snapshot import SnapshotEntry

LIMIT_DEFAULT: Final = 20
# What a client may ask for at once; more than is ever found is not its fault.
LIMIT_MAX: Final = 200


def search_skills(visitor: ReaderContext, query: str, *, owner: str = "") -> list[tuple[SnapshotEntry, float]]:
    """What there is for some words, best first, each with its score from 0 to 1; at most `TOP_FOUND_MAX`.

    `owner` names a skill group. Raises `InvalidRequest`, `RateLimited`.
    """
    values: dict[str, Any] = {"q": query, "top_k": TOP_FOUND_MAX}
    rows = search_response(visitor.snapshot, visitor.caller, values)["results"]
    found = [(visitor.entry(row["capability_id"]), float(row["score"])) for row in rows]
    return [(entry, score) for entry, score in found if entry is not None and _is_of(entry, owner)]


def _is_of(entry: SnapshotEntry, owner: str) -> bool:
    return not owner or owner.replace("-", "_") in entry.skill_groups


@endpoint("GET")
def skills_search(request: Request, token: str = "") -> Response:
    """`{"skills": [{"id", "name", "source", "installs"}]}` for `skills find`; `source` is for `skills add`."""
    visitor = authorize_reader(request, token)
    given = parameters.query(request)
    limit = parameters.integer(given, "limit", least=1, most=LIMIT_MAX) or LIMIT_DEFAULT
    owner = parameters.string(given, "owner", most=64).lower()
    found = search_skills(visitor, str(given.get("q", "")), owner=owner)
    source = base_url(request, token)
    rows = [_row(entry, source) for entry, _ in found[:limit]]
    return Response({"skills": rows}, headers={"Cache-Control": "no-store"})


def _row(entry: SnapshotEntry, source: str) -> dict[str, Any]:
    """The client orders by installs: with the same for all, our order stays."""
    name = skill_name_of(entry.capability_id)
    return {"id": f"{source.partition('://')[2]}/{name}", "name": name, "source": source, "installs": 0}
