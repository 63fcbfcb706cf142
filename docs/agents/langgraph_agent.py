"""An agent in LangGraph, with an approval and a form: `pip install langgraph`."""

from collections.abc import Callable
from typing import Any

from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command

from capability_client.integrations.langgraph import SkillNodes, SkillState


def build(skills: SkillNodes, model: Any) -> Any:
    """`model` is a chat model of LangChain."""
    graph = StateGraph(SkillState)
    graph.add_node("hear", skills.hear)
    graph.add_node(
        "think", lambda state: {"messages": [model.bind_tools(skills.tools(state)).invoke(skills.request(state))]}
    )
    graph.add_node("act", skills.act)
    graph.add_edge(START, "hear")
    graph.add_edge("hear", "think")
    graph.add_conditional_edges("think", skills.has_calls, {True: "act", False: END})
    graph.add_conditional_edges("act", skills.has_calls, {True: "act", False: "think"})
    return graph.compile(checkpointer=InMemorySaver())


def say(graph: Any, thread: str, text: str, decide: Callable[[Any], object]) -> str:
    """One message of the user; `decide` gets a summary or `{"form": ...}`, and returns True, or the form's event."""
    where = {"configurable": {"thread_id": thread}}
    state = graph.invoke({"messages": [HumanMessage(text)]}, where)
    while waiting := state.get("__interrupt__"):
        state = graph.invoke(Command(resume=decide(waiting[0].value)), where)
    return str(state["messages"][-1].content)
