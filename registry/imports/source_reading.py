"""What stands in a source that is followed, by one shape for repositories and other registries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from registry.agent_skills.taking import take
from registry.imports.import_sources import read_git
from registry.imports.sources import SourceBundle
from registry.models import GitSource, GitSourceItem
from registry.queries import published_names, texts_digest
from registry.validation import validate
from registry.validation.supporting import parts_of
from registry.validation.texts import decode

Known = Mapping[str, GitSourceItem]


@dataclass(frozen=True)
class Seen:
    """One bundle of a source as it is there now.

    `source` is None where nothing has changed since it was taken in; `content_digest` is empty where it is no whole
    bundle; `fault` says why it must not be taken in, whatever the gate would say; `told_digest` is what the list of
    another registry says of it.
    """

    source: SourceBundle | None
    path: str
    capability_id: str
    texts_digest: str
    content_digest: str
    there: Literal["present", "deprecated"] = "present"
    fault: str = ""
    told_digest: str = ""


@dataclass(frozen=True)
class Look:
    """One reading of a source; `bundles` are read as they are asked for, which raises `SourceUnreadable` too."""

    bundles: Iterable[Seen]
    commit: str
    etag: str = ""


def look(source: GitSource, known: Known) -> Look:
    """Read the source; `known` are the items of its last look, by their paths. Raises `SourceUnreadable`."""
    if source.kind == GitSource.Kind.REGISTRY:
        # It reads bundles by what stands here.
        from registry.imports.upstream import look_at_registry

        return look_at_registry(source, known)
    bundles, commit = read_git(source.spec)
    return Look(_each(bundles, source), commit)


def _each(bundles: Iterable[SourceBundle], source: GitSource) -> Iterator[Seen]:
    return (seen(bundle, source) for bundle in bundles)


def is_settled(source: GitSource, item: GitSourceItem | None, digest: str) -> bool:
    """Whether the bundle needs no further look: it is as it was, and was not refused."""
    if item is None or item.texts_digest != digest or item.status == GitSourceItem.Status.REFUSED:
        return False
    return item.status != GitSourceItem.Status.FOREIGN or not source.may_adopt


def seen(bundle: SourceBundle, source: GitSource) -> Seen:
    """What a bundle's files come to. A refused one has the digest of its own files, so that it is known again."""
    taken = take(bundle)
    given = bundle.files if taken.files is None else taken.files
    texts = {name: decode(content)[0] for name, content in given.items() if content}
    path = bundle.path.removeprefix(source.spec).strip("/")
    if taken.files is None:
        return Seen(bundle, path, "", texts_digest(texts), "")
    report = validate(parts_of(texts), published=published_names())
    digest = report.bundle.content_digest if report.bundle is not None and not report.errors else ""
    return Seen(bundle, path, report.capability_id[:64], texts_digest(texts), digest)
