"""`capability_propose` and `capability_proposal`."""

from __future__ import annotations

import re
from typing import Any

import pytest

from registry.models import Proposal
from registry.publishing import proposals, publication
from tests.factories import OLGA, bearer, bundle, publish, tool
from tests.shapes import assert_shape

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


@pytest.fixture
def key() -> dict[str, str]:
    return bearer("propose")


def _propose(api: Any, key: dict[str, str], files: Any = None, **more: Any) -> Any:
    return api.post("capability_propose", {"files": bundle() if files is None else files} | more, headers=key)


def _look(api: Any, key: dict[str, str], proposal_id: str) -> Any:
    return api.get("capability_proposal", {"proposal_id": proposal_id}, headers=key)


def test_a_bundle_is_taken_in(api: Any, key: dict[str, str]) -> None:
    response = _propose(api, key, bundle(description=None), note="Please")
    assert response.status_code == 201
    document = response.json()
    assert_shape(document, "proposed")
    assert (document["capability_id"], document["status"], document["near_duplicates"]) == ("alpha", "draft", [])
    assert [finding["code"] for finding in document["findings"]] == ["FIELD_MISSING"]
    seen = api.ok(_look(api, key, document["proposal_id"]), "proposal")
    assert {name: seen[name] for name in document} == document
    assert (seen["note"], seen["decided_at"], seen["revision"]) == ("Please", None, None)
    assert api.get("capability_registry_list", headers=bearer()).json()["capabilities"] == []


def test_what_became_of_it(api: Any, key: dict[str, str]) -> None:
    first = _propose(api, key).json()["proposal_id"]
    publication.publish_draft(capability_id="alpha", by=OLGA, note="Good")
    seen = api.ok(_look(api, key, first), "proposal")
    assert (seen["status"], seen["revision"], seen["decision_note"]) == ("published", 1, "Good")
    second = _propose(api, key, bundle("beta")).json()["proposal_id"]
    proposals.reject_proposal(proposal_id=second, by=OLGA, note="Too vague")
    seen = api.ok(_look(api, key, second), "proposal")
    assert (seen["status"], seen["revision"], seen["decision_note"]) == ("rejected", None, "Too vague")
    assert seen["decided_at"]


def test_near_duplicates_are_shown_to_the_proposer_and_kept_for_the_reviewer(api: Any, key: dict[str, str]) -> None:
    publish("alpha", body="word " * 60)
    document = _propose(api, key, bundle("beta", body="word " * 60)).json()
    (near,) = document["near_duplicates"]
    assert near["capability_id"] == "alpha"
    assert 0.95 < near["likeness"] <= 1
    assert Proposal.objects.get().near_duplicates == [near]


def test_others_do_not_see_it_and_publishers_do(api: Any, key: dict[str, str]) -> None:
    proposal_id = _propose(api, key).json()["proposal_id"]
    api.error(_look(api, bearer("propose"), proposal_id), 404, "PROPOSAL_NOT_FOUND")
    api.ok(_look(api, bearer("publish"), proposal_id), "proposal")
    api.error(_look(api, bearer("read", "feedback"), proposal_id), 403, "FORBIDDEN")
    api.error(_look(api, {}, proposal_id), 401, "UNAUTHENTICATED")


@pytest.mark.parametrize("proposal_id", ["x", "00000000-0000-4000-8000-000000000000", "a" * 100])
def test_an_unknown_one(api: Any, key: dict[str, str], proposal_id: str) -> None:
    api.error(_look(api, key, proposal_id), 404, "PROPOSAL_NOT_FOUND")


def test_who_may_propose(api: Any) -> None:
    api.error(_propose(api, {}), 401, "UNAUTHENTICATED")
    api.error(_propose(api, bearer("read", "feedback", "publish")), 403, "FORBIDDEN")


def test_what_cannot_be_read_is_refused_with_its_findings(api: Any, key: dict[str, str]) -> None:
    for files in ({}, {"skill.md": "# X"}, {"capability.json": "{]"}, {"capability.json": "[]"}):
        error = api.error(_propose(api, key, files), 422, "BUNDLE_REFUSED")
        assert error["findings"], files
    assert not Proposal.objects.exists()


@pytest.mark.parametrize("files", [None, [], "x", {"skill.md": 1}, {"readme.md": "x"}, {"../x": "x"}])
def test_odd_files(api: Any, key: dict[str, str], files: Any) -> None:
    api.error(api.post("capability_propose", {"files": files}, headers=key), 400, "INVALID_REQUEST")


def test_too_large(api: Any, key: dict[str, str]) -> None:
    files = bundle() | dict.fromkeys(("tools.json", "ui_schemas.json"), " " * 1024 * 1024 + "[]")
    api.error(_propose(api, key, files), 422, "BUNDLE_REFUSED")
    api.error(_propose(api, key, {"skill.md": "x" * 8 * 1024 * 1024}), 413, "PAYLOAD_TOO_LARGE")


def test_too_many(api: Any, key: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proposals, "OPEN_PROPOSALS_MAX", 1)
    _propose(api, key)
    api.error(_propose(api, key, bundle("beta")), 409, "TOO_MANY_PROPOSALS")


def test_findings_name_nothing_that_the_key_may_not_know(api: Any) -> None:
    publish("payroll", [tool("payroll_get")], skill_groups=["secret"])
    files = bundle("payrol", tools=[tool("payroll_get")])

    for key, is_told in ((bearer("propose", groups=["open"]), False), (bearer("propose"), True)):
        proposed = _propose(api, key, files).json()
        for document in (proposed, _look(api, key, proposed["proposal_id"]).json()):
            found = {finding["code"]: finding["message"] for finding in document["findings"]}
            assert ("capability 'payroll'" in found["TOOL_NAME_COLLISION"]) is is_told
            assert ("SEC_LOOKALIKE_ID" in found) is is_told
            assert bool(re.search(r"\bpayroll\b", str(document))) is is_told


def test_a_change_to_a_capability_that_the_key_may_not_know_collides_with_nothing(api: Any) -> None:
    publish("payroll", [tool("payroll_get")], skill_groups=["secret"])
    files = bundle("payroll", tools=[tool("payroll_get")])
    assert not _propose(api, bearer("propose", groups=["open"]), files).json()["findings"]
