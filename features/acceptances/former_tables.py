"""Rows of the tables that acceptances were in before, as migration 0002 and a restore take them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db.models import Model

from features.acceptances.models import Acceptance
from registry.models import Capability
from registry.operations.backup.tables import parse_row


def translate_waiver(row: Mapping[str, Any], capability_id: str) -> dict[str, Any]:
    """It keeps its number, which audit rows name."""
    moved = {"kind": "waiver", "capability_id": capability_id}
    moved |= {"accepted_at": row["created_at"], "accepted_by": row["created_by"]}
    return {name: value for name, value in row.items() if not name.startswith("created_")} | moved


def translate_held_passage(row: Mapping[str, Any]) -> dict[str, Any]:
    """It gets another number: a waiver may have its own, and nothing names it."""
    kept = {name: value for name, value in row.items() if name not in ("id", "doubt")}
    return kept | {"kind": "held_passage", "message": row["doubt"]}


def restore_waiver(row: dict[str, Any]) -> Model:
    """A line of `waiver.jsonl`, once the capabilities are there."""
    capability = Capability.objects.only("capability_id").get(pk=row["capability_id"])
    return parse_row(Acceptance, translate_waiver(row, capability.capability_id))


def restore_held_passage(row: dict[str, Any]) -> Model:
    """A line of `heldpassage.jsonl`."""
    return parse_row(Acceptance, translate_held_passage(row))
