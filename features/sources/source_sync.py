"""Git repositories and other registries that are followed: what changes there is imported, as drafts or published,
again and again.

Nothing is taken back: what goes from the source stays here until an operator retires it, and what was published
here meanwhile is not overwritten but stored as a draft. features/sources/drift.py says where the two differ.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.utils import timezone

from capability_rules.errors import InvalidRequest, SourceUnreadable
from capability_rules.validation.isolation.pool import ChecksUnfinished
from features.credentials import credential_store
from features.credentials.git_logins import open_login, take_login
from features.credentials.models import Credential
from features.sources import incidents
from features.sources.audit_rows import record_event
from features.sources.models import GitSource, GitSourceItem
from features.sources.registry_mirror import read_registry
from features.sources.source_state import KnownState, SourceBundleState, SourceSnapshot, inspect_bundle, is_up_to_date
from registry.access.stored_secrets import SecretUnreadable, decrypt_secret, encrypt_secret
from registry.catalog.incidents import open_held_incident
from registry.common.actors import Actor
from registry.common.errors import NameConflict, NotFound, SourceMisconfigured
from registry.common.net.registry_client import check_registry_url
from registry.core import audit
from registry.core.jobs import queue
from registry.core.jobs.queue import CommitAction, JobState, Lease
from registry.core.queries import content_digest
from registry.core.rows import get_row, update_row
from registry.core.transactions import write_transaction
from registry.importing.git_discovery import discover_in_git
from registry.importing.git_reader import GitLogin, check_access, parse_git_url
from registry.models import AuditEvent, Capability, Incident
from registry.publishing import batch
from registry.publishing.batch import BatchResult
from registry.publishing.gate import ACKNOWLEDGEABLE_CODES

KIND: Final = "git_source.sync"
EVERY_MINUTES_MIN: Final = 5
EVERY_MINUTES_MAX: Final = 7 * 24 * 60
SOURCES_MAX: Final = 50
# A source that cannot be read is an incident after this many syncs, or at once where trying again would not help.
FAILURES_BEFORE_INCIDENT: Final = 3
_HELD: Final = "It was published here with other content since; the source's is the draft"
# What a person has taken from readers does not come back by itself.
_WITHDRAWN: Final = {
    "retired": "It was retired here; the source's is the draft",
    "quarantined": "It is quarantined here; the source's is the draft",
}
_ELSEWHERE: Final = "It comes from another source that is followed, {spec}; it was left alone"
_FOREIGN: Final = "It is here already and did not come from this source; it was left alone"
# What the gate requires a person to resolve.
_FOR_A_PERSON: Final = ACKNOWLEDGEABLE_CODES | {"APPROVAL_REQUIRED", "LOOSENING_NOT_ALLOWED", "SEC_HELD", "WAS_RETIRED"}
_FOR_SOMEBODY: Final = "Saved as a draft; publish it manually"
_Status = GitSourceItem.Status


@dataclass(frozen=True)
class SyncResult:
    """The result of one sync: the rows that were imported again, and how many were unchanged."""

    commit: str
    taken: tuple[GitSourceItem, ...]
    unchanged: int


@dataclass(frozen=True, slots=True)
class SyncSettings:
    """How a source is followed. `may_adopt`: whether it may write over what is here and came from elsewhere."""

    mode: str
    every_minutes: int
    may_adopt: bool = True


def add_git_source(*, spec: str, mode: str, every_minutes: int, by: Actor, credential: str = "") -> GitSource:
    """Follow `https://host/repository[@branch-or-tag][#folder]`; the first look is due at once.

    `credential` is the name of one for its host, which is tried; a token in the address is kept as one. Raises
    `SourceUnreadable` for another form and for what the host does not show, `InvalidRequest`, `NameConflict` where it
    is followed already.
    """
    following = SyncSettings(mode, every_minutes)
    _check(following)
    spec, kept = take_login(spec, by)
    credential = kept or credential
    address = parse_git_url(spec)
    if len(spec) > 1000 or len(address.folder) > 500:
        raise InvalidRequest("The address has at most 1,000 characters, its folder 500")
    named: dict[str, Any] = {"url": address.url, "ref": address.ref, "folder": address.folder}
    if credential:
        row = credential_store.get_credential(credential)
        credential_store.require_host(row, address.url)
        check_access(spec, _open_login(row, spec))
        named["credential"] = row
    return _add(named, following, by)


def _open_login(row: Credential, spec: str) -> GitLogin:
    return open_login(row, spec, used_for=f"source {spec}")


def add_registry(
    *, url: str, mode: str, every_minutes: int, by: Actor, read_key: str = "", may_adopt: bool = False
) -> GitSource:
    """Follow another Capability Studio; `read_key` is an agent key of there with the scope read, where it wants one.

    Raises as `add_source` does.
    """
    named = {"kind": GitSource.Kind.REGISTRY, "url": check_registry_url(url), "read_key": _stored_key(read_key)}
    return _add(named, SyncSettings(mode, every_minutes, may_adopt), by)


def _checked_key(key: str) -> str:
    key = key.strip()
    if len(key) > 200 or " " in key or not (key.isascii() and key.isprintable()):
        raise InvalidRequest("A key has at most 200 characters, without blanks")
    return key


def _stored_key(key: str) -> str:
    given = _checked_key(key)
    return encrypt_secret(given) if given else ""


def read_stored_key(source: GitSource) -> str:
    """The key of another registry; empty for one of another SECRET_KEY, which a sync refuses with the words."""
    try:
        return decrypt_secret(source.read_key)
    except SecretUnreadable:
        return ""


def _add(named: dict[str, Any], following: SyncSettings, by: Actor) -> GitSource:
    _check(following)
    with write_transaction():
        if GitSource.objects.filter(**{key: named.get(key, "") for key in ("url", "ref", "folder")}).exists():
            raise NameConflict(f"{named['url']} is followed already")
        if GitSource.objects.count() >= SOURCES_MAX:
            raise InvalidRequest(f"At most {SOURCES_MAX} sources are followed; remove one first")
        source = GitSource.objects.create(**named, **asdict(following), created_by=str(by))
        _queue(source, first=True)
        detail = {"credential": source.credential.name} if source.credential is not None else {}
        record_event(source, "git_source.add", by, {"kind": str(source.kind), **_settings_detail(following), **detail})
    return source


def _check(following: SyncSettings) -> None:
    if following.mode not in GitSource.Mode.values:
        raise InvalidRequest(f"A source is taken in as {' or '.join(GitSource.Mode.values)}, not as '{following.mode}'")
    if not EVERY_MINUTES_MIN <= following.every_minutes <= EVERY_MINUTES_MAX:
        raise InvalidRequest(
            f"Every {EVERY_MINUTES_MIN} to {EVERY_MINUTES_MAX} minutes; found {following.every_minutes}"
        )


def _settings_detail(following: SyncSettings) -> dict[str, Any]:
    return {"mode": following.mode, "every": following.every_minutes, "may_adopt": following.may_adopt}


def update_source(
    *, source_id: int, following: SyncSettings, by: Actor, read_key: str | None = None, credential: str | None = None
) -> GitSource:
    """Follow it in another way from its next change on; None leaves the key, and the credential, as they are.

    Raises `NotFound`, `InvalidRequest`, `SourceUnreadable` for a credential that the host does not take. The same again
    changes nothing.
    """
    _check(following)
    row = _find_credential(get_source(source_id), credential)
    key = None if read_key is None else _checked_key(read_key)
    with write_transaction():
        source = get_source(source_id)
        if key and source.kind != GitSource.Kind.REGISTRY:
            raise InvalidRequest("Only another registry takes a key")
        had = SyncSettings(source.mode, source.every_minutes, source.may_adopt)
        is_new_key = key is not None and key != read_stored_key(source)
        is_new_login = credential is not None and row != source.credential
        if had == following and not is_new_key and not is_new_login:
            return source
        # Another key may see other things.
        changed_key = {"read_key": _stored_key(key or ""), "etag": ""} if is_new_key else {}
        changed_login = {"credential": row} if is_new_login else {}
        update_row(source, **asdict(following), **changed_key, **changed_login)
        if had.every_minutes != following.every_minutes:
            queue.reschedule(sync_job_key(source), until=timezone.now() + timedelta(minutes=source.every_minutes))
        now = _settings_detail(following)
        kept = {"credential": row.name if row else None} if is_new_login else {}
        detail = now | kept | ({"key": "changed"} if is_new_key else {}) | audit.changed(_settings_detail(had), now)
        record_event(source, "git_source.change", by, detail)
    return source


def _find_credential(source: GitSource, name: str | None) -> Credential | None:
    """The one of this name, which the host takes; None for none."""
    if not name:
        return None
    if source.kind == GitSource.Kind.REGISTRY:
        raise InvalidRequest("Another registry takes a key of its own, not a credential")
    row = credential_store.get_credential(name)
    credential_store.require_host(row, source.url)
    if row != source.credential:
        check_access(source.spec, _open_login(row, source.spec))
    return row


def remove_source(*, source_id: int, by: Actor) -> GitSource:
    """Stop following it; what was imported stays. Raises `NotFound`."""
    with write_transaction():
        source = get_source(source_id)
        incidents.close_source_incident(source, by=by, why="It is no longer followed")
        Incident.objects.filter(kind=Incident.Kind.SOURCE, source_id=source.pk).delete()
        GitSource.objects.filter(pk=source.pk).delete()
        record_event(source, "git_source.remove", by)
    return source


def get_source(source_id: int) -> GitSource:
    """The source with this number. Raises `NotFound`."""
    missing = NotFound(f"No git source has the number {source_id}; see: git_source list")
    return get_row(GitSource.objects.filter(pk=source_id), missing)


def list_sources() -> list[GitSource]:
    """In the order in which they came."""
    return list(GitSource.objects.all())


def request_sync(*, source_id: int, by: Actor) -> bool:
    """Have a worker look at it now: whether that is new, False where such a look waits already. Raises `NotFound`."""
    with write_transaction():
        source = get_source(source_id)
        record_event(source, "git_source.ask", by)
        return sync_now(source)


def sync_now(source: GitSource) -> bool:
    """As `request_sync`; the caller holds the lock. A running sync is followed by another one: it may have
    read the source before the change that the caller waits for."""
    GitSource.objects.filter(pk=source.pk).update(sync_requested_at=timezone.now())
    moved = queue.run_now(sync_job_key(source))
    return _queue(source, first=True) if moved is None else moved


def read_source(source: GitSource, known: KnownState) -> SourceSnapshot:
    """Read the source; `known` are the items of its last look, by their paths. Raises `SourceUnreadable`."""
    if source.kind == GitSource.Kind.REGISTRY:
        key = read_stored_key(source)
        if source.read_key and not key:
            raise SourceMisconfigured(f"{source.url}: its key was encrypted under another SECRET_KEY: enter it again")
        return read_registry(source, known, key)
    login = _open_login(source.credential, source.spec) if source.credential is not None else None
    bundles, commit = discover_in_git(source.spec, login)
    return SourceSnapshot((inspect_bundle(bundle, source) for bundle in bundles), commit)


def sync_source(*, source_id: int, by: Actor, alive: Callable[[], object] = lambda: None) -> SyncResult:
    """Sync the source now: import what has changed there; `alive` is called between bundles.

    Raises `NotFound`, and `SourceUnreadable`, which is kept with the source too.
    """
    source = get_source(source_id)
    known = {item.path: item for item in source.items.all()}
    taken: list[GitSourceItem] = []
    faults: list[SourceBundleState] = []
    paths: set[str] = set()
    try:
        found = read_source(source, known)
        for one in found.bundles:
            paths.add(one.path)
            item = known.get(one.path)
            if not is_up_to_date(source, item, one.files_digest):
                taken.append(_import_bundle(source, one, item, found.commit, by))
            elif item is not None and (item.upstream_state, item.declared_digest) != (
                one.upstream_state,
                one.declared_digest,
            ):
                GitSourceItem.objects.filter(pk=item.pk).update(
                    upstream_state=one.upstream_state, declared_digest=one.declared_digest
                )
            faults += [one] if one.fault else []
            alive()
    except SourceUnreadable as error:
        _note_failure(source, error, by)
        raise
    gone = _note_gone([item for path, item in known.items() if path not in paths])
    told = {"last_synced_at": timezone.now(), "commit": found.commit[:64], "etag": found.etag}
    _note_success(source, told, [item for item in taken if item.status != "unchanged"], gone, faults, by)
    return SyncResult(found.commit, tuple(taken), len(paths) - len(taken))


def _note_gone(items: list[GitSourceItem]) -> list[GitSourceItem]:
    """Those that were there at the last sync. In parts: a database takes no list of any length."""
    newly = [item for item in items if item.upstream_state != GitSourceItem.UpstreamState.GONE]
    keys = [item.pk for item in newly]
    for start in range(0, len(keys), 500):
        GitSourceItem.objects.filter(pk__in=keys[start : start + 500]).update(
            upstream_state=GitSourceItem.UpstreamState.GONE
        )
    return newly


def _import_bundle(
    source: GitSource, one: SourceBundleState, known: GitSourceItem | None, commit: str, by: Actor
) -> GitSourceItem:
    was_ours = known is not None and known.is_managed
    if one.fault or one.source is None:
        columns: dict[str, Any] = {"capability_id": one.capability_id, "status": _Status.REFUSED}
        columns["detail"] = one.fault[:500]
    elif not was_ours and (other := _find_other_source(source, one.capability_id)) is not None:
        detail = _ELSEWHERE.format(spec=other.spec)[:500]
        columns = {"capability_id": one.capability_id, "status": _Status.FOREIGN, "detail": detail}
    elif not source.may_adopt and not was_ours and Capability.objects.filter(capability_id=one.capability_id).exists():
        is_same = bool(one.content_digest) and content_digest(one.capability_id) == one.content_digest
        status, detail = (_Status.UNCHANGED, "") if is_same else (_Status.FOREIGN, _FOREIGN)
        columns = {"capability_id": one.capability_id, "status": status, "detail": detail}
    else:
        columns = _import(source, one, known, commit, by)
        was_ours = was_ours or columns["status"] != _Status.REFUSED or columns["detail"].endswith(_FOR_SOMEBODY)
    is_refused = columns["status"] == _Status.REFUSED
    columns |= {
        "files_digest": one.files_digest,
        # What is refused was not imported: the state before it still shows which side has changed.
        "content_digest": (known.content_digest if known else "") if is_refused else one.content_digest,
        "is_managed": was_ours,
        "upstream_state": one.upstream_state,
        "declared_digest": one.declared_digest,
        "imported_at": timezone.now(),
    }
    with write_transaction():
        return GitSourceItem.objects.update_or_create(source=source, path=one.path, defaults=columns)[0]


def _find_other_source(source: GitSource, capability_id: str) -> GitSource | None:
    """The source that this capability came from first, and comes from still."""
    items = GitSourceItem.objects.filter(capability_id=capability_id, is_managed=True).exclude(source=source)
    here = Capability.objects.filter(capability_id=capability_id)
    item = items.exclude(upstream_state=GitSourceItem.UpstreamState.GONE).select_related("source").first()
    return item.source if item is not None and here.exists() else None


def _import(
    source: GitSource, one: SourceBundleState, known: GitSourceItem | None, commit: str, by: Actor
) -> dict[str, Any]:
    """Through the import and the gate, as everybody's bundles go."""
    held = _why_held(one, known) if source.mode == "publish" else ""
    mode: batch.Mode = "publish" if source.mode == "publish" and not held else "draft"
    note = f"From {source.spec} at {commit[:12] if source.kind == GitSource.Kind.GIT else commit}"
    assert one.source is not None  # noqa: S101 (the caller has asked)
    try:
        (result,) = batch.import_all([one.source], by=by, mode=mode, note=note)
    except ChecksUnfinished as error:
        # What is refused is looked at again by the next sync.
        return {"capability_id": one.capability_id, "status": _Status.REFUSED, "detail": error.message}
    status, detail = str(result.status), _reason(result)
    if _waits_for_somebody(result):
        detail = f"{detail[:440]}. {_FOR_SOMEBODY}"
        if known is None or known.files_digest != one.files_digest:
            batch.import_all([one.source], by=by, mode="draft", note=note)
        _note_held(source, result, by)
    if held and status == "draft":
        status, detail = _Status.HELD, held
    return {"capability_id": result.capability_id[:64] or one.capability_id, "status": status, "detail": detail}


def _note_held(source: GitSource, result: BatchResult, by: Actor) -> None:
    """Open an incident where a passage has to be decided: nobody looks at a source that only brings what it has."""
    waiting = [finding for finding in result.findings if finding.code == "SEC_HELD"]
    if not waiting:
        return
    message = f"A release of '{result.capability_id}' from {source.spec} waits for a decision"
    with write_transaction():
        capability = Capability.objects.filter(capability_id=result.capability_id).first()
        if capability is not None:
            open_held_incident(capability=capability, message=message, findings=waiting, by=by)


def _why_held(one: SourceBundleState, known: GitSourceItem | None) -> str:
    """Why it is stored as a draft instead of published; empty where it is not."""
    here = Capability.objects.filter(capability_id=one.capability_id).values_list("status", flat=True).first()
    return _WITHDRAWN.get(here or "", _HELD if _changed_locally(one, known) else "")


def _changed_locally(one: SourceBundleState, known: GitSourceItem | None) -> bool:
    """Whether something else was published here since the source was last imported."""
    published = content_digest(one.capability_id)
    if known is None or not known.is_managed or not known.content_digest or published is None:
        return False
    return published not in (known.content_digest, one.content_digest)


def _waits_for_somebody(result: BatchResult) -> bool:
    """Whether a person could publish it: by acknowledging something, or as a second one. Another look could not."""
    codes = {finding.code for finding in result.findings if finding.is_error}
    return result.status == "refused" and bool(codes) and codes <= _FOR_A_PERSON


def _reason(result: BatchResult) -> str:
    """Why it was refused, in a line."""
    if result.status != "refused":
        return ""
    errors = [finding for finding in result.findings if finding.is_error] or list(result.findings)
    more = f", and {len(errors) - 1} more" if len(errors) > 1 else ""
    return f"{errors[0].code}: {errors[0].message}{more}"[:500] if errors else "refused"


def _note_success(
    source: GitSource,
    told: dict[str, Any],
    changed: list[GitSourceItem],
    gone: list[GitSourceItem],
    faults: list[SourceBundleState],
    by: Actor,
) -> None:
    """The source can be read again; what it gives that cannot be trusted is an incident all the same."""
    with write_transaction():
        fine = {"failures": 0, "last_error": ""}
        GitSource.objects.filter(pk=source.pk).update(**told, **fine)
        if changed or gone:
            became = {item.capability_id or item.path: item.status for item in changed[:50]}
            became |= {item.capability_id or item.path: "gone" for item in gone[:50]}
            record_event(source, "git_source.sync", by, {"commit": told["commit"], "became": became})
        if faults:
            named = ", ".join(fault.capability_id for fault in faults[:10])
            message = f"{source.spec} gives {len(faults)} bundle{'s' if len(faults) > 1 else ''} that cannot be trusted"
            incidents.open_source_incident(source=source, message=message, details=f"{named}: {faults[0].fault}", by=by)
        else:
            incidents.close_source_incident(source, by=by)


def _note_failure(source: GitSource, error: SourceUnreadable, by: Actor) -> None:
    """The first of a row is recorded in the history too; all of them are counted, and some are an incident."""
    failures = source.failures + 1
    with write_transaction():
        GitSource.objects.filter(pk=source.pk).update(failures=failures, last_error=error.message[:500])
        if failures == 1:
            record_event(source, "git_source.fail", by, {"error": error.message[:500]})
        if failures >= FAILURES_BEFORE_INCIDENT or isinstance(error, SourceMisconfigured):
            message = f"{source.spec} cannot be read"
            incidents.open_source_incident(source=source, message=message, details=error.message, by=by)


def sync_job_key(source: GitSource) -> str:
    """What the open job of a source is found by."""
    return f"{KIND}:{source.pk}"


def _queue(source: GitSource, *, first: bool = False) -> bool:
    """Under the registry's lock; with a key of its own, because a source may keep us waiting. Whether it is new."""
    due = timezone.now() + timedelta(minutes=0 if first else source.every_minutes)
    return queue.enqueue(
        KIND,
        {"source_id": source.pk},
        run_after=due,
        dedupe_key=sync_job_key(source),
        concurrency_key=f"git {source.pk}",
        max_attempts=2,
    )[1]


def sync_job(lease: Lease) -> CommitAction | None:
    """The handler; payload `{"source_id": primary key}`. An unreadable source is synced again later."""
    source_id, began = lease.payload["source_id"], timezone.now()
    try:
        by = Actor("system", f"git source {source_id}")
        sync_source(source_id=source_id, by=by, alive=lambda: queue.renew_lease(lease))
    except NotFound:
        return None
    except SourceUnreadable:
        # It is shown where sources are listed.
        pass
    return lambda: _queue_again(source_id, began)


def _queue_again(source_id: int, began: datetime | None = None) -> None:
    """At its next time, or at once where a sync was requested after this one began."""
    source = GitSource.objects.filter(pk=source_id).first()
    if source is not None:
        was_asked = began is not None and source.sync_requested_at is not None and source.sync_requested_at >= began
        _queue(source, first=was_asked)


def on_job_state_change(payload: dict[str, Any], state: JobState) -> None:
    """A look that was parked or cancelled is not the last one."""
    if state != "queued":
        _queue_again(payload["source_id"])


def stop_without_credential(event: AuditEvent) -> None:
    """For `Feature.audit_observers`: what used a credential that is ended is an incident at once."""
    for source in GitSource.objects.filter(credential__name=event.subject):
        message = f"{source.spec} cannot be read"
        details = f"The credential '{event.subject}' is ended: choose another one"
        by = Actor(event.actor_kind, event.actor_name)  # type: ignore[arg-type]
        incidents.open_source_incident(source=source, message=message, details=details, by=by)
