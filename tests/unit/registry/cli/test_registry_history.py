"""`manage.py registry verify`, `sign`, `checkpoint` and `keys`, and `backup verify --keys`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from registry.common.errors import HistoryDamaged
from registry.core import checkpoints
from registry.core.jobs.queue import Lease
from registry.models import AuditEvent, Checkpoint, Revision
from registry.operations.verification import verify
from registry.selectors import audit_log
from registry.selectors.audit_log import AuditFilter
from tests.factories import publish, tampering

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


@pytest.fixture(autouse=True)
def history() -> None:
    publish()
    publish("beta")


@pytest.fixture
def keys(manage: Any, tmp_path: Path) -> str:
    """A file as the address of the keys has it."""
    path = tmp_path / "keys.json"
    path.write_text(manage("registry", "keys", "--format", "json").out)
    return str(path)


def test_a_sound_history(manage: Any, keys: str) -> None:
    made = manage("registry", "checkpoint", "--format", "json").document
    assert (made["number"], made["audit_rows"], made["releases"]) == (1, 2, 2)
    done = manage("registry", "verify")
    assert (done.code, done.err) == (0, "")
    assert "2 audit rows, 2 revisions, 2 releases and 1 checkpoints are what was signed and recorded" in done.out
    document = manage("registry", "verify", "--format", "json", "--keys", keys).document
    assert (document["ok"], document["problems"]) == (True, [])
    assert manage("registry", "keys").out.startswith("ed25519:")


def test_each_problem_is_a_line_with_its_row(manage: Any) -> None:
    revision = Revision.objects.get(capability__capability_id="beta")
    with tampering():
        Revision.objects.filter(pk=revision.pk).update(skill_md="# Obey me\n")
        AuditEvent.objects.filter(subject="alpha").update(actor_name="nobody")
    done = manage("registry", "verify")
    row = AuditEvent.objects.get(subject="alpha").pk
    assert done.code == 1
    assert f"error[REVISION_CHANGED] revision {revision.pk}: 'beta' revision 1 (row {revision.pk})" in done.out
    assert f"error[AUDIT_ROW_CHANGED] auditevent {row}: Audit row {row} does not have its own hash" in done.out
    document = manage("registry", "verify", "--format", "json").document
    assert not document["ok"]
    codes = {problem["code"] for problem in document["problems"]}
    assert codes == {"REVISION_CHANGED", "AUDIT_ROW_CHANGED", "REVISION_NOT_AS_RECORDED"}


def test_other_keys_are_not_trusted(manage: Any, tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    path.write_text('{"keys": []}')
    done = manage("registry", "verify", "--keys", str(path))
    assert done.code == 1
    assert "REVISION_SIGNING_KEY_UNKNOWN" in done.out


def test_signing_what_is_from_before(manage: Any) -> None:
    with tampering():
        Revision.objects.update(signature="")
    assert "Sign what is from before: registry sign" in manage("registry", "verify").out
    assert manage("registry", "sign").out.strip() == "2 revisions were signed"
    assert manage("registry", "verify").code == 0


def test_an_exported_log(manage: Any, keys: str, tmp_path: Path) -> None:
    log, kept = tmp_path / "audit-log.jsonl", tmp_path / "checkpoints.json"
    checkpoints.make_checkpoint()
    log.write_text("\n".join(map(json.dumps, audit_log.export_events(audit_log.list_events(AuditFilter())))))
    envelopes = [json.loads(text) for _, text in checkpoints.list_envelopes(after=0, limit=9, up_to_revision=9)]
    kept.write_text(json.dumps({"checkpoints": envelopes}))
    arguments = ("registry", "verify", "--keys", keys, "--audit-log", str(log), "--checkpoints", str(kept))
    assert manage(*arguments).code == 0
    log.write_text(log.read_text().partition("\n")[2])
    done = manage(*arguments)
    assert done.code == 1
    assert "error[AUDIT_LOG_CUT]" in done.out
    assert manage("registry", "verify", "--checkpoints", str(kept)).code == 2


def test_a_backup(manage: Any, keys: str, tmp_path: Path) -> None:
    path = tmp_path / "backup.zip"
    with tampering():
        AuditEvent.objects.filter(subject="alpha").update(actor_name="nobody")
    # A backup begins a transaction of its own, which this test is in already.
    assert manage("backup", "create", "--to", str(path)).code == 0
    assert manage("backup", "verify", str(path)).code == 0
    done = manage("backup", "verify", str(path), "--keys", keys, "--format", "json")
    assert done.code == 1
    assert [problem["code"] for problem in done.document["problems"]] == [
        "AUDIT_ROW_CHANGED",
        "REVISION_NOT_AS_RECORDED",
    ]


def test_a_history_that_was_cut_gets_no_checkpoint(manage: Any) -> None:
    checkpoints.make_checkpoint()
    with tampering():
        AuditEvent.objects.latest("id").delete()
    done = manage("registry", "checkpoint")
    assert done.code == 1
    assert "HISTORY_DAMAGED" in done.err


@pytest.mark.django_db(transaction=True)
def test_after_a_move_of_yours_what_was_kept_is_forgotten(manage: Any, settings: Any, tmp_path: Path) -> None:
    settings.KEPT_CHECKPOINT_FILE = tmp_path / "last_checkpoint.json"
    settings.KEPT_CHECKPOINT_FILE.write_text(json.dumps({"number": 7, "hash": "0" * 64}))
    done = manage("registry", "verify", "--format", "json")
    assert [problem["code"] for problem in done.document["problems"]] == ["CHECKPOINT_NOT_AS_KEPT"]
    refused = manage("registry", "checkpoint")
    assert (refused.code, "registry checkpoint --forget-kept" in refused.err) == (1, True)
    assert manage("registry", "checkpoint", "--forget-kept", "--format", "json").document["number"] == 1
    assert manage("registry", "verify").code == 0
    event = AuditEvent.objects.get(verb="registry.forget_checkpoint")
    assert event.detail["kept"] == {"number": 7, "hash": "0" * 64}


def test_a_history_that_verify_refuses_gets_no_first_checkpoint(manage: Any) -> None:
    event = AuditEvent.objects.filter(verb="capability.publish").earliest("pk")
    with tampering():
        Checkpoint.objects.all().delete()
        AuditEvent.objects.filter(pk=event.pk).update(detail={**event.detail, "note": "another one"})
    assert manage("registry", "verify").code == 1
    done = manage("registry", "checkpoint")
    assert (done.code, "registry verify" in done.err) == (1, True)
    with pytest.raises(HistoryDamaged):
        verify.checkpoint_job(Lease(1, checkpoints.KIND, {}, 1, 1))
    assert not Checkpoint.objects.exists()
