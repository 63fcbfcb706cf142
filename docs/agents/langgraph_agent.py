"""A graph of three nodes over `capability_client.integrations.langgraph`: `pip install langgraph langchain-openai`.

    python -m docs.agents.langgraph_agent REGISTRY_URL MODEL_URL MODEL "message"

What writes waits for a person by LangGraph's own `interrupt`.
"""

from __future__ import annotations

import sys
from typing import Any

from langchain_core.messages import HumanMessage
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command

from capability_client import Registry, User
from capability_client.integrations.langgraph import SkillNodes, SkillState
from docs.agents.scripted import keep_weights


def build_graph(skills: SkillNodes, model: ChatOpenAI) -> Any:
    """Hear, then think and act in turn until the model calls nothing more."""

    def think(state: SkillState) -> dict[str, Any]:
        bound = model.bind_tools(skills.tools(state))
        return {"messages": [bound.invoke([skills.system(state), *state["messages"]])]}

    graph = StateGraph(SkillState)
    for name, node in (("hear", skills.hear), ("think", think), ("act", skills.act)):
        graph.add_node(name, node)
    graph.add_edge(START, "hear")
    graph.add_edge("hear", "think")
    graph.add_conditional_edges("think", skills.has_calls, {True: "act", False: END})
    graph.add_conditional_edges("act", skills.has_calls, {True: "act", False: "think"})
    return graph.compile(checkpointer=InMemorySaver())


def main(registry_url: str, model_url: str, model: str, text: str, answer: str = "yes") -> None:
    """One message; `answer` is what the person says to each write. The key is taken from OPENAI_API_KEY."""
    thread = {"configurable": {"thread_id": "1"}}
    with Registry(registry_url) as registry:
        skills = SkillNodes(registry, keep_weights, user=User(name="Alice"))
        graph = build_graph(skills, ChatOpenAI(base_url=model_url, model=model))
        state = graph.invoke({"messages": [HumanMessage(text)]}, thread)
        while waiting := state.get("__interrupt__"):
            print(f"person: {answer} to {waiting[0].value}")
            state = graph.invoke(Command(resume=answer == "yes"), thread)
        print(f"agent: {state['messages'][-1].content}")


if __name__ == "__main__":
    main(*sys.argv[1:6])
