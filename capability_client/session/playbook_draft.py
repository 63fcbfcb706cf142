"""A playbook draft from a recorded session: what was called, in its order, without a value of the conversation.

Only names are taken: of capabilities, tools and arguments, as their contracts write them. What users, models and tools
said, and the values of arguments and results, are never read; descriptions of the schemas stand in their place.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import groupby, takewhile
from typing import Any, Final

from capability_client.session import own_tools
from capability_client.session.core import SessionCore
from capability_client.session.messages import ModelCall
from capability_kit.bundles.bundle import Bundle, is_capability_id
from capability_kit.bundles.playbook import PlaybookDoc, PlaybookStep
from capability_kit.json_text import parse_json
from capability_kit.text.sanitize import one_line
from capability_kit.tool_gate import is_tool_of
from capability_kit.ui.ask import WIDGETS

STEPS_MAX: Final = 50
_KEPT_ARGUMENTS: Final = 12
_DESCRIPTION_MAX: Final = 160
# Signs that would mean something in a skill doc, or name one of its forms.
_SIGNS: Final = re.compile(r"[`$#*<>\[\]|{}]|\.(?=v\d)")
_REFUSED: Final[Mapping[str, str]] = {
    "ARGUMENTS_INVALID": "refuses arguments that do not fit its schema: correct what the message names, call it again",
    "CALL_REJECTED": "is not called again where the user says no to it: go on without it, or stop",
    "TOOL_FAILED": "can fail: call it once more with the same arguments, then escalate",
    "RESULT_INVALID": "can return what its contract does not know: do not rely on it, and escalate",
    "ROLE_NOT_ALLOWED": "needs a role that the user may not have: say so, and escalate",
    "SKILL_NOT_READY": "may need a set-up first: say what is missing",
    "TOOL_WITHHELD": "may be withheld from the agent's key: say so, and escalate",
}
_OTHERWISE: Final = "can return an error: say what it means for the task, and escalate"


@dataclass(frozen=True)
class _Call:
    """One recorded call of a skill's tool; `code` is that of an error, or "error" for one of the tool's own."""

    bundle: Bundle
    contract: Mapping[str, Any]
    code: str

    @property
    def name(self) -> str:
        return str(self.contract["name"])


def draft_playbook(session: SessionCore, *, capability_id: str, name: str, problem: str) -> dict[str, str]:
    """The four files of a playbook, by file name, for the turns that `say` and `steps` ran.

    Each successful call of a skill's tool is a step, calls of one tool in a row are one; questions to the user are
    steps; errors are edge cases. `name` and `problem` are yours, and no text of the conversation. The same session
    gives the same files. Raises `ValueError` where no call succeeded, or for an unusable id, name or problem.
    """
    title, told = one_line(name, most=80), " ".join(problem.split())
    if not is_capability_id(capability_id) or not title or not 1 <= len(told) <= 1024:
        raise ValueError("A playbook needs a capability_id such as refund_check, a name, and a problem of 1 to 1,024 "
                         "characters")  # fmt: skip
    calls = list(_recorded_calls(session))
    done = [call for call in calls if isinstance(call, _Call) and not call.code]
    if not done:
        raise ValueError("No tool of a skill was called with success in this session, so there are no steps to write")
    doc = PlaybookDoc.of(
        title,
        goal=f"{told.rstrip('.')}.",
        prerequisites=_prerequisites(done),
        steps=list(_steps(calls)),
        edge_cases=_edge_cases([call for call in calls if isinstance(call, _Call) and call.code]),
        escalation="Stop, and tell a person which step it was, what was done before it, and what its tool returned.",
    )
    capability = {
        "capability_id": capability_id,
        "name": title,
        "description": told,
        "skill_profile": "playbook",
        "playbook": {"problem": told, "conditions": [], "keywords": [title.lower()]},
    }
    written = json.dumps(capability, ensure_ascii=False, indent=2) + "\n"
    return {"capability.json": written, "skill.md": doc.markdown(), "tools.json": "[]\n", "ui_schemas.json": "[]\n"}


def _recorded_calls(session: SessionCore) -> Iterator[_Call | tuple[str, ...]]:
    """The calls of skills' tools; of a question to the user, its widgets."""
    for index, message in enumerate(session.messages):
        following = takewhile(lambda each: each.role == "tool", session.messages[index + 1 :])
        # A vendor's call ids may come again in a later turn.
        results = {each.call_id: each.text for each in following} if message.calls else {}
        for call in message.calls:
            if call.name == own_tools.ASK:
                yield _widgets(call)
            elif (found := _contract(session, _named(call, results))) is not None and call.call_id in results:
                code = _error_code(results[call.call_id])
                # What was interrupted says nothing of the tool.
                if code != "INTERRUPTED":
                    yield _Call(*found, code)


def _named(call: ModelCall, results: Mapping[str, str]) -> ModelCall:
    """The tool that was called: by the one that calls those of skills, or by a form that the user sent."""
    if call.name == own_tools.CALL and isinstance(call.arguments, dict):
        return replace(call, name=str(call.arguments.get("tool")))
    if call.name == own_tools.FORM:
        result = _object(results.get(call.call_id, ""))
        return replace(call, name=str(result["tool"])) if result.get("form") == "sent" and "tool" in result else call
    return call


def _object(text: str) -> dict[str, Any]:
    found = parse_json(text)
    return found if isinstance(found, dict) else {}


def _contract(session: SessionCore, call: ModelCall) -> tuple[Bundle, Mapping[str, Any]] | None:
    for bundle in session.bundles.values():
        for tool in bundle.tools:
            if is_tool_of(bundle.capability_id, [tool["name"]], str(call.name).removeprefix("_")):
                return bundle, tool
    return None


def _error_code(text: str) -> str:
    try:
        result = json.loads(text)
    except (ValueError, RecursionError):
        return "error"
    error = result.get("error") if isinstance(result, dict) else None
    if error is None:
        return ""
    code = error.get("code") if isinstance(error, dict) else None
    return code if isinstance(code, str) and code in (*_REFUSED, "INTERRUPTED") else "error"


def _widgets(call: ModelCall) -> tuple[str, ...]:
    questions = call.arguments.get("questions") if isinstance(call.arguments, dict) else None
    rows = [row for row in questions if isinstance(row, dict)] if isinstance(questions, list) else []
    return tuple(str(row["widget"]) for row in rows if row.get("widget") in WIDGETS)


def _prerequisites(done: list[_Call]) -> Iterator[str]:
    tools: dict[str, dict[str, None]] = {}
    for call in done:
        tools.setdefault(call.bundle.capability_id, {})[f"`{call.name}`"] = None
    for capability_id, names in tools.items():
        yield f"The capability `{capability_id}` is loaded: {', '.join(names)}"


def _steps(calls: list[_Call | tuple[str, ...]]) -> Iterator[PlaybookStep]:
    kept = [call for call in calls if not isinstance(call, _Call) or not call.code]
    grouped = [list(group) for _, group in groupby(kept, key=_what)]
    for number, group in enumerate(grouped[:STEPS_MAX], start=1):
        call = group[0]
        if isinstance(call, _Call):
            yield _call_step(number, call, is_repeated=len(group) > 1)
        else:
            asked = f" ({', '.join(call)})" if call else ""
            do = f"Ask the user for what is missing{asked}; do not guess it."
            check = "Each question has an answer."
            yield PlaybookStep.of(number, "Ask the user", do=do, check=check, say="What you need.")


def _what(call: _Call | tuple[str, ...]) -> tuple[str, ...]:
    return (call.bundle.capability_id, call.name) if isinstance(call, _Call) else ("", "")


def _call_step(number: int, call: _Call, *, is_repeated: bool) -> PlaybookStep:
    policy = call.contract["policy"]
    do = f"Call `{call.name}` of `{call.bundle.capability_id}`{_arguments(call.contract)}."
    do += " Call it once for each case." if is_repeated else ""
    shown = ", ".join(f"`{key}`" for key in _properties(call.contract.get("result_schema")))
    check = f"The tool returns no error{f', and {shown}' if shown else ''}."
    if policy.get("requires_approval") is True:
        say = "What will be changed, before the call: a person approves it."
    else:
        say = "What was changed." if policy["kind"] == "write" else "What was found."
    title = call.name.replace("_", " ").capitalize()
    return PlaybookStep.of(number, title, do=do, check=check, say=say)


def _arguments(contract: Mapping[str, Any]) -> str:
    schema = contract["args_schema"]
    known = _properties(schema)
    required = schema.get("required") if isinstance(schema.get("required"), list) else []
    needed = [f"`{key}`{_described(known[key])}" for key in known if key in required]
    others = [f"`{key}`" for key in known if key not in required]
    return (f" with {'; '.join(needed)}" if needed else "") + (
        f"{'; as needed ' if needed else ', as needed with '}{', '.join(others)}" if others else ""
    )


def _properties(schema: Any) -> dict[str, Any]:
    found = schema.get("properties") if isinstance(schema, dict) else None
    named = {str(key): value for key, value in found.items()} if isinstance(found, dict) else {}
    return {key: named[key] for key in list(named)[:_KEPT_ARGUMENTS] if re.fullmatch(r"[A-Za-z_][\w-]{0,63}", key)}


def _described(schema: Any) -> str:
    """What the contract says of an argument, in place of the value that it had."""
    described = schema.get("description") if isinstance(schema, dict) else None
    words = one_line(_SIGNS.sub(" ", described), most=_DESCRIPTION_MAX) if isinstance(described, str) else ""
    return f" ({words.rstrip('.')})" if words else ""


def _edge_cases(failed: list[_Call]) -> list[str]:
    cases = {f"`{call.name}` {_REFUSED.get(call.code, _OTHERWISE)}": None for call in failed}
    return [*cases, "A check that does not hold: do not go on with the next step"]
