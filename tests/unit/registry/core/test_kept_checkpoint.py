"""The last checkpoint is kept outside of the database, and nothing is signed over a database that lacks it."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction

from registry.common.errors import HistoryDamaged
from registry.core import checkpoints, kept_checkpoint
from registry.core.kept_checkpoint import KeptCheckpoint, read_kept
from registry.models import Checkpoint
from tests.factories import publish, tampering

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def place(settings: Any, tmp_path: Path) -> Path:
    settings.KEPT_CHECKPOINT_FILE = tmp_path / "data" / "last_checkpoint.json"
    return tmp_path / "data" / "last_checkpoint.json"


def _made(count: int) -> list[Checkpoint]:
    for number in range(count):
        publish(body=f"Number {number}.")
        checkpoints.make_checkpoint()
    return list(Checkpoint.objects.order_by("number"))


def test_each_is_kept_for_its_owner_alone(place: Path) -> None:
    assert read_kept() is None
    first, second = _made(2)
    assert read_kept() == KeptCheckpoint(2, second.hash) != KeptCheckpoint(1, first.hash)
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert [one.name for one in place.parent.iterdir()] == [place.name], "no draft of it is left"


def test_what_is_rolled_back_is_not_kept() -> None:
    (first,) = _made(1)
    with transaction.atomic():
        publish(body="Another.")
        assert checkpoints.make_checkpoint().number == 2
        transaction.set_rollback(True)
    assert read_kept() == KeptCheckpoint(1, first.hash)


def test_a_registry_from_before_keeps_the_last_one_it_has(place: Path) -> None:
    _made(2)
    place.unlink()
    last = checkpoints.make_checkpoint()
    assert read_kept() == KeptCheckpoint(2, last.hash)


@pytest.mark.parametrize("kept_rows", [0, 1])
def test_nothing_is_signed_over_a_database_with_fewer(kept_rows: int) -> None:
    _made(3)
    with tampering():
        Checkpoint.objects.filter(number__gt=kept_rows).delete()
    publish(body="Forged.")
    with pytest.raises(HistoryDamaged, match="Checkpoint 3, which this host has kept, is missing in the database"):
        checkpoints.make_checkpoint()
    assert Checkpoint.objects.count() == kept_rows


def test_nothing_is_signed_over_another_one_of_the_number() -> None:
    _made(2)
    first = Checkpoint.objects.get(number=1)
    with tampering():
        # The column says what it said; the statement is another.
        Checkpoint.objects.filter(number=2).update(envelope=first.envelope)
    with pytest.raises(HistoryDamaged, match="is another one in the database"):
        checkpoints.make_checkpoint()


def test_more_than_this_host_has_kept_is_no_fault(place: Path) -> None:
    """Another host has signed meanwhile."""
    first, *_ = _made(3)
    place.write_text(json.dumps({"number": 1, "hash": first.hash}))
    publish(body="Another.")
    assert checkpoints.make_checkpoint().number == 4
    assert read_kept() == KeptCheckpoint(4, Checkpoint.objects.get(number=4).hash)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"number": "1", "hash": "0"}', '{"number": 1, "hash": "x"}', "\xff"])
def test_an_odd_file_is_not_passed_over(text: str, place: Path) -> None:
    place.parent.mkdir()
    place.write_text(text)
    publish()
    with pytest.raises(HistoryDamaged, match="does not have a checkpoint"):
        checkpoints.make_checkpoint()


def test_a_disk_that_takes_no_file_takes_no_checkpoint_back(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(kept_checkpoint, "replace_private_file", full)
    _made(1)
    assert Checkpoint.objects.count() == 1
    assert read_kept() is None
