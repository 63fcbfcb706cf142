"""A skill that comes file by file: each is announced, sent and kept for an hour; then all of them become one bundle.

The files are in the database, so that every web process has them. What may be open at a time is bounded for each key.
"""

from __future__ import annotations

import hashlib
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final, Literal
from uuid import UUID

from django.db.models import QuerySet, Sum
from django.utils import timezone

from capability_kit.bundles.skill_names import capability_id_of, is_ascii_skill_name, skill_name_of
from capability_kit.json_text import parse_json
from capability_rules.agent_skills.importer import ImportedSkill, import_skill
from capability_rules.agent_skills.loss_report import LossReport
from capability_rules.bundles.archives import write_zip_into
from capability_rules.bundles.bundle_reader import SourceBundle
from capability_rules.bundles.file_pointer import CAPABILITY_BYTES_MAX, CONTENT_BYTES_MAX
from capability_rules.bundles.finding import sort_findings
from capability_rules.bundles.json_edits import to_json
from capability_rules.bundles.supporting_files import split_path
from capability_rules.bundles.text import BUNDLE_BYTES_MAX, decode_text
from capability_rules.bundles.validation_context import VisibilityFilter
from capability_rules.discovery.bundle_discovery import discover_in_archive
from capability_rules.errors import InvalidRequest, SourceUnreadable
from capability_rules.validation import Finding
from features.clawhub.models import SkillUpload
from features.clawhub.skill_fingerprints import record_upload, skill_fingerprint
from registry.common.actors import Actor
from registry.common.errors import BundleRejected, NotFound, TooManyUploads, UploadTooLarge
from registry.core import file_contents
from registry.core.jobs.queue import CommitAction, Lease
from registry.core.rows import get_row, update_row
from registry.core.transactions import write_transaction
from registry.models import Revision
from registry.publishing import batch, proposals

RETENTION: Final = timedelta(hours=1)
FILES_MAX: Final = 200
BYTES_MAX: Final = CAPABILITY_BYTES_MAX + BUNDLE_BYTES_MAX
FILE_NAME_MAX: Final = 80
_SHA256: Final = re.compile(r"[0-9a-f]{64}")

UploadOutcome = Literal["published", "unchanged", "proposed"]


@dataclass(frozen=True)
class UploadResult:
    """What became of the skill. `revision` is what readers have after it, `proposal_id` what waits for an operator.

    `findings` are what the import lost on the way, and what validation says.
    """

    capability_id: str
    status: UploadOutcome
    revision: int | None
    proposal_id: UUID | None
    findings: tuple[Finding, ...]


def register_file(*, path: str, size: int, sha256: str, by: Actor) -> SkillUpload:
    """Make room for one file. Raises `InvalidRequest`, `UploadTooLarge`, `TooManyUploads`."""
    if not 1 <= len(path) <= 500 or not path.isprintable() or not _SHA256.fullmatch(sha256):
        raise InvalidRequest("A file has a path of 1 to 500 printable characters and a sha256 of 64 hex digits")
    if not 0 <= size <= CONTENT_BYTES_MAX:
        raise UploadTooLarge(
            f"{path[:100]} has {size:,} bytes; a file of a skill has at most {CONTENT_BYTES_MAX:,} here"
        )
    with write_transaction():
        _past_their_time().delete()
        open_ = SkillUpload.objects.filter(key_name=by.name)
        if open_.count() >= FILES_MAX:
            raise TooManyUploads(f"'{by.name}' has {FILES_MAX} files on their way; they are forgotten after an hour")
        if (open_.aggregate(total=Sum("size"))["total"] or 0) + size > BYTES_MAX:
            raise UploadTooLarge(f"The files of a skill have at most {BYTES_MAX:,} bytes in all here")
        return SkillUpload.objects.create(key_name=by.name, path=path, size=size, sha256=sha256)


def store_file(*, upload_id: UUID, content: bytes, by: Actor) -> SkillUpload:
    """Keep the bytes that were announced; the same again changes nothing.

    Raises `NotFound` for what the key has not announced within the hour, `InvalidRequest` for other bytes.
    """
    with write_transaction():
        missing = NotFound("This upload was not announced by your key, or an hour ago; begin again")
        upload = get_row(_recent_uploads(by).filter(upload_id=upload_id), missing)
        if len(content) != upload.size or hashlib.sha256(content).hexdigest() != upload.sha256:
            raise InvalidRequest(f"{upload.path[:100]}: the bytes are not those that were announced; send them again")
        update_row(upload, content=content)
    return upload


def _recent_uploads(by: Actor) -> QuerySet[SkillUpload]:
    return SkillUpload.objects.filter(key_name=by.name, created_at__gte=timezone.now() - RETENTION)


def _past_their_time() -> QuerySet[SkillUpload]:
    return SkillUpload.objects.filter(created_at__lt=timezone.now() - RETENTION)


def finalize_upload(
    *,
    slug: str,
    upload_ids: Sequence[UUID],
    by: Actor,
    may_publish: bool,
    note: str = "",
    display_name: str = "",
    is_visible: VisibilityFilter | None = None,
) -> UploadResult:
    """Publish the skill of these files through the gate, or without `may_publish` hand it in for review.

    `display_name` is the name of a skill whose own files say none but its slug; `is_visible` as for `propose`. The
    files are gone with it; after a refusal they stay for their hour. Raises `BundleRejected` with the findings,
    `InvalidRequest` for a name that is not the skill's, `NotFound` for files that are not there, `SourceUnreadable` for
    paths that no archive may have, `TooManyProposals`.
    """
    source = _source(slug, _uploads(upload_ids, by))
    taken = import_skill(source)
    _require_name(taken, slug)
    taken = _named(taken, slug, display_name)
    file_contents.bring(source.contents, taken.files or {}, by)
    landed = _publish(taken, by, note) if may_publish else _propose(taken, by, note, is_visible)
    with write_transaction():
        _note_copy(landed, upload_ids, by)
        SkillUpload.objects.filter(key_name=by.name, upload_id__in=upload_ids).delete()
    return landed


def _note_copy(landed: UploadResult, upload_ids: Sequence[UUID], by: Actor) -> None:
    """So that the same folder is known when it comes again."""
    if landed.revision is not None:
        files = SkillUpload.objects.filter(key_name=by.name, upload_id__in=upload_ids).values_list("path", "sha256")
        revision = Revision.objects.get(capability__capability_id=landed.capability_id, number=landed.revision)
        record_upload(revision, skill_fingerprint(files))


def _uploads(upload_ids: Sequence[UUID], by: Actor) -> dict[str, int]:
    """The rows by path."""
    rows = _recent_uploads(by).filter(upload_id__in=upload_ids[: FILES_MAX + 1], content__isnull=False)
    found = list(rows.values_list("path", "pk"))
    files = dict(found)
    if not found or len(found) != len(upload_ids) or len(files) != len(found):
        raise NotFound("Some files of the skill are not here, or appear twice: they are kept for an hour. Begin again")
    return files


def _source(slug: str, files: dict[str, int]) -> SourceBundle:
    """By way of an archive, so that the rules for names and sizes of archives hold. Raises `SourceUnreadable`."""
    if not is_ascii_skill_name(slug):
        raise InvalidRequest(f"The slug '{slug[:100]}' must be lower-case words joined by single hyphens, at most 64")
    contents = ((path, bytes(SkillUpload.objects.get(pk=pk).content or b"")) for path, pk in files.items())
    with tempfile.TemporaryFile() as archive:
        write_zip_into(archive, contents, compress=False)
        found = discover_in_archive(archive, slug)
    if len(found) != 1:
        raise SourceUnreadable(f"{slug}: {len(found)} skills in one folder; publish each by itself")
    return replace(found[0], path=slug, folder=slug)


def _require_name(taken: ImportedSkill, slug: str) -> None:
    """What the skill calls itself is what it will be found by."""
    if taken.files is None:
        raise BundleRejected(f"{slug} cannot be read as a skill", taken.findings)
    capability_id = batch.validate_all([SourceBundle(slug, taken.files)])[0].report.capability_id
    if capability_id and capability_id != capability_id_of(slug):
        name = skill_name_of(capability_id)
        raise InvalidRequest(f"The skill calls itself '{name}': publish it with --slug {name}, or change its name")


def _named(taken: ImportedSkill, slug: str, display_name: str) -> ImportedSkill:
    """With the name that its publisher gave it, where its own files say the slug alone.

    What a client makes of the slug by itself, each word with a capital letter, is not a name that a person gave.
    """
    files = dict(taken.files or {})
    capability = parse_json(decode_text(files.get("capability.json", ""))[0])
    if not isinstance(capability, dict) or capability.get("name") != slug:
        return taken
    if not display_name or display_name.casefold() == slug.replace("-", " "):
        return taken
    if len(display_name) > FILE_NAME_MAX:
        raise InvalidRequest(f"--name has 1 to {FILE_NAME_MAX} characters; found {len(display_name)}")
    files["capability.json"] = to_json(capability | {"name": display_name})
    losses = LossReport("SKILL.md")
    losses.add_file("IMPORT_KEY_MAPPED", "SKILL.md", f"--name '{display_name}' became the name of the capability")
    return replace(taken, files=files, findings=(*taken.findings, *losses.findings))


def _publish(taken: ImportedSkill, by: Actor, note: str) -> UploadResult:
    (result,) = batch.import_all([SourceBundle(taken.path, taken.files or {})], by=by, mode="publish", note=note)
    findings = sort_findings([*taken.findings, *result.findings])
    if result.status not in ("published", "unchanged"):
        raise BundleRejected(f"'{taken.path}' was not published", findings)
    status: UploadOutcome = "published" if result.status == "published" else "unchanged"
    return UploadResult(result.capability_id, status, result.revision, None, findings)


def _propose(taken: ImportedSkill, by: Actor, note: str, is_visible: VisibilityFilter | None) -> UploadResult:
    files = {name: decode_text(content)[0] for name, content in split_path(taken.files or {}).items()}
    done = proposals.propose(files=files, note=note, by=by, is_visible=is_visible)
    findings = sort_findings([*taken.findings, *done.report.findings])
    proposal = done.proposal
    return UploadResult(proposal.capability.capability_id, "proposed", None, proposal.proposal_id, findings)


def prune_uploads(lease: Lease) -> CommitAction:  # noqa: ARG001 (the handler of a job without a payload)
    """The handler: deletes files that were not published within the hour."""
    return _past_their_time().delete
