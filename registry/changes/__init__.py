"""What a release changes for those who rely on it, in words: pure, from two bundles to a list of sentences."""

from registry.changes.all import bundle_changes, first_changes
from registry.changes.change import EFFECTS, Change, Effect

__all__ = ["EFFECTS", "Change", "Effect", "bundle_changes", "first_changes"]
