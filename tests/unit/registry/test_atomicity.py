"""A write that fails at any step leaves nothing behind."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any
from uuid import UUID

import pytest
from django.db import IntegrityError, transaction

from capability_rules.validation import validate_bundle
from features.sharing import install_codes
from registry.access import agent_keys, operators
from registry.catalog import drafts, first_run
from registry.common.actors import Actor
from registry.core import audit
from registry.feature import list_registry_models
from registry.models import Capability, Proposal, ToolName
from registry.publishing import proposals, publication
from registry.usage import feedback
from tests.factories import OLGA, bundle, publish, tool
from tests.sweeps import check_each, rolled_back

pytestmark = pytest.mark.django_db

Verb = Callable[[], Any]
PUBLISHING_STEPS = [
    "publishing.publication._store_revision",
    "publishing.publication._replace_draft",
    "publishing.publication.set_published_revision",
    "publishing.release_pointer._take_tool_names",
    "publishing.release_pointer.close_incidents",
]
VERBS: dict[str, Verb] = {
    "publish": lambda: publication.publish(files=bundle(tools=[tool("alpha_new")], body="New."), by=OLGA),
    "rollback": lambda: publication.rollback(capability_id="alpha", to=1, by=OLGA),
    "deprecate": lambda: publication.deprecate(capability_id="alpha", replaced_by="beta", by=OLGA),
    "retire": lambda: publication.retire(capability_id="beta", by=OLGA),
    "restore": lambda: publication.restore(capability_id="old", by=OLGA),
    "save_draft": lambda: drafts.save_draft(capability_id="new", files=bundle("new"), based_on=None, by=OLGA),
    "restore_version": lambda: drafts.restore_version(capability_id="alpha", version=1, based_on=2, by=OLGA),
    "replace_draft": lambda: drafts.replace_draft(capability_id="alpha", files=bundle(), by=OLGA),
    "discard_draft": lambda: drafts.discard_draft(capability_id="alpha", by=OLGA),
    "record_outcome": lambda: feedback.record_outcome(capability_id="alpha", outcome="used", by=OLGA),
    "propose": lambda: proposals.propose(files=bundle("new"), by=OLGA),
    "propose_anew": lambda: proposals.propose(files=bundle("proposed", body="Anew."), by=OLGA),
    "accept_proposal": lambda: proposals.accept_proposal(proposal_id=_proposal("alpha"), by=OLGA),
    "reject_proposal": lambda: proposals.reject_proposal(proposal_id=_proposal("proposed"), by=OLGA),
    "publish_proposed": lambda: publication.publish_draft(capability_id="proposed", by=OLGA),
    "set_visibility": lambda: publication.set_visibility(capability_id="alpha", visibility="unlisted", by=OLGA),
    "rotate_code": lambda: install_codes.rotate_code(capability_id="alpha", by=OLGA),
    "redeem_code": lambda: install_codes.redeem_code(code=_code("alpha"), by=Actor("agent_key", "old")),
    "set_first_run": lambda: first_run.set_first_run(capability_id="alpha", by=OLGA),
    "create_key": lambda: agent_keys.create_key(name="new", by=OLGA),
    "revoke_key": lambda: agent_keys.revoke_key(name="old", by=OLGA),
    "create_operator": lambda: operators.create_operator(
        username="new", password="a-long-passphrase", role="viewer", by=OLGA
    ),
    "set_password": lambda: operators.set_password(username="old", password="another-passphrase", by=OLGA),
    "disable_operator": lambda: operators.disable_operator(username="old", by=OLGA),
}


def _proposal(capability_id: str) -> UUID:
    return Proposal.objects.get(capability__capability_id=capability_id).proposal_id


def _code(capability_id: str) -> str:
    return Capability.objects.get(capability_id=capability_id).install_code


def _prepare() -> None:
    """A registry in which every verb above can do its work."""
    publish(tools=[tool("alpha_old")])
    publish(tools=[tool("alpha_two")])
    publish("beta")
    publish("old")
    publication.retire(capability_id="old", by=OLGA)
    drafts.save_draft(capability_id="alpha", files=bundle(body="Begun."), based_on=None, by=OLGA)
    drafts.save_draft(capability_id="alpha", files=bundle(body="Draft."), based_on=1, by=OLGA)
    for name in ("alpha", "proposed"):
        proposals.propose(files=bundle(name, body="Proposed."), by=OLGA)
    agent_keys.create_key(name="old", by=OLGA)
    operators.create_operator(username="old", password="a-long-passphrase", role="viewer", by=OLGA)


def _everything() -> dict[str, list[dict[str, Any]]]:
    """Every row of every table of ours."""
    ours = list_registry_models()
    return {model.__name__: list(model._default_manager.order_by("pk").values()) for model in ours}


class _PulledPlugError(Exception):
    pass


def _failing_after(step: Callable[..., Any]) -> Callable[..., Any]:
    def run(*args: Any, **kwargs: Any) -> Any:
        step(*args, **kwargs)
        raise _PulledPlugError

    return run


def test_a_verb_that_fails_with_its_audit_row_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    _prepare()
    before = _everything()

    def check(name: str) -> None:
        with monkeypatch.context() as patch:
            patch.setattr(audit, "record", _failing_after(audit.record))
            with pytest.raises(_PulledPlugError):
                VERBS[name]()
        assert _everything() == before

    check_each(VERBS, check, isolate=rolled_back)


def test_each_verb_writes_one_audit_row_and_the_chain_holds() -> None:
    _prepare()
    before = len(_everything()["AuditEvent"])

    def check(name: str) -> None:
        VERBS[name]()
        assert len(_everything()["AuditEvent"]) == before + 1
        assert audit.find_chain_break() is None

    check_each(VERBS, check, isolate=rolled_back)


def test_a_publish_that_fails_after_any_step_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    _prepare()
    before = _everything()

    def check(step: str) -> None:
        with monkeypatch.context() as patch:
            module, _, name = step.rpartition(".")
            at = import_module(f"registry.{module}")
            patch.setattr(at, name, _failing_after(getattr(at, name)))
            with pytest.raises(_PulledPlugError):
                VERBS["publish"]()
        assert _everything() == before
        assert VERBS["publish"]().status == "published"

    check_each(PUBLISHING_STEPS, check, isolate=rolled_back)


def test_the_table_refuses_a_tool_name_that_no_check_saw(monkeypatch: pytest.MonkeyPatch) -> None:
    """Were the lock ever broken, the primary key still holds the rule."""
    publish(tools=[tool("shared_list")])
    before = _everything()
    monkeypatch.setattr(publication, "_with_collisions", lambda report, _bundle: report)
    report = validate_bundle(bundle("beta", [tool("shared_list")]))
    with pytest.raises(IntegrityError), transaction.atomic():
        publication.publish_validated(report, by=OLGA)
    assert _everything() == before
    assert ToolName.objects.get().capability.capability_id == "alpha"


def test_an_audit_row_outside_of_a_transaction_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transaction.get_connection(), "in_atomic_block", False)
    with pytest.raises(RuntimeError):
        audit.record(by=OLGA, verb="x", subject="y")
