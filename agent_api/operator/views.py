"""The operator API: the verbs of the command line, for keys with the scope `publish` (docs/contract.md 5)."""

from __future__ import annotations

from typing import Any, Final

from django.http import FileResponse
from django.http.response import HttpResponseBase
from rest_framework.request import Request
from rest_framework.response import Response

from agent_api.http import parameters
from agent_api.http.authentication import Caller
from agent_api.http.parsers import BoundedJSONParser, BytesParser, ZipParser
from agent_api.openapi.annotations import (
    BYTES,
    CAPABILITY_ID,
    CONFLICT,
    NOT_FOUND,
    operator_read,
    operator_write,
    query_parameter,
)
from agent_api.operator import payloads
from agent_api.operator.payloads import read_batch
from capability_rules.discovery.bundle_discovery import discover_in_archive, with_id
from capability_rules.errors import InvalidRequest
from capability_rules.validation.rules.json_schema import type_word
from capability_rules.validation.sarif_reader import BYTES_MAX
from registry.catalog import drafts, exporter
from registry.core import queries
from registry.models import Capability
from registry.publishing import batch as batches
from registry.publishing import bundle_powers as powers
from registry.publishing import publication, scan_results
from registry.publishing.quarantine import quarantine
from registry.publishing.scan_results import get_files_digest
from registry.selectors.effects import get_retirement_effects

_ID_PARAMETERS = (query_parameter("capability_id", "Which capability.", kind=CAPABILITY_ID, required=True),)
_FORMAT = query_parameter("format", "bundle: the four files; agent-skill: SKILL.md.", enum=list(exporter.FORMATS))
_EXPORT_PARAMETERS = (*_ID_PARAMETERS, _FORMAT)
_POWERS_OF = ("published", "draft")
_POWERS_PARAMETERS = (
    *_ID_PARAMETERS,
    query_parameter("of", "published (the default) or draft.", enum=list(_POWERS_OF)),
)
_JSON_OR_ZIP = (BoundedJSONParser, ZipParser, BytesParser)
# The log, and what is around it in the body.
_ENVELOPE_BYTES: Final = 8 * 1024


class ScanResultsParser(BoundedJSONParser):
    """A SARIF log of at most 1 MiB with its few keys beside it."""

    bytes_max = BYTES_MAX + _ENVELOPE_BYTES


@operator_read("POST", parsers=_JSON_OR_ZIP, answer="BundleValidation", body="BundlesRequest", zip_body=True)
def bundle_validate(request: Request) -> Response:
    """Check bundles against the rules, what is published and each other."""
    checked = batches.validate_all(read_batch(request).sources)
    errors = sum(len(entry.report.errors) for entry in checked)
    warnings = sum(len(entry.report.warnings) for entry in checked)
    return Response({"bundles": [entry.as_dict() for entry in checked], "errors": errors, "warnings": warnings})


@operator_write(parsers=_JSON_OR_ZIP, answer="BundleResults", body="BundlesRequest", zip_body=True)
def bundle_publish(request: Request, caller: Caller) -> Response:
    """Publish bundles one by one; one that is refused never stops the rest."""
    batch = read_batch(request)
    results = batches.publish_all(
        batch.sources, by=caller.actor, note=batch.note, acknowledge=batch.acknowledge, dry_run=batch.dry_run
    )
    return Response({"results": [result.as_dict() for result in results]})


@operator_write(parsers=_JSON_OR_ZIP, answer="BundleResults", body="BundlesRequest", zip_body=True)
def bundle_import(request: Request, caller: Caller) -> Response:
    """Import bundles and Agent Skills as drafts; with `"publish": true` publish them."""
    batch = read_batch(request, discover_in_archive)
    results = batches.import_all(
        with_id(batch.sources, batch.as_id),
        by=caller.actor,
        mode="publish" if batch.publish else "draft",
        note=batch.note,
        acknowledge=batch.acknowledge,
        dry_run=batch.dry_run,
    )
    return Response({"results": [result.as_dict() for result in results]})


@operator_write(answer="BundleResults", body="RollbackRequest", also=NOT_FOUND | CONFLICT)
def bundle_rollback(request: Request, caller: Caller) -> Response:
    """Point readers at an older revision."""
    values = parameters.json_object(request)
    to = parameters.integer(values, "to", least=1)
    if to is None:
        raise InvalidRequest("to is missing: the number of the revision to go back to")
    capability_id = parameters.capability_id(values)
    outcome = publication.rollback(
        capability_id=capability_id,
        to=to,
        by=caller.actor,
        note=_note(values),
        acknowledge=payloads.parse_codes(values),
    )
    return Response({"results": [batches.build_result(outcome, capability_id).as_dict()]})


def _note(values: dict[str, Any]) -> str:
    return parameters.string(values, "note", most=payloads.NOTE_MAX)


@operator_write(answer="CapabilityStatus", body="DeprecateRequest", also=NOT_FOUND | CONFLICT)
def capability_deprecate(request: Request, caller: Caller) -> Response:
    """Keep a capability loadable and say what replaces it."""
    values = parameters.json_object(request)
    named = values.get("replaced_by") is not None
    replaced_by = (parameters.string(values, "replaced_by", most=64) or None) if named else None
    capability = publication.deprecate(
        capability_id=parameters.capability_id(values), replaced_by=replaced_by, by=caller.actor, note=_note(values)
    )
    return _status(capability)


@operator_write(answer="CapabilityStatus", body="RetireRequest", also=NOT_FOUND | CONFLICT)
def capability_retire(request: Request, caller: Caller) -> Response:
    """Retire a capability: readers can no longer load it. The response names the capabilities that need it, the
    scheduled release that ends with it, and the followed sources that it comes from."""
    values = parameters.json_object(request)
    capability_id, dry_run = parameters.capability_id(values), parameters.flag(values, "dry_run")
    effects = get_retirement_effects(capability_id)
    capability = publication.retire(capability_id=capability_id, by=caller.actor, note=_note(values), dry_run=dry_run)
    return _status(capability, **effects.as_dict())


@operator_write(answer="CapabilityStatus", body="CapabilityRequest", also=NOT_FOUND | CONFLICT)
def capability_quarantine(request: Request, caller: Caller) -> Response:
    """Hold a capability back from readers because it may do harm, until a member ends the quarantine; no key does."""
    values = parameters.json_object(request)
    capability_id = parameters.capability_id(values)
    return _status(quarantine(capability_id=capability_id, by=caller.actor, note=_note(values)))


@operator_write(answer="BundleResults", body="CapabilityRequest", also=NOT_FOUND | CONFLICT)
def capability_restore(request: Request, caller: Caller) -> Response:
    """Restore a deprecated or retired capability, after checking it by the current rules; a quarantine is 403."""
    values = parameters.json_object(request)
    capability_id = parameters.capability_id(values)
    outcome = publication.restore(capability_id=capability_id, by=caller.actor, note=_note(values))
    return Response({"results": [batches.build_result(outcome, capability_id).as_dict()]})


def _status(capability: Capability, **more: Any) -> Response:
    replaced_by = capability.replaced_by.capability_id if capability.replaced_by else None
    body = {"capability_id": capability.capability_id, "status": capability.status, "replaced_by": replaced_by}
    return Response(body | more)


@operator_read("GET", answer="BundlePowers", parameters=_POWERS_PARAMETERS, also=NOT_FOUND | CONFLICT)
def bundle_powers(request: Request) -> Response:
    """What a published bundle, or a draft, may do, and what is new since the release before."""
    given = parameters.query(request)
    is_draft = parameters.choice(given, "of", _POWERS_OF) == "draft"
    capability = queries.get_capability(parameters.capability_id(given))
    return Response(powers.get_powers(capability, draft=is_draft).as_dict())


@operator_read("GET", answer="BundleList")
def bundle_list(request: Request) -> Response:  # noqa: ARG001 (an endpoint)
    """Every capability, whatever its status."""
    fields = ("capability_id", "name", "status", "revision", "digest")
    rows = queries.list_capabilities()
    return Response({"capabilities": [{field: getattr(row, field) for field in fields} for row in rows]})


@operator_read("GET", answer="zip", parameters=_EXPORT_PARAMETERS, also=NOT_FOUND | CONFLICT)
def bundle_export(request: Request) -> HttpResponseBase:
    """The published files as a zip, the same bytes for the same content, as a bundle or as an Agent Skill."""
    given = parameters.query(request)
    chosen = parameters.choice(given, "format", exporter.FORMATS)
    format_: exporter.Format = "agent-skill" if chosen == "agent-skill" else "bundle"
    capability = queries.get_capability(parameters.capability_id(given))
    done = exporter.export_capability(capability, format_=format_)
    return FileResponse(done.open_zip(), as_attachment=True, filename=f"{done.folder}.zip", content_type=BYTES)


@operator_read("GET", answer="Draft", parameters=_ID_PARAMETERS, also=NOT_FOUND)
def draft_get(request: Request) -> Response:
    """The draft's texts, its version and what validation says of it; without one the published texts, to begin one."""
    texts = drafts.read_texts_to_edit(parameters.capability_id(parameters.query(request)))
    return Response(
        {
            "files": texts.files,
            "draft_version": texts.version,
            "is_draft": texts.version is not None,
            "revision": texts.revision,
            "findings": [finding.as_dict() for finding in texts.report.findings],
            "files_digest": get_files_digest(texts.files),
        }
    )


@operator_write(answer="DraftSaved", body="DraftSaveRequest", also=NOT_FOUND | CONFLICT)
def draft_save(request: Request, caller: Caller) -> Response:
    """Store texts as the draft; a stale one is refused with both texts."""
    values = parameters.json_object(request)
    if "based_on" not in values:
        raise InvalidRequest("based_on is missing: the draft_version that you read, or null for a first draft")
    saved = batches.save_draft(
        capability_id=parameters.capability_id(values),
        files=parameters.files(values),  # type: ignore[arg-type]
        based_on=parameters.integer_or_null(values, "based_on", least=1),
        by=caller.actor,
    )
    findings = [finding.as_dict() for finding in saved.report.findings]
    return Response({"draft_version": saved.version, "findings": findings})


@operator_write(answer="BundleResults", body="DraftPublishRequest", also=NOT_FOUND | CONFLICT)
def draft_publish(request: Request, caller: Caller) -> Response:
    """Publish the draft in the version that the caller names."""
    values = parameters.json_object(request)
    capability_id = parameters.capability_id(values)
    version = parameters.integer_or_null(values, "draft_version", least=1)
    if version is None:
        raise InvalidRequest("draft_version is missing: the version that you have looked at")
    outcome = publication.publish_draft(
        capability_id=capability_id,
        draft_version=version,
        by=caller.actor,
        note=_note(values),
        acknowledge=payloads.parse_codes(values),
    )
    return Response({"results": [batches.build_result(outcome, capability_id).as_dict()]})


@operator_write(
    parsers=(ScanResultsParser,), answer="ScanResults", body="ScanResultsRequest", also=NOT_FOUND | CONFLICT
)
def scan_results_upload(request: Request, caller: Caller) -> Response:
    """Store what a scanner found in exactly these texts, in the place of what it reported for them before."""
    values = parameters.json_object(request)
    digest = parameters.digest(values, "files_digest")
    if digest is None:
        raise InvalidRequest("files_digest is missing: draft_get and bundle export --format json print it")
    if not isinstance(values.get("sarif"), dict):
        raise InvalidRequest(f"sarif must be an object, a SARIF 2.1.0 log, found {type_word(values.get('sarif'))}")
    stored = scan_results.store_scan_results(
        capability_id=parameters.capability_id(values),
        log=values["sarif"],
        by=caller.actor,
        digest=digest,
        below=parameters.string(values, "below", most=1000),
    )
    return Response(stored.as_dict())
