"""`capability_feedback`, and the confidence that load answers carry."""

from __future__ import annotations

from typing import Any

import pytest

from capability_kit.bundles.digest import digest_of_load
from registry.models import FeedbackEvent, OutcomeReport
from registry.publishing import publication
from registry.snapshot import STORE
from tests.cases import valid_bundle
from tests.factories import OLGA, bearer, publish
from tests.shapes import assert_shape

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


@pytest.fixture
def key() -> dict[str, str]:
    return bearer()


@pytest.fixture
def playbook() -> str:
    outcome = publication.publish(files=valid_bundle("playbook"), by=OLGA)
    assert outcome.status == "published", outcome.findings
    return outcome.capability_id


def _tell(api: Any, key: dict[str, str], capability_id: str, outcome: Any = "used", **more: Any) -> Any:
    return api.post("capability_feedback", {"capability_id": capability_id, "outcome": outcome} | more, headers=key)


def _load(api: Any, key: dict[str, str], capability_id: str, **more: Any) -> Any:
    return api.get("capability_skill_load", {"capability_id": capability_id} | more, headers=key)


def test_a_playbooks_confidence_moves_and_its_digest_does_not(api: Any, key: dict[str, str], playbook: str) -> None:
    first = _load(api, key, playbook)
    assert first.json()["confidence"] == {"score": 0.5, "uses": 0, "confirmed": 0}
    told = api.ok(_tell(api, key, playbook, "confirmed_success"), "feedback")
    assert told["confidence"] == {"score": 0.6, "uses": 1, "confirmed": 1, "single_key": True}
    assert told["event_id"] == str(FeedbackEvent.objects.get().event_id)
    second = _load(api, key, playbook)
    document = second.json()
    assert_shape(document, "skill_load")
    assert document["confidence"] == told["confidence"]
    assert second.headers["ETag"] != first.headers["ETag"]
    assert document["digest"] == first.json()["digest"] == digest_of_load(document)
    again = _load(api, key | {"If-None-Match": second.headers["ETag"]}, playbook)
    assert again.status_code == 304
    assert _load(api, key | {"If-None-Match": first.headers["ETag"]}, playbook).status_code == 200


def test_the_list_and_the_search_carry_it(api: Any, key: dict[str, str], playbook: str) -> None:
    publish()

    def listed(**query: Any) -> dict[str, Any]:
        answer = api.ok(api.get("capability_registry_list", query, headers=key), "registry_list")
        return {row["capability_id"]: row for row in answer["capabilities"]}

    assert "confidence" not in listed()["alpha"]
    assert listed()[playbook]["confidence"] == {"score": 0.5, "uses": 0, "confirmed": 0}
    tag = api.get("capability_registry_list", headers=key).headers["ETag"]
    told = api.ok(_tell(api, key, playbook, "confirmed_success"), "feedback")["confidence"]
    assert listed()[playbook]["confidence"] == told
    assert api.get("capability_registry_list", headers=key).headers["ETag"] != tag
    assert set(listed(fields="minimal")[playbook]) == {"capability_id", "name", "description", "intent_triggers"}
    found = api.ok(api.get("capability_search", {"q": f"alpha {playbook}"}, headers=key), "search")["results"]
    rows = {row["capability_id"]: row for row in found}
    assert rows[playbook]["confidence"] == told
    assert "confidence" not in rows["alpha"]


def test_it_is_said_of_a_pinned_release_too(api: Any, key: dict[str, str], playbook: str) -> None:
    _tell(api, key, playbook, "likely_failure", revision=1)
    assert _load(api, key, playbook, revision=1).json()["confidence"]["score"] == 0.45


def test_others_learn_and_do_not_say_it(api: Any, key: dict[str, str]) -> None:
    publish()
    assert _tell(api, key, "alpha").json()["confidence"] == {
        "score": 0.51,
        "uses": 1,
        "confirmed": 0,
        "single_key": True,
    }
    assert "confidence" not in _load(api, key, "alpha").json()


def test_a_served_answer_is_put_together_from_what_is_held(
    api: Any, key: dict[str, str], playbook: str, django_assert_num_queries: Any
) -> None:
    """However often confidence moves, the bundle is not read and checked again."""
    _load(api, key, playbook)
    _tell(api, key, playbook)
    STORE.refresh()
    STORE.is_watched = True
    with django_assert_num_queries(0):
        assert _load(api, key, playbook).json()["confidence"]["uses"] == 1


def test_reload_sees_it_at_once(api: Any, key: dict[str, str], playbook: str) -> None:
    _load(api, key, playbook)
    STORE.is_watched = True
    _tell(api, key, playbook)
    assert _load(api, key, playbook).json()["confidence"]["uses"] == 0
    reloaded = api.post("capability_skill_reload", {"capability_id": playbook}, headers=key)
    assert reloaded.json()["confidence"]["uses"] == 1


def test_who_may_not(api: Any) -> None:
    publish()
    assert "feedback" in api.error(_tell(api, bearer("read", "publish"), "alpha"), 403, "FORBIDDEN")["message"]
    api.error(_tell(api, {}, "alpha"), 401, "UNAUTHENTICATED")


def test_unknown_ones(api: Any, key: dict[str, str]) -> None:
    publish()
    error = api.error(_tell(api, key, "alfa"), 404, "CAPABILITY_NOT_FOUND")
    assert error["suggestions"] == [{"capability_id": "alpha", "name": "Alpha"}]
    for revision in (2, 10**15):
        api.error(_tell(api, key, "alpha", revision=revision), 404, "REVISION_NOT_FOUND")


@pytest.mark.parametrize("outcome", ["great", "USED", "", None, 1, ["used"], {"used": 1}])
def test_an_odd_outcome_is_told_the_five(api: Any, key: dict[str, str], outcome: Any) -> None:
    publish()
    message = api.error(_tell(api, key, "alpha", outcome), 400, "INVALID_REQUEST")["message"]
    for word in ("confirmed_success", "likely_success", "likely_failure", "confirmed_failure", "used"):
        assert word in message


@pytest.mark.parametrize("revision", [0, -1, "x", 1.5, True])
def test_an_odd_revision(api: Any, key: dict[str, str], revision: Any) -> None:
    publish()
    api.error(_tell(api, key, "alpha", revision=revision), 400, "INVALID_REQUEST")
    assert not FeedbackEvent.objects.exists()


def test_an_outcome_may_say_why(api: Any, key: dict[str, str], playbook: str, settings: Any) -> None:
    why = {"reason": "No slot", "failed_call": {"tool": "slots_find", "code": "NOT_FOUND"}}
    told = api.ok(_tell(api, key, playbook, "confirmed_failure", **why), "feedback")
    assert "conversation_kept" not in told
    talk = [{"role": "user", "text": "A slot, please"}]
    told = api.ok(_tell(api, key, playbook, "confirmed_failure", conversation=talk), "feedback")
    assert told["conversation_kept"] is False
    settings.KEEP_CONVERSATIONS = True
    told = api.ok(_tell(api, key, playbook, "confirmed_failure", conversation=talk, reason=None), "feedback")
    assert told["conversation_kept"] is True
    reports = OutcomeReport.objects.order_by("event_id")
    assert [(one.reason, one.code, one.conversation) for one in reports] == [
        ("No slot", "NOT_FOUND", None),
        ("", "", talk),
    ]
    assert _tell(api, key, playbook, conversation=[{"role": "user", "text": "x" * 70_000}]).status_code == 400
