"""What a new registry needs before anybody can use it: somebody who may sign in, a key, something to look at."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from pathlib import Path

from registry import batches
from registry.access import keys, operators
from registry.actors import SYSTEM
from registry.batches import Result
from registry.imports.sources import read_path
from registry.models import AgentKey, Capability, Operator

FIRST_OPERATOR = "admin"
FIRST_KEY = "first agent"


@dataclass(frozen=True)
class FirstStart:
    """What was made; None and empty where it was there already. Password and key are told this once."""

    password: str | None
    agent_key: str | None
    examples: tuple[Result, ...]


def make_first_things(*, examples: Path | None) -> FirstStart:
    """Make what is missing. A second call finds everything and makes nothing."""
    return FirstStart(
        password=_first_operator(),
        agent_key=_first_key(),
        examples=_publish_examples(examples) if examples is not None else (),
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
    return keys.create_key(name=FIRST_KEY, by=SYSTEM)[1]


def _publish_examples(examples: Path) -> tuple[Result, ...]:
    """Only into an empty registry: what an operator has changed or retired is never put back."""
    if Capability.objects.exists():
        return ()
    sources = read_path(str(examples))
    return tuple(batches.publish_all(sources, by=SYSTEM, note="An example that comes with Capability Studio"))
