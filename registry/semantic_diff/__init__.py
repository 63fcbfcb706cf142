"""What a release changes for those who rely on it, in words: pure, from two bundles to a list of sentences."""

from registry.semantic_diff.change import EFFECTS, Change, Effect
from registry.semantic_diff.compare import compare_bundles, describe_new_bundle

__all__ = ["EFFECTS", "Change", "Effect", "compare_bundles", "describe_new_bundle"]
