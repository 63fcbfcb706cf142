"""A session as text, to be stored between two processes; a file that was edited or damaged is refused.

The checksum detects damage and careless edits. If others could write the file, pass a `secret`: then it is an HMAC,
and no one without the secret can make a file that is accepted. The file contains skill texts, the conversation
and the calls that are not done, but no keys.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

import rfc8785

from capability_client.session.active_skills import ActiveSkill
from capability_client.session.conversation import repair
from capability_client.session.layout_state import LayoutState
from capability_client.session.messages import Message, ModelCall
from capability_client.session.options import Event, User
from capability_client.session.skill_forms import SkillForm
from capability_kit.approvals import Grant, check_until
from capability_kit.bundles.bundle import Bundle, is_capability_id
from capability_kit.errors import RegistryError
from capability_kit.text.sanitize import strip_surrogates
from capability_kit.tool_gate import ToolCall

if TYPE_CHECKING:
    from capability_client.session.core import SessionCore

# The name of the format, not of a module: sessions that were saved under it go on. 0.2.0 wrote the other one.
FORMAT: Final = "agent_client.session"
_FORMATS: Final = (FORMAT, "capability_client.session")
VERSION: Final = 1
_KEPT_STATES: Final = ("ready", "waiting", "approved", "running", "failed", "rejected")
BYTES_MAX: Final = 64 * 1024 * 1024


class SessionFileRefused(ValueError):
    """The file is not one that can be trusted; the sentence says why."""


def serialize_session(session: SessionCore, *, secret: bytes | None = None) -> str:
    """The session as text."""
    content = {
        "session_id": session.session_id,
        "turn": session.number,
        "introduction": asdict(session.history.introduction),
        "disabled": sorted(session.catalog.disabled),
        "pins": session.loader.pins,
        "exclusive_groups": sorted(session.loader.exclusive_groups),
        "bundles": [bundle.as_answer() for _, bundle in sorted(session.bundles.items())],
        "used": list(session.loader.used),
        "gone": session.loader.gone,
        "withdrawn": session.loader.withdrawn,
        "active": [_active(each) for each in session.active],
        "calls": [_call(call) for call in session.gate.kept()],
        **({"grants": [asdict(each) for each in session.gate.grants]} if session.gate.grants else {}),
        "layout": session.layout.state.as_row(),
        "forms": _plain([form.as_row() for form in session.opened.by_id.values()]),
        "user": _plain({**vars(session.user), "context": dict(session.user.context)}),
        "messages": _plain([asdict(message) for message in session.messages]),
        "events": [asdict(event) for event in session.events[-50:]],
    }
    document = {"format": FORMAT, "version": VERSION, "content": content, "checksum": _checksum(content, secret)}
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))


def restore_session(session: SessionCore, text: str, *, secret: bytes | None = None, with_user: bool = True) -> None:
    """Fill a new session with the stored state; its source, roles and options are the caller's.

    Raises `SessionFileRefused`.
    """
    content = _content(text, secret)
    try:
        _fill(session, content)
        if with_user and "user" in content:
            session.context.user = User(**content["user"])
    except (KeyError, TypeError, ValueError, AttributeError, RegistryError) as error:
        raise SessionFileRefused(f"The session file cannot be used: {str(error)[:200]}. Begin a new session") from None


def _content(text: str, secret: bytes | None) -> dict[str, Any]:
    if len(text) > BYTES_MAX:
        raise SessionFileRefused("The session file is too large. Begin a new session")
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        raise SessionFileRefused("The session file is damaged: it is not JSON. Begin a new session") from None
    if not isinstance(document, dict) or document.get("format") not in _FORMATS:
        raise SessionFileRefused("This is not a session file. Begin a new session")
    if document.get("version") != VERSION:
        raise SessionFileRefused(
            f"The session file has the version {str(document.get('version'))[:20]}, and this client reads {VERSION}. "
            "Begin a new session"
        )
    content, checksum = document.get("content"), document.get("checksum")
    try:
        is_whole = isinstance(checksum, str) and hmac.compare_digest(_checksum(content, secret), checksum)
    except (TypeError, ValueError, RecursionError):
        is_whole = False
    if not is_whole or not isinstance(content, dict):
        raise SessionFileRefused("The session file was changed or damaged since it was written. Begin a new session")
    return content


def _checksum(content: Any, secret: bytes | None) -> str:
    canonical = _canonical(content)
    if secret is not None:
        return "hmac-sha256:" + hmac.new(secret, canonical, hashlib.sha256).hexdigest()
    return "sha256:" + hashlib.sha256(canonical).hexdigest()


def _canonical(content: Any) -> bytes:
    """The same bytes for the same content. Canonical JSON has no integers beyond 2^53, such as some ids."""
    try:
        return rfc8785.dumps(content)
    except rfc8785.CanonicalizationError:
        return json.dumps(content, sort_keys=True).encode()


def _plain(value: Any) -> Any:
    """As JSON: what the host or the model gave may hold dates, and halves of characters."""
    return json.loads(strip_surrogates(json.dumps(value, ensure_ascii=False, default=str)))


def _active(each: ActiveSkill) -> dict[str, Any]:
    return {
        "capability_id": each.capability_id,
        "last_turn": each.last_turn,
        "ttl_turns": each.ttl_turns,
        "order": each.order,
        "is_by_hand": each.is_explicit,
        "arguments": each.arguments,
    }


def _call(call: ToolCall) -> dict[str, Any]:
    """Without what a client before approvals had an end does not know, where it is empty."""
    empty = (key for key, value in (("asked", call.asked), ("approved_until", call.approved_until)) if not value)
    left_out = set(empty)
    return {key: value for key, value in asdict(call).items() if key not in left_out}


def _fill(session: SessionCore, content: dict[str, Any]) -> None:
    # Every bundle is checked against its digest again.
    bundles = [Bundle.from_answer(answer) for answer in content["bundles"]]
    session.context.session_id = str(content["session_id"])
    session.log.turn = _number(content["turn"])
    session.bundles.update((bundle.capability_id, bundle) for bundle in bundles)
    session.loader.pins = {name: str(digest) for name, digest in content["pins"].items() if is_capability_id(name)}
    session.catalog.disabled = set(map(str, content["disabled"]))
    session.loader.exclusive_groups |= set(map(str, content.get("exclusive_groups", ())))
    introduction = content["introduction"]
    if introduction["state"] not in ("none", "running", "over"):
        raise ValueError("the introduction has no known state")
    session.history.introduction.state = introduction["state"]
    session.history.introduction.messages = _number(introduction["messages"])
    session.history.introduction.capability_id = str(introduction["capability_id"])
    for row in content["active"]:
        bundle = session.bundles[row["capability_id"]]
        last_turn, ttl_turns, order = (_number(row[key]) for key in ("last_turn", "ttl_turns", "order"))
        explicit, arguments = row["is_by_hand"] is True, str(row["arguments"])
        session.active.restore(ActiveSkill(bundle, last_turn, ttl_turns, order, explicit, arguments))
    # A file of an older client has none of these.
    used = content.get("used", [each.capability_id for each in session.active if each.last_turn == session.number])
    session.loader.used = {name: session.bundles[name] for name in used if name in session.bundles}
    session.loader.gone = {str(name): str(words) for name, words in content.get("gone", {}).items()}
    session.loader.withdrawn = {str(name): str(words) for name, words in content.get("withdrawn", {}).items()}
    for row in content["calls"]:
        if row["state"] not in _KEPT_STATES or not isinstance(row["arguments"], dict):
            raise ValueError("a call of the file has no known state")
        # Whether a call that ran meanwhile has reached the other side, nobody knows: its idempotency key does.
        state = "failed" if row["state"] == "running" else row["state"]
        check_until(row.get("approved_until", ""))
        session.gate.keep(ToolCall(**{**row, "state": state}))
    session.gate.grants = [Grant(**row) for row in content.get("grants", ())]
    for grant in session.gate.grants:
        check_until(grant.until)
    if "layout" in content:
        session.layout.state.replace(LayoutState.of_row(content["layout"]))
    for row in content.get("forms", ()):
        # Of a skill that was taken out of use, nothing is kept.
        owner = session.bundles.get(row["capability_id"])
        if owner is not None:
            session.opened.by_id[row["call_id"]] = SkillForm.of_row(row, owner)
    # It may have been saved in the middle of a turn, or by a client that did not close open calls.
    session.messages[:] = repair(map(_message, content.get("messages", ())))
    session.events[:] = [Event(**row) for row in content["events"]]


def _message(row: dict[str, Any]) -> Message:
    if row["role"] not in ("user", "agent", "tool"):
        raise ValueError("a message has no known role")
    calls = tuple(ModelCall(**call) for call in row["calls"])
    return Message(row["role"], str(row["text"]), calls, str(row["call_id"]))


def _number(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**53:
        raise ValueError("a count is not a whole number")
    return value
