"""Install codes: anyone who has one may see an unlisted capability (docs/requirements.md B)."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from capability_rules.errors import InvalidRequest
from features.sharing.models import InstallCodeRedemption
from registry.common.actors import Actor
from registry.common.errors import InstallCodeNotFound, NotFound
from registry.core import audit
from registry.core.queries import LOADABLE_STATUSES, get_capability, load_bundle
from registry.core.rows import get_row, update_row
from registry.core.transactions import bump_access_revision, bump_registry_revision, write_transaction
from registry.models import AgentKey, Capability, Revision, Visibility
from registry.models.install_code import CODE_PATTERN, new_code


def rotate_code(*, capability_id: str, by: Actor, note: str = "") -> Capability:
    """Give a capability another code; who has redeemed the old one sees it still. Raises `CapabilityNotFound`."""
    with write_transaction():
        capability = get_capability(capability_id)
        update_row(capability, install_code=new_code())
        audit.record(by=by, verb="install_code.rotate", subject=capability_id, detail={"note": note} if note else {})
    return capability


def redeem_code(*, code: str, by: Actor, groups: Collection[str] | None = None) -> Revision:
    """Let a key see the capability of a code; returns its published revision. A second time changes nothing.

    `groups` are the skill groups that the key is limited to. Raises `InvalidRequest` for another form, `NotFound` where
    the key is gone, `InstallCodeNotFound` for whatever the key cannot have: it need not know why.
    """
    if not CODE_PATTERN.fullmatch(code):
        raise InvalidRequest("An install code has the form SKILL-XXXX-XXXX-XXXX, of A to Z and 0 to 9")
    with write_transaction() as state:
        in_force = AgentKey.objects.filter(name=by.name, revoked_at__isnull=True)
        key = get_row(in_force, NotFound(f"No key is named '{by.name}'"))
        capability, revision = _installable(code, groups)
        row, is_new = InstallCodeRedemption.objects.get_or_create(capability=capability, key=key)
        if is_new:
            if capability.visibility == Visibility.UNLISTED:
                # To this key it is new, and lists say what is new by this number.
                update_row(row, registry_revision=bump_registry_revision(state))
            bump_access_revision(state)
            audit.record(by=by, verb="install_code.redeem", subject=capability.capability_id, detail={"key": key.name})
    return revision


def _installable(code: str, groups: Collection[str] | None) -> tuple[Capability, Revision]:
    found = Capability.objects.filter(install_code=code, status__in=LOADABLE_STATUSES).select_related(
        "published_revision"
    )
    capability = found.first()
    if capability is not None and capability.published_revision is not None:
        revision = capability.published_revision
        if groups is None or not set(groups).isdisjoint(load_bundle(revision).capability.get("skill_groups", [])):
            return capability, revision
    raise InstallCodeNotFound("No capability has this install code; ask the person who gave it to you for a new one")


def list_redemptions(capability: Capability) -> list[InstallCodeRedemption]:
    """Who has redeemed the capability's code, and when."""
    return list(InstallCodeRedemption.objects.filter(capability=capability).select_related("key"))


def list_opened() -> Iterable[tuple[int, str, int]]:
    """`(primary key of the key, capability_id, registry revision that it made)` of each redemption."""
    return InstallCodeRedemption.objects.values_list("key", "capability__capability_id", "registry_revision")
