"""A history in a backup and in an exported log, with public keys alone; and signing what is from before."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from capability_rules.errors import InvalidRequest
from registry.access import agent_keys
from registry.common import caches
from registry.common.errors import HistoryDamaged
from registry.core import audit, checkpoints, signatures
from registry.core.kept_checkpoint import KeptCheckpoint
from registry.core.signatures import build_statement
from registry.core.signing_keys import build_key_list, get_signing_keys
from registry.models import AuditEvent, Checkpoint, Release, Revision
from registry.operations.backup.create import create_backup
from registry.operations.backup.restore import restore_backup
from registry.operations.verification import checkpoint_chain
from registry.operations.verification.verify import (
    HistoryReport,
    read_checkpoint_file,
    read_key_file,
    sign_unsigned_revisions,
    verify_backup,
    verify_database,
    verify_exported_log,
)
from registry.publishing import publication
from registry.selectors import audit_log
from registry.selectors.audit_log import AuditFilter
from tests.factories import OLGA, publish, tampering, tool
from tests.sweeps import check_each

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def history() -> None:
    publish(tools=[tool("alpha_save", "write")])
    publish("beta")
    checkpoints.make_checkpoint()
    publish("beta", body="Grüße \u2028 👋")
    publication.rollback(capability_id="beta", to=1, by=OLGA)
    checkpoints.make_checkpoint()


@pytest.fixture
def keys(tmp_path: Path) -> Any:
    path = tmp_path / "keys.json"
    path.write_text(json.dumps(build_key_list()))
    return read_key_file(path)


def _codes(report: HistoryReport) -> list[str]:
    return sorted({problem.code for problem in report.problems})


def _rewrite(path: Path, table: str, change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]) -> Path:
    """A copy in which somebody has changed a table, with a manifest that agrees."""
    copy = path.with_name("changed.zip")
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(copy, "w") as new:
        members = {name: old.read(name) for name in old.namelist()}
        name = f"tables/{table}.jsonl"
        rows = change([json.loads(line) for line in members[name].splitlines()])
        members[name] = b"".join(json.dumps(row).encode("ascii") + b"\n" for row in rows)
        manifest = json.loads(members["manifest.json"])
        for entry in manifest["tables"]:
            if entry["name"] == table:
                entry |= {"rows": len(rows), "sha256": hashlib.sha256(members[name]).hexdigest()}
        members["manifest.json"] = json.dumps(manifest).encode()
        for name, content in members.items():
            new.writestr(name, content)
    return copy


def _set(**columns: Any) -> Callable[[list[dict[str, Any]]], list[dict[str, Any]]]:
    return lambda rows: [*rows[:-1], rows[-1] | columns]


def test_a_backup_is_verified_with_public_keys_alone(tmp_path: Path, keys: Any, settings: Any) -> None:
    path = create_backup(to=tmp_path).path
    # As on another machine.
    settings.SIGNING_KEY_FILE = tmp_path / "other.pem"
    caches.reset_all()
    report = verify_backup(path, keys)
    assert report.problems == ()
    assert (report.revisions, report.releases, report.checkpoints) == (3, 4, 2)
    assert not (tmp_path / "other.pem").exists()
    assert set(_codes(verify_backup(path, get_signing_keys().public))) == {
        "CHECKPOINT_SIGNING_KEY_UNKNOWN", "REVISION_SIGNING_KEY_UNKNOWN",
    }  # fmt: skip


def test_a_backup_that_somebody_changed_is_named(tmp_path: Path, keys: Any) -> None:
    path = create_backup(to=tmp_path).path
    cases: list[tuple[str, Any, str]] = [
        ("revision", _set(skill_md="# Obey me\n"), "REVISION_CHANGED"),
        ("revision", _set(signature=""), "REVISION_SIGNATURE_MISSING"),
        ("revision", _set(name="Other"), "REVISION_SIGNATURE_INVALID"),
        ("auditevent", _set(actor_name="nobody"), "AUDIT_ROW_CHANGED"),
        ("auditevent", lambda rows: rows[:-1], "AUDIT_LOG_CUT"),
        ("auditevent", lambda rows: rows[1:], "AUDIT_LINK_BROKEN"),
        ("release", lambda rows: rows[:-1], "RELEASE_MISSING"),
        ("release", lambda rows: [*rows[:2], *rows[3:]], "RELEASES_REWRITTEN"),
        ("checkpoint", lambda rows: rows[1:], "CHECKPOINT_MISSING"),
        ("checkpoint", _set(registry_revision=1), "CHECKPOINT_CHANGED"),
        ("registrystate", _set(registry_revision=1), "REGISTRY_ROLLED_BACK"),
        ("capability", _set(status="retired"), "CAPABILITY_NOT_AS_RELEASED"),
    ]

    def check(case: tuple[str, Any, str]) -> None:
        table, change, code = case
        assert code in _codes(verify_backup(_rewrite(path, table, change), keys))

    check_each(cases, check, name=lambda case: (case[0], case[2]))


def test_what_was_restored_is_what_was_signed(tmp_path: Path, keys: Any) -> None:
    path = create_backup(to=tmp_path).path
    publish(body="Lost.", tools=[tool("alpha_save", "write")])
    checkpoints.make_checkpoint()
    assert restore_backup(path=path, by=OLGA, force=True).is_sound
    caches.reset_all()
    assert verify_database(keys).problems == ()
    publish(body="Other.", tools=[tool("alpha_save", "write")])
    assert checkpoints.make_checkpoint().number == 3
    assert verify_database(keys).problems == ()


def _export(path: Path, wanted: AuditFilter | None = None) -> Path:
    rows = audit_log.export_events(audit_log.list_events(wanted or AuditFilter()))
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
    return path


def test_an_exported_log_is_verified_offline(tmp_path: Path, keys: Any) -> None:
    path = _export(tmp_path / "audit-log.jsonl")
    envelopes = [json.loads(text) for _, text in checkpoints.list_envelopes(after=0, limit=9, up_to_revision=9)]
    kept = tmp_path / "checkpoints.json"
    kept.write_text(json.dumps({"checkpoints": envelopes}))
    signed = read_checkpoint_file(kept)
    report = verify_exported_log(path, signed, keys)
    assert (report.audit_rows, report.checkpoints, report.problems) == (4, 2, ())
    lines = path.read_text("utf-8").splitlines(keepends=True)
    # The newest row comes first.
    path.write_text("".join(lines[1:]), "utf-8")
    assert _codes(verify_exported_log(path, [], keys)) == []
    assert _codes(verify_exported_log(path, signed, keys)) == ["AUDIT_LOG_CUT"]
    path.write_text("".join(lines).replace("operator:olga", "operator:vera"), "utf-8")
    assert _codes(verify_exported_log(path, [], keys)) == ["AUDIT_ROW_CHANGED"]
    assert _codes(verify_exported_log(path, [{}], keys))[-1] == "CHECKPOINT_SIGNATURE_MISSING"


def test_a_file_that_is_something_else_is_refused(tmp_path: Path, keys: Any) -> None:
    path = tmp_path / "file"

    def check(case: tuple[Callable[[Path], Any], str, str]) -> None:
        read, text, words = case
        path.write_text(text)
        with pytest.raises(InvalidRequest, match=words):
            read(path)

    def read_log(path: Path) -> HistoryReport:
        return verify_exported_log(path, [], keys)

    check_each(
        [
            (read_key_file, "{", "cannot be read as JSON"),
            (read_key_file, "{}", "is not a list of public keys"),
            (read_key_file, '{"keys": [{"algorithm": "ed25519", "public_key": "x"}]}', "is not a public key"),
            (read_checkpoint_file, "[]", "has no checkpoints"),
            (read_log, '{"id": 1}', "line 1 is not a row"),
            (read_log, "x", "line 1 is not a row"),
        ],
        check,
    )
    with pytest.raises(InvalidRequest, match="cannot be read"):
        read_key_file(tmp_path / "absent")


@pytest.mark.both_databases
def test_what_is_from_before_is_signed_once(keys: Any) -> None:
    with tampering():
        Revision.objects.filter(capability__capability_id="beta").update(signature="", read_only_digest="")
    assert _codes(verify_database(keys)) == ["REVISION_SIGNATURE_MISSING"]
    assert sign_unsigned_revisions(by=OLGA) == 2
    assert verify_database(keys).problems == ()
    assert AuditEvent.objects.latest("id").verb == "registry.sign"
    assert sign_unsigned_revisions(by=OLGA) == 0


@pytest.mark.both_databases
def test_nothing_that_was_changed_is_signed(keys: Any) -> None:
    with tampering():
        Revision.objects.filter(number=2).update(signature="", skill_md="# Obey me\n")
    with pytest.raises(HistoryDamaged, match="Nothing was signed: 'beta' revision 2"):
        sign_unsigned_revisions(by=OLGA)
    assert Revision.objects.filter(signature="").count() == 1


def test_writes_that_are_no_releases_are_part_of_it(keys: Any) -> None:
    agent_keys.create_key(name="agent", by=OLGA)
    publication.set_visibility(capability_id="beta", visibility="unlisted", by=OLGA)
    publication.retire(capability_id="alpha", by=OLGA)
    publication.restore(capability_id="alpha", by=OLGA)
    checkpoints.make_checkpoint()
    report = verify_database(keys)
    assert report.problems == ()
    assert report.releases == Release.objects.count()


def _forge() -> None:
    """What the owner of the database can do: another author in every row, the chain computed again, no checkpoint."""
    with tampering():
        Checkpoint.objects.all().delete()
        previous = audit.GENESIS
        for event in AuditEvent.objects.order_by("id"):
            event.actor_name, event.previous_hash = "innocent_bystander", previous
            previous = event.hash = audit.event_hash(event)
            # The hashes of before are unique: each is set aside first.
            AuditEvent.objects.filter(pk=event.pk).update(
                actor_name=event.actor_name, previous_hash=event.previous_hash, hash=event.hash
            )
        Revision.objects.update(created_by="operator:innocent_bystander", editors=["operator:innocent_bystander"])


@pytest.mark.both_databases
def test_a_log_that_was_forged_with_the_checkpoints_deleted_is_named(
    keys: Any, settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.KEPT_CHECKPOINT_FILE = tmp_path / "last_checkpoint.json"
    checkpoints.make_checkpoint()
    _forge()
    assert set(_codes(verify_database(keys))) == {"CHECKPOINT_NOT_AS_KEPT", "REVISION_SIGNATURE_INVALID"}
    with pytest.raises(HistoryDamaged, match="Checkpoint 2, which this host has kept, is missing"):
        checkpoints.make_checkpoint()
    # Without what was kept, as on another machine.
    settings.KEPT_CHECKPOINT_FILE.unlink()
    monkeypatch.setattr(checkpoint_chain, "FIRST_CHECKPOINT_WITHIN", timedelta(0))
    assert set(_codes(verify_database(keys))) == {"CHECKPOINT_NONE", "REVISION_SIGNATURE_INVALID"}


def test_a_registry_that_has_just_begun_needs_no_checkpoint_yet(keys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with tampering():
        Checkpoint.objects.all().delete()
    assert verify_database(keys).problems == ()
    monkeypatch.setattr(checkpoint_chain, "FIRST_CHECKPOINT_WITHIN", timedelta(0))
    assert _codes(verify_database(keys)) == ["CHECKPOINT_NONE"]
    sign_unsigned_revisions(by=OLGA)
    assert verify_database(keys).problems == ()


@pytest.mark.both_databases
@pytest.mark.parametrize(
    ("columns", "named"),
    [
        ({"created_by": "operator:eve"}, "published_by"),
        ({"approved_by": "operator:eve"}, "approved_by"),
        ({"editors": []}, "editors"),
        ({"note": "Harmless"}, "note_digest"),
    ],
)
def test_who_published_approved_and_edited_a_revision_is_signed(keys: Any, columns: dict[str, Any], named: str) -> None:
    with tampering():
        Revision.objects.filter(pk=Revision.objects.latest("pk").pk).update(**columns)
    problems = verify_database(keys).problems
    words = [problem.message for problem in problems if problem.code == "REVISION_SIGNATURE_INVALID"]
    assert [word.rpartition(": ")[2] for word in words] == [f"{named} differ"]
    recorded = [problem.message for problem in problems if problem.code == "REVISION_NOT_AS_RECORDED"]
    assert len(recorded) == (named != "editors"), "and the audit log says so, too"


@pytest.mark.both_databases
def test_a_statement_from_before_is_still_valid(keys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def before(row: Any, capability_id: str) -> Any:
        full = build_statement(row, capability_id)
        return {name: value for name, value in full.items() if name not in signatures.ADDED_FIELDS}

    monkeypatch.setattr(signatures, "build_statement", before)
    publish("gamma")
    assert verify_database(keys).problems == ()
    with tampering():
        Revision.objects.filter(pk=Revision.objects.latest("pk").pk).update(created_by="operator:eve")
    assert _codes(verify_database(keys)) == ["REVISION_NOT_AS_RECORDED"]


def test_a_restore_keeps_the_backups_last_checkpoint_from_then_on(tmp_path: Path, keys: Any, settings: Any) -> None:
    settings.KEPT_CHECKPOINT_FILE = tmp_path / "last_checkpoint.json"
    path = create_backup(to=tmp_path).path
    publish(body="Lost.", tools=[tool("alpha_save", "write")])
    lost = checkpoints.make_checkpoint()
    done = restore_backup(path=path, by=OLGA, force=True)
    assert (done.forgotten, done.is_sound) == (KeptCheckpoint(lost.number, lost.hash), True)
    caches.reset_all()
    assert verify_database(keys).problems == ()
    assert checkpoints.make_checkpoint().number == 3
    # The same backup once more, which has what is kept.
    assert restore_backup(path=create_backup(to=tmp_path / "again.zip").path, by=OLGA, force=True).forgotten is None


@pytest.mark.both_databases
def test_what_was_restored_elsewhere_is_kept_there(tmp_path: Path, keys: Any, settings: Any) -> None:
    path = create_backup(to=tmp_path).path
    settings.KEPT_CHECKPOINT_FILE = tmp_path / "elsewhere" / "last_checkpoint.json"
    assert restore_backup(path=path, by=OLGA, force=True).forgotten is None
    assert json.loads(settings.KEPT_CHECKPOINT_FILE.read_text())["number"] == 2
