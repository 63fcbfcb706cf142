"""The bundles of a source as they were read, in one form for git repositories and other registries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from capability_rules.agent_skills.importer import import_skill
from capability_rules.bundles.bundle_reader import SourceBundle
from capability_rules.bundles.supporting_files import split_path
from capability_rules.bundles.text import decode_text
from capability_rules.validation import validate_bundle
from features.sources.models import GitSource, GitSourceItem
from registry.catalog.assessment import assess_report
from registry.core.published_index import get_validation_context
from registry.core.queries import files_digest

KnownState = Mapping[str, GitSourceItem]


@dataclass(frozen=True)
class SourceBundleState:
    """One bundle of a source as it is there now.

    `source` is None where nothing has changed since it was imported; `content_digest` is empty where it is not a whole
    bundle; `fault` says why it must not be imported, whatever the gate would say; `declared_digest` is what the list of
    another registry says of it.
    """

    source: SourceBundle | None
    path: str
    capability_id: str
    files_digest: str
    content_digest: str
    upstream_state: Literal["present", "deprecated"] = "present"
    fault: str = ""
    declared_digest: str = ""


@dataclass(frozen=True)
class SourceSnapshot:
    """One reading of a source; `bundles` are read lazily, which raises `SourceUnreadable` too."""

    bundles: Iterable[SourceBundleState]
    commit: str
    etag: str = ""


def is_up_to_date(source: GitSource, item: GitSourceItem | None, digest: str) -> bool:
    """Whether the bundle needs no further look: it is as it was, and was not refused."""
    if item is None or item.files_digest != digest or item.status == GitSourceItem.Status.REFUSED:
        return False
    return item.status != GitSourceItem.Status.FOREIGN or not source.may_adopt


def inspect_bundle(bundle: SourceBundle, source: GitSource) -> SourceBundleState:
    """What a bundle's files come to. A refused one has the digest of its own files, so that it is recognized again."""
    taken = import_skill(bundle)
    given = bundle.files if taken.files is None else taken.files
    texts = {name: decode_text(content)[0] for name, content in given.items() if content}
    path = bundle.path.removeprefix(source.spec).strip("/")
    if taken.files is None:
        return SourceBundleState(bundle, path, "", files_digest(texts), "")
    report = assess_report(validate_bundle(split_path(texts), published=get_validation_context()))
    digest = report.bundle.content_digest if report.bundle is not None and not report.errors else ""
    return SourceBundleState(bundle, path, report.capability_id[:64], files_digest(texts), digest)
