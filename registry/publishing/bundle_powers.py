"""The powers of a stored bundle: what is published, against the release before; or the draft, against what is
published."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from capability_rules.bundles.bundle import SkillBundle
from capability_rules.semantic_diff import PowerComparison, compare_powers
from registry.catalog.drafts import get_draft
from registry.catalog.integrity import is_intact
from registry.common.errors import StatusConflict
from registry.core.queries import load_bundle, load_checked_bundle
from registry.models import Capability, Revision
from registry.publishing.gate_check import find_capability


@dataclass(frozen=True, slots=True)
class BundlePowers:
    """`revision` is the number of what is listed, None for a draft; `compared_with` that of the release before."""

    capability_id: str
    revision: int | None
    compared_with: int | None
    comparison: PowerComparison

    def as_dict(self) -> dict[str, Any]:
        """The shape of schemas/api/bundle_powers.schema.json."""
        return {
            "capability_id": self.capability_id,
            "revision": self.revision,
            "compared_with": self.compared_with,
            **self.comparison.as_dict(),
        }


def get_powers(capability: Capability, *, draft: bool = False) -> BundlePowers:
    """Raises `DraftNotFound`, and `StatusConflict` where nothing was ever published or its texts are damaged."""
    if draft:
        return compare_with_published(load_checked_bundle(get_draft(capability.capability_id).files))
    revision = capability.published_revision
    if revision is None:
        raise StatusConflict(f"'{capability.capability_id}' was never published; only its draft has powers")
    if not is_intact(revision):
        raise StatusConflict(f"Revision {revision.number} of '{capability.capability_id}' is damaged")
    before = _find_release_before(capability, revision)
    comparison = compare_powers(load_bundle(before) if before else None, load_bundle(revision))
    return BundlePowers(capability.capability_id, revision.number, before.number if before else None, comparison)


def compare_with_published(bundle: SkillBundle) -> BundlePowers:
    """The powers of texts that are not stored, against what is published under their id."""
    capability = find_capability(bundle.capability_id)
    before = _intact(capability) if capability is not None else None
    comparison = compare_powers(load_bundle(before) if before else None, bundle)
    return BundlePowers(bundle.capability_id, None, before.number if before else None, comparison)


def _intact(capability: Capability) -> Revision | None:
    revision = capability.published_revision
    return revision if revision is not None and is_intact(revision) else None


def _find_release_before(capability: Capability, revision: Revision) -> Revision | None:
    """What readers had before the revision that they have now; None for a first release."""
    earlier = capability.releases.exclude(revision=revision).select_related("revision")
    release = earlier.order_by("-registry_revision").first()
    return release.revision if release is not None and is_intact(release.revision) else None
