"""Taking in what an outside scanner found in a draft or a revision (docs/contract.md 3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.utils import timezone

from capability_rules.bundles.supporting_files import split_path
from capability_rules.errors import InvalidRequest
from capability_rules.validation.sarif_reader import ToolResults, read_sarif
from registry.access.teams import require_edit_permission
from registry.catalog.drafts import get_active_draft
from registry.common.actors import Actor
from registry.common.errors import RevisionNotFound, StatusConflict
from registry.core import audit
from registry.core.queries import files_digest, get_capability
from registry.core.rows import get_row
from registry.core.transactions import write_transaction
from registry.models import Capability, ScanResults

# Results of so many texts and tools are kept for a capability: the newest.
KEPT_MAX: Final = 50
# And so many results of all tools for one text: each is a finding of the gate.
RESULTS_MAX: Final = 3000


@dataclass(frozen=True, slots=True)
class StoredScan:
    """What was stored: for which texts, by which tools."""

    capability_id: str
    files_digest: str
    tools: tuple[ToolResults, ...]

    def as_dict(self) -> dict[str, Any]:
        """The shape of schemas/api/scan_results.schema.json."""
        return {
            "capability_id": self.capability_id,
            "files_digest": self.files_digest,
            "tools": [_row(tool) for tool in self.tools],
        }


def _row(tool: ToolResults) -> dict[str, Any]:
    errors = sum(result.severity == "error" for result in tool.results)
    return {
        "tool": tool.tool,
        "version": tool.version,
        "errors": errors,
        "warnings": len(tool.results) - errors,
        "notes": tool.notes,
        "suppressed": tool.suppressed,
    }


def store_scan_results(
    *, capability_id: str, log: Any, by: Actor, digest: str | None = None, below: str = ""
) -> StoredScan:
    """Store the results of a SARIF log for the draft or the revision with this digest of its files, in the place of
    what each of its tools reported for the same texts before.

    Without a digest it is the draft, else what is published. `below` is the folder that the paths of the log begin
    with. Raises `CapabilityNotFound`, `RevisionNotFound` where no draft or revision has the digest, `StatusConflict`
    where there is neither, `InvalidRequest` for a log that cannot be read or is too much; then nothing is stored.
    """
    capability = get_capability(capability_id)
    digest, files = _find_texts(capability, digest)
    tools = read_sarif(log, files, below=below)
    with write_transaction():
        require_edit_permission(capability_id, by)
        _require_room(capability, digest, tools)
        for tool in tools:
            _store(capability, digest, tool, by)
        _forget_oldest(capability)
        detail = {"files_digest": digest, "tools": [_row(tool) for tool in tools]}
        audit.record(by=by, verb="scan_results.upload", subject=capability_id, detail=detail)
    return StoredScan(capability_id, digest, tuple(tools))


def get_files_digest(files: dict[str, str]) -> str:
    """What results of a scan are bound to: SHA-256 over the files of a bundle, by name, as they are stored."""
    return files_digest(split_path(files))


def _find_texts(capability: Capability, digest: str | None) -> tuple[str, dict[str, str]]:
    draft = get_active_draft(capability)
    candidates = [split_path(draft.files)] if draft is not None else []
    if capability.published_revision is not None and (digest is not None or draft is None):
        candidates.append(capability.published_revision.files)
    if digest is None:
        if not candidates:
            raise StatusConflict(f"'{capability.capability_id}' has neither a draft nor a revision")
        return files_digest(candidates[0]), candidates[0]
    found = next((files for files in candidates if files_digest(files) == digest), None)
    if found is None:
        missing = RevisionNotFound(
            f"'{capability.capability_id}' has no draft and no revision whose files have the digest {digest}: "
            "scan what is there now"
        )
        found = get_row(capability.revisions.filter(files_digest=digest).order_by("-number"), missing).files
    return digest, found


def _store(capability: Capability, digest: str, tool: ToolResults, by: Actor) -> None:
    ScanResults.objects.update_or_create(
        capability=capability,
        files_digest=digest,
        tool=tool.tool,
        defaults={
            "tool_version": tool.version,
            "results": [result.as_dict() for result in tool.results],
            "notes": tool.notes,
            "suppressed": tool.suppressed,
            "uploaded_at": timezone.now(),
            "uploaded_by": str(by),
        },
    )


def _require_room(capability: Capability, digest: str, tools: Sequence[ToolResults]) -> None:
    others = ScanResults.objects.filter(capability=capability, files_digest=digest)
    others = others.exclude(tool__in=[tool.tool for tool in tools])
    total = sum(len(tool.results) for tool in tools) + sum(len(row) for row in others.values_list("results", flat=True))
    if total > RESULTS_MAX:
        raise InvalidRequest(
            f"All tools together would have {total:,} results for one text; at most {RESULTS_MAX:,} are kept"
        )


def _forget_oldest(capability: Capability) -> None:
    kept = ScanResults.objects.filter(capability=capability).order_by("-uploaded_at", "-id")
    old = list(kept.values_list("pk", flat=True)[KEPT_MAX:])
    ScanResults.objects.filter(pk__in=old).delete()
