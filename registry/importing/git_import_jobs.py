"""Imports from a git address, done by a job: fetching takes up to a minute, and a request does not wait for it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final

from django.utils import timezone

from capability_rules.discovery.bundle_discovery import require_id, with_id
from capability_rules.errors import RegistryError, SourceUnreadable
from registry.common.actors import Actor
from registry.common.errors import Forbidden, NotFound
from registry.core import audit
from registry.core.jobs import queue
from registry.core.jobs.queue import CommitAction, JobState, Lease
from registry.core.rows import get_row
from registry.core.transactions import write_transaction
from registry.importing import git_reader
from registry.importing.bundle_import import BUNDLES_MAX, ImportResult, import_all_or_none
from registry.importing.git_discovery import discover_source, open_login
from registry.models import GitImport

KIND: Final = "import.git"
PRUNE_KIND: Final = "import.prune"
RETENTION: Final = timedelta(days=30)
State = GitImport.State


def start_import(
    *, source: str, by: Actor, replace_existing: bool = False, as_id: str = "", credential: str = ""
) -> GitImport:
    """Queue the fetch of `https://host/repository[@ref][#folder]`; `as_id` is the id of the one Agent Skill there.

    Raises `SourceUnreadable` for another form of address, `InvalidRequest` for another form of id, and as
    `git_discovery.open_login` for a credential.
    """
    if len(source) > 500:
        raise SourceUnreadable("A git source has at most 500 characters")
    require_id(as_id)
    # Whether it may be used is said at once; the job asks again.
    source, login = open_login(source, credential, by)
    git_reader.parse_git_url(source)
    name = login.name if login else ""
    with write_transaction():
        run = GitImport.objects.create(
            source=source, replace_existing=replace_existing, as_id=as_id, credential=name, created_by=str(by)
        )
        payload = {"import": run.pk, "by": by.name}
        queue.enqueue(KIND, payload, concurrency_key="import", max_attempts=2)
        detail = {"import": run.pk} | ({"credential": name} if name else {})
        audit.record(by=by, verb="import.begin", subject=source[:200], detail=detail)
    return run


def get_import(number: int) -> GitImport:
    """The import with this number. Raises `NotFound`."""
    missing = NotFound(f"There is no import {number}; those that ended are forgotten after 30 days")
    return get_row(GitImport.objects.filter(pk=number), missing)


def list_recent_imports() -> list[GitImport]:
    """The last imports, the newest first."""
    return list(GitImport.objects.all()[:5])


def run_import(lease: Lease) -> CommitAction | None:
    """The handler: fetches outside of any transaction, and stores what it found with the end of the job."""
    run = GitImport.objects.filter(pk=lease.payload["import"], finished_at__isnull=True).first()
    if run is None:
        return None
    number, by = run.pk, Actor("operator", lease.payload["by"])
    _step(number, State.FETCHING)
    try:
        sources = discover_source(*open_login(run.source, run.credential, by))
    except (SourceUnreadable, NotFound, Forbidden) as error:
        words = error.message
        return lambda: _end(number, reason=words)
    if len(sources) > BUNDLES_MAX:
        too_many = f"{len(sources):,} bundles; at most {BUNDLES_MAX} at a time: name a #folder"
        return lambda: _end(number, reason=too_many)
    queue.renew_lease(lease)
    _step(number, State.CHECKING, found=len(sources))

    def store() -> None:
        try:
            given = with_id(sources, run.as_id)
            _end(number, outcome=import_all_or_none(given, by=by, replace_existing=run.replace_existing))
        except RegistryError as error:
            _end(number, reason=error.message)

    return store


def on_job_state_change(payload: dict[str, Any], state: JobState) -> None:
    """What a job came to that ended without its handler."""
    run = GitImport.objects.filter(pk=payload["import"])
    if state == "queued":
        run.update(state=State.WAITING, finished_at=None, reason="")
    else:
        words = "The job was cancelled" if state == "cancelled" else "The worker could not do it; see its jobs"
        run.filter(finished_at__isnull=True).update(state=State.REFUSED, finished_at=timezone.now(), reason=words)


def prune_imports(lease: Lease) -> CommitAction:  # noqa: ARG001 (the handler of a job without a payload)
    """The handler: forgets imports that began more than `KEPT` ago."""
    return GitImport.objects.filter(created_at__lt=timezone.now() - RETENTION).delete


def _step(number: int, state: State, *, found: int = 0) -> None:
    GitImport.objects.filter(pk=number).update(state=state, found=found)


def _end(number: int, *, outcome: ImportResult | None = None, reason: str = "") -> None:
    is_stored = outcome is not None and outcome.is_stored
    GitImport.objects.filter(pk=number).update(
        state=State.STORED if is_stored else State.REFUSED,
        results=[line.as_dict() for line in outcome.lines] if outcome else [],
        reason=reason,
        finished_at=timezone.now(),
    )
