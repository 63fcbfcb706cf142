"""Forms and approvals through MCP: asked of the user where the client can, said as text where it cannot."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest
from django.core import signing
from django.test import Client

from registry.publishing import publication
from tests.factories import OLGA, agent_key, publish
from tests.servers import ROOT

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("weights")]
ERA: Final = "io.modelcontextprotocol/"
FORM: Final = {"capability_id": "weights", "schema_id": "WeightEntryForm.v1"}
ENTERED: Final = {"measured_on": "2026-11-30", "weight": 187.6, "unit": "lb", "note": "after breakfast"}
CALL: Final = {"capability_id": "weights", "tool": "weight_entry_delete"}


@pytest.fixture
def weights(settings: Any) -> None:
    """The example with forms, and anyone reads."""
    settings.AGENT_API_PUBLIC_READ = True
    folder = ROOT / "examples" / "weights"
    files = {path.name: path.read_text("utf-8") for path in folder.iterdir() if path.is_file()}
    assert publication.publish(files=files, by=OLGA).status == "published"


def _call(
    name: str,
    arguments: dict[str, Any],
    *,
    can: Any = None,
    answer: Any = None,
    state: str = "",
    key: str = "",
) -> Any:
    """The result of a call in the newer era; `can` is what the client says of elicitation."""
    capabilities = {} if can is None else {"elicitation": can}
    meta = {f"{ERA}protocolVersion": "2026-07-28", f"{ERA}clientCapabilities": capabilities}
    params = {"name": name, "arguments": arguments, "_meta": meta}
    if answer is not None:
        params |= {"inputResponses": {"ask": answer}, "requestState": state}
    headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": name}
    headers |= {"Authorization": f"Bearer {key}"} if key else {}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    response = Client().post("/mcp", json.dumps(body), content_type="application/json", headers=headers)
    assert response.status_code == 200, response.content
    return response.json()["result"]


def _told(result: Any) -> Any:
    assert result["resultType"] == "complete", result
    return json.loads(result["content"][0]["text"])


def _asked(result: Any) -> Any:
    assert result["resultType"] == "input_required", result
    request = result["inputRequests"]["ask"]
    assert (request["method"], request["params"]["mode"]) == ("elicitation/create", "form")
    return request["params"]


def _accept(content: Any) -> dict[str, Any]:
    return {"action": "accept", "content": content}


def test_a_form_is_asked_and_then_the_approval_of_its_call() -> None:
    opened = _call("form_open", FORM, can={"form": {}})
    fields = _asked(opened)["requestedSchema"]["properties"]
    assert set(ENTERED) <= set(fields)
    assert (fields["measured_on"]["format"], fields["weight"]["type"]) == ("date", "number")
    assert {"const": "lb", "title": "lb"} in fields["unit"]["oneOf"] or "oneOf" in fields["unit"]

    entered = _call("form_open", FORM, can={"form": {}}, answer=_accept(ENTERED), state=opened["requestState"])
    asked = _asked(entered)
    assert "weight_entry_save_batch" in asked["message"]
    assert "187.6" in asked["message"]
    assert set(asked["requestedSchema"]["properties"]) == {"approve"}

    yes = _accept({"approve": True})
    done = _told(_call("form_open", FORM, can={"form": {}}, answer=yes, state=entered["requestState"]))
    assert (done["form"], done["tool"], done["approved"]) == ("sent", "weight_entry_save_batch", True)
    (entry,) = done["arguments"]["entries"]
    assert (entry["weight"], entry["unit"], entry["measured_on"]) == (187.6, "lb", "2026-11-30")


@pytest.mark.parametrize(
    "answer", [{"action": "decline"}, _accept({"approve": False}), _accept({}), _accept({"approve": "yes"})]
)
def test_what_is_not_approved_is_said_to_be_so(answer: Any) -> None:
    asked = _call("call_check", CALL | {"arguments": {"entry_id": "e1"}}, can={})
    again = _call(
        "call_check", CALL | {"arguments": {"entry_id": "e1"}}, can={}, answer=answer, state=asked["requestState"]
    )
    told = _told(again)
    assert (told["approved"], told["arguments"]) == (False, {"entry_id": "e1"})
    assert "do not run" in told["note"]


@pytest.mark.parametrize("action", ["decline", "cancel"])
def test_a_closed_form_is_closed(action: str) -> None:
    opened = _call("form_open", FORM, can={})
    told = _told(_call("form_open", FORM, can={}, answer={"action": action}, state=opened["requestState"]))
    assert told["form"] == "closed"


def test_what_does_not_fit_is_asked_for_again_with_the_reason() -> None:
    opened = _call("form_open", FORM, can={})
    wrong = _accept(ENTERED | {"weight": -4})
    asked = _asked(_call("form_open", FORM, can={}, answer=wrong, state=opened["requestState"]))
    assert "weight" in asked["message"]
    assert "unit" in asked["requestedSchema"]["properties"]


def test_data_that_is_known_is_in_the_form() -> None:
    known = FORM | {"data": {"entries": [{"weight": 190.5, "unit": "lb"}]}}
    fields = _asked(_call("form_open", known, can={}))["requestedSchema"]["properties"]
    assert fields["weight"]["default"] == 190.5


@pytest.mark.parametrize("can", [None, {"url": {}}, 1, "form"])
def test_a_client_that_cannot_ask_gets_the_form_as_text(can: Any) -> None:
    told = _told(_call("form_open", FORM, can=can))
    assert (told["form"], told["tools"]) == ("text", ["weight_entry_save_batch"])
    assert "Weight" in told["text"]
    told = _told(_call("call_check", CALL | {"arguments": {"entry_id": "e1"}}, can=can))
    assert (told["call"], told["tool"]) == ("ask_user", "weight_entry_delete")


def test_the_older_era_gets_text_whatever_it_says() -> None:
    params = {"name": "form_open", "arguments": FORM, "_meta": {f"{ERA}clientCapabilities": {"elicitation": {}}}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    result = Client().post("/mcp", json.dumps(body), content_type="application/json").json()["result"]
    assert "resultType" not in result
    assert json.loads(result["content"][0]["text"])["form"] == "text"


def test_a_read_needs_nobody() -> None:
    arguments = {"capability_id": "weights", "tool": "weight_entry_list", "arguments": {}}
    told = _told(_call("call_check", arguments, can={}))
    assert (told["call"], told["tool"]) == ("ready", "weight_entry_list")
    assert "approved" not in told


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("form_open", FORM | {"schema_id": "Nobody.v1"}),
        ("form_open", FORM | {"capability_id": "nobody"}),
        ("form_open", FORM | {"data": {"nobody": 1}}),
        ("form_open", FORM | {"more": 1}),
        ("call_check", CALL | {"tool": "nobody", "arguments": {}}),
        ("call_check", CALL | {"arguments": {}}),
        ("call_check", CALL | {"arguments": {"entry_id": {"a": 1}}}),
    ],
)
def test_what_is_wrong_is_said_to_the_model(name: str, arguments: dict[str, Any]) -> None:
    result = _call(name, arguments, can={})
    assert result["isError"]
    assert result["structuredContent"]["error"]["code"] in ("INVALID_REQUEST", "CAPABILITY_NOT_FOUND")


def _approval() -> tuple[dict[str, Any], str]:
    arguments = CALL | {"arguments": {"entry_id": "e1"}}
    return arguments, _call("call_check", arguments, can={})["requestState"]


def test_an_approval_is_for_what_was_shown() -> None:
    arguments, state = _approval()
    yes = _accept({"approve": True})
    other = arguments | {"arguments": {"entry_id": "e2"}}
    # Another call, another caller, another release, a state that somebody has made, and one that is old.
    assert _call("call_check", other, can={}, answer=yes, state=state)["resultType"] == "input_required"
    key = agent_key("read")
    assert _call("call_check", arguments, can={}, answer=yes, state=state, key=key)["resultType"] == "input_required"
    made = signing.dumps({"tool": CALL["tool"], "arguments": {"entry_id": "e1"}}, salt="mine")
    assert _call("call_check", arguments, can={}, answer=yes, state=made)["resultType"] == "input_required"
    assert _told(_call("call_check", arguments, can={}, answer=yes, state=state))["approved"]
    publish("weights", body="Another release.")
    assert _call("call_check", arguments, can={}, answer=yes, state=state)["isError"]


def test_an_approval_ends_after_an_hour(monkeypatch: pytest.MonkeyPatch) -> None:
    import time

    arguments, state = _approval()
    later = time.time() + 3601
    monkeypatch.setattr("django.core.signing.time.time", lambda: later)
    again = _call("call_check", arguments, can={}, answer=_accept({"approve": True}), state=state)
    assert again["resultType"] == "input_required"


def test_a_key_without_write_tools_is_given_none() -> None:
    key = agent_key("read", read_only_tools=True)
    assert _call("call_check", CALL | {"arguments": {"entry_id": "e1"}}, can={}, key=key)["isError"]


def test_what_is_hidden_is_unknown() -> None:
    publication.set_visibility(capability_id="weights", visibility="unlisted", by=OLGA)
    for name, arguments in (("form_open", FORM), ("call_check", CALL | {"arguments": {}})):
        assert _call(name, arguments)["structuredContent"]["error"]["code"] == "CAPABILITY_NOT_FOUND"


def test_answers_of_any_shape_are_survived() -> None:
    opened = _call("form_open", FORM, can={})
    state = opened["requestState"]
    shapes: list[Any] = [
        1,
        [],
        "x",
        {"action": 1},
        _accept(None),
        _accept([]),
        _accept({"weight": {"a": [1]}, "unit": 4}),
    ]
    for answer in shapes:
        assert _call("form_open", FORM, can={}, answer=answer, state=state)["resultType"] in (
            "input_required",
            "complete",
        )
