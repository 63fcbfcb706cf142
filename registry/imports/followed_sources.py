"""Git repositories that are followed: what changes there is taken in, as drafts or published, again and again.

Nothing is taken back: what goes from the repository stays here until somebody retires it, and what somebody has
published here meanwhile is not overwritten but held as a draft. `drift` says where the two differ.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final, Literal

from django.utils import timezone

from registry import audit, batches
from registry.actors import Actor
from registry.agent_skills.taking import take
from registry.background import jobs
from registry.background.jobs import Followed, Lease, Write
from registry.batches import Result
from registry.errors import InvalidRequest, NameTaken, NotFound, SourceUnreadable
from registry.imports.git_sources import parse
from registry.imports.import_sources import read_git
from registry.imports.sources import SourceBundle
from registry.models import Capability, GitSource, GitSourceItem
from registry.queries import published_names, texts_digest
from registry.validation import validate
from registry.validation.documents import is_part
from registry.validation.texts import decode
from registry.writing import writing

KIND: Final = "git_source.sync"
EVERY_MINUTES_MIN: Final = 5
EVERY_MINUTES_MAX: Final = 7 * 24 * 60
SOURCES_MAX: Final = 50
_READABLE: Final = frozenset({"published", "deprecated"})

Difference = Literal[
    "source_changed", "registry_changed", "both_changed", "not_published", "gone_from_source", "unread"
]


@dataclass(frozen=True)
class Synced:
    """What one look at a source came to: the rows that were taken in anew, and how many stayed as they were."""

    commit: str
    taken: tuple[GitSourceItem, ...]
    unchanged: int


@dataclass(frozen=True)
class Drift:
    """One bundle in which the source and the registry differ, and in what way."""

    capability_id: str
    path: str
    difference: Difference
    words: str


@dataclass(frozen=True)
class _Seen:
    """One bundle of the source as it is there now; `content_digest` is empty where it is no whole bundle."""

    source: SourceBundle
    path: str
    capability_id: str
    texts_digest: str
    content_digest: str


def add_source(*, spec: str, mode: str, every_minutes: int, by: Actor) -> GitSource:
    """Follow `https://host/repository[@branch-or-tag][#folder]`; the first look is due at once.

    Raises `SourceUnreadable` for another form, `InvalidRequest`, `NameTaken` where it is followed already.
    """
    address = parse(spec)
    if mode not in GitSource.Mode.values:
        raise InvalidRequest(f"A source is taken in as {' or '.join(GitSource.Mode.values)}, not as '{mode}'")
    if not EVERY_MINUTES_MIN <= every_minutes <= EVERY_MINUTES_MAX:
        raise InvalidRequest(f"Every {EVERY_MINUTES_MIN} to {EVERY_MINUTES_MAX} minutes; found {every_minutes}")
    if len(spec) > 1000 or len(address.folder) > 500:
        raise InvalidRequest("The address has at most 1,000 characters, its folder 500")
    named = {"url": address.url, "ref": address.ref, "folder": address.folder}
    with writing():
        if GitSource.objects.filter(**named).exists():
            raise NameTaken(f"{spec} is followed already")
        if GitSource.objects.count() >= SOURCES_MAX:
            raise InvalidRequest(f"At most {SOURCES_MAX} sources are followed; remove one first")
        source = GitSource.objects.create(**named, mode=mode, every_minutes=every_minutes, created_by=str(by))
        _queue(source, first=True)
        audit.record(by=by, verb="git_source.add", subject=source.spec, detail={"mode": mode, "every": every_minutes})
    return source


def remove_source(*, source_id: int, by: Actor) -> GitSource:
    """Follow it no more; what was taken in stays. Raises `NotFound`."""
    with writing():
        source = get_source(source_id)
        GitSource.objects.filter(pk=source.pk).delete()
        audit.record(by=by, verb="git_source.remove", subject=source.spec)
    return source


def get_source(source_id: int) -> GitSource:
    """Raises `NotFound`."""
    source = GitSource.objects.filter(pk=source_id).first()
    if source is None:
        raise NotFound(f"No git source has the number {source_id}; see: git_source list")
    return source


def list_sources() -> list[GitSource]:
    """In the order in which they came."""
    return list(GitSource.objects.all())


def sync_source(*, source_id: int, by: Actor, alive: Callable[[], object] = lambda: None) -> Synced:
    """Look at the source now and take in what has changed there; `alive` is called between bundles.

    Raises `NotFound`, and `SourceUnreadable`, which is kept with the source too.
    """
    source = get_source(source_id)
    try:
        seen, commit = _look(source)
    except SourceUnreadable as error:
        _note_failure(source, error, by)
        raise
    known = {item.path: item for item in source.items.all()}
    taken: list[GitSourceItem] = []
    for one in seen:
        item = known.get(one.path)
        if item is None or item.texts_digest != one.texts_digest or item.status == GitSourceItem.Status.REFUSED:
            taken.append(_take_in(source, one, item, commit, by))
        alive()
    _note_success(source, commit, [item for item in taken if item.status != "unchanged"], by)
    return Synced(commit, tuple(taken), len(seen) - len(taken))


def _look(source: GitSource) -> tuple[list[_Seen], str]:
    bundles, commit = read_git(source.spec)
    return [_seen(bundle, source) for bundle in bundles], commit


def _seen(bundle: SourceBundle, source: GitSource) -> _Seen:
    """A refused one has the digest of its own files, so that it is known again."""
    taken = take(bundle)
    given = bundle.files if taken.files is None else taken.files
    texts = {name: decode(content)[0] for name, content in given.items() if content}
    path = bundle.path.removeprefix(source.spec).strip("/")
    if taken.files is None:
        return _Seen(bundle, path, "", texts_digest(texts), "")
    report = validate({name: text for name, text in texts.items() if is_part(name)}, published=published_names())
    digest = report.bundle.content_digest if report.bundle is not None and not report.errors else ""
    return _Seen(bundle, path, report.capability_id[:64], texts_digest(texts), digest)


def _take_in(source: GitSource, one: _Seen, known: GitSourceItem | None, commit: str, by: Actor) -> GitSourceItem:
    held = source.mode == "publish" and _moved_on(one, known)
    mode: batches.Mode = "publish" if source.mode == "publish" and not held else "draft"
    note = f"From {source.spec} at {commit[:12]}"
    (result,) = batches.import_all([one.source], by=by, mode=mode, note=note)
    status, detail = str(result.status), _reason(result)
    if held and status == "draft":
        status, detail = "held", "It was published here with other content since; the source's is the draft"
    columns = {
        "capability_id": result.capability_id[:64] or one.capability_id,
        "texts_digest": one.texts_digest,
        "content_digest": one.content_digest,
        "status": status,
        "detail": detail,
        "taken_at": timezone.now(),
    }
    with writing():
        return GitSourceItem.objects.update_or_create(source=source, path=one.path, defaults=columns)[0]


def _moved_on(one: _Seen, known: GitSourceItem | None) -> bool:
    """Whether somebody has published something else here since the source was last taken in."""
    published = _published(one.capability_id)
    if known is None or not known.content_digest or published is None:
        return False
    return published not in (known.content_digest, one.content_digest)


def _published(capability_id: str) -> str | None:
    """The content that agents can load; None where they can load none."""
    found = Capability.objects.filter(capability_id=capability_id, status__in=_READABLE)
    return found.values_list("published_revision__content_digest", flat=True).first()


def _reason(result: Result) -> str:
    """Why it was refused, in a line."""
    if result.status != "refused":
        return ""
    errors = [finding for finding in result.findings if finding.is_error] or list(result.findings)
    more = f", and {len(errors) - 1} more" if len(errors) > 1 else ""
    return f"{errors[0].code}: {errors[0].message}{more}"[:500] if errors else "refused"


def _note_success(source: GitSource, commit: str, changed: list[GitSourceItem], by: Actor) -> None:
    with writing():
        GitSource.objects.filter(pk=source.pk).update(
            looked_at=timezone.now(), commit=commit[:64], failures=0, last_error=""
        )
        if changed:
            became = {item.capability_id or item.path: item.status for item in changed[:50]}
            audit.record(
                by=by, verb="git_source.sync", subject=source.spec, detail={"commit": commit, "became": became}
            )


def _note_failure(source: GitSource, error: SourceUnreadable, by: Actor) -> None:
    """The first of a row is told in the history too; all of them are counted."""
    with writing():
        GitSource.objects.filter(pk=source.pk).update(failures=source.failures + 1, last_error=error.message[:500])
        if not source.failures:
            audit.record(by=by, verb="git_source.fail", subject=source.spec, detail={"error": error.message[:500]})


def drift(source_id: int) -> list[Drift]:
    """Where the source, as it is now, and the registry differ, ordered by path; empty where they agree.

    Raises `NotFound`, `SourceUnreadable`.
    """
    source = get_source(source_id)
    seen, _ = _look(source)
    known = {item.path: item for item in source.items.all()}
    found = [entry for one in seen if (entry := _difference(one, known.get(one.path))) is not None]
    there = {one.capability_id for one in seen}
    gone = [item for item in known.values() if item.capability_id and item.capability_id not in there]
    for item in gone:
        if _published(item.capability_id) is not None:
            words = "is no more in the source, and published here: retire it, if that is meant"
            found.append(Drift(item.capability_id, item.path, "gone_from_source", words))
    return sorted(found, key=lambda entry: (entry.path, entry.capability_id))


def _difference(one: _Seen, known: GitSourceItem | None) -> Drift | None:
    published = _published(one.capability_id)
    if published is not None and published == one.content_digest:
        return None
    difference, words = _kind(one, known, published)
    return Drift(one.capability_id, one.path, difference, words)


def _kind(one: _Seen, known: GitSourceItem | None, published: str | None) -> tuple[Difference, str]:
    if not one.content_digest:
        return "unread", "cannot be published as it is in the source"
    if published is None:
        return "not_published", "is in the source, and not published here"
    if known is not None and known.content_digest == one.content_digest:
        return "registry_changed", "was published here with other content since the source was taken in"
    if known is not None and known.content_digest != published:
        return "both_changed", "has changed in the source, and was published here with other content"
    return "source_changed", "has changed in the source, and is not published here as it is there"


def _queue(source: GitSource, *, first: bool = False) -> None:
    """Under the lock of the registry; a lane of its own, because a repository may keep us waiting."""
    due = timezone.now() + timedelta(minutes=0 if first else source.every_minutes)
    key = f"{KIND}:{source.pk}"
    jobs.enqueue(KIND, {"source_id": source.pk}, run_after=due, dedupe_key=key, lane=f"git {source.pk}", tries_max=2)


def look_again(lease: Lease) -> Write | None:
    """The handler; payload `{"source_id": primary key}`. What cannot be read is looked at again in its time."""
    source_id = lease.payload["source_id"]
    try:
        by = Actor("system", f"git source {source_id}")
        sync_source(source_id=source_id, by=by, alive=lambda: jobs.renew(lease))
    except NotFound:
        return None
    except SourceUnreadable:
        # It is told where sources are listed.
        pass
    return lambda: _queue_again(source_id)


def _queue_again(source_id: int) -> None:
    source = GitSource.objects.filter(pk=source_id).first()
    if source is not None:
        _queue(source)


def follow(payload: dict[str, Any], state: Followed) -> None:
    """A look that was parked or cancelled is not the last one."""
    if state != "queued":
        _queue_again(payload["source_id"])
