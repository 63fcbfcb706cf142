"""LangGraph: two nodes around your model's own, with the session as JSON in the graph's state.

    skills = SkillNodes(registry, run, user=User(name="Alice"))
    graph = StateGraph(SkillState)
    graph.add_node("hear", skills.hear)  # what the user said leads to hints
    graph.add_node("think", think)  # yours: model.bind_tools(skills.tools(state)).invoke(skills.request(state))
    graph.add_node("act", skills.act)  # the next call of the model goes through the gate
    graph.add_conditional_edges("think", skills.has_calls, {True: "act", False: END})
    graph.add_conditional_edges("act", skills.has_calls, {True: "act", False: "think"})

A call that waits for a person is an `interrupt` with its summary; resume with `Command(resume=True)` to approve it, or
with the fields of an `Approval`, such as `Command(resume={"arguments": {...}, "for_session": True})`. A
conversation that waits can go on in another process, from whichever checkpointer keeps it.

A form that the model opens is an `interrupt` too, `{"form": {"schema_id", "title", "problem", "messages"}}`: resume
with `Command(resume=event)`, the event of your renderer, or None where the user closed it.
"""

from __future__ import annotations

import copy
import json
from typing import Annotated, Any, TypedDict, Unpack

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage, ToolMessage
from langgraph.graph.message import add_messages
from langgraph.types import interrupt

from capability_client import AnswerRequired, ApprovalRequired, FormRequired, Session, SkillForm, Source
from capability_client.integrations.form_results import question_in_words
from capability_client.session.context import SessionSettings
from capability_client.session.invocations import SkillIndex
from capability_client.session.message_export import FROM_SESSION
from capability_client.session.steps import Executor
from capability_kit.approvals import Approval


class SkillState(TypedDict):
    """The conversation, and the session that belongs to it."""

    messages: Annotated[list[AnyMessage], add_messages]
    session: str


class SkillNodes:
    """`run` does a tool's own work, else the `toolbox` of `settings`, which are those of `Session`.

    `by` is the name of the person who approves.
    """

    def __init__(
        self,
        source: Source,
        run: Executor | None = None,
        *,
        by: str = "the user",
        **settings: Unpack[SessionSettings],
    ) -> None:
        self._source = source
        self._run = run
        self._by = by
        self._settings = settings
        # What the sessions of all conversations know of the source: each node has a session of its own.
        self._index = SkillIndex()

    def session(self, state: SkillState) -> Session:
        """The session of the state, or a new one."""
        if state.get("session"):
            session = Session.from_json(state["session"], self._source, **self._settings)
        else:
            session = Session(self._source, **self._settings)
        # A copy: conversations may run in several threads.
        session.index = copy.copy(self._index)
        return session

    def system(self, state: SkillState) -> SystemMessage:
        """The first message for the model: the system prompt, and the prompt of this step."""
        session = self.session(state)
        text = session.prompt_parts().text
        self._keep_index(session)
        return SystemMessage(text)

    def request(self, state: SkillState) -> list[AnyMessage]:
        """All messages for the model: what stays the same first, what is of this step last, so that a vendor keeps the
        beginning from one request to the next."""
        session = self.session(state)
        parts = session.prompt_parts()
        self._keep_index(session)
        turn = [HumanMessage(f"{FROM_SESSION}\n{parts.turn.strip()}")] if parts.turn else []
        return [SystemMessage(parts.before), *state["messages"], *turn]

    def tools(self, state: SkillState) -> list[dict[str, Any]]:
        """For `bind_tools`: what may be called in this step."""
        return self.session(state).tools("openai")

    def hear(self, state: SkillState) -> dict[str, Any]:
        """A node: the last message is one of the user."""
        session = self.session(state)
        session.turn(str(state["messages"][-1].content))
        self._keep_index(session)
        return {"session": session.to_json()}

    def act(self, state: SkillState) -> dict[str, Any]:
        """A node: the first call that has no result yet.

        One at a time: what a graph resumes, it runs again from the node's beginning, and nothing may be done twice.
        """
        session = self.session(state)
        call = _open_calls(state)[0]
        try:
            result = session.result_of(call["name"], call["args"], run=self._run)
        except ApprovalRequired as waiting:
            result = self._decided(session, waiting)
        except FormRequired as waiting:
            result = self._shown(session, waiting.form)
        except AnswerRequired as waiting:
            result = question_in_words(waiting)
        self._keep_index(session)
        text = json.dumps(result, ensure_ascii=False, default=str)
        return {"messages": [ToolMessage(text, tool_call_id=call["id"])], "session": session.to_json()}

    def _decided(self, session: Session, waiting: ApprovalRequired) -> Any:
        """The graph stops here; when it is resumed this node runs again, and the interrupt returns the answer."""
        said = interrupt(waiting.call.summary())
        approval = Approval(**said) if isinstance(said, dict) else None
        if said is True or approval is not None:
            return session.result_of_approved(waiting.call_id, approval, run=self._run, by=self._by)
        return session.result_of_rejected(waiting.call_id)

    def _shown(self, session: Session, form: SkillForm) -> Any:
        """As `_decided`, of a form, until what the user sent is taken; then of the call that it leads to."""
        result: Any = None
        while form.state == "open":
            event = interrupt({"form": form.as_dict()})
            try:
                result = session.result_of_form(form.call_id, event, run=self._run)
            except ApprovalRequired as waiting:
                return self._decided(session, waiting)
        return result

    def _keep_index(self, session: Session) -> None:
        if session.index.is_read:
            self._index = session.index

    def has_calls(self, state: SkillState) -> bool:
        """Whether a call of the model's last message has no result yet."""
        return bool(_open_calls(state))


def _open_calls(state: SkillState) -> list[Any]:
    answered = {message.tool_call_id for message in state["messages"] if isinstance(message, ToolMessage)}
    last = next((each for each in reversed(state["messages"]) if isinstance(each, AIMessage)), None)
    return [call for call in last.tool_calls if call["id"] not in answered] if last is not None else []
