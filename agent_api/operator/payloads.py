"""What a pipeline sends: bundles as JSON texts or as a zip (docs/contract.md 5)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from django.http import QueryDict
from rest_framework.request import Request

from agent_api.http import parameters
from capability_kit.text.files import UnnamedFile
from capability_rules.bundles.archives import FileData
from capability_rules.bundles.bundle_reader import SourceBundle, read_bundle_zip
from capability_rules.errors import InvalidRequest
from capability_rules.validation.rules.json_schema import type_word

BUNDLES_MAX: Final = 100
NOTE_MAX: Final = 2000


@dataclass(frozen=True)
class Batch:
    """The bundles of a call and its options."""

    sources: list[SourceBundle]
    note: str
    dry_run: bool
    acknowledge: tuple[str, ...]
    publish: bool
    as_id: str


def read_batch(
    request: Request, read_archive: Callable[[FileData, str], list[SourceBundle]] = read_bundle_zip
) -> Batch:
    """Raises `InvalidRequest` or `SourceUnreadable`. With a zip the options are in the query string."""
    body: Any = request.data
    if isinstance(body, UnnamedFile):
        given: dict[str, Any] = _of_query(parameters.query(request))
        sources = read_archive(body, "archive.zip")
    else:
        given = parameters.json_object(request)
        sources = _sources(given.get("bundles"))
    return Batch(
        sources=sources,
        note=parameters.string(given, "note", most=NOTE_MAX),
        dry_run=parameters.flag(given, "dry_run"),
        acknowledge=parse_codes(given),
        publish=parameters.flag(given, "publish"),
        as_id=parameters.string(given, "as_id", most=64),
    )


def _of_query(query: QueryDict) -> dict[str, Any]:
    values: dict[str, Any] = dict(query.items())
    for name in ("dry_run", "publish"):
        if name in values:
            values[name] = {"true": True, "1": True, "false": False, "0": False}.get(values[name], values[name])
    if "acknowledge" in values:
        values["acknowledge"] = [code for code in values["acknowledge"].split(",") if code]
    return values


def parse_codes(values: dict[str, Any]) -> tuple[str, ...]:
    """`acknowledge`: a list of finding codes."""
    given = values.get("acknowledge", [])
    if not isinstance(given, list) or not all(isinstance(code, str) and len(code) <= 64 for code in given[:100]):
        raise InvalidRequest('acknowledge must be an array of codes, such as ["POLICY_LOOSENED"]')
    return tuple(given[:100])


def _sources(bundles: Any) -> list[SourceBundle]:
    if not isinstance(bundles, list) or not bundles:
        raise InvalidRequest('bundles must be an array such as [{"path": "weights", "files": {"skill.md": "..."}}]')
    if len(bundles) > BUNDLES_MAX:
        raise InvalidRequest(f"bundles holds {len(bundles)} entries; at most {BUNDLES_MAX} are taken in one call")
    return [_source(index, entry) for index, entry in enumerate(bundles)]


def _source(index: int, entry: Any) -> SourceBundle:
    if not isinstance(entry, dict):
        raise InvalidRequest(f"bundles[{index}] must be an object, found {type_word(entry)}")
    path = parameters.string(entry, "path", most=500, default=f"bundles/{index}")
    return SourceBundle(path, parameters.files(entry, f"bundles[{index}].files"))
