"""Reads a source: a git repository, or another registry."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from registry.bundles.bundle_reader import SourceBundle
from registry.models import GitSource
from registry.sources.registry_mirror import read_registry
from registry.sources.source_discovery import discover_in_git
from registry.sources.source_state import KnownState, SourceBundleState, SourceSnapshot, inspect_bundle


def read_source(source: GitSource, known: KnownState) -> SourceSnapshot:
    """Read the source; `known` are the items of its last look, by their paths. Raises `SourceUnreadable`."""
    if source.kind == GitSource.Kind.REGISTRY:
        return read_registry(source, known)
    bundles, commit = discover_in_git(source.spec)
    return SourceSnapshot(_each(bundles, source), commit)


def _each(bundles: Iterable[SourceBundle], source: GitSource) -> Iterator[SourceBundleState]:
    return (inspect_bundle(bundle, source) for bundle in bundles)
