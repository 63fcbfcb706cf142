"""One action for several capabilities: each is a separate write, and refusals are reported beside results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Final

from capability_rules.bundles.archives import ARCHIVE_BYTES_MAX, write_zip_into
from capability_rules.errors import InvalidRequest, RegistryError
from registry.catalog.exporter import Export, export_capability, open_written
from registry.common.actors import Actor
from registry.core.file_contents import FileBytes
from registry.models import Capability
from registry.publishing import publication

CAPABILITIES_MAX: Final = 200


@dataclass(frozen=True, slots=True)
class BulkResult:
    """`refused` has pairs of a capability_id and why."""

    done: Sequence[str]
    refused: Sequence[tuple[str, str]]


def deprecate_capabilities(
    *, capability_ids: Sequence[str], by: Actor, replaced_by: str | None = None, note: str = ""
) -> BulkResult:
    """As `publishing.deprecate` for each. Raises `InvalidRequest` for none or too many."""
    done, refused = [], []
    for capability_id in _checked(capability_ids):
        try:
            publication.deprecate(capability_id=capability_id, by=by, replaced_by=replaced_by, note=note)
        except RegistryError as error:
            refused.append((capability_id, error.message))
        else:
            done.append(capability_id)
    return BulkResult(done, refused)


def export_capabilities(capability_ids: Sequence[str]) -> IO[bytes]:
    """A zip, as a file without a name, with a folder a capability: what is published, or the draft where nothing is.

    Raises `InvalidRequest` for none, too many, or more than an import would take.
    """
    files: dict[str, str] = {}
    for one in _exports(_checked(capability_ids)):
        files |= {f"{one.folder}/{name}": text for name, text in one.files.items()}
        if FileBytes(files).size() > ARCHIVE_BYTES_MAX:
            raise InvalidRequest(
                f"Together these have more than {ARCHIVE_BYTES_MAX // 1024**2} MiB, which no import would take: "
                "choose fewer"
            )
    if not files:
        raise InvalidRequest("None of these has anything to export")
    return open_written(lambda target: write_zip_into(target, FileBytes(files).items()))


def _exports(capability_ids: Sequence[str]) -> Iterator[Export]:
    found = Capability.objects.filter(capability_id__in=capability_ids).select_related("published_revision")
    for capability in found.order_by("capability_id").iterator(chunk_size=20):
        has_draft = capability.drafts.filter(discarded_at__isnull=True)
        if capability.published_revision is not None or has_draft.exists():
            yield export_capability(capability, draft=capability.published_revision is None)


def _checked(capability_ids: Sequence[str]) -> list[str]:
    chosen = list(dict.fromkeys(capability_ids))
    if not chosen:
        raise InvalidRequest("Select at least one capability")
    if len(chosen) > CAPABILITIES_MAX:
        raise InvalidRequest(f"At most {CAPABILITIES_MAX} capabilities at once; {len(chosen)} were chosen")
    return chosen
