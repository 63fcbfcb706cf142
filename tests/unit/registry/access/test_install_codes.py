"""Install codes: unique, random, rotated; whoever redeems one sees the capability from then on."""

from __future__ import annotations

import pytest

from registry import publishing
from registry.access import install_codes, keys
from registry.access.install_code_form import FORM, new_code
from registry.access.install_codes import redeem_code, rotate_code
from registry.actors import Actor
from registry.errors import InstallCodeNotFound, InvalidRequest, NotFound
from registry.models import AuditEvent, Capability, Redemption
from registry.snapshot import HOLDER, PUBLIC, current
from registry.snapshot.content import EMPTY, read_snapshot, snapshot_at
from registry.snapshot.visibility import entry_for, seen
from tests.factories import OLGA, agent_key, publish, unlisted

pytestmark = pytest.mark.django_db
GUEST = Actor("agent_key", "guest")


def _code(capability_id: str = "alpha") -> str:
    return Capability.objects.get(capability_id=capability_id).install_code


def test_the_form_is_the_sources() -> None:
    """20 characters, dashes at 10 and 15, A-Z and 0-9 (seeds/nebo-introduction-skill.md)."""
    for code in [new_code() for _ in range(50)] + ["SKILL-F639-PJ5J-WT3W"]:
        assert FORM.fullmatch(code)
        assert (len(code), code[:6], code[10], code[15]) == (20, "SKILL-", "-", "-")
    assert len({new_code() for _ in range(1000)}) == 1000


def test_every_capability_has_one_of_its_own() -> None:
    publish()
    publish("beta")
    assert FORM.fullmatch(_code())
    assert _code() != _code("beta")


def test_redeeming_is_kept_and_told_once() -> None:
    publish()
    agent_key(name="guest")
    assert redeem_code(code=_code(), by=GUEST).number == 1
    redeem_code(code=_code(), by=GUEST)
    row = Redemption.objects.get()
    assert (row.key.name, row.capability.capability_id) == ("guest", "alpha")
    assert AuditEvent.objects.filter(verb="install_code.redeem").count() == 1
    assert [each.key.name for each in install_codes.redemptions(row.capability)] == ["guest"]


def test_a_rotated_code_is_no_code_and_who_redeemed_it_sees_it_still() -> None:
    code = unlisted("alpha")
    guest = agent_key(name="guest")
    redeem_code(code=code, by=GUEST)
    assert rotate_code(capability_id="alpha", by=OLGA).install_code == _code() != code
    agent_key(name="late")
    with pytest.raises(InstallCodeNotFound):
        redeem_code(code=code, by=Actor("agent_key", "late"))
    principal = current().principals[keys.hash_key(guest)]
    assert entry_for(current(), principal, "alpha") is not None


@pytest.mark.parametrize("code", ["", "SKILL", "skill-f639-pj5j-wt3w", "SKILL-F639-PJ5J-WT3W\n", "SKILL-F639PJ5J"])
def test_another_form(code: str) -> None:
    agent_key(name="guest")
    with pytest.raises(InvalidRequest, match="SKILL-XXXX"):
        redeem_code(code=code, by=GUEST)


def test_what_cannot_be_loaded_cannot_be_installed() -> None:
    publish()
    publishing.retire(capability_id="alpha", by=OLGA)
    Capability.objects.create(capability_id="sketch")
    agent_key(name="guest")
    for code in (_code(), _code("sketch"), new_code()):
        with pytest.raises(InstallCodeNotFound):
            redeem_code(code=code, by=GUEST)
    keys.revoke_key(name="guest", by=OLGA)
    with pytest.raises(NotFound):
        redeem_code(code=_code(), by=GUEST)


def test_the_snapshot_is_the_same_however_it_came_to_be() -> None:
    agent_key(name="guest")
    for step in (
        lambda: redeem_code(code=unlisted("alpha"), by=GUEST),
        lambda: publish("beta"),
        lambda: publishing.set_visibility(capability_id="beta", visibility="unlisted", by=OLGA),
        lambda: publishing.retire(capability_id="beta", by=OLGA),
        lambda: publishing.set_visibility(capability_id="alpha", visibility="listed", by=OLGA),
        lambda: publishing.restore(capability_id="beta", by=OLGA),
    ):
        step()
        assert HOLDER.refresh() == read_snapshot(EMPTY)
    newest = HOLDER.snapshot
    for at in range(newest.registry_revision + 1):
        assert snapshot_at(at, newer=newest) == snapshot_at(at)
    assert snapshot_at(2).entries["alpha"].visibility == "unlisted"


def test_where_all_is_listed_nothing_is_made_anew() -> None:
    publish()
    agent_key(name="guest")
    redeem_code(code=_code(), by=GUEST)
    held = HOLDER.refresh()
    for principal in (PUBLIC, *held.principals.values()):
        assert seen(held, principal) is held
    unlisted("beta")
    held = HOLDER.refresh()
    assert seen(held, PUBLIC) is seen(held, PUBLIC) is not held
    assert list(seen(held, PUBLIC).entries) == ["alpha"]
