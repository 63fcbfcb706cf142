"""Sets for keys with the scope `publish` (docs/contract.md 6.1)."""

from __future__ import annotations

from typing import Any, Final

from rest_framework.request import Request
from rest_framework.response import Response

from agent_api.http import parameters
from agent_api.http.authentication import Caller
from agent_api.openapi.annotations import CAPABILITY_ID, CONFLICT, operator_read, operator_write, query_parameter
from features.sets import set_store
from features.sets.models import CapabilitySet
from features.sets.reader_api import read_set_id
from features.sets.set_document import KEYS

_SET: Final = (query_parameter("set_id", "Which set.", kind=CAPABILITY_ID, required=True),)
_NO_SET: Final = {404: ("Error", "There is no set of this id, or no team of this name (NOT_FOUND).")}


@operator_write(answer="SetSaved", body="SetSaveRequest", also=_NO_SET | CONFLICT)
def set_save(request: Request, caller: Caller) -> Response:
    """Make a set, or change it to this document, in one step."""
    values = parameters.json_object(request)
    expected = parameters.integer(values, "expected_revision", least=0)
    team = parameters.string(values, "team", most=80) if "team" in values else None
    document = {key: value for key, value in values.items() if key in KEYS}
    row = set_store.save_set(document, by=caller.actor, expected_revision=expected, team=team)
    return Response(describe_row(row))


@operator_write(answer="SetSaved", body="SetDeleteRequest", also=_NO_SET | CONFLICT)
def set_delete(request: Request, caller: Caller) -> Response:
    """End a set whose capabilities stay as they are."""
    row = set_store.delete_set(set_id=read_set_id(parameters.json_object(request)), by=caller.actor)
    return Response(describe_row(row))


@operator_read("GET", answer="SetSaved", parameters=_SET, also=_NO_SET)
def set_export(request: Request) -> Response:
    """The document of a set as set_save takes it, whatever its visibility."""
    return Response(describe_row(set_store.get_set(read_set_id(parameters.query(request)))))


def describe_row(row: CapabilitySet) -> dict[str, Any]:
    """`{"revision", "team", "deleted", "set": DOCUMENT}`."""
    return {
        "revision": row.revision,
        "team": row.team.name if row.team is not None else None,
        "deleted": row.deleted_at is not None,
        "set": set_store.read_document(row).as_dict(),
    }
