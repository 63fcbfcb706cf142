"""Every refusal: one class, one stable code, with the data that a caller needs to act (docs/contract.md 4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from capability_rules.errors import RegistryError, SourceUnreadable


class CapabilityNotFound(RegistryError):
    """Unknown, never published or retired; carries what the agent can offer in its place."""

    code = "CAPABILITY_NOT_FOUND"

    def __init__(
        self,
        capability_id: str,
        *,
        available: Sequence[str] = (),
        available_names: Mapping[str, str] | None = None,
        available_total: int = 0,
        suggestions: Sequence[Mapping[str, str]] = (),
    ) -> None:
        super().__init__(
            f"No capability found for ID '{capability_id}'",
            available_capabilities=list(available),
            available_names=dict(available_names or {}),
            available_total=available_total,
            suggestions=list(suggestions),
        )
        self.capability_id = capability_id


class CapabilityQuarantined(RegistryError):
    """Held back from readers because it may do harm; nothing of it is given out, pins and copies included."""

    code = "CAPABILITY_QUARANTINED"

    def __init__(self, capability_id: str) -> None:
        super().__init__(
            f"'{capability_id}' is quarantined: it may do harm, so stop using it until its operators restore it",
            capability_id=capability_id,
        )


class RevisionNotFound(RegistryError):
    """The pinned revision or digest does not exist."""

    code = "REVISION_NOT_FOUND"


class SupportingFileNotFound(RegistryError):
    """The capability has no such file; carries the paths of those that it has."""

    code = "FILE_NOT_FOUND"

    def __init__(self, capability_id: str, path: str, *, available: Sequence[str]) -> None:
        super().__init__(f"'{capability_id}' has no file '{path[:200]}'", available_files=list(available))


class SkillMalformed(RegistryError):
    """A stored bundle no longer passes: tightened rules, a damaged row, a digest that does not agree."""

    code = "SKILL_MALFORMED"


class DraftConflict(RegistryError):
    """The draft moved on since it was read; both texts are kept in `extra`."""

    code = "DRAFT_CONFLICT"

    def __init__(self, *, yours: Mapping[str, str], theirs: Mapping[str, str], draft_version: int | None) -> None:
        super().__init__(
            "The draft was changed by someone else since you read it",
            yours=dict(yours),
            theirs=dict(theirs),
            draft_version=draft_version,
        )


class DraftNotFound(RegistryError):
    """The capability has no draft."""

    code = "DRAFT_NOT_FOUND"


class StatusConflict(RegistryError):
    """The verb does not fit the capability's status, such as a rollback of one that was never published."""

    code = "STATUS_CONFLICT"


class BundleRejected(RegistryError):
    """The gate says no; `findings` say why."""

    code = "BUNDLE_REFUSED"

    def __init__(self, message: str, findings: Sequence[Any]) -> None:
        super().__init__(message, findings=[finding.as_dict() for finding in findings])
        self.findings = tuple(findings)


class ReplacementInvalid(RegistryError):
    """`replaced_by` must be another published capability, without a cycle."""

    code = "REPLACEMENT_INVALID"


class SourceMisconfigured(SourceUnreadable):
    """A source that stays unreadable until an operator changes something: an address that is not allowed, a key that is
    refused, a git that is not there."""


class NameConflict(RegistryError):
    """An operator or a key of that name exists."""

    code = "NAME_TAKEN"


class NotFound(RegistryError):
    """A key, an operator or an incident that is not there."""

    code = "NOT_FOUND"


class Unauthenticated(RegistryError):
    """No key, or one that is unknown, revoked or expired. `challenge` stands behind the realm in `WWW-Authenticate`."""

    code = "UNAUTHENTICATED"
    challenge = ""


class Forbidden(RegistryError):
    """The key or the operator lacks the right."""

    code = "FORBIDDEN"


class SelfApprovalForbidden(RegistryError):
    """A person who has worked on the texts, or requested the review, cannot be the second approver."""

    code = "OWN_REVIEW"


class ReviewConflict(RegistryError):
    """The review, or the draft that it is about, has changed since the caller read it."""

    code = "REVIEW_CONFLICT"


# Of the event loop and of views: wherever a request did not fit, the caller reads the same.
OUT_OF_MEMORY: Final = "The server has no memory left for this request; try again in a few seconds, or send less"


class InstallCodeNotFound(RegistryError):
    """No capability that the key could have has this code."""

    code = "INSTALL_CODE_NOT_FOUND"


class ProposalNotFound(RegistryError):
    """A proposal that is not there, or is not the caller's."""

    code = "PROPOSAL_NOT_FOUND"


class TooManyProposals(RegistryError):
    """The key has as many open proposals as it may."""

    code = "TOO_MANY_PROPOSALS"


class TooManyUploads(RegistryError):
    """The key has as many files on their way as it may."""

    code = "TOO_MANY_UPLOADS"


class UploadTooLarge(RegistryError):
    """A file, or all files of a skill together, are over what is taken."""

    code = "PAYLOAD_TOO_LARGE"


class IdempotencyKeyReused(RegistryError):
    """The caller's idempotency key was already used for another call."""

    code = "IDEMPOTENCY_KEY_REUSED"


class HistoryDamaged(RegistryError):
    """The stored history does not continue what was signed of it."""

    code = "HISTORY_DAMAGED"


class SigningKeyUnusable(RegistryError):
    """The file with the signing key cannot be read, written or used."""

    code = "SIGNING_KEY_UNUSABLE"


class SignatureNotFound(RegistryError):
    """The revision was published before revisions were signed."""

    code = "SIGNATURE_NOT_FOUND"


class BackupUnreadable(RegistryError):
    """A file that is not a backup, is damaged, or was made by a newer version."""

    code = "BACKUP_UNREADABLE"


class BackupRefused(RegistryError):
    """A backup that cannot be written there, or a database that cannot take one."""

    code = "BACKUP_REFUSED"
