"""A key is looked up in the snapshot, and read again in the transaction of each write."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from django.utils import timezone

from registry.access import agent_keys
from registry.models import AgentKey, AuditEvent, Capability, FeedbackEvent, Proposal, Revision
from registry.snapshot import STORE, current_snapshot
from tests.factories import OLGA, agent_key, bundle, publish
from tests.sweeps import check_each

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]
NAME = "pipeline"


def _post(path: str, body: Any, key: str, **headers: str) -> Any:
    headers |= {"Authorization": f"Bearer {key}"}
    return Client().post(path, json.dumps(body), content_type="application/json", headers=headers)


def _tool(name: str, arguments: dict[str, Any], key: str) -> Any:
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
    return _post("/mcp", call, key)


OPERATOR = "/api/v1/operator/"
BUNDLES = {"bundles": [{"path": "new", "files": bundle("new")}]}
WRITES: dict[str, Callable[[str], Any]] = {
    "feedback": lambda key: _post("/api/v1/capability_feedback", {"capability_id": "alpha", "outcome": "used"}, key),
    "propose": lambda key: _post("/api/v1/capability_propose", {"files": bundle("new")}, key),
    "publish": lambda key: _post(f"{OPERATOR}bundle_publish", BUNDLES, key),
    "publish once": lambda key: _post(f"{OPERATOR}bundle_publish", BUNDLES, key, **{"Idempotency-Key": "1"}),
    "import": lambda key: _post(f"{OPERATOR}bundle_import", BUNDLES, key),
    "draft": lambda key: _post(
        f"{OPERATOR}draft_save", {"capability_id": "alpha", "files": bundle(), "based_on": None}, key
    ),
    "retire": lambda key: _post(f"{OPERATOR}capability_retire", {"capability_id": "alpha"}, key),
    "mcp feedback": lambda key: _tool("capability_feedback", {"capability_id": "alpha", "outcome": "used"}, key),
    "mcp propose": lambda key: _tool("capability_propose", {"files": bundle("new")}, key),
    "clawhub": lambda key: _post(
        "/clawhub/api/v1/skills/-/upload-url", {"path": "SKILL.md", "size": 1, "sha256": "0" * 64}, key
    ),
}


def _refusal(answer: Any) -> str:
    if answer.headers["Content-Type"].startswith("text/plain"):
        # ClawHub's client reads a sentence.
        return {401: "UNAUTHENTICATED", 403: "FORBIDDEN"}[answer.status_code]
    document = answer.json()
    error = document.get("error") or document["result"]["structuredContent"]["error"]
    return str(error["code"])


@pytest.fixture
def key() -> str:
    """One that may do everything, known to this process; what the database says of it later is not seen."""
    publish()
    key = agent_key("read", "feedback", "propose", "publish", name=NAME)
    current_snapshot()
    return key


def _unseen(monkeypatch: pytest.MonkeyPatch) -> None:
    held = STORE.snapshot
    assert NAME in {each.name for each in held.principals.values()}
    monkeypatch.setattr(STORE, "is_watched", True)
    monkeypatch.setattr(STORE, "refresh", lambda **_: held)


@contextmanager
def _undone() -> Iterator[None]:
    """What a write has changed is undone; what this process has in memory stays."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def _nothing_is_written() -> None:
    assert list(Capability.objects.values_list("capability_id", "status")) == [("alpha", "published")]
    assert (Revision.objects.count(), Proposal.objects.count(), FeedbackEvent.objects.count()) == (1, 0, 0)
    assert not AuditEvent.objects.filter(actor_kind="agent_key").exists()


@pytest.mark.parametrize(
    "change",
    [
        {"revoked_at": timezone.now(), "revoked_by": "operator:olga"},
        {"expires_at": timezone.now() - timedelta(days=1)},
        {"key_hash": "0" * 64},
        {"name": "of another registry"},
    ],
    ids=["revoked", "ended", "another key of the name", "the key of another name"],
)
def test_a_key_that_ended_a_moment_ago_writes_nothing(
    change: dict[str, Any], key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The snapshot has it still, as in the second after a restore that put another registry here."""
    AgentKey.objects.filter(name=NAME).update(**change)
    _unseen(monkeypatch)

    def check(name: str) -> None:
        assert _refusal(WRITES[name](key)) == "UNAUTHENTICATED"
        _nothing_is_written()

    check_each(list(WRITES), check, isolate=_undone)


def test_a_key_that_lost_its_scope_a_moment_ago_writes_nothing(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    AgentKey.objects.filter(name=NAME).update(scopes=["read"])
    _unseen(monkeypatch)

    def check(name: str) -> None:
        assert _refusal(WRITES[name](key)) == "FORBIDDEN"
        _nothing_is_written()

    check_each(list(WRITES), check, isolate=_undone)


def test_a_key_in_force_writes(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _unseen(monkeypatch)

    def check(name: str) -> None:
        answer = WRITES[name](key)
        assert answer.status_code in (200, 201), (name, answer.content)
        assert not answer.json().get("result", {}).get("isError", False)

    check_each(list(WRITES), check, isolate=_undone)


def test_the_key_before_a_rotation_writes_as_long_as_it_is_taken(key: str) -> None:
    agent_keys.rotate_key(name=NAME, by=OLGA, overlap=timedelta(hours=1))
    assert WRITES["publish"](key).json()["results"][0]["status"] == "published"
    AgentKey.objects.filter(name=NAME).update(previous_until=timezone.now() - timedelta(seconds=1))
    assert _refusal(WRITES["feedback"](key)) == "UNAUTHENTICATED"
