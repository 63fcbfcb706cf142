"""What an event of a form comes to, worked out where it can be ended: the tool's schema is the author's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from capability_kit.bundles.bundle import Bundle
from capability_kit.form_dry_run import FormDryRun, dry_run_action
from capability_rules.validation.isolation.pool import CheckEnded, current_pool


def dry_run_event(bundle: Bundle, schema_id: str, event: Mapping[str, Any]) -> FormDryRun:
    """As `capability_kit.form_dry_run.dry_run_action`, and it ends. Raises `ChecksBusy`."""
    pool = current_pool()
    if pool is None:
        return dry_run_action(bundle, schema_id, event)
    try:
        request = {"do": "dry_run", "bundle": bundle.as_answer(), "schema_id": schema_id, "event": dict(event)}
        return FormDryRun(**pool.run(request))
    except CheckEnded:
        return FormDryRun("refused", why="The schema of the tool takes too long on these values")
