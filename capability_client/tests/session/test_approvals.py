"""Approvals as objects: who, with which arguments, until when, and for the rest of the session."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from capability_client import (
    Approval,
    ApprovalRequired,
    ArgumentsInvalid,
    Bundle,
    CallNotOpen,
    CallResult,
    ModelCall,
    ModelReply,
    Session,
    SessionFileRefused,
    ToolCall,
    User,
)
from capability_client.testing import FakeRegistry, build_bundle
from capability_client.tests.session.test_turns import Scripted
from capability_client.tests.test_session import ALL
from tests.json_values import parsed

NOW = datetime(2026, 1, 15, 12, tzinfo=UTC)
PUT = {
    "name": "put",
    "description": "Put a number.",
    "policy": {"kind": "write", "requires_approval": True},
    "args_schema": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
}


class Clock:
    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now


def _session(registry: FakeRegistry | None = None) -> tuple[Session, Clock]:
    session = Session(registry or FakeRegistry([_bundle()]), user=User(name="Ada"), environment=ALL)
    clock = Clock()
    session.gate._clock = clock
    session.load("alpha")
    return session, clock


def _bundle(**capability: Any) -> Bundle:
    return build_bundle("alpha", tools=[PUT], **capability)


def _run(call: ToolCall) -> dict[str, object]:
    return {"put": call.arguments["n"]}


def _waiting(session: Session, n: int) -> str:
    with pytest.raises(ApprovalRequired) as waiting:
        session.call("put", {"n": n})
    return waiting.value.call_id


def test_a_person_changes_the_arguments_and_the_model_reads_so() -> None:
    session, _ = _session()
    key = session.gate.find(call_id := _waiting(session, 1)).idempotency_key
    result = session.result_of_approved(call_id, Approval("Ada", arguments={"n": "2"}), run=_run)
    assert parsed(result)["arguments"] == {"n": 2}, "texts of a form become numbers"
    assert parsed(result)["result"] == {"put": 2}
    assert "the user changed its arguments" in parsed(result)["note"]
    call = session.gate.find(call_id)
    assert (call.approved_by, call.asked, call.idempotency_key) == ("Ada", {"n": 1}, key)
    assert session.events[-2].words == "put: approved by Ada, with other arguments"


def test_changed_arguments_that_do_not_fit_leave_the_call_waiting() -> None:
    session, _ = _session()
    call_id = _waiting(session, 1)
    with pytest.raises(ArgumentsInvalid):
        session.approve(call_id, Approval("Ada", arguments={"n": "many"}))
    assert session.gate.find(call_id).state == "waiting"
    with pytest.raises(CallNotOpen, match="names the person"):
        session.approve(call_id, Approval())
    assert session.approve(call_id, by="Ada").approved_by == "Ada"


def test_a_call_that_failed_with_changed_arguments_is_the_same_call_again() -> None:
    session, _ = _session()
    call_id = _waiting(session, 1)
    session.approve(call_id, Approval("Ada", arguments={"n": 2}))
    with pytest.raises(ZeroDivisionError):
        session.run_call(call_id, lambda call: 1 // 0)
    again = session.call("put", {"n": 1}, run=_run)
    assert (again.call.call_id, again.result) == (call_id, {"put": 2})


def test_an_approval_expires_before_the_call_has_begun() -> None:
    session, clock = _session()
    call_id = _waiting(session, 1)
    session.approve(call_id, Approval("Ada", expires_at=NOW + timedelta(minutes=5)))
    clock.now += timedelta(minutes=5)
    with pytest.raises(ApprovalRequired):
        session.run_call(call_id, _run)
    assert session.gate.find(call_id).state == "waiting"
    assert _waiting(session, 1) == call_id
    session.approve(call_id, Approval("Ada", expires_at=clock.now + timedelta(minutes=5)))
    assert session.run_call(call_id, _run).result == {"put": 1}


def test_a_time_without_a_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="has a time zone"):
        Approval("Ada", expires_at=datetime(2026, 1, 15, 12))  # noqa: DTZ001


def test_an_approval_for_the_session_holds_for_other_arguments_and_other_processes() -> None:
    session, _ = _session()
    earlier = _waiting(session, 5)
    session.approve(_waiting(session, 1), Approval("Ada", for_session=True))
    assert not session.needs_approval("put")
    done = session.call("put", {"n": 2}, run=_run)
    assert (done.call.approved_by, done.result) == ("Ada", {"put": 2})
    assert session.call("put", {"n": 5}, run=_run).call.call_id == earlier
    resumed = Session.from_json(session.to_json(), FakeRegistry([]), environment=ALL)
    assert isinstance(resumed.call("put", {"n": 3}, run=_run), CallResult)
    assert "for the session" in json.dumps([each.words for each in session.events])


def test_an_approval_for_the_session_ends_with_its_time_and_with_another_release() -> None:
    registry = FakeRegistry([_bundle()])
    session, clock = _session(registry)
    until = NOW + timedelta(hours=1)
    session.approve(_waiting(session, 1), Approval("Ada", expires_at=until, for_session=True))
    assert isinstance(session.call("put", {"n": 2}, run=_run), CallResult)
    registry.publish(_bundle(skill_doc="# Alpha\n\nOther words.\n"))
    session.reload("alpha")
    assert session.needs_approval("put"), "nobody has approved what this release does"
    session.approve(_waiting(session, 3), Approval("Ada", expires_at=until, for_session=True))
    clock.now = until
    assert session.needs_approval("put")


def test_a_skill_that_is_taken_out_of_use_takes_its_approval_along() -> None:
    registry = FakeRegistry([_bundle()])
    session, _ = _session(registry)
    session.approve(_waiting(session, 1), Approval("Ada", for_session=True))
    registry.quarantine("alpha")
    session.turn("hello")
    assert session.gate.grants == []


def test_approve_returns_an_approval_in_a_turn() -> None:
    session, _ = _session()
    calls = [ModelCall(str(n), "alpha__put", {"n": n}) for n in (1, 2)]
    model = Scripted(ModelReply(calls=(calls[0],)), ModelReply(calls=(calls[1],)), ModelReply("Done."))
    asked: list[str] = []

    def approve(call: ToolCall) -> Approval:
        asked.append(call.summary())
        return Approval(arguments={"n": 7}, for_session=True)

    assert session.say("put 1 and 2", model, run=_run, approve=approve) == "Done."
    assert len(asked) == 1
    results = [json.loads(each.text) for each in session.messages if each.role == "tool"]
    assert (results[0]["result"], results[1]) == ({"put": 7}, {"put": 2})
    assert session.gate.grants[0].by == "Ada"


def test_a_file_of_a_session_without_approvals_is_as_it_was_and_a_damaged_time_is_refused() -> None:
    session, _ = _session()
    _waiting(session, 1)
    content = json.loads(session.to_json())["content"]
    assert "grants" not in content
    assert not {"asked", "approved_until"} & set(content["calls"][0])
    session.approve(_waiting(session, 1), Approval("Ada", expires_at=NOW, for_session=True))
    session.gate.grants[0] = parsed(session.gate.grants[0]).__class__("alpha", "", "put", "Ada", "tomorrow")
    with pytest.raises(SessionFileRefused):
        Session.from_json(session.to_json(), FakeRegistry([]), environment=ALL)


def test_an_approved_call_that_never_ran_does_not_run_for_an_equal_one_of_a_later_turn() -> None:
    session, _ = _session()
    session.turn("put 1")
    first = _waiting(session, 1)
    session.approve(first, by="Ada")
    assert session.open_call("put", {"n": 1}).call_id == first, "a repetition in the same turn is the same call"
    resumed = Session.from_json(session.to_json(), FakeRegistry([_bundle()]), environment=ALL)
    for one in (session, resumed):
        one.turn("put 1 once more")
        second = _waiting(one, 1)
        assert second != first
        assert one.run_call(first, _run).result == {"put": 1}, "the approved one runs by its id"
        assert _waiting(one, 1) == second
