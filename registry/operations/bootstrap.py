"""What a new registry needs before it can be used: an operator, an agent key, example capabilities."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from capability_rules.bundles.bundle_reader import read_bundle
from registry.access import agent_keys, operators
from registry.catalog import first_run
from registry.common.actors import SYSTEM
from registry.core import audit
from registry.core.transactions import write_transaction
from registry.models import AgentKey, AuditEvent, Capability, Operator
from registry.publishing import batch
from registry.publishing.batch import BatchResult

FIRST_OPERATOR: Final = "admin"
FIRST_KEY: Final = "first agent"
FIRST_RUN: Final = "introduction"
_EXAMPLES_VERB: Final = "registry.publish_examples"


@dataclass(frozen=True)
class InitialCredentials:
    """What was made; None and empty where it was there already. Password and key are shown this once."""

    password: str | None
    agent_key: str | None
    examples: tuple[BatchResult, ...]


def create_initial_data(*, examples: Path | None, tell: Callable[[InitialCredentials], None]) -> None:
    """Make what is missing in one transaction: a start that is killed leaves all of it or nothing.

    `tell` gets what was made and shows it before the commit: a password or a key that could not be shown is not stored.
    """
    with write_transaction():
        tell(
            InitialCredentials(
                password=_first_operator(),
                agent_key=_first_key(),
                examples=_publish_examples(examples) if examples is not None else (),
            )
        )


def _first_operator() -> str | None:
    if Operator.objects.exists():
        return None
    password = secrets.token_urlsafe(15)
    operators.create_operator(
        username=FIRST_OPERATOR, password=password, role="admin", by=SYSTEM, must_change_password=True
    )
    return password


def _first_key() -> str | None:
    if AgentKey.objects.exists():
        return None
    return agent_keys.create_key(name=FIRST_KEY, by=SYSTEM)[1]


def _publish_examples(examples: Path) -> tuple[BatchResult, ...]:
    """Once, and only into an empty registry: what an operator has changed, retired or deleted never returns."""
    if Capability.objects.exists() or AuditEvent.objects.filter(verb=_EXAMPLES_VERB).exists():
        return ()
    results = batch.publish_all(
        read_bundle(str(examples)), by=SYSTEM, note="An example that comes with Capability Studio"
    )
    published = [result.capability_id for result in results if result.status == "published"]
    if FIRST_RUN in published:
        first_run.set_first_run(capability_id=FIRST_RUN, by=SYSTEM)
    audit.record(by=SYSTEM, verb=_EXAMPLES_VERB, subject="registry", detail={"capability_ids": published})
    return tuple(results)


def is_waiting_for_first_sign_in() -> bool:
    """Whether the first operator has never signed in: the password that a start has shown may be lost."""
    return Operator.objects.filter(username=FIRST_OPERATOR, last_login=None, must_change_password=True).exists()
