"""The gate: arguments, roles, approvals, idempotency and results."""

from __future__ import annotations

from typing import Any

import pytest

from capability_client import (
    ApprovalRequired,
    ArgumentsInvalid,
    CallNotOpen,
    CallRefused,
    CallResult,
    ResultInvalid,
    RoleNotAllowed,
    Session,
    ToolCall,
    ToolUnknown,
)
from capability_client.tests.registries import bundle
from capability_client.tests.test_session import ALL, Shelf
from capability_kit.bundles.tool_names import wire_name
from capability_kit.json_schema.evaluator import SchemaUnsafe
from capability_kit.json_schema.validation import find_schema_error, without_nulls
from tests import costs
from tests.bundle_files import tool
from tests.json_values import parsed

SAVE = "weights__weight_entry_save_batch"
ENTRIES = {"entries": [{"measured_on": "2026-01-15", "weight": 187.6, "unit": "lb"}]}


def _session(**settings: Any) -> Session:
    session = Session(Shelf(), environment=ALL, **settings)
    session.load("weights")
    return session


def _with(*tools: dict[str, Any], **settings: Any) -> Session:
    session = Session(Shelf([bundle("alpha", tools=list(tools))]), environment=ALL, **settings)
    session.load("alpha")
    return session


def test_a_read_runs_at_once_and_its_result_is_checked() -> None:
    session = _session()
    done = session.call("weights__weight_entry_list", {"limit": 3}, run=lambda call: {"entries": []})
    assert isinstance(done, CallResult)
    assert (done.call.tool, done.call.idempotency_key, done.result) == ("weight_entry_list", None, {"entries": []})
    with pytest.raises(ResultInvalid, match="rows"):
        session.call("weight_entry_list", {}, run=lambda call: {"rows": []})


def test_a_write_waits_for_a_person_and_runs_once_as_it_was_approved() -> None:
    session = _session()
    ran: list[ToolCall] = []

    def run(call: ToolCall) -> Any:
        ran.append(call)
        return {"saved": 1}

    arguments = {"entries": [dict(ENTRIES["entries"][0])]}
    with pytest.raises(ApprovalRequired) as waiting:
        session.call(SAVE, arguments, run=run)
    assert ran == []
    assert "187.6" in waiting.value.call.summary()
    arguments["entries"][0]["weight"] = 1.0
    with pytest.raises(ApprovalRequired):
        session.run_call(waiting.value.call_id, run)
    session.approve(waiting.value.call_id, by="olga")
    assert session.run_call(waiting.value.call_id, run).result == {"saved": 1}
    assert ran[0].arguments == ENTRIES, "what the person saw is what ran"
    assert ran[0].idempotency_key
    assert ran[0].approved_by == "olga"
    with pytest.raises(CallNotOpen):
        session.run_call(waiting.value.call_id, run)
    with pytest.raises(ApprovalRequired) as again:
        session.call(SAVE, ENTRIES, run=run)
    assert again.value.call_id != waiting.value.call_id, "an approval is used up by its call"
    assert len(ran) == 1


def test_what_waits_is_nobodys_to_change() -> None:
    open_write = {**tool("alpha_put", "write"), "args_schema": {"type": "object"}}
    session = _with(open_write)
    arguments = {"any": {"deep": ["thing"]}}
    with pytest.raises(ApprovalRequired) as waiting:
        session.call("alpha_put", arguments)
    arguments["any"]["deep"].append("more")
    assert waiting.value.call.arguments == {"any": {"deep": ["thing"]}}


def test_a_model_that_asks_twice_makes_one_request() -> None:
    session = _session()
    ids = []
    for _ in range(2):
        with pytest.raises(ApprovalRequired) as waiting:
            session.call(SAVE, ENTRIES)
        ids.append(waiting.value.call_id)
    assert ids[0] == ids[1]
    assert len(session.gate.waiting()) == 1
    session.approve(ids[0], by="olga")
    done = session.call(SAVE, ENTRIES, run=lambda call: {"saved": 1})
    assert isinstance(done, CallResult)


def test_what_a_person_refused_does_not_run() -> None:
    session = _session()
    with pytest.raises(ApprovalRequired) as waiting:
        session.call(SAVE, ENTRIES)
    session.reject(waiting.value.call_id)
    for use in (
        lambda: session.run_call(waiting.value.call_id, lambda call: None),
        lambda: session.approve(waiting.value.call_id, by="olga"),
        lambda: session.approve("call_unknown", by="olga"),
    ):
        with pytest.raises(CallNotOpen):
            use()


def test_an_approval_names_a_person() -> None:
    session = _session()
    with pytest.raises(ApprovalRequired) as waiting:
        session.call(SAVE, ENTRIES)
    with pytest.raises(CallRefused, match="person"):
        session.approve(waiting.value.call_id, by=" ")


def test_waiting_calls_survive_the_process() -> None:
    session = _session()
    with pytest.raises(ApprovalRequired) as waiting:
        session.call(SAVE, ENTRIES)
    kept = Session.from_json(session.to_json(), Shelf(), environment=ALL)
    kept.approve(waiting.value.call_id, by="olga")
    done = kept.run_call(waiting.value.call_id, lambda call: {"saved": 1})
    assert done.call.idempotency_key == waiting.value.call.idempotency_key


@pytest.mark.parametrize(
    "arguments",
    [None, [], "x", {}, {"entries": []}, {"entries": [{"weight": "heavy"}]}, {**ENTRIES, "user_id": 1}, {"entries": 1}],
)
def test_arguments_that_do_not_fit_are_refused_with_the_reason(arguments: Any) -> None:
    with pytest.raises(ArgumentsInvalid) as caught:
        _session().call(SAVE, arguments)
    assert len(str(caught.value)) > 20


def test_values_no_json_can_hold_are_refused() -> None:
    loop: list[Any] = []
    loop.append(loop)
    for odd in (float("nan"), {1, 2}, "x" * 2_000_000):
        with pytest.raises(ArgumentsInvalid):
            _session().call("weight_entry_list", {"limit": odd})
    deep: Any = {}
    for _ in range(100):
        deep = {"a": deep}
    with pytest.raises(ArgumentsInvalid, match="nested"):
        _session().call("weight_entry_list", deep)


def test_a_form_is_coerced_and_a_model_is_not() -> None:
    texts = {"entries": [{"measured_on": "2026-01-15", "weight": "187.6", "unit": ["lb"], "note": ""}]}
    with pytest.raises(ArgumentsInvalid):
        _session().call(SAVE, texts)
    with pytest.raises(ApprovalRequired) as waiting:
        _session().call(SAVE, texts, from_form=True)
    assert waiting.value.call.arguments == ENTRIES


def test_roles_decide_and_come_from_the_host() -> None:
    guarded = tool("alpha_pay", "write", requires_approval=False, allowed_roles=["billing"])
    nobody = tool("alpha_none", allowed_roles=[])
    with pytest.raises(RoleNotAllowed) as caught:
        _with(guarded).call("alpha_pay", {})
    assert caught.value.code == "ROLE_NOT_ALLOWED"
    assert isinstance(_with(guarded, roles=["billing"]).call("alpha_pay", {}), ToolCall)
    with pytest.raises(RoleNotAllowed):
        _with(nobody, roles=["billing"]).call("alpha_none", {})


def test_a_tool_of_a_skill_that_is_not_active_or_not_ready_is_unknown() -> None:
    session = _session()
    for name in ("meals__meal_log", "weights__", "weight_entry_save", "", "x" * 500):
        with pytest.raises(ToolUnknown):
            session.call(name, {})
    session.unload("weights")
    with pytest.raises(ToolUnknown):
        session.call("weights__weight_entry_list", {})


def test_a_name_that_two_skills_share_must_be_the_whole_one() -> None:
    session = Session(Shelf([bundle("a", tools=[tool("list")]), bundle("b", tools=[tool("list")])]), environment=ALL)
    session.load("a")
    session.load("b")
    with pytest.raises(ToolUnknown):
        session.call("list", {})
    call = session.call("b__list", {})
    assert isinstance(call, ToolCall)
    assert call.capability_id == "b"


def test_the_model_loads_by_a_tool_and_a_missing_skill_is_a_result() -> None:
    session = _session()
    done = session.call("capability_skill_load", {"capability_id": "meals", "arguments": "today"})
    assert isinstance(done, CallResult)
    assert done.result == {"loaded": "meals", "status": "READY", "missing": ""}
    done = session.call("capability_skill_load", {"capability_id": "sleep_tracking"})
    assert isinstance(done, CallResult)
    assert "Currently available" in parsed(done.result)["error"]["message"]


def test_long_names_are_cut_the_same_way_each_time() -> None:
    capability_id, name = "a" * 40, "b" * 40
    wire = wire_name(capability_id, name)
    assert wire == f"{'a' * 40}__{'b' * 13}_{wire[-8:]}"
    assert len(wire) == 64
    assert wire_name("a" * 30, "b" * 32) == "a" * 30 + "__" + "b" * 32
    session = Session(Shelf([bundle(capability_id, tools=[tool(name)])]), environment=ALL)
    session.load(capability_id)
    assert parsed(session.tools("openai", with_own=False)[0]["function"])["name"] == wire
    call = session.call(wire, {})
    assert isinstance(call, ToolCall)
    assert call.tool == name


def test_an_executor_that_fails_leaves_the_call_over() -> None:
    session = _session()

    def fail(call: ToolCall) -> Any:
        raise RuntimeError(call.tool)

    with pytest.raises(RuntimeError):
        session.call("weight_entry_list", {}, run=fail)


# Schemas of a registry that is not trusted.


def _bomb(levels: int) -> dict[str, Any]:
    definitions: dict[str, Any] = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(levels)}
    return {"type": "object", "$ref": "#/$defs/d0", "$defs": definitions | {f"d{levels}": {"type": "object"}}}


@pytest.mark.parametrize(
    "schema",
    [
        _bomb(30),
        {"type": "object", "$ref": "https://elsewhere.example/s.json"},
        {"type": "object", "properties": {"a": {"$ref": "#/$defs/none"}}},
        {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}},
        {"type": "no type"},
    ],
)
def test_a_schema_that_cannot_be_checked_refuses_every_call(schema: dict[str, Any]) -> None:
    hostile = {**tool("alpha_do"), "args_schema": schema}
    with costs.at_most(200), pytest.raises(ArgumentsInvalid, match="cannot be called"):
        _with(hostile).call("alpha_do", {})
    with pytest.raises(SchemaUnsafe):
        find_schema_error(schema, {})


def test_a_pattern_that_takes_for_ever_does_not() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}}
    with costs.at_most(200):
        assert find_schema_error(schema, {"a": "a" * 5000 + "b"})


def test_nulls_of_strict_modes_are_left_out_where_they_mean_nothing() -> None:
    schema = {
        "type": "object",
        "properties": {
            "a": {"type": "string"},
            "b": {"type": ["string", "null"]},
            "c": {"type": "array", "items": {"type": "object", "properties": {"d": {"type": "integer"}}}},
            "e": {"type": "string"},
            "f": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            "g": {"enum": ["x"]},
        },
        "required": ["e"],
    }
    given = {"a": None, "b": None, "c": [{"d": None}], "e": None, "f": None, "g": None, "h": None}
    assert without_nulls(given, schema) == {"b": None, "c": [{}], "e": None, "f": None, "h": None}


@pytest.mark.parametrize(
    ("value", "words"),
    [("\ud83d", "half a character"), (float("nan"), "not JSON"), ({1, 2}, "not JSON"), (b"bytes", "not JSON")],
)
def test_arguments_that_are_not_json_are_refused_and_not_a_crash(value: Any, words: str) -> None:
    session = _with(tool("alpha_get", args_schema={"type": "object", "properties": {"q": {"type": "string"}}}))
    with pytest.raises(ArgumentsInvalid, match=words):
        session.call("alpha_get", {"q": value})


def test_arguments_without_end_are_refused() -> None:
    session = _with(tool("alpha_get", args_schema={"type": "object"}))
    endless: list[Any] = []
    endless.append(endless)
    deep: list[Any] = []
    for _ in range(3000):
        deep = [deep]
    for value in (endless, deep):
        for from_form in (True, False):
            with pytest.raises(ArgumentsInvalid, match="nested more than 64"):
                session.call("alpha_get", {"q": value}, from_form=from_form)


@pytest.mark.parametrize("name", [None, 5, "\ud83d", ""])
def test_an_odd_tool_name_is_an_unknown_tool(name: Any) -> None:
    with pytest.raises(ToolUnknown, match="there are: weights__"):
        _session().call(name, {})


def test_a_capability_whose_id_begins_with_a_digit_is_callable_by_gemini() -> None:
    shelf = Shelf([bundle("3d_print", tools=[tool("print_start")])])
    session = Session(shelf, environment=ALL)
    session.load("3d_print")
    (declared,) = session.tools("gemini", with_own=False)
    assert [each["name"] for each in parsed(declared)["functionDeclarations"]] == ["_3d_print__print_start"]
    assert session.tools("anthropic", with_own=False)[0]["name"] == "3d_print__print_start"
    for name in ("_3d_print__print_start", "3d_print__print_start"):
        found = session.call(name, {})
        assert isinstance(found, ToolCall)
        assert found.tool == "print_start"
