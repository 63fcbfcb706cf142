"""A backup is the whole registry at one moment; a restore is all of it or nothing."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import threading
import zipfile
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.sessions.models import Session
from django.db import connection
from django.test import override_settings
from django.utils import timezone

from features.clawhub import skill_uploads
from features.clawhub.skill_fingerprints import record_upload
from features.sharing import install_codes
from features.webhooks.models import Webhook
from registry.access import (
    agent_keys,
    operators,
    second_factors,
    single_sign_on,
    teams,
)
from registry.access.single_sign_on import Identity
from registry.catalog import drafts
from registry.catalog.incidents import open_incident
from registry.common.actors import Actor
from registry.common.errors import BackupRefused, BackupUnreadable
from registry.core import audit, checkpoints, idempotency
from registry.core.file_contents import store_content
from registry.core.transactions import write_transaction
from registry.feature import list_registry_models
from registry.models import (
    AuditEvent,
    Capability,
    GitImport,
    Operator,
    RegistryState,
    Release,
    Revision,
    SkillGroup,
    UnmatchedMessage,
)
from registry.operations.backup.archive import TableEntry, check_archive, write_table
from registry.operations.backup.create import create_backup
from registry.operations.backup.restore import restore_backup
from registry.operations.backup.tables import backed_up_models, known_migrations, table_name, truncated_models
from registry.publishing import (
    proposals,
    publication,
    release_rules,
    review_comments,
    reviews,
    scheduled_releases,
)
from registry.publishing.scan_results import store_scan_results
from registry.snapshot import STORE, current_snapshot
from registry.snapshot.pinned_revisions import find_pinned_revision
from registry.snapshot.response_cache import RESPONSE_CACHE, get_load_response
from registry.usage import feedback, usage_counters
from tests import feature_pages
from tests.factories import DOUBT, OLGA, bundle, damage, publish, tampering, tool
from tests.second_factors import app_code, enable_app
from tests.sweeps import check_each

pytestmark = pytest.mark.django_db(transaction=True)
PASSWORD = "correct horse battery"


def _fill() -> str:
    """A row in every table, by our own verbs; answers an agent key."""
    enable_app(operators.create_operator(username="vera", password=PASSWORD, role="viewer", by=OLGA))
    with override_settings(OIDC_ROLES={"staff": "viewer"}):
        single_sign_on.admit(Identity("oidc", "subject", "ida", groups=("staff",)))
    key = agent_keys.create_key(name="agent", by=OLGA)[1]
    UnmatchedMessage.objects.create(form="0" * 64, text="Grüße", decision="none", requested_by={"agent": 1})
    GitImport.objects.create(source="https://git.example/a", created_by=str(OLGA))
    SkillGroup.objects.create(group_id="health", name="Health")
    publish(tools=[tool("alpha_list")])
    publish(tools=[tool("alpha_list")], body="Zwei – “größer” 👋 \u2028 \\ud800.")
    publication.rollback(capability_id="alpha", to=1, by=OLGA, note="Grüße")
    publication.publish(files=bundle("zeta", body=DOUBT), by=OLGA)
    publish("beta")
    publication.deprecate(capability_id="alpha", replaced_by="beta", by=OLGA)
    proposals.propose(files=bundle("epsilon"), by=OLGA)
    publication.set_visibility(capability_id="beta", visibility="unlisted", by=OLGA)
    code = Capability.objects.get(capability_id="beta").install_code
    install_codes.redeem_code(code=code, by=Actor("agent_key", "agent"))
    with idempotency.idempotent_call(by=OLGA, key="first", fingerprint="f") as call:
        feedback.record_outcome(capability_id="beta", outcome="used", by=OLGA)
        call.keep = "[]"
    publish("gamma")
    publication.retire(capability_id="gamma", by=OLGA)
    beside = {"references/a.md": "Grüße", "forms.md": "Größe \u2028", "assets/a.bin": store_content(b"\0\xff", OLGA)}
    marked = bundle("delta", metadata={"supporting_files": "forms.md"}) | beside
    drafts.save_draft(capability_id="delta", files=marked | {"skill.md": "# Größe\n"}, based_on=None, by=OLGA)
    drafts.save_draft(capability_id="delta", files=marked, based_on=1, by=OLGA)
    release_rules.set_rule(group_id="health", four_eyes=True, loosening="admin", note_required=False, by=OLGA)
    review = reviews.request_review(capability_id="delta", draft_version=2, by=OLGA, note="Grüße")
    said = review_comments.add_comment(review_id=review.pk, by=OLGA, words="Hier", file="skill.md", line=1)
    review_comments.add_reply(review_id=review.pk, entry_id=said.pk, by=OLGA, words="Nein, dort")
    review_comments.resolve_thread(review_id=review.pk, entry_id=said.pk, by=OLGA)
    due_at = timezone.now() + timedelta(days=1)
    scheduled_releases.schedule_release(capability_id="delta", draft_version=2, due_at=due_at, by=OLGA, note="x")
    result = {"level": "warning", "message": {"text": "Größe"}}
    runs = [{"tool": {"driver": {"name": "Trivy"}}, "results": [result]}]
    at_terminal = Actor("command_line", "olga")
    store_scan_results(capability_id="delta", log={"version": "2.1.0", "runs": runs}, by=at_terminal)
    open_incident(
        revision=Revision.objects.get(capability__capability_id="beta"), message="m", details="d", findings=()
    )
    team = teams.create_team(name="Owners", by=OLGA)
    teams.add_member(key=team.pk, username="vera", by=OLGA)
    agent_keys.create_key(name="pipeline", scopes=["publish"], team="Owners", by=OLGA)
    agent_keys.create_key(name="narrow", scopes=["publish"], capability_ids=["alpha"], by=OLGA)
    teams.set_owning_team(capability_id="beta", key=team.pk, by=OLGA)
    skill_uploads.register_file(path="SKILL.md", size=1, sha256="0" * 64, by=Actor("agent_key", "agent"))
    with write_transaction():
        record_upload(Revision.objects.filter(capability__capability_id="beta")[0], "0" * 64)
    for pages in feature_pages.ALL:
        pages.furnish()
    usage_counters.count_load("alpha", 1, key_name="agent")
    usage_counters.count_match("match")
    usage_counters.count_miss("omega")
    usage_counters.flush()
    checkpoints.make_checkpoint()
    return key


def _rows() -> dict[str, Any]:
    """Everything that is kept, but for what a restore writes itself."""
    found = {table_name(model): list(model._base_manager.order_by("pk").values()) for model in backed_up_models()}
    del found["registrystate"]
    for row in found["socialaccount"]:
        # Django sets these two when the row is stored.
        del row["date_joined"], row["last_login"]
    return found


def _backup(tmp_path: Path) -> Path:
    return create_backup(to=tmp_path).path


def test_everything_comes_back_and_the_counter_goes_on(tmp_path: Path) -> None:
    _fill()
    before = _rows()
    assert all(before.values()), [name for name, rows in before.items() if not rows]
    path = _backup(tmp_path)
    publish("lost")
    done = restore_backup(path=path, by=OLGA, force=True)
    assert done.is_sound
    after = _rows()
    # The restore itself, told to the webhook.
    for name in ("auditevent", "release", "job", "webhookdelivery"):
        assert after[name][: len(before[name])] == before[name], name
        assert len(after[name]) > len(before[name])
        del after[name], before[name]
    assert after == before
    assert audit.find_chain_break() is None
    assert AuditEvent.objects.last().verb == "registry.restore"  # type: ignore[union-attr]
    assert RegistryState.objects.get().registry_revision == done.registry_revision == 1_000_003
    assert publish("next").registry_revision == 1_000_004


def test_it_is_one_moment_and_keeps_no_writer_waiting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After each of the first tables somebody else publishes, and need not wait for the end."""
    publish()
    numbers = iter(range(100))
    first = [table_name(model) for model in backed_up_models()][:4]

    def publish_elsewhere() -> None:
        publish(f"other_{next(numbers)}")
        connection.close()

    def write(archive: zipfile.ZipFile, name: str, rows: Any) -> TableEntry:
        table = write_table(archive, name, rows)
        if name not in first:
            return table
        thread = threading.Thread(target=publish_elsewhere)
        thread.start()
        thread.join(20)
        assert not thread.is_alive()
        return table

    monkeypatch.setattr("registry.operations.backup.create.write_table", write)
    manifest = create_backup(to=tmp_path).manifest
    rows = {table.name: table.rows for table in manifest.tables}
    assert [rows[name] for name in ("capability", "revision", "release", "auditevent")] == [1, 1, 1, 1]
    assert Capability.objects.count() == 5


def test_a_backup_is_for_its_owner_alone_and_replaces_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    os.umask(os.umask(0))
    create_backup(to=path)
    assert path.stat().st_mode & 0o777 == 0o600
    before = path.read_bytes()
    with pytest.raises(BackupRefused, match="exists"):
        create_backup(to=path)
    with pytest.raises(BackupRefused, match="cannot be written"):
        create_backup(to=tmp_path / "nowhere" / "b.zip")
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["a.zip"]


def test_every_table_is_kept_or_emptied() -> None:
    """A table that somebody adds is in the next backup without a word; what points at it is emptied."""
    # Two are made again from the others, and one has words of users.
    kept = {model.__name__ for model in list_registry_models()} - {
        "MatchClassifier",
        "OutcomeReport",
        "SentenceVector",
    }
    # How people sign in beside their password.
    kept |= {"Authenticator", "SocialAccount"}
    assert {model.__name__ for model in backed_up_models()} == kept
    emptied = {model.__name__ for model in truncated_models()}
    others = {"OutcomeReport", "Session", "UserSession", "LogEntry", "Operator_groups", "Operator_user_permissions"}
    assert others | {"EmailAddress", "SocialToken"} | kept - {"RegistryState"} == emptied


@override_settings(OIDC_ROLES={"staff": "viewer"})
def test_nobody_is_locked_out_by_a_restore(tmp_path: Path) -> None:
    """Second factors are as they were, and the identity provider's people come in again."""
    vera = operators.create_operator(username="vera", password=PASSWORD, role="author", by=OLGA)
    codes = enable_app(vera)
    identity = Identity("oidc", "subject", "ida", groups=("staff",))
    single_sign_on.admit(identity)
    path = _backup(tmp_path)
    second_factors.reset_second_factors(username="vera", by=OLGA)
    assert restore_backup(path=path, by=OLGA, force=True).is_sound
    assert second_factors.use_code(username="vera", code=codes[4]) == "recovery_code"
    assert second_factors.use_code(username="vera", code=app_code()) == "totp"
    assert single_sign_on.admit(identity).username == "ida"


@pytest.mark.both_databases
def test_sessions_and_the_admins_log_are_gone(tmp_path: Path) -> None:
    _fill()
    path = _backup(tmp_path)
    Session.objects.create(session_key="x", session_data="", expire_date=timezone.now())
    LogEntry.objects.create(user=Operator.objects.get(username="vera"), action_flag=1)
    restore_backup(path=path, by=OLGA, force=True)
    assert not Session.objects.exists()
    assert not LogEntry.objects.exists()
    assert Operator.objects.get(username="vera").check_password(PASSWORD)


@pytest.mark.both_databases
def test_a_registry_that_is_not_empty_is_left_alone(tmp_path: Path) -> None:
    path = _backup(tmp_path)
    publish()
    before = _rows()
    with pytest.raises(BackupRefused, match="--force"):
        restore_backup(path=path, by=OLGA)
    assert _rows() == before


def _rewrite(path: Path, change: Callable[[str, bytes], bytes | None]) -> Path:
    """A copy with other members; None leaves one out."""
    copy = path.with_name("changed.zip")
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(copy, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            content = change(name, old.read(name))
            if content is not None:
                new.writestr(name, content)
    return copy


def _manifest(**keys: Any) -> Callable[[str, bytes], bytes]:
    def change(name: str, content: bytes) -> bytes:
        return json.dumps({**json.loads(content), **keys}).encode() if name == "manifest.json" else content

    return change


BREAKS: dict[str, tuple[Callable[[str, bytes], bytes | None], str]] = {
    "another format": (_manifest(format="tar"), "expected capability-studio-backup"),
    "another version": (_manifest(format_version=2), "of version 2"),
    "no manifest": (lambda name, content: None if name == "manifest.json" else content, "no manifest"),
    "half a manifest": (lambda name, content: content[:40] if name == "manifest.json" else content, "no manifest"),
    "a list": (lambda name, content: b"[]" if name == "manifest.json" else content, "no manifest"),
    "newer": (_manifest(migrations=["0001_initial", "9999_later"]), "newer version .*9999_later"),
    "a changed row": (lambda name, content: content.replace(b"Everything", b"Nothing!!!"), "damaged"),
    "a missing table": (lambda name, content: None if "revision" in name else content, "damaged"),
    "a row less": (lambda name, content: content[content.find(b"\n") + 1 :] if "audit" in name else content, "damaged"),
}


def test_a_file_that_is_not_whole_changes_nothing(tmp_path: Path) -> None:
    _fill()
    backup, before = _backup(tmp_path), _rows()

    def check(name: str) -> None:
        change, words = BREAKS[name]
        path = _rewrite(backup, change)
        with pytest.raises(BackupUnreadable, match=words):
            restore_backup(path=path, by=OLGA, force=True)
        assert _rows() == before

    check_each(BREAKS, check)


def test_a_backup_from_before_a_table_was_a_features_is_restored(tmp_path: Path) -> None:
    _fill()
    before = [name for name in known_migrations() if name.partition(".")[0] not in ("sharing", "webhooks")]
    assert len(before) < len(known_migrations())
    path, rows = _rewrite(_backup(tmp_path), _manifest(migrations=before)), _rows()
    restore_backup(path=path, by=OLGA, force=True)
    for table in ("webhook", "sharelink", "installcoderedemption"):
        assert rows[table] == _rows()[table] != []


def test_a_backup_with_tables_of_an_absent_feature_is_refused_by_name(tmp_path: Path, settings: Any) -> None:
    _fill()
    path = _backup(tmp_path)
    settings.FEATURES = ()
    with pytest.raises(BackupUnreadable, match=r"the feature '[a-z_]+', and FEATURES is without it"):
        restore_backup(path=path, by=OLGA, force=True)


def test_a_backup_from_before_an_absent_feature_was_one_is_refused_by_name(tmp_path: Path, settings: Any) -> None:
    before = [name for name in known_migrations() if "." not in name]
    path = _rewrite(_backup(tmp_path), _manifest(migrations=before))
    settings.FEATURES = tuple(name for name in settings.FEATURES if name != "webhooks")
    with pytest.raises(BackupUnreadable, match="the feature 'webhooks', and FEATURES is without it"):
        restore_backup(path=path, by=OLGA)


def test_a_file_that_was_cut_off_or_is_something_else(tmp_path: Path) -> None:
    _fill()
    path = _backup(tmp_path)
    content = path.read_bytes()
    flipped = bytearray(content)
    with zipfile.ZipFile(path) as archive:
        largest = max(archive.infolist(), key=lambda member: member.compress_size)
    # Within its content: a byte of a header, such as a time, may say anything.
    flipped[largest.header_offset + 30 + len(largest.filename) + largest.compress_size // 2] ^= 0xFF
    for odd in (content[: len(content) // 2], bytes(flipped), b"", b"SQLite format 3\0"):
        (tmp_path / "odd").write_bytes(odd)
        with pytest.raises(BackupUnreadable):
            check_archive(tmp_path / "odd")
    with pytest.raises(BackupUnreadable):
        check_archive(tmp_path / "nothing")


def test_what_fails_midway_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _fill()
    path = _backup(tmp_path)
    publish("later")
    before = _rows()

    def fail() -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("registry.operations.backup.restore.find_damaged_revisions", fail)
    with pytest.raises(ZeroDivisionError):
        restore_backup(path=path, by=OLGA, force=True)
    assert _rows() == before


def test_rows_that_the_database_does_not_take_change_nothing(tmp_path: Path) -> None:
    """A manifest that agrees, and a revision that belongs to nobody: the foreign key bites."""
    import hashlib

    _fill()
    path = _backup(tmp_path)
    members: dict[str, bytes] = {}

    def orphan(name: str, content: bytes) -> bytes:
        members[name] = re.sub(rb'"capability_id":[0-9]+', b'"capability_id":12345', content)
        return members[name]

    _rewrite(path, orphan)
    tables = json.loads(zipfile.ZipFile(path).read("manifest.json"))["tables"]
    for table in tables:
        table["sha256"] = hashlib.sha256(members[f"tables/{table['name']}.jsonl"]).hexdigest()
    copy = _rewrite(path, lambda name, content: _manifest(tables=tables)(name, members[name]))
    before = _rows()
    with pytest.raises(BackupRefused, match="nothing has changed"):
        restore_backup(path=copy, by=OLGA, force=True)
    assert _rows() == before


@pytest.mark.both_databases
def test_an_older_file_lacks_what_came_later(tmp_path: Path) -> None:
    """As made before there were webhooks: no such tables, no such columns; they get their defaults."""
    import hashlib

    publish()
    path = _backup(tmp_path)
    members: dict[str, bytes] = {}

    def older(name: str, content: bytes) -> bytes:
        lines = [json.loads(line) for line in content.splitlines()] if name.endswith("l") else []
        for line in lines:
            line.pop("epoch", None)
        members[name] = b"".join(json.dumps(line).encode() + b"\n" for line in lines) if lines else content
        return members[name]

    _rewrite(path, older)
    document = json.loads(zipfile.ZipFile(path).read("manifest.json"))
    document["tables"] = [table for table in document["tables"] if not table["name"].startswith("webhook")]
    for table in document["tables"]:
        table["sha256"] = hashlib.sha256(members[f"tables/{table['name']}.jsonl"]).hexdigest()
    copy = _rewrite(path, lambda name, content: _manifest(**document)(name, members[name]))
    Webhook.objects.create(name="x", url="https://x.example/", secret="whsec_")
    assert restore_backup(path=copy, by=OLGA, force=True).is_sound
    assert not Webhook.objects.exists()
    assert Capability.objects.get().capability_id == "alpha"


def test_what_was_damaged_is_told_and_put_back_as_it_was(tmp_path: Path) -> None:
    _fill()
    damage(Revision.objects.get(capability__capability_id="beta"), skill_md="# Beta\n")
    with tampering():
        AuditEvent.objects.filter(pk=AuditEvent.objects.first().pk).update(subject="mallory")  # type: ignore[union-attr]
    done = restore_backup(path=_backup(tmp_path), by=OLGA, force=True)
    assert (done.damaged, done.is_sound) == (("beta revision 1",), False)
    assert done.audit_broken_at is not None


def test_a_process_forgets_what_belonged_to_another_history(tmp_path: Path) -> None:
    """The keys of rows come again with other content: nothing that was held may be answered."""
    publish()
    path = _backup(tmp_path)
    publish(body="Held.")
    publish("ghost")
    held = current_snapshot()
    get_load_response(held.entries["alpha"])
    pin = find_pinned_revision("alpha", number=2)
    assert pin is not None
    restore_backup(path=path, by=OLGA, force=True)
    publish(body="Another two.")
    snapshot = current_snapshot()
    assert list(snapshot.entries) == ["alpha"]
    assert RESPONSE_CACHE.bytes_held == 0
    entry = snapshot.entries["alpha"]
    # On PostgreSQL it has the key of the row that was held.
    found = find_pinned_revision("alpha", number=2)
    assert found is not None
    assert found.revision_id == entry.revision_id
    assert b"Another two." in get_load_response(entry).identity
    assert b"Held." not in get_load_response(entry).identity
    assert STORE.at(held.registry_revision) is not None
    # A client that had seen the ghost's revision asks for what changed since: everything is told.
    assert all(each.changed_at > held.registry_revision for each in snapshot.entries.values())


@pytest.mark.both_databases
def test_retired_ones_are_told_of_again(tmp_path: Path) -> None:
    _fill()
    restore_backup(path=_backup(tmp_path), by=OLGA, force=True)
    snapshot = current_snapshot()
    assert snapshot.retired["gamma"] > 1_000_000
    assert snapshot.entries["alpha"].replaced_by == "beta"
    assert Release.objects.filter(registry_revision__gt=1_000_000).count() == 3
    assert snapshot.entries["beta"].visibility == "unlisted"


def test_each_restore_begins_another_million(tmp_path: Path) -> None:
    publish()
    first = restore_backup(path=_backup(tmp_path), by=OLGA, force=True)
    second = restore_backup(path=next(tmp_path.iterdir()), by=OLGA, force=True)
    assert (first.registry_revision, second.registry_revision) == (1_000_001, 2_000_001)


@pytest.mark.both_databases
def test_an_empty_registry_goes_there_and_back(tmp_path: Path) -> None:
    done = restore_backup(path=_backup(tmp_path), by=OLGA)
    assert done.is_sound
    assert current_snapshot().entries == {}
    publish()
    assert list(current_snapshot().entries) == ["alpha"]


def _changed(path: Path, to: Path, table: str, change: Callable[[list[bytes]], list[bytes]]) -> Path:
    """A copy with the lines of a table changed, and the manifest made to fit."""
    with zipfile.ZipFile(path) as archive, zipfile.ZipFile(to, "w", zipfile.ZIP_DEFLATED) as copy:
        manifest = json.loads(archive.read("manifest.json"))
        for entry in manifest["tables"]:
            text = archive.read(f"tables/{entry['name']}.jsonl")
            if entry["name"] == table:
                lines = change(text.splitlines(keepends=True))
                text = b"".join(lines)
                entry |= {"rows": len(lines), "sha256": hashlib.sha256(text).hexdigest()}
            copy.writestr(f"tables/{entry['name']}.jsonl", text)
        copy.writestr("manifest.json", json.dumps(manifest))
    return to


@pytest.mark.both_databases
def test_an_added_admin_and_a_raised_role_are_told_of(tmp_path: Path) -> None:
    """A file with one more admin, and a manifest that fits, was restored without a word."""
    operators.create_operator(username="vera", password=PASSWORD, role="viewer", by=OLGA)
    agent_keys.create_key(name="agent", by=OLGA)
    path = _backup(tmp_path)
    assert restore_backup(path=path, by=OLGA, force=True).unrecorded == ()

    def add(lines: list[bytes]) -> list[bytes]:
        vera = json.loads(lines[0])
        mallory = vera | {"id": 999, "username": "mallory", "role": "admin"}
        return [json.dumps(row).encode() + b"\n" for row in (vera | {"role": "publisher"}, mallory)]

    done = restore_backup(path=_changed(path, tmp_path / "changed.zip", "operator", add), by=OLGA, force=True)
    assert done.unrecorded == ("role 'publisher' of operator 'vera'", "operator 'mallory' (admin)")
    assert not done.is_sound
    detail = AuditEvent.objects.get(verb="registry.restore", detail__has_key="unrecorded").detail
    assert (detail["unrecorded"], detail["admins"]) == (list(done.unrecorded), ["mallory"])

    def rename(lines: list[bytes]) -> list[bytes]:
        return [line.replace(b'"agent"', b'"other"') for line in lines]

    done = restore_backup(path=_changed(path, tmp_path / "key.zip", "agentkey", rename), by=OLGA, force=True)
    assert done.unrecorded == ("agent key 'other'", "agent key 'agent', which is missing")


def test_a_row_without_an_end_is_refused_before_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of 1 MB with one line of 600 MB took 1.2 GB of memory."""
    publish()
    path = _backup(tmp_path)
    monkeypatch.setattr("registry.operations.backup.archive.LINE_BYTES_MAX", 3 * 1024 * 1024)

    def lengthen(lines: list[bytes]) -> list[bytes]:
        return [*lines, b'{"x":"' + b"a" * 5 * 1024 * 1024 + b'"}\n']

    changed = _changed(path, tmp_path / "long.zip", "revision", lengthen)
    for read in (lambda: check_archive(changed), lambda: restore_backup(path=changed, by=OLGA, force=True)):
        with pytest.raises(BackupUnreadable, match="row of more than"):
            read()
    assert list(current_snapshot().entries) == ["alpha"]


def test_what_a_killed_backup_left_is_deleted_by_the_next_and_one_that_is_written_stays(tmp_path: Path) -> None:
    left = tmp_path / "capability-studio-20260101T020000Z.zip.part"
    written = tmp_path / "capability-studio-20260102T020000Z.zip.part"
    other = tmp_path / "notes.zip.part"
    for path in (left, written, other):
        path.write_bytes(b"half")
    with written.open("rb") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        made = create_backup(to=tmp_path).path
    assert sorted(tmp_path.iterdir()) == sorted([written, made, other])
