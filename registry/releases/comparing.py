"""Two revisions of a capability held against each other."""

from __future__ import annotations

from dataclasses import dataclass

from registry.authoring.text_diffs import FileDiff, text_diffs
from registry.changes import Change, bundle_changes
from registry.models import Capability, Revision
from registry.queries import bundle_of, find_revision


@dataclass(frozen=True)
class Comparison:
    """From `old` to `new`, whichever of the two is older. A damaged one is compared as far as it can be read."""

    old: Revision
    new: Revision
    changes: tuple[Change, ...]
    diffs: tuple[FileDiff, ...]


def compare_revisions(capability: Capability, *, old: int, new: int) -> Comparison:
    """In words and in texts. Raises `RevisionNotFound`."""
    before, after = find_revision(capability, number=old), find_revision(capability, number=new)
    names = (f"revision {old}", f"revision {new}")
    return Comparison(before, after, _changes(before, after), text_diffs(before.files, after.files, names=names))


def _changes(old: Revision, new: Revision) -> tuple[Change, ...]:
    try:
        return tuple(bundle_changes(bundle_of(old), bundle_of(new)))
    except (AttributeError, KeyError, TypeError):
        # Words rest on a newer bundle that passed the checks; a row that was damaged since is shown as text alone.
        return ()
