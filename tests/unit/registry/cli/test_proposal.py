"""`manage.py proposal`."""

from __future__ import annotations

from typing import Any

import pytest

from registry.catalog import drafts
from registry.catalog.drafts import get_draft
from registry.common.actors import Actor
from registry.models import Proposal
from registry.publishing.proposals import propose
from tests.factories import OLGA, bundle

pytestmark = pytest.mark.django_db


@pytest.fixture
def proposal_id() -> str:
    drafts.save_draft(capability_id="alpha", files=bundle(body="Mine."), based_on=None, by=OLGA)
    by = Actor("agent_key", "agent \x1b[31m")
    return str(propose(files=bundle(description=None, body="\x1b[2J"), by=by, note="Why").proposal.proposal_id)


def test_list_and_show(manage: Any, proposal_id: str) -> None:
    for verb in (["list"], ["list", "--status", "all"], ["show", proposal_id]):
        done = manage("proposal", *verb)
        assert (done.code, proposal_id in done.out, "\x1b" in done.out) == (0, True, False)
        assert manage("proposal", *verb, "--format", "json").code == 0
    assert manage("proposal", "list", "--status", "rejected").out == ""
    shown = manage("proposal", "show", proposal_id, "--format", "json").document
    assert (shown["status"], shown["note"]) == ("draft", "Why")
    assert next(finding["code"] for finding in shown["findings"]) == "FIELD_MISSING"
    assert "error[FIELD_MISSING] capability.json" in manage("proposal", "show", proposal_id).out


def test_accept(manage: Any, proposal_id: str) -> None:
    done = manage("proposal", "accept", proposal_id)
    assert (done.code, done.out) == (0, "alpha: draft 2. Publish it with: bundle publish --draft alpha\n")
    assert get_draft("alpha").proposal is not None
    again = manage("proposal", "accept", proposal_id, "--format", "json").document
    assert again == {"capability_id": "alpha", "draft_version": 2}


def test_reject(manage: Any, proposal_id: str) -> None:
    assert manage("proposal", "reject", proposal_id, "--note", "No").out == f"{proposal_id}: rejected\n"
    assert Proposal.objects.get().decision_note == "No"
    done = manage("proposal", "reject", proposal_id, "--format", "json")
    assert (done.code, done.document["error"]["code"]) == (1, "STATUS_CONFLICT")
    done = manage("proposal", "show", "nobody")
    assert (done.code, "PROPOSAL_NOT_FOUND" in done.err) == (1, True)
