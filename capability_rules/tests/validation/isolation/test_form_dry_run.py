"""An event of a form, worked out in a process that can be ended."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import pytest

from capability_kit.bundles.bundle import Bundle
from capability_kit.bundles.digest import bundle_digest
from capability_kit.form_dry_run import dry_run_action
from capability_rules.validation.isolation import pool as pool_module
from capability_rules.validation.isolation.form_dry_run import dry_run_event
from tests.bundle_files import tool

NEVER_ENDS = (
    "from capability_rules.validation.isolation import process; "
    "process.prepare = lambda: None; process.CPU_SECONDS_MAX = 0.2; "
    "process._OPERATIONS = {'dry_run': lambda *_: [sum(range(10**7)) for _ in iter(int, 1)]}; process.main()"
)


@pytest.fixture(autouse=True)
def processes() -> Iterator[None]:
    pool_module.use_processes(1)
    yield
    pool_module.use_processes(0)


def _bundle() -> Bundle:
    capability = {"capability_id": "alpha", "name": "A", "description": "D"}
    form = {"schema_id": "A.v1", "definition": {}, "actions": {"send": {"tool": "alpha_list"}}}
    parts = {"capability": capability, "skill_doc": "# A", "tools": [tool("alpha_list")], "ui_schemas": [form]}
    digest = bundle_digest(**parts)  # type: ignore[arg-type]
    return Bundle.from_answer({"capability_id": "alpha", "digest": digest, **parts})


EVENTS: list[dict[str, Any]] = [
    {"name": "send", "context": {"limit": "5"}},
    {"name": "send", "context": {"limit": "x"}},
    {"name": "other"},
]


@pytest.mark.parametrize("event", EVENTS)
def test_event_comes_to_what_it_would_here(event: dict[str, Any]) -> None:
    assert dry_run_event(_bundle(), "A.v1", event) == dry_run_action(_bundle(), "A.v1", event)


def test_event_that_takes_too_long_is_refused_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool_module, "_COMMAND", (sys.executable, "-c", NEVER_ENDS))
    outcome = dry_run_event(_bundle(), "A.v1", EVENTS[0])
    assert (outcome.standing, "too long" in outcome.why) == ("refused", True)
