"""Drafts: the texts being worked on, with optimistic locking. Nothing that an author wrote is lost."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Final

from django.utils import timezone

from capability_kit.bundles.bundle import is_capability_id
from capability_rules.bundles.file_pointer import is_pointer
from capability_rules.bundles.supporting_files import (
    COUNT_MAX,
    EVALUATION_FILES,
    FOLDERS_TEXT,
    METADATA_KEY,
    describe_path_error,
    find_supporting_files,
    is_in_folder,
    path_error,
    split_path,
)
from capability_rules.bundles.supporting_files_key import add_supporting_files_key
from capability_rules.bundles.text import BUNDLE_BYTES_MAX, FILE_BYTES_MAX, decode_text, size_bytes
from capability_rules.bundles.validation_context import ValidationContext
from capability_rules.errors import InvalidRequest
from capability_rules.validation import BUNDLE_FILES, Report, validate_bundle
from capability_rules.validation.bundle_set import refuse_id
from registry.access.teams import get_or_create_capability, require_edit_permission
from registry.catalog import draft_versions
from registry.catalog.assessment import assess_report
from registry.catalog.incidents import close_incidents
from registry.common.actors import Actor
from registry.common.errors import DraftConflict, DraftNotFound
from registry.core import audit
from registry.core.file_contents import hold_files
from registry.core.published_index import get_validation_context
from registry.core.queries import get_capability
from registry.core.rows import get_row, update_row
from registry.core.transactions import bump_access_revision, write_transaction
from registry.models import AgentKey, Capability, Draft, Incident, Proposal, RegistryState

DISCARDED_RETENTION: Final = draft_versions.KEPT
# What a draft could not keep.
UNSTORABLE_CODES: Final = frozenset({"FILE_TOO_LARGE", "BUNDLE_TOO_LARGE", "TEXT_NOT_UTF8", "TEXT_NUL"})


@dataclass(frozen=True)
class SavedDraft:
    """`version` is what the next save must name; `report` is what validation says of the texts."""

    capability_id: str
    version: int
    files: Mapping[str, str]
    report: Report


@dataclass(frozen=True)
class TextsToEdit:
    """`version` is what the first save must name: that of the draft, or None where these are the texts of the published
    `revision`, from which the save makes a draft."""

    files: dict[str, str]
    version: int | None
    revision: int | None
    report: Report


def save_draft(
    *,
    capability_id: str,
    files: Mapping[str, str],
    based_on: int | None,
    by: Actor,
    create: bool = False,
    preserve_supporting_files_of: Capability | None = None,
) -> SavedDraft:
    """Store the texts as the capability's draft, whatever their errors: a draft may be invalid, never lost.

    With `create` the capability must be new: `DraftConflict` where it exists. With `preserve_supporting_files_of`,
    the capability itself, its supporting files stay what they are: for callers that edit the four bundle files alone.
    What travels beside a bundle (`EVALUATION_FILES`) is checked and not part of it.

    `based_on` is the draft version that the author read, None where there was none. Raises `DraftConflict` with both
    texts where the draft has moved on, `InvalidRequest` for an id or a size that can never be stored, and
    for a first draft without any file.
    """
    beside = {name: text for name, text in files.items() if name in EVALUATION_FILES}
    files = {name: text for name, text in files.items() if name not in beside}
    is_empty = not files
    if preserve_supporting_files_of is not None:
        files = {**files, **find_supporting_files(editable_files(preserve_supporting_files_of)[0])}
    texts = normalize_files(capability_id, files, held=_existing_files(capability_id, files))
    report = validate_draft_files(capability_id, texts | beside)
    with write_transaction():
        require_edit_permission(capability_id, by)
        capability, is_new = get_or_create_capability(capability_id, by)
        current = get_active_draft(capability)
        version = current.version if current else None
        if version != based_on or (create and not is_new):
            raise DraftConflict(yours=texts, theirs=current.files if current else {}, draft_version=version)
        if current is None and is_empty:
            # Emptying a draft is an edit; here it would put an empty draft before the published texts.
            raise InvalidRequest(
                "There is nothing to save: no file has a text. Write capability.json or skill.md first"
            )
        draft = store_draft(capability, current, texts, by, report=report)
        audit.record(by=by, verb="draft.save", subject=capability_id, detail={"draft_version": draft.version})
    return SavedDraft(capability_id, draft.version, texts, report)


def replace_draft(
    *,
    capability_id: str,
    files: Mapping[str, str],
    by: Actor,
    note: str = "",
    dry_run: bool = False,
    over: int | None = None,
    report: Report | None = None,
) -> Draft | None:
    """Replace the draft, if there is one, with these texts; the replaced one is discarded and kept for 30 days.

    `over` is the version of a draft that may be written over: the caller's own, a moment ago. `report` is what the
    caller has just found in these texts: where it is of other texts or another id, they are checked here.

    Raises `InvalidRequest` for what can never be stored, and `Forbidden`; a dry run does that much and returns None.
    """
    texts = normalize_files(capability_id, files)
    if dry_run:
        require_edit_permission(capability_id, by)
        return None
    if report is None or report.files != texts or report.capability_id != capability_id:
        report = validate_draft_files(capability_id, texts)
    with write_transaction():
        require_edit_permission(capability_id, by)
        capability, _ = get_or_create_capability(capability_id, by)
        current = get_active_draft(capability)
        if current is not None and current.files == texts:
            return current
        own = current if current is not None and current.version == over else None
        if current is not None and own is None:
            discard(current)
        draft = store_draft(capability, own, texts, by, report=report)
        audit.record(by=by, verb="draft.import", subject=capability_id, detail=_detail(draft, note))
    return draft


def normalize_files(capability_id: str, files: Mapping[str, str], *, held: Collection[str] = ()) -> dict[str, str]:
    """The texts to store; `held` as in `require_known_files`. Raises `InvalidRequest` for an id, a file or a size
    that never can be."""
    if not is_capability_id(capability_id):
        raise InvalidRequest("capability_id takes lower-case words and digits joined by _, at most 64 characters")
    require_known_files(files, held=held)
    total = {False: 0, True: 0}
    for name, text in files.items():
        total[is_pointer(text)] += size_bytes(text)
        if size_bytes(text) > FILE_BYTES_MAX or max(total.values()) > BUNDLE_BYTES_MAX:
            raise InvalidRequest(f"{name} is too large: a file has at most 1 MiB, a bundle 2 MiB")
    # NUL cannot be stored by PostgreSQL; the validator reports it where it is in what the author sent.
    return {name: decode_text(text)[0].replace("\0", "\ufffd") for name, text in files.items()}


def require_known_files(files: Mapping[str, str], *, held: Collection[str] = ()) -> None:
    """Raises `InvalidRequest` for a file that is not part of a bundle, or whose path cannot be.

    `held` are files that the draft already has: an edited list, or a path that was valid under older rules,
    must not lose a text. Publishing refuses such a path.
    """
    known = {*split_path(files), *held}
    for name in sorted(files):
        if name not in known:
            files_said = f"{', '.join(BUNDLE_FILES)}, what is in {FOLDERS_TEXT} and what metadata.{METADATA_KEY} names"
            raise InvalidRequest(f"A bundle has no file {name[:80]!r}; its files are {files_said}")
        if name not in BUNDLE_FILES and name not in held and path_error(name):
            raise InvalidRequest(describe_path_error(name, path_error(name)))
    if len(find_supporting_files(files)) > COUNT_MAX:
        raise InvalidRequest(f"A bundle has at most {COUNT_MAX} supporting files")


def _existing_files(capability_id: str, files: Mapping[str, str]) -> Collection[str]:
    """The files of the draft, or of the release, where some of these could not be added to a new draft."""
    if len(split_path(files)) == len(files) and not any(path_error(name) for name in find_supporting_files(files)):
        return ()
    capability = Capability.objects.filter(capability_id=capability_id).first()
    return editable_files(capability)[0].keys() if capability is not None else ()


def get_active_draft(capability: Capability) -> Draft | None:
    """The text being worked on, if any."""
    return capability.drafts.filter(discarded_at__isnull=True).select_related("proposal").first()


def store_draft(
    capability: Capability,
    draft: Draft | None,
    texts: dict[str, str],
    by: Actor,
    *,
    report: Report,
    proposal: Proposal | None = None,
    earlier_editors: Collection[str] = (),
    keep_version: bool = False,
) -> Draft:
    """Write the texts into a draft, or into a new one, under the next version; the caller holds the lock. What they
    replace is kept as an earlier version where `draft_versions` says so, or always with `keep_version`.

    `report` is their validation report: keys that preview see a draft that passes. `earlier_editors` have worked
    on the texts before.
    """
    if draft is not None:
        draft_versions.keep_version(draft, texts, by, always=keep_version)
    update_row(capability, draft_counter=capability.draft_counter + 1, updated_at=timezone.now())
    if draft is None:
        draft = Draft(capability=capability, base_revision=capability.published_revision, proposal=proposal)
    draft.version = capability.draft_counter
    draft.digest = _digest_of(report)
    draft.files = texts
    draft.saved_at = timezone.now()
    draft.saved_by = str(by)
    draft.editors = list(dict.fromkeys([*draft.editors, *earlier_editors, str(by)]))
    # What the capability has already is looked up in its rows as they are.
    hold_files(capability, texts, by)
    draft.save()
    _notify_preview_keys()
    return draft


def _digest_of(report: Report) -> str:
    return report.bundle.digest if report.bundle is not None and report.ok else ""


def refresh_digest(capability: Capability) -> None:
    """Note whether the draft passes now, after a waiver was made or ended: lists and keys that preview read that."""
    draft = get_active_draft(capability)
    digest = _digest_of(validate_draft(draft)) if draft is not None else ""
    if draft is None or digest == draft.digest:
        return
    with write_transaction():
        # A draft that was saved meanwhile has its own.
        if Draft.objects.filter(pk=draft.pk, version=draft.version, discarded_at__isnull=True).update(digest=digest):
            _notify_preview_keys()


def _notify_preview_keys() -> None:
    """Drafts move no registry revision; where a key sees them, what it sees has moved."""
    if AgentKey.objects.filter(preview=True, revoked_at__isnull=True).exists():
        bump_access_revision(RegistryState.objects.get(id=1))


def get_draft(capability_id: str, *, version: int | None = None) -> Draft:
    """The active draft. Raises `CapabilityNotFound`, with the ids that there are, `DraftNotFound`, and `DraftConflict`
    where it is not at the `version` that the caller has read any more."""
    found = Draft.objects.filter(capability__capability_id=capability_id, discarded_at__isnull=True)
    draft = found.select_related("proposal", "capability__published_revision").first()
    if draft is None:
        raise DraftNotFound(f"'{get_capability(capability_id).capability_id}' has no draft")
    if version not in (None, draft.version):
        raise DraftConflict(yours={}, theirs=draft.files, draft_version=draft.version)
    return draft


def read_draft_files(capability_id: str) -> dict[str, str]:
    """The texts of the active draft; empty where there is none."""
    draft = Draft.objects.filter(capability__capability_id=capability_id, discarded_at__isnull=True).first()
    return draft.files if draft is not None else {}


def list_editors(draft: Draft) -> list[str]:
    """Everyone who has worked on a draft, as actors; of one older than the list, the actor who saved it last."""
    return list(draft.editors) or [draft.saved_by]


def change_supporting_file(
    *,
    capability: Capability,
    by: Actor,
    based_on: int | None,
    put: Mapping[str, str] | None = None,
    remove: Collection[str] = (),
) -> SavedDraft:
    """Add supporting files to the draft and remove some; everything else stays what it is, but for the list in
    capability.json, which names those outside of the folders.

    Raises `InvalidRequest` for a path that is none and for a mark that cannot be written, and what `save_draft` raises.
    """
    for path in (*(put or {}), *(name for name in remove if name in BUNDLE_FILES)):
        if path_error(path):
            raise InvalidRequest(describe_path_error(path, path_error(path)))
    files = {name: text for name, text in editable_files(capability)[0].items() if name not in remove} | dict(put or {})
    outside = [path for path in put or {} if not is_in_folder(path)]
    if "capability.json" in files or outside:
        files["capability.json"] = add_supporting_files_key(files.get("capability.json", ""), add=outside, drop=remove)
    return save_draft(capability_id=capability.capability_id, files=files, based_on=based_on, by=by)


def editable_files(capability: Capability) -> tuple[dict[str, str], int | None]:
    """What an editor opens: the draft with its version, else the published texts with None."""
    draft = get_active_draft(capability)
    if draft is not None:
        return draft.files, draft.version
    revision = capability.published_revision
    return (revision.files if revision else {}), None


def read_texts_to_edit(capability_id: str) -> TextsToEdit:
    """What a program edits: the draft, or the published texts to begin one from. Raises `CapabilityNotFound`, and
    `DraftNotFound` where there is neither."""
    capability = get_capability(capability_id)
    files, version = editable_files(capability)
    revision = capability.published_revision if version is None else None
    if version is None and revision is None:
        raise DraftNotFound(f"'{capability_id}' has no draft, and was never published")
    report = validate_draft_files(capability_id, files)
    return TextsToEdit(files, version, revision.number if revision is not None else None, report)


def discard_draft(*, capability_id: str, by: Actor, note: str = "", draft_version: int | None = None) -> None:
    """Discard the draft; it can be restored for 30 days. Raises `DraftConflict` if it is no longer `draft_version`."""
    with write_transaction():
        require_edit_permission(capability_id, by)
        draft = get_draft(capability_id, version=draft_version)
        discard(draft)
        audit.record(by=by, verb="draft.discard", subject=capability_id, detail=_detail(draft, note))


def discard(draft: Draft) -> None:
    """Mark a draft as discarded and delete those that are past their time; the caller holds the lock."""
    update_row(draft, discarded_at=timezone.now())
    # What could not be released is no longer to be.
    close_incidents(draft.capability, kind=Incident.Kind.RELEASE)
    _notify_preview_keys()
    Draft.objects.filter(discarded_at__lt=timezone.now() - DISCARDED_RETENTION).delete()


def _detail(draft: Draft, note: str) -> dict[str, object]:
    return {"draft_version": draft.version, **({"note": note} if note else {})}


def restore_draft(*, capability_id: str, version: int, by: Actor) -> Draft:
    """Restore a discarded draft. Raises `DraftConflict` where another draft has been started meanwhile."""
    with write_transaction():
        require_edit_permission(capability_id, by)
        found = Draft.objects.filter(discarded_at__isnull=False, capability__capability_id=capability_id)
        missing = DraftNotFound(f"'{capability_id}' has no discarded draft {version}")
        discarded = get_row(found.filter(version=version), missing)
        current = get_active_draft(discarded.capability)
        if current is not None:
            raise DraftConflict(yours=discarded.files, theirs=current.files, draft_version=current.version)
        update_row(discarded, discarded_at=None)
        _notify_preview_keys()
        audit.record(by=by, verb="draft.restore", subject=capability_id, detail={"draft_version": version})
    return discarded


def restore_version(*, capability_id: str, version: int, based_on: int | None, by: Actor) -> Draft:
    """Make an earlier text of the draft its text again, or a new draft of it where there is none; what it replaces is
    kept as a version, so that this can be undone. The draft is returned unchanged where it has that text already.

    `based_on` is the draft version that the person has seen, None where there was none: raises `DraftConflict` where
    the draft has moved on, `DraftNotFound` where no such version is kept.
    """
    earlier, texts = draft_versions.get_earlier_draft(get_capability(capability_id), version)
    report = validate_draft_files(capability_id, texts)
    with write_transaction():
        require_edit_permission(capability_id, by)
        capability = get_capability(capability_id)
        current = get_active_draft(capability)
        if (current.version if current else None) != based_on:
            theirs = current.files if current else {}
            raise DraftConflict(yours=texts, theirs=theirs, draft_version=current.version if current else None)
        if current is None and earlier.is_set_aside:
            # The same draft again, with the proposal that it came from.
            return restore_draft(capability_id=capability_id, version=version, by=by)
        if current is not None and current.files == texts:
            return current
        draft = store_draft(
            capability, current, texts, by, report=report, earlier_editors=earlier.editors, keep_version=True
        )
        detail = {"draft_version": draft.version, "from_version": version}
        audit.record(by=by, verb="draft.restore", subject=capability_id, detail=detail)
    return draft


def validate_draft_files(
    capability_id: str, files: Mapping[str, str], *, published: ValidationContext | None = None
) -> Report:
    """The validation report of texts as the draft of this capability, in the registry's current state, with waivers and
    the results of scanners; or beside what is `published` for a given reader, who learns nothing of those.

    A draft of one capability cannot be published as another: the id is its address.
    """
    report = validate_bundle(files, published=published or get_validation_context())
    report = _require_id(report, capability_id)
    return report if published is not None else assess_report(report)


def _require_id(report: Report, capability_id: str) -> Report:
    if report.capability_id == capability_id or not report.capability_id:
        return report
    message = f"capability_id is '{report.capability_id}', but this is the draft of '{capability_id}'"
    hint = f"Write '{capability_id}', or create a capability of the new id."
    return replace(refuse_id(report, "FIELD_INVALID", message, hint), capability_id=capability_id)


def validate_draft(draft: Draft, report: Report | None = None) -> Report:
    """The validation report of a draft in the registry's current state. `report` is what `validate_bundle` has just
    found in its texts: where it is of other texts, they are checked here."""
    capability_id = draft.capability.capability_id
    if report is None or report.files != draft.files:
        report = validate_bundle(draft.files, published=get_validation_context())
    # What a key has proposed comes from outside, and stays so when others work on it.
    is_foreign = report.is_foreign or draft.proposal_id is not None
    return assess_report(replace(_require_id(report, capability_id), is_foreign=is_foreign))
