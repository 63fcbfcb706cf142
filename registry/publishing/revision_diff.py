"""Compares two revisions of a capability."""

from __future__ import annotations

from dataclasses import dataclass

from capability_rules.bundles.text_diff import FileDiff, diff_files
from capability_rules.semantic_diff import Change, compare_bundles
from registry.core.queries import find_revision, load_bundle
from registry.models import Capability, Revision


@dataclass(frozen=True)
class RevisionComparison:
    """From `old` to `new`, whichever of the two is older. A damaged one is compared as far as it can be read."""

    old: Revision
    new: Revision
    changes: tuple[Change, ...]
    diffs: tuple[FileDiff, ...]


def compare_revisions(capability: Capability, *, old: int, new: int) -> RevisionComparison:
    """In words and in texts. Raises `RevisionNotFound`."""
    before, after = find_revision(capability, number=old), find_revision(capability, number=new)
    names = (f"revision {old}", f"revision {new}")
    return RevisionComparison(
        before, after, _changes(before, after), diff_files(before.files, after.files, names=names)
    )


def _changes(old: Revision, new: Revision) -> tuple[Change, ...]:
    try:
        return tuple(compare_bundles(load_bundle(old), load_bundle(new)))
    except (AttributeError, KeyError, TypeError):
        # Words rest on a newer bundle that passed the checks; a row that was damaged since is shown as text alone.
        return ()
