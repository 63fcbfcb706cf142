"""The smallest valid objects. States are reached through our own verbs, never by setting columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from django.db import transaction

from registry.access import agent_keys
from registry.common import caches
from registry.common.actors import Actor
from registry.core.append_only import lift_append_only
from registry.models import AgentKey, Capability, Revision
from registry.publishing import publication
from registry.publishing.publication import PublishResult
from tests.bundle_files import DOUBT, Files, bundle, to_json, tool, zip_of

# What a test of the registry needs besides comes with them.
__all__ = [
    "DOUBT",
    "OLGA",
    "Files",
    "agent_key",
    "bearer",
    "bundle",
    "damage",
    "fresh_process",
    "publish",
    "tampering",
    "to_json",
    "tool",
    "unlisted",
    "zip_of",
]

OLGA = Actor("operator", "olga")


def fresh_process() -> Iterator[None]:
    """Forget what a process keeps in memory, before and after: each test is a process that has just begun."""
    caches.reset_all()
    yield
    caches.reset_all()


def publish(capability_id: str = "alpha", *args: Any, acknowledge: Sequence[str] = (), **fields: Any) -> PublishResult:
    """Publish `bundle(...)` and see that it worked."""
    outcome = publication.publish(files=bundle(capability_id, *args, **fields), by=OLGA, acknowledge=acknowledge)
    assert outcome.status == "published", outcome.findings
    return outcome


def agent_key(*scopes: str, name: str = "", **limits: Any) -> str:
    """A key with these scopes, and what limits it."""
    scopes = scopes or agent_keys.DEFAULT_SCOPES
    return agent_keys.create_key(name=name or f"key {AgentKey.objects.count()}", by=OLGA, scopes=scopes, **limits)[1]


def bearer(*scopes: str, **limits: Any) -> dict[str, str]:
    """The header of a new key, for Django's test client."""
    return {"Authorization": f"Bearer {agent_key(*scopes, **limits)}"}


def unlisted(capability_id: str, **fields: Any) -> str:
    """Publish `bundle(...)` for those alone who redeem the install code that this answers."""
    publish(capability_id, **fields)
    publication.set_visibility(capability_id=capability_id, visibility="unlisted", by=OLGA)
    return Capability.objects.get(capability_id=capability_id).install_code


@contextmanager
def tampering() -> Iterator[None]:
    """Within it the append-only tables can be changed, as somebody who owns the database can."""
    with transaction.atomic(), lift_append_only():
        yield


def damage(revision: Revision, **columns: Any) -> None:
    """Change a stored revision behind the registry's back, as a disk or a hand would."""
    with tampering():
        Revision.objects.filter(pk=revision.pk).update(**columns)
