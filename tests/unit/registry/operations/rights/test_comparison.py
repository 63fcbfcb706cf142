"""Whatever says who may do what is what the audit log says: each change behind the registry's back is named."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.test import override_settings
from django.utils import timezone

from features.acceptances import waiver_store
from features.acceptances.held_passages import accept_passages
from features.acceptances.models import Acceptance
from features.sharing import install_codes, share_links
from features.sharing.models import InstallCodeRedemption, ShareLink
from features.sources import source_sync
from features.sources.models import GitSource
from features.sources.source_sync import SyncSettings
from registry.access import (
    agent_keys,
    operators,
    second_factors,
    single_sign_on,
    teams,
)
from registry.access.single_sign_on import Identity
from registry.common.actors import Actor
from registry.matching import skill_groups
from registry.models import (
    AgentKey,
    AuditEvent,
    Capability,
    Operator,
    ReleaseRule,
    SkillGroup,
    Team,
    TeamMember,
)
from registry.operations.backup.tables import read_stored
from registry.operations.rights.comparison import compare_rights, find_unrecorded
from registry.operations.rights.recorded import RecordedRights
from registry.publishing import publication, release_rules
from registry.publishing.quarantine import quarantine
from registry.publishing.scan_results import store_scan_results
from tests.factories import DOUBT, OLGA, bundle, publish, tampering
from tests.second_factors import enable_app
from tests.sweeps import check_each, rolled_back

pytestmark = pytest.mark.django_db
PASSWORD = "Correct-horse-battery-9"
TERMINAL = Actor("command_line", "root")
RULE: dict[str, Any] = {"four_eyes": True, "loosening": "admin", "note_required": False}
RIGHTS: dict[str, Any] = {
    "groups": None,
    "read_only_tools": False,
    "preview": False,
    "team": "",
    "capability_ids": None,
}


@pytest.fixture(autouse=True)
def world() -> None:
    """Every kind of right, given, changed and taken by our own verbs."""
    for name, role in (("ada", "admin"), ("ben", "author"), ("eve", "viewer"), ("gone", "viewer")):
        operators.create_operator(username=name, role=role, password=PASSWORD, by=OLGA)
    operators.set_role(username="ben", role="publisher", by=OLGA)
    operators.disable_operator(username="gone", by=OLGA)
    with override_settings(OIDC_ROLES={"staff": "viewer"}):
        single_sign_on.admit(Identity("oidc", "subject", "ida", groups=("staff",)))
    enable_app(operators.get_operator("ada"))
    _factors()
    _teams()
    _keys()
    _publishing()


def _factors() -> None:
    """Of ben, two passkeys of one name, one of which was called otherwise, and of which a third was removed."""
    for name in ("Phone", "Phone", "Old"):
        Authenticator.objects.create(
            user=operators.get_operator("ben"), type="webauthn", data={"name": name, "credential": {}}
        )
        _record("operator.add_passkey", "ben", name=name)
    last = Authenticator.objects.filter(type="webauthn").latest("pk").pk
    second_factors.rename_passkey(username="ben", key=last, name="Phone", by=OLGA)
    second_factors.remove_passkey(username="ben", key=last, by=OLGA)


def _record(verb: str, subject: str, **detail: Any) -> None:
    from registry.core import audit
    from registry.core.transactions import write_transaction

    with write_transaction():
        audit.record(by=OLGA, verb=verb, subject=subject, detail=detail)


def _teams() -> None:
    team = teams.create_team(name="Old name", by=OLGA)
    for name in ("ben", "eve"):
        teams.add_member(key=team.pk, username=name, by=OLGA)
    teams.remove_member(key=team.pk, username="eve", by=OLGA)
    publish()
    publish("beta")
    teams.set_owning_team(capability_id="alpha", key=team.pk, by=OLGA)
    skill_groups.set_group(group_id="health", team="Old name", by=TERMINAL)
    agent_keys.create_key(name="of team", scopes=["publish"], team="Old name", by=OLGA)
    teams.update_team(key=team.pk, name="Health", by=OLGA)
    teams.delete_team(key=teams.create_team(name="Gone", by=OLGA).pk, by=OLGA)


def _keys() -> None:
    agent_keys.create_key(name="reader", groups=["health"], by=OLGA)
    agent_keys.create_key(name="narrow", scopes=["publish"], capability_ids=["alpha"], by=OLGA)
    ends = timezone.now() + timedelta(days=3)
    agent_keys.create_key(name="changed", scopes=["publish"], expires_at=ends, by=OLGA)
    agent_keys.update_key(name="changed", scopes=["read"], expires_at=ends, by=OLGA, **RIGHTS)
    agent_keys.rotate_key(name="changed", overlap=timedelta(hours=3), by=OLGA)
    agent_keys.create_key(name="ended", scopes=["publish"], by=OLGA)
    agent_keys.revoke_key(name="ended", by=OLGA)
    share_links.create_link(name="partner", skill_group="health", days=3, by=OLGA)
    share_links.create_link(name="ended", by=OLGA)
    share_links.revoke_link(name="ended", by=OLGA)
    code = Capability.objects.get(capability_id="beta").install_code
    install_codes.redeem_code(code=code, by=Actor("agent_key", "changed"))


def _publishing() -> None:
    for name in ("gamma", "delta"):
        publication.publish(files=bundle(name, body=DOUBT), by=OLGA)
        accept_passages(capability_id=name, by=TERMINAL, reason="Known")
        publication.publish(files=bundle(name, body=DOUBT), by=OLGA)
    quarantine(capability_id="delta", by=OLGA)
    release_rules.set_rule(group_id="", by=OLGA, **RULE)
    release_rules.set_rule(group_id="registry", by=OLGA, **{**RULE, "four_eyes": False})
    release_rules.set_rule(group_id="health", by=OLGA, **RULE)
    release_rules.delete_rule(group_id="health", by=OLGA)
    log = {"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "Trivy"}}, "results": [{}]}]}
    store_scan_results(capability_id="beta", log=log, by=TERMINAL)
    until = timezone.now().date() + timedelta(days=9)
    waiver: dict[str, Any] = {"capability_id": "beta", "code": "SCAN_RESULT", "place": "capability.json"}
    waiver |= {"reason": "x", "until": until}
    first = waiver_store.create_waiver(**waiver, by=TERMINAL)
    waiver_store.end_waiver(capability_id="beta", waiver_id=first.pk, by=TERMINAL)
    waiver_store.create_waiver(**waiver, by=TERMINAL)
    source = source_sync.add_git_source(spec="https://git.example/a@b#c", mode="draft", every_minutes=60, by=OLGA)
    source_sync.update_source(source_id=source.pk, following=SyncSettings("publish", 60), by=OLGA)
    gone = source_sync.add_git_source(spec="https://git.example/gone", mode="draft", every_minutes=60, by=OLGA)
    source_sync.remove_source(source_id=gone.pk, by=OLGA)


def test_what_the_verbs_did_is_what_the_log_says() -> None:
    assert find_unrecorded(read_stored) == ()


Change = Callable[[], object]


def _key(name: str, **columns: Any) -> Change:
    return lambda: AgentKey.objects.filter(name=name).update(**columns)


def _operator(name: str, **columns: Any) -> Change:
    return lambda: Operator.objects.filter(username=name).update(**columns)


def _user(name: str) -> Operator:
    return operators.get_operator(name)


def _add_key() -> None:
    AgentKey.objects.create(name="mine", key_hash="0" * 64, key_prefix="csk_", scopes=["publish"], created_by="x")


def _link() -> None:
    SocialAccount.objects.create(user=_user("ada"), provider="oidc", uid="mallory", extra_data={})


def _swap_link() -> None:
    SocialAccount.objects.filter(uid="subject").update(user=_user("ada"))


def _passkey() -> None:
    Authenticator.objects.create(user=_user("ada"), type="webauthn", data={"name": "Mine", "credential": {}})


def _one_more_phone() -> None:
    Authenticator.objects.create(user=_user("ben"), type="webauthn", data={"name": "Phone", "credential": {}})


def _join() -> None:
    TeamMember.objects.create(team=Team.objects.get(), operator=_user("eve"))


def _redeem() -> None:
    InstallCodeRedemption.objects.create(
        capability=Capability.objects.get(capability_id="alpha"), key=AgentKey.objects.get(name="reader")
    )


def _waive() -> None:
    found = Acceptance.waivers.first()
    assert found is not None
    found.pk, found.ended_at, found.ended_by = None, None, ""
    found.save(force_insert=True)


def _accept() -> None:
    found = Acceptance.passages.filter(capability_id="gamma").get()
    found.pk, found.capability_id, found.fingerprint = None, "beta", "sha256:0"
    found.save(force_insert=True)


# What somebody does in the database, and how it is named.
CHANGES: list[tuple[str, Change]] = [
    ("role 'admin' of operator 'eve'", _operator("eve", role="admin")),
    ("is_superuser 'True' of operator 'eve'", _operator("eve", is_superuser=True)),
    ("is_staff 'True' of operator 'eve'", _operator("eve", is_staff=True)),
    ("is_active 'True' of operator 'gone'", _operator("gone", is_active=True)),
    ("operator 'mallory' (admin)", lambda: Operator.objects.create(username="mallory", role="admin")),
    ("identity 'mallory' of operator 'ada'", _link),
    ("identity 'subject' of operator 'ada'", _swap_link),
    ("second factor 'webauthn' of operator 'ada'", _passkey),
    ("count '3' of second factor 'webauthn' of operator 'ben'", _one_more_phone),
    (
        "second factor 'totp' of operator 'ada', which is missing",
        lambda: Authenticator.objects.filter(type="totp").delete(),
    ),
    ("agent key 'mine'", _add_key),
    ("scopes 'publish' of agent key 'reader'", _key("reader", scopes=["publish"])),
    ("groups 'None' of agent key 'reader'", _key("reader", groups=None)),
    ("preview 'True' of agent key 'reader'", _key("reader", preview=True)),
    ("read_only_tools 'True' of agent key 'reader'", _key("reader", read_only_tools=True)),
    ("capabilities 'alpha, beta' of agent key 'narrow'", _key("narrow", capability_ids=["alpha", "beta"])),
    ("team 'None' of agent key 'of team'", _key("of team", team=None)),
    ("expires_at 'None' of agent key 'changed'", _key("changed", expires_at=None)),
    ("revoked 'False' of agent key 'ended'", _key("ended", revoked_at=None, revoked_by="")),
    ("agent key 'reader', which is missing", lambda: AgentKey.objects.filter(name="reader").delete()),
    ("redemption of 'alpha' by agent key 'reader'", _redeem),
    ("skill_group '' of share link 'partner'", lambda: ShareLink.objects.update(skill_group="")),
    ("revoked 'False' of share link 'ended'", lambda: ShareLink.objects.update(revoked_at=None, revoked_by="")),
    ("ends 'False' of share link 'partner'", lambda: ShareLink.objects.update(expires_at=None)),
    ("member 'eve' of team 'Health'", _join),
    ("team 'Mine'", lambda: Team.objects.create(name="Mine", created_by="x")),
    ("team 'None' of capability 'alpha'", lambda: Capability.objects.update(team=None)),
    (
        "team 'Health' of capability 'beta'",
        lambda: Capability.objects.filter(capability_id="beta").update(team=Team.objects.get()),
    ),
    ("team 'None' of skill group 'health'", lambda: SkillGroup.objects.update(team=None)),
    ("four_eyes 'False' of release rule ''", lambda: ReleaseRule.objects.update(four_eyes=False)),
    ("release rule '', which is missing", lambda: ReleaseRule.objects.filter(group_id="").delete()),
    ("release rule 'mine'", lambda: ReleaseRule.objects.create(group_id="mine", updated_by="x")),
    ("mode 'draft' of source {source}", lambda: GitSource.objects.update(mode="draft")),
    (
        "spec 'https://evil.example/a@b#c' of source {source}",
        lambda: GitSource.objects.update(url="https://evil.example/a"),
    ),
    ("waiver {waiver}", _waive),
    ("until '2999-01-01' of waiver {second}", lambda: Acceptance.waivers.update(until="2999-01-01")),
    ("decision about passage 'sha256:0' of 'beta'", _accept),
    ("of 'gamma', which is missing", lambda: Acceptance.passages.filter(capability_id="gamma").delete()),
    ("of 'delta'", lambda: Acceptance.passages.filter(capability_id="delta").update(ended_at=None)),
    ("ended 'False' of waiver {first}", lambda: Acceptance.waivers.update(ended_at=None, ended_by="")),
]


@pytest.mark.both_databases
def test_each_change_behind_the_registrys_back_is_named() -> None:
    first, second = Acceptance.waivers.order_by("pk").values_list("pk", flat=True)

    def check(change: tuple[str, Change]) -> None:
        expected, act = change
        act()
        names = {"source": GitSource.objects.get().pk, "first": first, "second": second}
        newest = Acceptance.waivers.order_by("-pk").values_list("pk", flat=True).first()
        assert expected.format(**names, waiver=newest) in "\n".join(find_unrecorded(read_stored))

    check_each(CHANGES, check, name=lambda change: change[0], isolate=rolled_back)


@pytest.mark.both_databases
def test_the_secret_of_a_key_that_was_exchanged_is_named() -> None:
    for column, key in (("key_hash", "reader"), ("previous_key_hash", "changed")):
        AgentKey.objects.filter(name=key).update(**{column: agent_keys.hash_key(f"csk_mine {column}")})
    AgentKey.objects.filter(name="narrow").update(
        previous_key_hash=agent_keys.hash_key("csk_mine"), previous_until=timezone.now() + timedelta(days=1)
    )
    ShareLink.objects.filter(name="partner").update(token_hash=agent_keys.hash_key("mine"))
    named = [words.partition("'")[0] + words.rpartition(" of ")[2] for words in find_unrecorded(read_stored)]
    assert sorted(named) == [
        "fingerprint agent key 'reader'", "fingerprint share link 'partner'", "previous agent key 'changed'",
        "previous agent key 'narrow'",
    ]  # fmt: skip


@pytest.mark.both_databases
def test_what_was_revoked_gives_nothing_whatever_it_was() -> None:
    AgentKey.objects.filter(name="ended").update(scopes=["read"], preview=True)
    assert find_unrecorded(read_stored) == ()


def test_rows_of_before_say_nothing_of_what_was_added_since() -> None:
    with tampering():
        for event in AuditEvent.objects.filter(verb__in=["agent_key.create", "share_link.create", "release_rule.set"]):
            known = {name: value for name, value in event.detail.items() if name not in ("fingerprint", "group_id")}
            if event.subject != "registry":
                AuditEvent.objects.filter(pk=event.pk).update(detail=known)
    agent_keys.rotate_key(name="reader", by=OLGA)
    assert find_unrecorded(read_stored) == ()


@pytest.mark.both_databases
def test_a_difference_names_table_row_and_audit_row() -> None:
    row = Operator.objects.get(username="eve")
    Operator.objects.filter(pk=row.pk).update(role="admin")
    recorded = RecordedRights()
    for event in read_stored("auditevent"):
        recorded.apply(event)
    (found,) = compare_rights(read_stored, recorded)
    said = AuditEvent.objects.get(verb="operator.create", subject="eve").pk
    assert (found.code, found.table, found.row) == ("RIGHTS_NOT_AS_RECORDED", "operator", str(row.pk))
    assert found.message == (f"operator 'eve' (row {row.pk}) has the role 'admin', and audit row {said} says 'viewer'")


def test_a_publish_gives_no_right() -> None:
    publication.retire(capability_id="beta", by=OLGA)
    assert find_unrecorded(read_stored) == ()
