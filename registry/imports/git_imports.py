"""Imports from a git address, done by a job: fetching takes up to a minute, and a request does not wait for it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final

from django.utils import timezone

from registry import audit
from registry.actors import Actor
from registry.background import jobs
from registry.background.jobs import Followed, Lease, Write
from registry.errors import NotFound, RegistryError, SourceUnreadable
from registry.imports import git_sources
from registry.imports.import_sources import read_source
from registry.imports.importing import BUNDLES_MAX, Imported, import_together
from registry.models import GitImport
from registry.writing import writing

KIND: Final = "import.git"
PRUNE_KIND: Final = "import.prune"
KEPT: Final = timedelta(days=30)
State = GitImport.State


def begin(*, source: str, by: Actor, may_replace: bool = False) -> GitImport:
    """Queue the fetch of `https://host/repository[@ref][#folder]`. Raises `SourceUnreadable` for another form."""
    if len(source) > 500:
        raise SourceUnreadable("A git source has at most 500 characters")
    git_sources.parse(source)
    with writing():
        run = GitImport.objects.create(source=source, may_replace=may_replace, created_by=str(by))
        payload = {"import": run.pk, "by": by.name}
        jobs.enqueue(KIND, payload, lane="import", tries_max=2)
        audit.record(by=by, verb="import.begin", subject=source[:200], detail={"import": run.pk})
    return run


def get_import(number: int) -> GitImport:
    """Raises `NotFound`."""
    run = GitImport.objects.filter(pk=number).first()
    if run is None:
        raise NotFound(f"There is no import {number}; those that ended are forgotten after 30 days")
    return run


def recent(limit: int = 5) -> list[GitImport]:
    """The newest first."""
    return list(GitImport.objects.all()[:limit])


def fetch(lease: Lease) -> Write | None:
    """The handler: fetches outside of any transaction, and stores what it found with the end of the job."""
    run = GitImport.objects.filter(pk=lease.payload["import"], finished_at__isnull=True).first()
    if run is None:
        return None
    number, by = run.pk, Actor("operator", lease.payload["by"])
    _step(number, State.FETCHING)
    try:
        sources = read_source(run.source)
    except SourceUnreadable as error:
        words = error.message
        return lambda: _end(number, why=words)
    if len(sources) > BUNDLES_MAX:
        too_many = f"{len(sources):,} bundles; at most {BUNDLES_MAX} at a time: name a #folder"
        return lambda: _end(number, why=too_many)
    jobs.renew(lease)
    _step(number, State.CHECKING, found=len(sources))

    def store() -> None:
        try:
            _end(number, outcome=import_together(sources, by=by, may_replace=run.may_replace))
        except RegistryError as error:
            _end(number, why=error.message)

    return store


def follow(payload: dict[str, Any], state: Followed) -> None:
    """What a job came to that ended without its handler."""
    run = GitImport.objects.filter(pk=payload["import"])
    if state == "queued":
        run.update(state=State.WAITING, finished_at=None, why="")
    else:
        words = "The job was cancelled" if state == "cancelled" else "The worker could not do it; see its jobs"
        run.filter(finished_at__isnull=True).update(state=State.REFUSED, finished_at=timezone.now(), why=words)


def prune(lease: Lease) -> Write:  # noqa: ARG001 (the handler of a job without a payload)
    """The handler: forgets imports that began more than `KEPT` ago."""
    return GitImport.objects.filter(created_at__lt=timezone.now() - KEPT).delete


def _step(number: int, state: State, *, found: int = 0) -> None:
    GitImport.objects.filter(pk=number).update(state=state, found=found)


def _end(number: int, *, outcome: Imported | None = None, why: str = "") -> None:
    is_stored = outcome is not None and outcome.is_stored
    GitImport.objects.filter(pk=number).update(
        state=State.STORED if is_stored else State.REFUSED,
        results=[line.as_dict() for line in outcome.lines] if outcome else [],
        why=why,
        finished_at=timezone.now(),
    )
