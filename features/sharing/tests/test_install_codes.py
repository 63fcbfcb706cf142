"""Install codes: unique, random, rotated; anyone who redeems one sees the capability from then on."""

from __future__ import annotations

import pytest

from capability_rules.errors import InvalidRequest
from features.sharing import install_codes
from features.sharing.install_codes import redeem_code, rotate_code
from features.sharing.models import InstallCodeRedemption
from registry.access import agent_keys
from registry.common.actors import Actor
from registry.common.errors import InstallCodeNotFound, NotFound
from registry.models import AuditEvent, Capability
from registry.models.install_code import CODE_PATTERN, new_code
from registry.publishing import publication
from registry.snapshot import PUBLIC, STORE, current_snapshot
from registry.snapshot.snapshot import EMPTY, read_snapshot, snapshot_at
from registry.snapshot.visibility import find_entry, restricted_view
from tests.factories import OLGA, agent_key, publish, unlisted

pytestmark = pytest.mark.django_db
GUEST = Actor("agent_key", "guest")


def _code(capability_id: str = "alpha") -> str:
    return Capability.objects.get(capability_id=capability_id).install_code


def test_the_form_is_the_sources() -> None:
    """20 characters, dashes at 10 and 15, A-Z and 0-9 (docs/requirements.md B)."""
    for code in [new_code() for _ in range(50)] + ["SKILL-F639-PJ5J-WT3W"]:
        assert CODE_PATTERN.fullmatch(code)
        assert (len(code), code[:6], code[10], code[15]) == (20, "SKILL-", "-", "-")
    assert len({new_code() for _ in range(1000)}) == 1000


def test_every_capability_has_one_of_its_own() -> None:
    publish()
    publish("beta")
    assert CODE_PATTERN.fullmatch(_code())
    assert _code() != _code("beta")


@pytest.mark.both_databases
def test_redeeming_is_kept_and_told_once() -> None:
    publish()
    agent_key(name="guest")
    assert redeem_code(code=_code(), by=GUEST).number == 1
    redeem_code(code=_code(), by=GUEST)
    row = InstallCodeRedemption.objects.get()
    assert (row.key.name, row.capability.capability_id) == ("guest", "alpha")
    assert AuditEvent.objects.filter(verb="install_code.redeem").count() == 1
    assert [each.key.name for each in install_codes.list_redemptions(row.capability)] == ["guest"]


def test_a_rotated_code_is_no_code_and_who_redeemed_it_sees_it_still() -> None:
    code = unlisted("alpha")
    guest = agent_key(name="guest")
    redeem_code(code=code, by=GUEST)
    assert rotate_code(capability_id="alpha", by=OLGA).install_code == _code() != code
    agent_key(name="late")
    with pytest.raises(InstallCodeNotFound):
        redeem_code(code=code, by=Actor("agent_key", "late"))
    principal = current_snapshot().principals[agent_keys.hash_key(guest)]
    assert find_entry(current_snapshot(), principal, "alpha") is not None


@pytest.mark.parametrize("code", ["", "SKILL", "skill-f639-pj5j-wt3w", "SKILL-F639-PJ5J-WT3W\n", "SKILL-F639PJ5J"])
def test_another_form(code: str) -> None:
    agent_key(name="guest")
    with pytest.raises(InvalidRequest, match="SKILL-XXXX"):
        redeem_code(code=code, by=GUEST)


def test_what_cannot_be_loaded_cannot_be_installed() -> None:
    publish()
    publication.retire(capability_id="alpha", by=OLGA)
    Capability.objects.create(capability_id="sketch")
    agent_key(name="guest")
    for code in (_code(), _code("sketch"), new_code()):
        with pytest.raises(InstallCodeNotFound):
            redeem_code(code=code, by=GUEST)
    agent_keys.revoke_key(name="guest", by=OLGA)
    with pytest.raises(NotFound):
        redeem_code(code=_code(), by=GUEST)


def test_the_snapshot_is_the_same_however_it_came_to_be() -> None:
    agent_key(name="guest")
    for step in (
        lambda: redeem_code(code=unlisted("alpha"), by=GUEST),
        lambda: publish("beta"),
        lambda: publication.set_visibility(capability_id="beta", visibility="unlisted", by=OLGA),
        lambda: publication.retire(capability_id="beta", by=OLGA),
        lambda: publication.set_visibility(capability_id="alpha", visibility="listed", by=OLGA),
        lambda: publication.restore(capability_id="beta", by=OLGA),
    ):
        step()
        assert STORE.refresh() == read_snapshot(EMPTY)
    newest = STORE.snapshot
    for at in range(newest.registry_revision + 1):
        assert snapshot_at(at, newer=newest) == snapshot_at(at)
    assert snapshot_at(2).entries["alpha"].visibility == "unlisted"


def test_where_all_is_listed_nothing_is_made_anew() -> None:
    publish()
    agent_key(name="guest")
    redeem_code(code=_code(), by=GUEST)
    held = STORE.refresh()
    for principal in (PUBLIC, *held.principals.values()):
        assert restricted_view(held, principal) is held
    unlisted("beta")
    held = STORE.refresh()
    assert restricted_view(held, PUBLIC) is restricted_view(held, PUBLIC) is not held
    assert list(restricted_view(held, PUBLIC).entries) == ["alpha"]
