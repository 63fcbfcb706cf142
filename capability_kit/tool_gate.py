"""The gate between a model and the tools: arguments, roles, approvals, results (policy of docs/contract.md 1.3).

A call goes through the gate once. What needs a person's approval waits under its `call_id`, with exactly the arguments
that the person will see; nothing that the model says later changes them.
"""

from __future__ import annotations

import copy
import json
import secrets
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, ClassVar, Final, Literal

from capability_kit.approvals import Approval, Grant, is_over
from capability_kit.bundles.bundle import Bundle, ToolContract
from capability_kit.bundles.tool_names import wire_name
from capability_kit.environment.readiness import Readiness
from capability_kit.json_schema.coercion import coerce
from capability_kit.json_schema.evaluator import SchemaUnsafe
from capability_kit.json_schema.validation import (
    DEPTH_MAX,
    find_schema_error,
    find_schema_errors,
    measure_depth,
    without_nulls,
)
from capability_kit.text.sanitize import one_line
from capability_kit.ui.ask import AskForm

CALLS_MAX: Final = 200
# What a session can call, by wire name.
Tools = Mapping[str, tuple[Bundle, Mapping[str, Any]]]
State = Literal["ready", "waiting", "approved", "running", "done", "failed", "rejected"]
_OPEN: Final = ("ready", "approved", "failed")
_OVER: Final = ("done", "rejected")
ERRORS_MAX: Final = 10


@dataclass
class ToolCall:
    """One call of a tool. `idempotency_key`, for writes: send it on, so that a repeated call counts once.

    `turn` is that in which a person approved or rejected it; 0 where nobody did. `asked` are the arguments that the
    model gave, where a person changed them; `approved_until` is when the approval expires, empty for never.
    """

    call_id: str
    capability_id: str
    tool: str
    arguments: dict[str, object]
    kind: str
    state: State
    idempotency_key: str | None = None
    approved_by: str = ""
    turn: int = 0
    asked: dict[str, object] | None = None
    approved_until: str = ""

    def summary(self) -> str:
        """What a person is asked to approve, on one line."""
        arguments = json.dumps(self.arguments, ensure_ascii=False, sort_keys=True)
        return f"{self.tool} of {self.capability_id} ({self.kind}) with {one_line(arguments, most=1000)}"


@dataclass(frozen=True)
class CallResult:
    """A call that ran, and its result."""

    call: ToolCall
    result: object


class CallRefused(Exception):
    """The gate refused the call. `str(error)` can be given to the model as the tool's result."""

    code: ClassVar[str] = "CALL_REFUSED"


class ToolUnknown(CallRefused):
    """No active skill has such a tool."""

    code = "TOOL_UNKNOWN"


class ToolWithheld(CallRefused):
    """The skill has the tool, and the session's key does not get it."""

    code = "TOOL_WITHHELD"

    @classmethod
    def of(cls, tool: str, capability_id: str) -> ToolWithheld:
        """Of a tool that writes, for a key that reads."""
        return cls(f"{tool} of {capability_id} is not for this key: it only gets tools that read")


class SkillNotReady(CallRefused):
    """The skill has the tool, and something that it needs is missing here; the message says what."""

    code = "SKILL_NOT_READY"

    @classmethod
    def of(cls, capability_id: str, judged: Readiness) -> SkillNotReady:
        """With what is missing."""
        return cls(f"{capability_id} is {judged.status}: {judged.user_message()}")


class CallRejected(CallRefused):
    """A person refused exactly this call in this turn: nobody is asked again before the user's next message."""

    code = "CALL_REJECTED"


class ArgumentsInvalid(CallRefused):
    """The arguments do not fit the tool's args_schema."""

    code = "ARGUMENTS_INVALID"


class RoleNotAllowed(CallRefused):
    """The session has none of the roles that may call it."""

    code = "ROLE_NOT_ALLOWED"


class CallNotOpen(CallRefused):
    """No such call, or it is over, or it was rejected."""

    code = "CALL_NOT_OPEN"


class ResultInvalid(CallRefused):
    """The tool ran, and its result does not match its result_schema. A write has taken place."""

    code = "RESULT_INVALID"


class ApprovalRequired(CallRefused):
    """A person must approve the call first: show `call.summary()`, then `approve(call_id)` or `reject(call_id)`."""

    code = "APPROVAL_REQUIRED"

    def __init__(self, call: ToolCall) -> None:
        super().__init__(f"{call.tool} waits for a person's approval; nothing has happened yet")
        self.call: ToolCall = call
        self.call_id: str = call.call_id


class AnswerRequired(CallRefused):
    """The model asks the user: show `error.ask`, then `session.answer(error.call_id, reply)`."""

    code = "ANSWER_REQUIRED"

    def __init__(self, call: ToolCall, questions: AskForm) -> None:
        super().__init__("The user is asked; the answer comes with the result of this call")
        self.call: ToolCall = call
        self.call_id: str = call.call_id
        self.ask: AskForm = questions


def _now() -> datetime:
    return datetime.now(UTC)


class ToolCallGate:
    """All calls of one session."""

    def __init__(self, roles: Iterable[str] = (), *, clock: Callable[[], datetime] = _now) -> None:
        self.roles: frozenset[str] = frozenset(roles)
        self._calls: dict[str, ToolCall] = {}
        self._clock = clock
        # Tools that a person has approved for the rest of the session.
        self.grants: list[Grant] = []

    def open(
        self, bundle: Bundle, tool: Mapping[str, Any], arguments: object, *, from_form: bool, turn: int
    ) -> ToolCall:
        """A call that may run now: a new one, or the open one of the same tool with the same arguments.

        A model that asks twice makes one request, and a write that failed is retried with its idempotency key. Raises
        `CallRefused`; `ApprovalRequired` where a person comes first.
        """
        self.check_role(bundle, tool)
        checked = check_arguments(tool, arguments, from_form=from_form)
        policy = tool["policy"]
        waits = policy.get("requires_approval") is True
        grant = self.grant_of(bundle, tool["name"]) if waits else None
        known = self._same(bundle, tool["name"], checked, turn)
        if known is not None:
            self._void_expired(known)
        if known is not None and known.state == "running":
            raise CallNotOpen(
                f"The same call of {known.tool} was interrupted and is still running; find out whether it took effect "
                "before you call it again"
            )
        if known is not None and known.state == "rejected":
            raise CallRejected(f"A person said no to this call of {known.tool}; do not call it again for this message")
        if known is not None and known.state == "waiting":
            if grant is None:
                raise ApprovalRequired(known)
            known.state, known.approved_by, known.approved_until = "approved", grant.by, grant.until
            known.turn = turn
        # What a person approved under another policy, or a policy that asks for a person since, is asked again.
        if known is not None and (not waits or known.approved_by):
            return known
        call = ToolCall(
            call_id=f"call_{secrets.token_hex(8)}",
            capability_id=bundle.capability_id,
            tool=tool["name"],
            arguments=checked,
            kind=policy["kind"],
            state="approved" if grant is not None else "waiting" if waits else "ready",
            idempotency_key=secrets.token_urlsafe(18) if policy["kind"] == "write" else None,
            approved_by=grant.by if grant is not None else "",
            approved_until=grant.until if grant is not None else "",
        )
        self.keep(call)
        if call.state == "waiting":
            raise ApprovalRequired(call)
        return call

    def approve(
        self, call_id: str, approval: Approval, *, bundle: Bundle | None, tool: Mapping[str, Any] | None, turn: int
    ) -> ToolCall:
        """A person approves it in this turn; `bundle` and `tool` are those of the call. Raises `CallNotOpen`.

        `ArgumentsInvalid` for changed arguments that do not fit; the call waits on then.
        """
        call = self._waiting(call_id)
        if not approval.by.strip():
            raise CallNotOpen("An approval names the person who gives it")
        if approval.arguments is not None:
            if tool is None:
                raise CallNotOpen(f"{call.tool} is not there any more, so that its arguments cannot be changed")
            changed = check_arguments(tool, dict(approval.arguments), from_form=True)
            call.asked, call.arguments = (call.asked or call.arguments) if changed != call.arguments else None, changed
        call.state, call.approved_by, call.approved_until = "approved", approval.by, approval.until
        call.turn = turn
        if approval.for_session and bundle is not None:
            self.grants.append(Grant(bundle.capability_id, bundle.digest, call.tool, approval.by, approval.until))
        return call

    def grant_of(self, bundle: Bundle, tool: str) -> Grant | None:
        """The approval for the rest of the session that this tool has now."""
        now, key = self._clock(), (bundle.capability_id, bundle.digest, tool)
        self.grants = [each for each in self.grants if not is_over(each.until, now)]
        return next((each for each in self.grants if (each.capability_id, each.digest, each.tool) == key), None)

    def _void_expired(self, call: ToolCall) -> None:
        """What was approved and has not begun in time waits again."""
        if call.state in ("approved", "failed") and is_over(call.approved_until, self._clock()):
            call.state, call.approved_by, call.approved_until = "waiting", "", ""

    def reject(self, call_id: str, *, turn: int) -> ToolCall:
        """A person says no, in this turn. Raises `CallNotOpen`."""
        call = self._waiting(call_id)
        call.state, call.turn = "rejected", turn
        return call

    def reject_all_of(self, capability_id: str) -> list[ToolCall]:
        """Nothing of this capability runs any more: what waits, was approved or failed is rejected, and returned."""
        states = ("waiting", *_OPEN)
        self.grants = [each for each in self.grants if each.capability_id != capability_id]
        found = [one for one in self._calls.values() if one.capability_id == capability_id and one.state in states]
        for call in found:
            call.state = "rejected"
        return found

    def take(self, call_id: str) -> ToolCall:
        """The call, to be run now; nobody else can run it meanwhile. Raises `CallNotOpen`, `ApprovalRequired`."""
        call = self.find(call_id)
        self._void_expired(call)
        if call.state == "waiting":
            raise ApprovalRequired(call)
        if call.state not in _OPEN:
            raise CallNotOpen(f"The call '{one_line(call_id, most=40)}' is {call.state}")
        call.state = "running"
        return call

    def find(self, call_id: str) -> ToolCall:
        """A call of this session. Raises `CallNotOpen`."""
        call = self._calls.get(call_id)
        if call is None:
            raise CallNotOpen(f"The call '{one_line(call_id, most=40)}' is not known")
        return call

    def waiting(self) -> list[ToolCall]:
        """What waits for a person."""
        return [call for call in self._calls.values() if call.state == "waiting"]

    def kept(self) -> list[ToolCall]:
        """What another process has to know: all that is not done."""
        return [call for call in self._calls.values() if call.state != "done"]

    def check_role(self, bundle: Bundle, tool: Mapping[str, Any]) -> None:
        """Raises `RoleNotAllowed` where the session has none of the roles that may call the tool."""
        allowed = tool["policy"].get("allowed_roles")
        if allowed is None:
            return
        roles = {role for role in allowed if isinstance(role, str)} if isinstance(allowed, list) else set()
        if not roles & self.roles:
            raise RoleNotAllowed(f"{tool['name']} of {bundle.capability_id} is not allowed for this session's roles")

    def _same(self, bundle: Bundle, tool: str, arguments: dict[str, Any], turn: int) -> ToolCall | None:
        """The latest open call of the same tool with the same arguments, one that was approved or rejected in this
        turn, or a write that is still running. What was approved before and has not begun runs by its id alone."""
        for call in reversed(self._calls.values()):
            is_same = (call.capability_id, call.tool) == (bundle.capability_id, tool) and arguments in (
                call.arguments,
                call.asked,
            )
            is_of_turn = call.state in ("approved", "rejected") and call.turn == turn
            is_running = call.state == "running" and call.kind == "write"
            if is_same and (is_of_turn or is_running or call.state in ("waiting", "failed")):
                return call
        return None

    def _waiting(self, call_id: str) -> ToolCall:
        call = self.find(call_id)
        if call.state != "waiting":
            raise CallNotOpen(f"The call '{one_line(call_id, most=40)}' is {call.state}")
        return call

    def keep(self, call: ToolCall) -> None:
        """Keep a call: a new one, or what was saved."""
        self._calls[call.call_id] = call
        while len(self._calls) > CALLS_MAX:
            over = next((name for name, each in self._calls.items() if each.state in _OVER), None)
            self._calls.pop(over or next(iter(self._calls)))


def is_tool_of(capability_id: str, names: Iterable[str], wanted: str) -> bool:
    """Whether one of these tools of a capability is meant, by its own name or by its wire name."""
    return any(wanted in (name, wire_name(capability_id, name)) for name in names)


def find_contract(bundle: Bundle, tool: str) -> ToolContract | None:
    """The contract of a tool by its own name; None where the bundle has none."""
    return next((one for one in bundle.tools if one["name"] == tool), None)


def find_tool(tools: Tools, wanted: str) -> tuple[Bundle, Mapping[str, Any]]:
    """By the wire name, or by the tool's own name where one active skill alone has it. Raises `ToolUnknown`."""
    # A vendor whose names begin with a letter was given `_3d_print__start`.
    for name in (wanted, str(wanted).removeprefix("_")):
        if name in tools:
            return tools[name]
    own = [found for found in tools.values() if found[1]["name"] == wanted]
    if len(own) == 1:
        return own[0]
    names = ", ".join(sorted(tools)[:20]) or "none"
    raise ToolUnknown(f"No active skill has the tool '{one_line(str(wanted), most=80)}'; there are: {names}")


def check_result(tool: Mapping[str, Any], result: object) -> None:
    """Validate a result against the tool's result_schema. Raises `ResultInvalid`."""
    if "result_schema" not in tool:
        return
    try:
        found = find_schema_error(tool["result_schema"], result)
    except SchemaUnsafe as error:
        raise ResultInvalid(f"The result of {tool['name']} cannot be checked: {error}") from None
    if found:
        raise ResultInvalid(f"{tool['name']} answered something that its contract does not know: {found}")


def check_arguments(tool: Mapping[str, Any], arguments: object, *, from_form: bool) -> dict[str, Any]:
    """A copy of the arguments that fit the tool's args_schema. Raises `ArgumentsInvalid`, with all errors."""
    schema = tool["args_schema"]
    if not isinstance(arguments, dict):
        raise ArgumentsInvalid(f"The arguments of {tool['name']} must be an object")
    if measure_depth(arguments) > DEPTH_MAX:
        raise ArgumentsInvalid(f"The arguments of {tool['name']} are nested more than {DEPTH_MAX} levels deep")
    # What was checked is what will run: nobody else holds this copy.
    given: dict[str, Any] = copy.deepcopy(coerce(arguments, schema) if from_form else without_nulls(arguments, schema))
    try:
        found = find_schema_errors(schema, given, most=ERRORS_MAX)
    except SchemaUnsafe as error:
        raise ArgumentsInvalid(f"{tool['name']} cannot be called: {error}") from None
    if found:
        raise ArgumentsInvalid(f"The arguments of {tool['name']} do not fit: {'; '.join(found)}")
    return given
