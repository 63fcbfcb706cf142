"""Forms that a model opens: what the user sends goes through the gate, and a form survives what happens meanwhile."""

from __future__ import annotations

import asyncio
import copy
import json
import threading
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import pytest

from capability_client import (
    ApprovalRequired,
    ArgumentsInvalid,
    AsyncSession,
    CallNotOpen,
    CallResult,
    FormEventInvalid,
    FormRequired,
    FormUnknown,
    ModelCall,
    ModelReply,
    Operation,
    RoleNotAllowed,
    Session,
    SessionFileRefused,
    SessionOptions,
    SkillForm,
    SkillNotReady,
    ToolCall,
    TurnRunning,
    User,
)
from capability_client.client.local_registry import LocalSkills
from capability_client.session import serialization
from capability_client.testing import FakeRegistry, build_bundle
from capability_client.tests.session.test_turns import Scripted
from capability_client.tests.test_session import ALL
from capability_kit.environment.probe import Environment
from tests.event_loop import run_async
from tests.json_values import parsed
from tests.servers import ROOT

SKILLS = LocalSkills(ROOT / "examples")
WEIGHTS = SKILLS.load("weights")
ENTRY: dict[str, Any] = {"measured_on": "2026-01-15", "weight": 187.6, "unit": "lb"}
OPEN: dict[str, Any] = {"schema_id": "WeightEntryForm.v1", "data": {"entries": [ENTRY]}}
SENT: dict[str, Any] = {"source": "chat", "entries": [ENTRY]}
CANCEL = {"name": "cancel", "context": {}}


def _bundle(*, skill_doc: str = "", tools: Iterable[Any] | None = None, **capability: Any) -> Any:
    """The weights of the examples, with changes."""
    answer = copy.deepcopy(WEIGHTS.as_answer())
    given = {key: value for key, value in parsed(answer["capability"]).items() if key != "capability_id"} | capability
    return build_bundle(
        "weights",
        skill_doc=parsed(skill_doc or answer["skill_doc"]),
        tools=parsed(answer["tools"] if tools is None else tools),
        ui_schemas=parsed(answer["ui_schemas"]),
        **given,
    )


def _session(*bundles: Any, **settings: Any) -> Session:
    session = Session(FakeRegistry(bundles or [_bundle()]), user=User(name="Ada"), environment=ALL, **settings)
    session.load("weights")
    return session


def _run(call: ToolCall) -> Any:
    return {"saved": len(parsed(call.arguments["entries"]))}


def _opened(session: Session, **given: Any) -> SkillForm:
    with pytest.raises(FormRequired) as waiting:
        session.call("form_open", {**OPEN, **given})
    return waiting.value.form


def _event(form: SkillForm, **values: Any) -> dict[str, Any]:
    """The user changes values and presses Save, as a renderer sends it."""
    data = copy.deepcopy(form.data)
    parsed(data["entries"])[0].update(values)
    return form.press("save", data)


def _waiting(session: Session, form: SkillForm, event: Any = None) -> ToolCall:
    with pytest.raises(ApprovalRequired) as waiting:
        session.submit(form.call_id, event or _event(form), run=_run)
    return waiting.value.call


# Opening.


def test_a_form_leads_from_the_model_to_a_saved_call() -> None:
    session = _session()
    form = _opened(session)
    assert [next(key for key in each if key != "version") for each in form.messages()] == [
        "createSurface",
        "updateDataModel",
        "updateComponents",
    ]
    assert parsed(form.messages())[1]["updateDataModel"]["value"]["entries"][0]["weight"] == "187.6"
    call = _waiting(session, form, _event(form, weight="187.2"))
    assert call.arguments == {"source": "chat", "entries": [{**ENTRY, "weight": 187.2}]}
    session.approve(call.call_id, by="Ada")
    assert session.run_call(call.call_id, _run).result == {"saved": 1}
    assert (form.state, form.tool_call_id) == ("sent", call.call_id)
    assert "187.2" in json.dumps(form.messages())
    assert "Button" not in json.dumps(form.messages())


def test_the_tool_is_there_once_a_loaded_skill_has_forms_and_stays() -> None:
    session = Session(FakeRegistry([_bundle(), build_bundle("plain")]), environment=ALL)
    session.load("plain")
    assert "form_open" not in session.own_tools()
    session.load("weights")
    assert "form_open" in session.own_tools()
    session.unload("weights")
    assert "form_open" in session.own_tools()
    assert "form_open" in Session(FakeRegistry(), environment=ALL).own_tools(ahead=True)


def test_the_prompt_lists_the_forms_of_loaded_skills() -> None:
    session = _session()
    assert "- weights: WeightBatchEditor.v1 (Review weigh-ins) {entries: [{" in session.prompt().prompt
    session.unload("weights")
    assert "WeightBatchEditor.v1" not in session.prompt().prompt
    without = _session(options=SessionOptions(own_tools=frozenset({"ask_user"})))
    assert "Forms of these skills" not in without.prompt().prompt


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (
            "Nothing.v1",
            "No loaded skill has the form 'Nothing.v1'; there are: WeightEntryForm.v1, WeightBatchEditor.v1",
        ),
        ("meals/WeightEntryForm.v1", "No loaded skill has the form"),
        ("", "No loaded skill has the form ''"),
        ("/", "No loaded skill has the form '/'"),
        ("x" * 5_000, "No loaded skill has the form 'xxx"),
    ],
)
def test_a_form_that_no_loaded_skill_has_is_refused_with_those_that_there_are(wanted: str, expected: str) -> None:
    with pytest.raises(FormUnknown, match=expected) as error:
        _session().call("form_open", {"schema_id": wanted})
    assert "capability_skill_load" in str(error.value)
    assert len(str(error.value)) < 500


def test_a_form_of_a_skill_that_is_not_loaded_names_the_way() -> None:
    session = Session(FakeRegistry([_bundle()]), environment=ALL)
    result = session.result_of("form_open", OPEN, run=_run)
    assert parsed(result)["error"]["code"] == "FORM_UNKNOWN"
    assert (
        "there are: none. The form of another skill can be opened once capability_skill_load"
        in (parsed(result)["error"]["message"])
    )


def test_a_form_of_an_expired_skill_says_so() -> None:
    session = _session()
    for _ in range(6):
        session.turn("hello")
    with pytest.raises(FormUnknown, match="weights expired; load it again: it was not used for 4 turns"):
        session.call("form_open", OPEN)


def test_a_form_of_a_skill_that_is_not_ready_says_what_is_missing() -> None:
    needs: dict[str, Any] = {
        "dependencies": {"bins": ["ffmpeg"], "python": [], "apps": [], "env": [], "permissions": []}
    }
    session = Session(FakeRegistry([_bundle(**needs)]), environment=Environment.from_dict({"os": "linux"}))
    session.load("weights")
    with pytest.raises(SkillNotReady, match="ffmpeg"):
        session.call("form_open", OPEN)


def test_the_same_form_twice_is_one_and_other_data_makes_another() -> None:
    session = _session()
    form = _opened(session)
    assert _opened(session) is form
    other = _opened(session, data={})
    assert other is not form
    assert session.open_forms() == [form, other]
    session.close_form(form.call_id)
    assert _opened(session) is not form


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"entries": [{"weigth": 1}]}, "entries/0/weigth: the form has no such value; there are: measured_on, weight"),
        ({"entries": [{"unit": "stone"}]}, "entries/0/unit: 'stone' is none of lb, kg"),
        ({"note": "x" * 40_000}, "at most 32,000 characters"),
        ([], "data: "),
        ("none", "data: "),
    ],
)
def test_data_that_does_not_fit_is_refused_and_opens_nothing(data: Any, expected: str) -> None:
    session = _session()
    with pytest.raises(ArgumentsInvalid, match=expected):
        session.call("form_open", {**OPEN, "data": data})
    assert not session.opened.by_id


def test_two_skills_with_one_schema_id_are_told_apart_by_the_skill() -> None:
    twin = build_bundle("scales", ui_schemas=WEIGHTS.ui_schemas, tools=[])
    session = _session(_bundle(), twin)
    session.load("scales")
    with pytest.raises(FormUnknown, match=r"scales/WeightEntryForm\.v1, weights/WeightEntryForm\.v1"):
        session.call("form_open", OPEN)
    assert _opened(session, schema_id="weights/WeightEntryForm.v1").capability_id == "weights"


def test_opening_a_form_is_a_use_of_its_skill() -> None:
    session = _session()
    for _ in range(4):
        session.turn("hello")
    _opened(session)
    session.turn("hello")
    assert [each.capability_id for each in session.active] == ["weights"]


def test_a_session_keeps_twenty_forms() -> None:
    session = _session()
    forms = [_opened(session, data={"entries": [{"note": str(number)}]}) for number in range(30)]
    assert list(session.opened.by_id) == [form.call_id for form in forms[10:]]


# Sending.


def test_the_same_event_twice_is_one_call() -> None:
    session = _session()
    form = _opened(session)
    call = _waiting(session, form)
    assert _waiting(session, form) is call
    with pytest.raises(CallNotOpen, match=f"sent with other values, and that call is waiting: {call.call_id}"):
        session.submit(form.call_id, _event(form, weight="190"))
    session.approve(call.call_id, by="Ada")
    assert session.submit(form.call_id, _event(form), run=_run) == CallResult(call, {"saved": 1})
    with pytest.raises(CallNotOpen, match=r"WeightEntryForm\.v1 was sent"):
        session.submit(form.call_id, _event(form), run=_run)


def test_a_call_that_failed_is_sent_again_with_its_key_and_its_approval() -> None:
    session = _session()
    form = _opened(session)
    call = _waiting(session, form)
    session.approve(call.call_id, by="Ada")
    with pytest.raises(OSError, match="full"):
        session.run_call(call.call_id, _fail)
    again = session.submit(form.call_id, _event(form), run=_run)
    assert (again.call.call_id, again.call.idempotency_key) == (call.call_id, call.idempotency_key)


def _fail(call: ToolCall) -> Any:
    raise OSError("the disk is full")


def test_a_person_who_says_no_ends_the_form() -> None:
    session = _session()
    form = _opened(session)
    session.reject(_waiting(session, form).call_id)
    with pytest.raises(CallNotOpen):
        session.submit(form.call_id, _event(form))


@pytest.mark.parametrize(
    "event",
    [
        {"name": "delete_all", "context": {}},
        {"name": "save", "context": {}},
        {"name": ["cancel"]},
        {},
        None,
        "cancel",
        {"name": "save_entries", "context": {"entries": {1, 2}}},
    ],
)
def test_an_event_that_is_not_the_forms_leaves_it_open(event: Any) -> None:
    session = _session()
    form = _opened(session)
    with pytest.raises(FormEventInvalid) as error:
        session.submit(form.call_id, event)
    assert (form.state, form.problem) == ("open", str(error.value))
    _waiting(session, form)
    assert not form.problem


def test_what_the_tool_does_not_take_leaves_the_form_open_with_the_reason() -> None:
    session = _session()
    form = _opened(session)
    with pytest.raises(ArgumentsInvalid, match="weight"):
        session.submit(form.call_id, _event(form, weight="heavy"))
    assert form.state == "open"
    assert "weight" in form.problem


def test_an_id_that_is_not_known_is_refused() -> None:
    session = _session()
    for call_id in ("form_0", "", "call_1"):
        with pytest.raises(CallNotOpen, match="is not known"):
            session.submit(call_id, CANCEL)
    with pytest.raises(CallNotOpen):
        session.approve(_opened(session).call_id, by="Ada")


def test_a_user_who_closes_the_form_is_a_result() -> None:
    session = _session()
    form = _opened(session)
    done = session.submit(form.call_id, CANCEL, run=_run)
    assert done.result == {"form": "closed", "note": "The user closed the form without sending it."}
    assert (done.call.tool, form.state) == ("form_open", "closed")
    with pytest.raises(CallNotOpen, match="was closed"):
        session.submit(form.call_id, CANCEL)
    with pytest.raises(CallNotOpen, match="was closed"):
        session.close_form(form.call_id)


def test_a_reply_is_what_the_form_is_answered_with() -> None:
    session = Session(SKILLS, user=User(name="Ada"), environment=ALL)
    session.load("introduction")
    form = _opened(session, schema_id="AskCapabilities.v1", data={"prompt": "Which ones?"})
    done = session.submit(form.call_id, form.press("send", {**form.data, "choices": ["meals"]}), run=_run)
    assert done.result == {"form": "sent", "reply": {"request_id": form.call_id, "value": ["meals"]}}


def test_a_role_that_may_not_call_the_tool_may_not_by_a_form() -> None:
    tools = [
        {**each, "policy": {**each["policy"], "allowed_roles": ["nurse"]}} for each in copy.deepcopy(WEIGHTS.tools)
    ]
    session = _session(_bundle(tools=tools))
    form = _opened(session)
    with pytest.raises(RoleNotAllowed):
        session.submit(form.call_id, _event(form))
    assert form.state == "open"


def test_a_form_of_an_expired_skill_can_be_sent_which_is_a_use() -> None:
    session = _session()
    form = _opened(session)
    for _ in range(8):
        session.turn("hello")
    assert not list(session.active)
    _waiting(session, form)
    assert [each.capability_id for each in session.active] == ["weights"]


def test_a_skill_that_is_taken_out_of_use_closes_its_forms() -> None:
    session = _session()
    form, sent = _opened(session), _opened(session, data={})
    call = _waiting(session, sent, _event(sent, weight="1", measured_on="2026-01-15", unit=["lb"]))
    parsed(session.source).quarantine("weights")
    session.turn("hello")
    for each in (form, sent):
        with pytest.raises(CallNotOpen):
            session.submit(each.call_id, _event(form))
    assert (form.state, form.problem, call.state) == ("closed", "weights was taken out of use", "rejected")
    assert "WeightEntryForm.v1 of weights: closed: weights was taken out of use" in session.prompt().prompt


def test_another_release_and_a_disabled_skill_close_the_form() -> None:
    session = _session()
    form = _opened(session)
    session.reload("weights")
    assert form.state == "open"
    parsed(session.source).publish(_bundle(skill_doc="# Weights\n\nOther words.\n"))
    session.reload("weights")
    with pytest.raises(CallNotOpen, match="another release of weights was loaded; open it again"):
        session.submit(form.call_id, _event(form))
    other = _opened(session)
    session.disable("weights")
    with pytest.raises(CallNotOpen, match="weights was disabled"):
        session.submit(other.call_id, _event(other))


# Over processes.


def _resumed(session: Session) -> Session:
    return Session.from_json(session.to_json(), parsed(session.source), environment=ALL)


def test_an_open_form_is_sent_in_another_process() -> None:
    session = _session()
    form = _opened(session)
    other = _resumed(session)
    kept = other.form(form.call_id)
    assert kept.messages() == form.messages()
    call = _waiting(other, kept)
    third = _resumed(other)
    assert third.form(form.call_id).state == "sent"
    third.approve(call.call_id, by="Ada")
    assert third.run_call(call.call_id, _run).result == {"saved": 1}
    last = _resumed(third)
    with pytest.raises(CallNotOpen):
        last.submit(form.call_id, _event(form))
    assert last.form(form.call_id).messages() == third.form(form.call_id).messages()


def test_a_form_of_another_release_than_the_session_has_is_not_sent() -> None:
    session = _session()
    form = _opened(session)
    session.submit(form.call_id, CANCEL)
    parsed(session.source).publish(_bundle(skill_doc="# Weights\n\nOther words.\n"))
    session.reload("weights")
    assert _resumed(session).form(form.call_id).messages() == form.messages()


@pytest.mark.parametrize("change", [{"state": "paid"}, {"data": []}, {"schema_id": "Gone.v1"}, {"more": 1}])
def test_a_file_with_a_damaged_form_is_refused(change: dict[str, Any]) -> None:
    session = _session()
    _opened(session)
    document = json.loads(session.to_json())
    document["content"]["forms"][0] |= change
    document["checksum"] = serialization._checksum(document["content"], None)
    with pytest.raises(SessionFileRefused):
        Session.from_json(json.dumps(document), parsed(session.source), environment=ALL)


# In a turn.


def _model(*replies: ModelReply) -> Scripted:
    return Scripted(ModelReply("", (ModelCall("1", "form_open", OPEN),)), *replies, ModelReply("Done."))


def _result(session: Any, call_id: str = "1") -> Any:
    text = next(each.text for each in session.messages if each.role == "tool" and each.call_id == call_id)
    return json.loads(text)


def test_a_turn_shows_a_form_and_asks_for_the_approval_besides() -> None:
    session, asked = _session(), []

    def approve(call: ToolCall) -> bool:
        asked.append(call.summary())
        return True

    assert session.say("my weight", _model(), run=_run, approve=approve, show=_event) == "Done."
    assert len(asked) == 1
    assert _result(session) == {
        "form": "sent",
        "tool": "weight_entry_save_batch",
        "arguments": SENT,
        "result": {"saved": 1},
    }
    session.turn("and now?")
    assert "Forms that the user was shown" not in session.prompt().prompt


@pytest.mark.parametrize("closed", [None, CANCEL])
def test_a_turn_goes_on_when_the_user_closes_the_form(closed: Any) -> None:
    session = _session()
    assert session.say("my weight", _model(), run=_run, approve=bool, show=lambda form: closed) == "Done."
    assert _result(session)["form"] == "closed"


def test_a_person_who_says_no_to_what_the_form_calls_is_heard_by_the_model() -> None:
    session = _session()
    session.say("my weight", _model(), run=_run, approve=lambda call: False, show=_event)
    assert _result(session)["error"]["code"] == "CALL_REJECTED"


def test_what_does_not_fit_is_shown_again_with_the_reason() -> None:
    session, seen = _session(), []

    def show(form: SkillForm) -> Any:
        seen.append(form.problem)
        return _event(form, weight="heavy" if len(seen) == 1 else "187")

    session.say("my weight", _model(), run=_run, approve=lambda call: True, show=show)
    assert [bool(each) for each in seen] == [False, True]
    assert _result(session)["arguments"]["entries"][0]["weight"] == 187


def test_a_form_that_never_fits_ends_after_three_times() -> None:
    session, seen = _session(), []

    def show(form: SkillForm) -> Any:
        seen.append(form.call_id)
        return {"name": "nothing"}

    session.say("my weight", _model(), run=_run, approve=bool, show=show)
    assert len(seen) == 3
    assert _result(session)["error"]["code"] == "FORM_EVENT_INVALID"
    assert not session.open_forms()


def test_a_program_without_forms_lets_the_model_ask_in_words() -> None:
    session = _session()
    assert session.say("my weight", _model(), run=_run, approve=bool) == "Done."
    error = _result(session)["error"]
    assert error["code"] == "FORM_NOT_SHOWN"
    assert error["message"].endswith("Date, Weight, Unit, Note (optional)")
    assert not session.open_forms()


def test_show_returns_an_event() -> None:
    session = _session()
    with pytest.raises(TypeError, match="show returns the form's event"):
        session.say("my weight", _model(), run=_run, approve=bool, show=parsed(lambda form: "save"))


def test_a_turn_that_is_interrupted_while_a_form_is_shown_leaves_it_open_to_be_sent_later() -> None:
    session = _session()

    def leave(form: SkillForm) -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        session.say("my weight", _model(), run=_run, approve=bool, show=leave)
    assert _result(session)["error"]["code"] == "INTERRUPTED"
    other = _resumed(session)
    (form,) = other.open_forms()
    other.turn("where were we?")
    assert "WeightEntryForm.v1 of weights: the user has not sent it yet" in other.prompt().prompt
    call = _waiting(other, form)
    assert "weight_entry_save_batch waits for a person" in other.prompt().prompt
    other.approve(call.call_id, by="Ada")
    other.run_call(call.call_id, _run)
    other.turn("and now?")
    assert 'WeightEntryForm.v1 of weights: weight_entry_save_batch is done: {"saved": 1}' in other.prompt().prompt
    other.turn("thanks")
    assert "Forms that the user was shown" not in other.prompt().prompt


def test_a_second_turn_while_a_form_is_shown_is_refused() -> None:
    session = _session()

    def show(form: SkillForm) -> Any:
        with pytest.raises(TurnRunning):
            session.say("and me?", _model(), run=_run, approve=bool)
        return CANCEL

    assert session.say("my weight", _model(), run=_run, approve=bool, show=show) == "Done."


def test_two_forms_in_one_reply_are_shown_one_after_the_other() -> None:
    session, seen = _session(), []
    calls = (ModelCall("1", "form_open", OPEN), ModelCall("2", "form_open", {**OPEN, "data": {}}))

    def show(form: SkillForm) -> Any:
        seen.append(parsed(form.data["entries"])[0]["weight"])
        return CANCEL

    session.say("my weight", Scripted(ModelReply("", calls), ModelReply("Done.")), run=_run, approve=bool, show=show)
    assert seen == ["187.6", ""]


def test_the_show_operation_is_traced_without_its_values() -> None:
    seen: list[Operation] = []

    def trace(operation: Operation) -> AbstractContextManager[Any]:
        seen.append(operation)
        return nullcontext()

    session = _session(trace=trace)
    session.say("my weight", _model(), run=_run, approve=bool, show=lambda form: CANCEL)
    (shown,) = [each for each in seen if each.kind == "show"]
    assert (shown.capability_id, shown.tool, shown.call_id[:5]) == ("weights", "form_open", "form_")
    assert "187.6" not in repr(shown)


def test_result_of_form_is_what_a_model_reads() -> None:
    session = _session()
    with pytest.raises(FormRequired) as waiting:
        session.result_of("form_open", OPEN, run=_run)
    form = waiting.value.form
    refused = session.result_of_form(form.call_id, {"name": "nothing"}, run=_run)
    assert parsed(refused)["error"]["code"] == "FORM_EVENT_INVALID"
    with pytest.raises(ApprovalRequired) as approval:
        session.result_of_form(form.call_id, _event(form), run=_run)
    result = session.result_of_approved(approval.value.call_id, run=_run, by="Ada")
    assert (parsed(result)["arguments"], parsed(result)["result"]) == (SENT, {"saved": 1})


def test_an_async_session_waits_for_a_form() -> None:
    async def talk() -> None:
        session = AsyncSession(FakeRegistry([_bundle()]), user=User(name="Ada"), environment=ALL)
        await session.load("weights")

        async def show(form: SkillForm) -> Any:
            return _event(form)

        async def approve(call: ToolCall) -> bool:
            return True

        model = _model(ModelReply("", (ModelCall("2", "form_open", {**OPEN, "data": {}}),)))
        said = await session.say("my weight", model, run=_run, approve=approve, show=show)
        assert said == "Done."
        assert _result(session)["result"] == {"saved": 1}
        with pytest.raises(FormRequired) as waiting:
            await session.call("form_open", OPEN)
        assert parsed((await session.submit(waiting.value.call_id, CANCEL, run=_run)).result)["form"] == "closed"
        with pytest.raises(FormRequired) as waiting:
            await session.result_of("form_open", OPEN, run=_run)
        assert (parsed(await session.result_of_form(waiting.value.call_id, None, run=_run)))["form"] == "closed"

    run_async(talk())


@pytest.mark.parametrize("layout", ["system", "append"])
def test_what_the_user_cannot_correct_is_shown_once_and_ends_the_form(layout: Any) -> None:
    tools = [
        {**each, "policy": {**each["policy"], "allowed_roles": ["nurse"]}} for each in copy.deepcopy(WEIGHTS.tools)
    ]
    session, seen = _session(_bundle(tools=tools), options=SessionOptions(layout=layout)), []

    def show(form: SkillForm) -> Any:
        seen.append(form.call_id)
        return _event(form)

    session.say("my weight", _model(), run=_run, approve=bool, show=show)
    assert _result(session)["error"]["code"] == "ROLE_NOT_ALLOWED"
    assert len(seen) == 1
    assert not session.open_forms()
    assert parsed(session.result_of_form("form_0", CANCEL, run=_run))["error"]["code"] == "CALL_NOT_OPEN"


def test_a_call_of_a_form_that_goes_on_in_its_thread_is_told_when_it_ends() -> None:
    async def talk() -> str:
        session = AsyncSession(FakeRegistry([_bundle()]), user=User(name="Ada"), environment=ALL)
        await session.load("weights")
        begun, end = threading.Event(), threading.Event()

        def run(call: ToolCall) -> Any:
            begun.set()
            end.wait(5)
            return {"saved": 1}

        with pytest.raises(FormRequired) as waiting:
            await session.call("form_open", OPEN)
        form = waiting.value.form
        with pytest.raises(ApprovalRequired) as approval:
            await session.submit(form.call_id, _event(form))
        session.approve(approval.value.call_id, by="Ada")
        task = asyncio.ensure_future(session.run_call(approval.value.call_id, run))
        await asyncio.to_thread(begun.wait, 5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert "has begun" in form.outcome
        with pytest.raises(CallNotOpen):
            await session.submit(form.call_id, _event(form))
        end.set()
        while "has begun" in form.outcome:
            await asyncio.sleep(0.01)
        return form.outcome

    assert run_async(talk()) == "weight_entry_save_batch is done; its result was lost"
