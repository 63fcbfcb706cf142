"""What a release changes for those who rely on it, in words: pure, from two bundles to a list of sentences."""

from capability_rules.semantic_diff.change import EFFECTS, Change, Effect
from capability_rules.semantic_diff.compare import compare_bundles, describe_new_bundle
from capability_rules.semantic_diff.powers import POWER_KINDS, Power, PowerComparison, compare_powers, powers_of

__all__ = [
    "EFFECTS",
    "POWER_KINDS",
    "Change",
    "Effect",
    "Power",
    "PowerComparison",
    "compare_bundles",
    "compare_powers",
    "describe_new_bundle",
    "powers_of",
]
