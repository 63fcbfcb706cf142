"""Share links: told once, kept as a hash, ended by hand or by time, and audited."""

from __future__ import annotations

from typing import Any

import pytest

from capability_rules.errors import InvalidRequest
from features.sharing import share_links
from features.sharing.models import ShareLink
from registry.access.agent_keys import fingerprint_hash, hash_key
from registry.common.errors import NameConflict, NotFound
from registry.models import AuditEvent, RegistryState
from tests.factories import OLGA

pytestmark = pytest.mark.django_db


@pytest.mark.both_databases
def test_a_link_is_told_once_and_kept_as_a_hash() -> None:
    row, url = share_links.create_link(name=" partner ", by=OLGA, skill_group="fitness", days=7)
    token = url.rpartition("/share/")[2]
    assert (row.name, row.token_hash, row.token_prefix) == ("partner", hash_key(token), token[:4])
    assert len(token) >= 43
    assert row.expires_at is not None
    assert (row.expires_at - row.created_at).days in (6, 7)
    assert token not in str(ShareLink.objects.values().get())
    event = AuditEvent.objects.latest("id")
    assert (event.verb, event.subject, event.detail) == (
        "share_link.create",
        "partner",
        {"group": "fitness", "days": 7, "fingerprint": fingerprint_hash(row.token_hash)},
    )
    assert RegistryState.objects.get().access_revision == 1


def test_the_address_is_below_the_public_one(settings: Any) -> None:
    settings.PUBLIC_URL = "https://studio.example.com"
    assert share_links.create_link(name="a", by=OLGA)[1].startswith("https://studio.example.com/share/")


@pytest.mark.parametrize(
    "options",
    [{"name": ""}, {"name": "x" * 71}, {"name": "a\nb"}, {"skill_group": "A"}, {"days": 0}, {"days": 4000}],
)
def test_odd_links_are_refused(options: dict[str, Any]) -> None:
    given: dict[str, Any] = {"name": "a", "by": OLGA}
    with pytest.raises(InvalidRequest):
        share_links.create_link(**(given | options))


def test_revoking() -> None:
    share_links.create_link(name="a", by=OLGA)
    with pytest.raises(NameConflict):
        share_links.create_link(name="a", by=OLGA)
    for _ in range(2):
        assert share_links.revoke_link(name="a", by=OLGA).revoked_by == "operator:olga"
    assert AuditEvent.objects.filter(verb="share_link.revoke").count() == 1
    with pytest.raises(NotFound):
        share_links.revoke_link(name="b", by=OLGA)
