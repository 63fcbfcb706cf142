"""A graph of two nodes, model and gate: `pip install langgraph langchain-openai`.

    python -m docs.agents.langgraph_agent REGISTRY_URL MODEL_URL MODEL "message"

What writes waits for a person by LangGraph's own `interrupt`. The session travels in the graph's state as JSON, so that
a conversation that waits can go on in another process, from whichever checkpointer keeps it.
"""

from __future__ import annotations

import json
import sys
from typing import Annotated, Any, TypedDict

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import Command, interrupt

from agent_client import ApprovalRequired, Registry, Session, User
from agent_client.session import CallRefused, ToolCall
from docs.agents.scripted import keep_weights


class State(TypedDict):
    """The conversation, and the session that belongs to it."""

    messages: Annotated[list[AnyMessage], add_messages]
    session: str


class Gate:
    """The graph's nodes over one registry and one model."""

    def __init__(self, registry: Registry, model: ChatOpenAI) -> None:
        self.registry = registry
        self.model = model

    def resumed(self, state: State) -> Session:
        """The session of the state, or a new one."""
        if state.get("session"):
            return Session.from_json(state["session"], self.registry)
        return Session(self.registry, user=User(name="Alice"))

    def hear(self, state: State) -> dict[str, Any]:
        """What the user said leads to hints."""
        session = self.resumed(state)
        session.turn(str(state["messages"][-1].content))
        return {"session": session.to_json()}

    def think(self, state: State) -> dict[str, Any]:
        """The model's next step, with this turn's prompt and tools."""
        session = self.resumed(state)
        system = SystemMessage(f"{session.system_prompt().prompt}\n{session.prompt().prompt}")
        answer = self.model.bind_tools(session.tools("openai")).invoke([system, *state["messages"]])
        return {"messages": [answer]}

    def act(self, state: State) -> dict[str, Any]:
        """The first call that has no result yet goes through the session's gate.

        One at a time: what a graph resumes, it runs again from the node's beginning, and nothing may be done twice.
        """
        session = self.resumed(state)
        call = waiting_calls(state)[0]
        result = ToolMessage(self._call(session, call), tool_call_id=call["id"])
        return {"messages": [result], "session": session.to_json()}

    def _call(self, session: Session, call: dict[str, Any]) -> str:
        try:
            done = session.call(call["name"], call["args"], run=keep_weights)
        except ApprovalRequired as waiting:
            # The graph stops here; when it is resumed this node runs again, and the interrupt answers.
            if interrupt(waiting.call.summary()) is not True:
                session.reject(waiting.call_id)
                return json.dumps({"error": {"code": "CALL_REJECTED", "message": "The user said no."}})
            session.approve(waiting.call_id, by="the user")
            done = session.run_call(waiting.call_id, keep_weights)
        except CallRefused as error:
            return json.dumps({"error": {"code": error.code, "message": str(error)}})
        return json.dumps(None if isinstance(done, ToolCall) else done.result)

    def graph(self) -> Any:
        """Hear, then think and act in turn until the model calls nothing more."""
        graph = StateGraph(State)
        for name, node in (("hear", self.hear), ("think", self.think), ("act", self.act)):
            graph.add_node(name, node)
        graph.add_edge(START, "hear")
        graph.add_edge("hear", "think")
        graph.add_conditional_edges("think", lambda state: "act" if waiting_calls(state) else END)
        graph.add_conditional_edges("act", lambda state: "act" if waiting_calls(state) else "think")
        return graph.compile(checkpointer=InMemorySaver())


def waiting_calls(state: State) -> list[Any]:
    """The calls of the model's last message that have no result yet."""
    answered = {message.tool_call_id for message in state["messages"] if isinstance(message, ToolMessage)}
    last = next(message for message in reversed(state["messages"]) if isinstance(message, AIMessage))
    return [call for call in last.tool_calls if call["id"] not in answered]


def main(registry_url: str, model_url: str, model: str, text: str, answer: str = "yes") -> None:
    """One message; `answer` is what the person says to each write. The key is taken from OPENAI_API_KEY."""
    thread = {"configurable": {"thread_id": "1"}}
    with Registry(registry_url) as registry:
        graph = Gate(registry, ChatOpenAI(base_url=model_url, model=model)).graph()
        state = graph.invoke({"messages": [HumanMessage(text)]}, thread)
        while waiting := state.get("__interrupt__"):
            print(f"person: {answer} to {waiting[0].value}")
            state = graph.invoke(Command(resume=answer == "yes"), thread)
        print(f"agent: {state['messages'][-1].content}")


if __name__ == "__main__":
    main(*sys.argv[1:6])
