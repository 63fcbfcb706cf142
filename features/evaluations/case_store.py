"""The cases of a capability: read, saved, deleted, and suggested from what its author wrote."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.utils import timezone

from capability_kit.evaluation_cases import (
    CASES_MAX,
    PATH,
    CasesInvalid,
    EvaluationCase,
    case_document,
    list_unread_keys,
    parse_case,
    parse_case_file,
    write_cases,
)
from capability_kit.json_text import parse_json
from capability_rules.bundles.tool_list import list_tool_contracts
from capability_rules.errors import InvalidRequest
from capability_rules.validation.evaluation_files import find_hidden_content
from features.evaluations import models
from registry.access.teams import require_edit_permission
from registry.common.actors import Actor
from registry.common.errors import NameConflict, NotFound
from registry.core import audit
from registry.core.rows import get_row
from registry.core.transactions import write_transaction
from registry.models import Capability, Draft
from registry.usage.demand import list_messages

_SUGGESTED_MAX: Final = 20
_UNMET_MAX: Final = 5
_TOOL_MESSAGE_MAX: Final = 500


def list_cases(capability: Capability) -> list[models.SavedCase]:
    """In the order in which they came."""
    return list(models.SavedCase.objects.filter(capability=capability))


def get_case(capability: Capability, number: int) -> models.SavedCase:
    """The case of this number, one of the capability. Raises `NotFound`."""
    missing = NotFound(f"'{capability.capability_id}' has no evaluation case {number}")
    return get_row(models.SavedCase.objects.filter(capability=capability, pk=number), missing)


def read_row(row: models.SavedCase) -> EvaluationCase:
    """The case of a row."""
    return parse_case(row.document, row.name)


def save_case(
    *, capability: Capability, document: dict[str, Any], by: Actor, number: int | None = None
) -> models.SavedCase:
    """Add a case, or change the one with this number. Raises `InvalidRequest`, `NameConflict`, `NotFound`."""
    try:
        case = parse_case(document, "case")
    except CasesInvalid as error:
        raise InvalidRequest(str(error)) from error
    _refuse_secrets(json.dumps(case_document(case), ensure_ascii=False))
    with write_transaction():
        require_edit_permission(capability.capability_id, by)
        others = models.SavedCase.objects.filter(capability=capability)
        if number is None and others.count() >= CASES_MAX:
            raise InvalidRequest(f"A capability has at most {CASES_MAX:,} cases")
        if others.filter(name=case.name).exclude(pk=number or 0).exists():
            raise NameConflict(f"Another case is called '{case.name}'")
        row = models.SavedCase(capability=capability) if number is None else get_case(capability, number)
        row.name, row.document, row.updated_at, row.updated_by = case.name, case_document(case), timezone.now(), str(by)
        row.save()
        _record(capability, "evaluation.save_case", case.name, by)
    return row


def delete_case(*, capability: Capability, number: int, by: Actor) -> models.SavedCase:
    """Delete a case; results of earlier runs stay. Raises `NotFound`."""
    with write_transaction():
        require_edit_permission(capability.capability_id, by)
        row = get_case(capability, number)
        models.SavedCase.objects.filter(pk=row.pk).delete()
        _record(capability, "evaluation.delete_case", row.name, by)
    return row


def replace_cases(*, capability: Capability, text: str, by: Actor) -> int:
    """Put the cases of an `evals.json` in the place of those that are there. Raises `InvalidRequest`."""
    try:
        file = parse_case_file(text)
    except CasesInvalid as error:
        raise InvalidRequest(str(error)) from error
    _refuse_secrets(text)
    with write_transaction():
        require_edit_permission(capability.capability_id, by)
        models.SavedCase.objects.filter(capability=capability).delete()
        models.CaseFileRest.objects.update_or_create(capability=capability, defaults={"beside": dict(file.beside)})
        models.SavedCase.objects.bulk_create(
            models.SavedCase(capability=capability, name=case.name, document=case_document(case), updated_by=str(by))
            for case in file.cases
        )
        unread = list_unread_keys(file)
        named = f"; kept, and read by no run: {', '.join(unread[:20])}" if unread else ""
        _record(capability, "evaluation.save_case", f"{len(file.cases)} cases of a file{named}"[:500], by)
    return len(file.cases)


def _refuse_secrets(text: str) -> None:
    """Raises `InvalidRequest` for a secret, or hidden characters, in what is stored and exported."""
    for found in find_hidden_content(PATH, text):
        if found.severity == "error":
            raise InvalidRequest(f"{PATH}: {found.message} {found.hint}")


def export_cases(capability: Capability) -> str:
    """All cases of a capability as the text of an `evals/evals.json`."""
    file = models.CaseFileRest.objects.filter(capability=capability).first()
    cases = map(read_row, list_cases(capability))
    return write_cases(capability.capability_id, cases, file.beside if file else None)


def list_export_files(capability: Capability) -> dict[str, str]:
    """What an export has beside the bundle: nothing where there is no case."""
    has_cases = models.SavedCase.objects.filter(capability=capability).exists()
    return {PATH: export_cases(capability)} if has_cases else {}


def on_import(capability_id: str, files: Mapping[str, bytes | str], by: Actor) -> None:
    """Take the cases that an imported folder has. What cannot be read changes nothing, and is in the timeline."""
    content = files.get(PATH)
    capability = Capability.objects.filter(capability_id=capability_id).first()
    if not content or capability is None:
        return
    text = content if isinstance(content, str) else content.decode("utf-8", "replace")
    try:
        replace_cases(capability=capability, text=text, by=by)
    except InvalidRequest as error:
        with write_transaction():
            detail = {"reason": error.message[:300]}
            audit.record(by=by, verb="evaluation.refuse_file", subject=capability_id, detail=detail)


def suggest_cases(*, capability: Capability, by: Actor) -> int:
    """Add cases that are not there yet, at most 20 at once: for each example message, for messages that agents had in
    vain and that are nearest to this capability, and for each tool that writes, approved and refused. How many."""
    rows = list_cases(capability)
    known = {message for row in rows for message in row.document.get("messages", ())}
    names = {row.name for row in rows}
    found = [one for one in _from_messages(capability) if one["messages"][0] not in known]
    wanted = [one for one in [*found, *_from_tools(read_texts(capability))] if one["name"] not in names]
    for document in wanted[:_SUGGESTED_MAX]:
        save_case(capability=capability, document=document, by=by)
    return len(wanted[:_SUGGESTED_MAX])


def _from_messages(capability: Capability) -> Iterable[dict[str, Any]]:
    """Those that should match load it, the others do not."""
    name, utterances = capability.capability_id, read_texts(capability).metadata.get("utterances")
    unmet = list_messages().filter(nearest=name).values_list("text", flat=True)[:_UNMET_MAX]
    matching = _messages(utterances, "should_match")
    for message in dict.fromkeys([*matching, *unmet]):
        yield {"name": message[:80], "messages": [message], "expect": {"loads": name}}
    for message in _messages(utterances, "should_not_match"):
        yield {"name": message[:80], "messages": [message], "expect": {"does_not_load": name}}


def _from_tools(texts: CapabilityTexts) -> Iterable[dict[str, Any]]:
    """What the user says is what the tool is described as: its author knows better words."""
    for tool in texts.tools:
        policy = tool.get("policy") if isinstance(tool.get("policy"), dict) else {}
        if policy is None or policy.get("kind") != "write":
            continue
        name = tool["name"]
        message = f"{texts.name}: {tool.get('description') or name}"[:_TOOL_MESSAGE_MAX]
        expect = {"loads": texts.capability_id, "calls": [{"tool": name}]}
        asks = {"asks_before": [name]} if policy.get("requires_approval") is True else {}
        yield {"name": f"{name}, approved", "messages": [message], "expect": expect | asks}
        refused = {"loads": texts.capability_id, "no_writes": True} | asks
        yield {"name": f"{name}, refused", "messages": [message], "approve": False, "expect": refused}


def _messages(utterances: Any, key: str) -> list[str]:
    found = utterances.get(key) if isinstance(utterances, dict) else None
    return [one for one in found if isinstance(one, str) and one.strip()] if isinstance(found, list) else []


@dataclass(frozen=True, slots=True)
class CapabilityTexts:
    """What forms and suggestions need of a capability, of its draft or of the release; `forms` has titles by ID."""

    capability_id: str
    name: str
    metadata: dict[str, Any]
    tools: list[dict[str, Any]]
    forms: dict[str, str]


def read_texts(capability: Capability) -> CapabilityTexts:
    """Of what cannot be read, nothing."""
    draft = Draft.objects.filter(capability=capability, discarded_at__isnull=True).first()
    held = draft or capability.published_revision
    metadata = parse_json(held.capability_json) if held else {}
    metadata = metadata if isinstance(metadata, dict) else {}
    tools = list(list_tool_contracts(held.files).values()) if held else []
    listed = parse_json(held.ui_schemas_json) if held else []
    forms = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    name = metadata.get("name")
    return CapabilityTexts(
        capability.capability_id,
        name if isinstance(name, str) and name else capability.capability_id,
        metadata,
        tools,
        {str(one["schema_id"]): str(one.get("title") or one["schema_id"]) for one in forms if "schema_id" in one},
    )


def _record(capability: Capability, verb: str, name: str, by: Actor) -> None:
    audit.record(by=by, verb=verb, subject=capability.capability_id, detail={"case": name[:200]})
