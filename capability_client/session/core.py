"""What both kinds of sessions have: collaborators with a state of their own, and all that needs no waiting.

docs/agents.md follows one `say` through them (docs/contract.md 7).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final, Unpack

from capability_client.session import serialization
from capability_client.session.calls import SessionCalls
from capability_client.session.catalog import SkillCatalog
from capability_client.session.context import SessionContext, SessionSettings, SessionSummary
from capability_client.session.forms import SessionForms
from capability_client.session.hints import TurnHints
from capability_client.session.history import MessageHistory
from capability_client.session.invocations import SkillIndex, canonical_name
from capability_client.session.layout import RequestLayout
from capability_client.session.layout_state import LayoutState
from capability_client.session.loader import SkillLoader
from capability_client.session.log import EventLog
from capability_client.session.message_export import MessageVendor
from capability_client.session.messages import Message
from capability_client.session.opened_forms import OpenedForms
from capability_client.session.options import User
from capability_client.session.own_calls import OwnCalls
from capability_client.session.replies import ModelReplies
from capability_client.session.running_turn import RunningTurn
from capability_client.session.skill_forms import SkillForm
from capability_client.session.steps import Matcher
from capability_client.session.turns import SessionTurns
from capability_kit.approvals import Approval
from capability_kit.bundles.bundle import ToolContract
from capability_kit.bundles.tool_export import Vendor
from capability_kit.environment.readiness import Readiness
from capability_kit.prompt import Prompt
from capability_kit.tool_gate import CallResult, ToolCall, ToolCallGate


class SessionCore:
    """Nothing of it waits. Not for several threads or tasks at once."""

    def __init__(self, source: object, *, matcher: Matcher | None = None, **settings: Unpack[SessionSettings]) -> None:
        roles: Iterable[str] = settings.get("roles", ())
        if isinstance(roles, str):
            raise TypeError("roles is a list of texts, such as ['member'], not one text")
        self.context: Final = SessionContext.of(source, matcher, settings)
        self.log: Final = EventLog(settings.get("on_event"))
        self.gate: Final = ToolCallGate(roles)
        self.running: Final = RunningTurn()
        context, log, gate, running = self.context, self.log, self.gate, self.running
        hints, state = TurnHints(), LayoutState()
        self.opened: Final = OpenedForms(log)
        self.catalog: Final = SkillCatalog(context, log)
        self.history: Final = MessageHistory(context, log)
        opened, catalog, history = self.opened, self.catalog, self.history
        loader = SkillLoader(context, log, catalog, hints, opened, gate, state)
        layout = RequestLayout(context, log, catalog, hints, opened, loader, history, state)
        forms = SessionForms(context, log, opened, loader, gate)
        self.loader: Final = loader
        self.layout: Final = layout
        self.forms: Final = forms
        own = OwnCalls(context, log, catalog, loader, layout, forms, history, gate)
        self.calls: Final = SessionCalls(context, log, loader, layout, forms, opened, own, gate)
        self.turns: Final = SessionTurns(context, log, running, catalog, hints, loader, layout, history)
        self.replies: Final = ModelReplies(context, running, self.turns, history, loader, layout, self.calls)
        self.source: Final[object] = source
        self.environment: Final = context.environment
        self.options: Final = context.options
        self.events: Final = log.events
        self.active: Final = loader.active
        self.bundles: Final = loader.bundles

    # What there is.

    @property
    def session_id(self) -> str:
        """The id under which it is stored."""
        return self.context.session_id

    @property
    def user(self) -> User:
        """Who the agent talks to."""
        return self.context.user

    @property
    def number(self) -> int:
        """Of the turn: 0 before the first message."""
        return self.log.turn

    @property
    def messages(self) -> list[Message]:
        """The conversation."""
        return self.history.messages

    @messages.setter
    def messages(self, messages: list[Message]) -> None:
        self.history.messages[:] = messages

    @property
    def index(self) -> SkillIndex:
        """What it knows of the list; a runtime that makes a session for each step may give it to the next."""
        return self.catalog.index

    @index.setter
    def index(self, index: SkillIndex) -> None:
        self.catalog.index = index

    def refresh(self) -> None:
        """Probe the computer again, after something was installed or allowed."""
        self.environment.refresh()

    def readiness(self) -> dict[str, Readiness]:
        """Of each active skill, as the computer is now known."""
        return self.loader.readiness()

    @property
    def is_introduced(self) -> bool:
        """Whether the host should remember that this user was introduced."""
        return self.user.is_known or self.history.introduction.state == "over"

    def profile(self) -> User:
        """The user as the host should keep them now (profiles.py): with the introduction that has taken place."""
        return replace(self.user, is_introduced=self.is_introduced)

    def state(self) -> SessionSummary:
        """The session in short: `{"session_id", "user_id", "loaded_skills", "context"}`."""
        return {
            "session_id": self.session_id,
            "user_id": self.user.user_id,
            "loaded_skills": [each.capability_id for each in self.active],
            "context": dict(self.user.context),
        }

    def to_json(self, *, secret: bytes | None = None) -> str:
        """The session as text (serialization.py); with a `secret`, no one else can make a file that is accepted."""
        self.layout.settle()
        return serialization.serialize_session(self, secret=secret)

    # Skills, and what a model reads of them.

    def unload(self, capability_id: str) -> bool:
        """Remove a skill from the prompt. Returns False if it was not in it."""
        return self.loader.unload(capability_id)

    def enable(self, capability_id: str) -> None:
        """Enable a disabled capability."""
        self.catalog.disabled.discard(canonical_name(capability_id))

    def disable(self, capability_id: str) -> None:
        """Leave a capability out of this session: no hint, no load, and out of the prompt at once."""
        self.loader.disable(capability_id)

    def prompt(self, *, with_skills: bool = True) -> Prompt:
        """For this turn: active skills, their tools, hints, user context; nothing of what no message needs.

        `with_skills` False: without the active ones, for a runtime whose model keeps what it has read of them.
        """
        return self.layout.prompt(with_skills=with_skills)

    def tools(
        self, vendor: Vendor = "openai", *, strict: bool = False, with_own: bool = True, deferred: bool = False
    ) -> list[dict[str, object]]:
        """The session's own tools (`with_own`) and those of skills, in a vendor's form, in the order of their coming.

        Those of a skill that expired stay, so that the vendor can keep them; a call of one is refused with the reason.
        With `deferred` the vendor's own tool search brings in those of the skills; add its search tool to the request.
        """
        return self.layout.tools(vendor, strict=strict, with_own=with_own, deferred=deferred)

    def own_tools(self, *, ahead: bool = False) -> dict[str, ToolContract]:
        """The tools by which a model uses the session itself, by name: those that the source can answer.

        `ahead`: as a runtime needs them that reads its tools once, before there is a skill with files.
        """
        return self.layout.own_tools(ahead=ahead)

    def messages_for(self, vendor: MessageVendor) -> list[dict[str, object]]:
        """The conversation as a vendor's API takes it, with what is of this request alone at its end.

        `prompt_parts().before` is the system text, `tools(vendor)` are the tools. Raises `ValueError` for a vendor that
        is not known.
        """
        return self.layout.messages_for(vendor)

    def record_reply(self) -> None:
        """Record that the agent has replied; messages of both sides count for the end of an introduction."""
        self.history.count()

    # Calls and forms.

    def open_call(self, tool: str, arguments: object, *, from_form: bool = False) -> ToolCall:
        """A skill's tool call of the model, or of a form (`from_form`: strings become numbers), checked and ready.

        `run_call` runs it. Raises `CallRefused`: `ApprovalRequired` where a person comes first, `RoleNotAllowed` ...
        """
        return self.calls.open(tool, arguments, from_form=from_form)

    def needs_approval(self, tool: str) -> bool:
        """Whether a person decides about each call of this tool; False for a tool that does not exist now."""
        return self.calls.needs_approval(tool)

    def approve(self, call_id: str, approval: Approval | None = None, *, by: str = "") -> ToolCall:
        """A person approves a waiting call; `run_call` runs it then.

        As it is, by the person named `by`; or as the `approval` says. Raises `CallNotOpen`, and `ArgumentsInvalid` for
        changed arguments that do not fit: the call waits on.
        """
        return self.calls.approve(call_id, approval, by=by)

    def reject(self, call_id: str) -> ToolCall:
        """A person refuses a waiting call; the model is not asked about it again in this turn."""
        return self.calls.reject(call_id)

    def answer(self, call_id: str, reply: object) -> CallResult:
        """The user's reply to `ask_user`: a form's context, or typed words where there is one question.

        Raises `CallNotOpen`, or `ReplyNotUnderstood` with a sentence for the user; the question stays open then.
        """
        return self.calls.own.answer(call_id, reply)

    def form(self, call_id: str) -> SkillForm:
        """A form that was opened, whatever became of it. Raises `CallNotOpen`."""
        return self.opened.get(call_id)

    def open_forms(self) -> list[SkillForm]:
        """What the user has not sent and not closed yet."""
        return self.opened.list_open()

    def close_form(self, call_id: str) -> CallResult:
        """The user closes a form. Raises `CallNotOpen` where it is not open."""
        return self.forms.close(call_id)

    def result_of_unshown(self, form: SkillForm) -> dict[str, object]:
        """What a model reads of a form that the program does not show, or not again: it is closed."""
        return self.calls.result_of_unshown(form)

    def result_of_rejected(self, call_id: str) -> dict[str, object]:
        """What a model reads of a waiting call that a person refuses now. Raises `CallNotOpen`."""
        return self.calls.result_of_rejected(call_id)
