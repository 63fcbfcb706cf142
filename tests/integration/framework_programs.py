"""Agents in four frameworks over one session, the model played by a script: run by test_agent_frameworks.py.

Each prints the model's last words for a person who says yes, and for one who says no; what ran stands before them.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from capability_client import AsyncSession, Environment, ToolCall, User
from capability_client.testing import FakeRegistry, build_bundle

SAVE = "weights__weight_save"
ENTRY = {"weight": 187.6}
TOOLS = [
    {
        "name": "weight_save",
        "description": "Save a weight.",
        "policy": {"kind": "write", "requires_approval": True},
        "args_schema": {"type": "object", "properties": {"weight": {"type": "number"}}, "required": ["weight"]},
    },
    {
        "name": "weight_list",
        "description": "List the weights.",
        "policy": {"kind": "read"},
        "args_schema": {"type": "object", "properties": {}},
    },
]


FORM = {
    "schema_id": "WeightForm.v1",
    "definition": {
        "catalogId": "https://a2ui.org/specification/v0_9/catalogs/basic/catalog.json",
        "components": [
            {"id": "root", "component": "Column", "children": ["weight", "save"]},
            {"id": "weight", "component": "TextField", "label": "Weight", "value": {"path": "/weight"}},
            {
                "id": "save",
                "component": "Button",
                "child": "label",
                "action": {"event": {"name": "save", "context": {"weight": {"path": "/weight"}}}},
            },
            {"id": "label", "component": "Text", "text": "Save"},
        ],
        "dataModel": {"weight": "180"},
    },
    "actions": {"save": {"tool": "weight_save"}},
}
OPEN = ("form_open", {"schema_id": "WeightForm.v1", "data": ENTRY})
SENT = {"name": "save", "context": {"weight": "186.4"}}


def source() -> FakeRegistry:
    return FakeRegistry([build_bundle("weights", tools=TOOLS, ui_schemas=[FORM], intent_triggers=["weigh-in"])])


def session() -> AsyncSession:
    return AsyncSession(source(), user=User(name="Ada"), environment=Environment(os="linux"))


async def run(call: ToolCall) -> dict[str, Any]:
    print(f"ran {call.tool} with {json.dumps(call.arguments)}, approved by {call.approved_by or 'nobody'}")
    return {"saved": "für heute"}


def run_at_once(call: ToolCall) -> dict[str, Any]:
    return asyncio.run(run(call))


# What the scripted model does: load, save, list, and say what it has read.
PLAN: list[tuple[str, dict[str, Any]]] = [
    ("capability_skill_load", {"capability_id": "weights"}),
    (SAVE, ENTRY),
    ("weights__weight_list", {}),
]


async def pydantic_ai(says_yes: bool) -> str:
    from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
    from pydantic_ai.models.function import AgentInfo, FunctionModel

    from capability_client.integrations.pydantic_ai import SkillToolset

    def model(messages: list[Any], info: AgentInfo) -> ModelResponse:
        assert "- weights: Weights." in str(info.instructions), "the session's prompt is the instructions"
        results = [part for each in messages for part in each.parts if isinstance(part, ToolReturnPart)]
        if len(results) == len(PLAN):
            return ModelResponse([TextPart(f"I read {[part.content for part in results[1:]]}")])
        name, arguments = PLAN[len(results)]
        assert name in [tool.name for tool in info.function_tools], name
        return ModelResponse([ToolCallPart(name, arguments)])

    skills = SkillToolset(session(), run, by="Ada")
    agent = Agent(FunctionModel(model), toolsets=[skills], output_type=[str, DeferredToolRequests])
    await skills.session.turn("a weigh-in")
    result = await agent.run("a weigh-in")
    if isinstance(result.output, DeferredToolRequests):
        (waiting,) = result.output.approvals
        print(f"asked: {result.output.metadata[waiting.tool_call_id]['summary']}")
        answers = DeferredToolResults(approvals={waiting.tool_call_id: says_yes})
        result = await agent.run(message_history=result.all_messages(), deferred_tool_results=answers)
    return str(result.output)


async def pydantic_ai_form(says_yes: bool) -> str:
    """A form that the model opens, what the user sends instead of 187.6, and the approval of that."""
    from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
    from pydantic_ai.models.function import AgentInfo, FunctionModel

    from capability_client.integrations.pydantic_ai import SkillToolset, answer_form

    def model(messages: list[Any], info: AgentInfo) -> ModelResponse:
        results = [part for each in messages for part in each.parts if isinstance(part, ToolReturnPart)]
        if results:
            return ModelResponse([TextPart(f"I read {results[-1].content}")])
        return ModelResponse([ToolCallPart(*OPEN)])

    skills = SkillToolset(session(), run, by="Ada")
    agent = Agent(FunctionModel(model), toolsets=[skills], output_type=[str, DeferredToolRequests])
    await skills.session.load("weights")
    result = await agent.run("a weigh-in")
    answers: list[Any] = [{"name": "nothing"}, SENT, says_yes]
    while isinstance(result.output, DeferredToolRequests):
        (waiting,) = result.output.approvals
        asked = result.output.metadata[waiting.tool_call_id]
        print(f"asked: {asked['form']['problem'] or 'a form' if 'form' in asked else asked['summary']}")
        answer = answers.pop(0)
        approval = answer_form(waiting, answer) if "form" in asked else answer
        decided = DeferredToolResults(approvals={waiting.tool_call_id: approval})
        result = await agent.run(message_history=result.all_messages(), deferred_tool_results=decided)
    return str(result.output)


async def openai_agents(says_yes: bool) -> str:
    from agents import Agent, Model, ModelResponse, Runner, Usage, set_tracing_disabled
    from agents.tool_context import ToolContext
    from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

    from capability_client.integrations.openai_agents import SkillTools

    set_tracing_disabled(True)

    class Scripted(Model):
        async def get_response(self, system_instructions: Any, input: Any, *rest: Any, **more: Any) -> Any:  # noqa: A002
            assert "- weights: Weights." in system_instructions
            tools = more.get("tools") or rest[1]
            results = [item for item in input if isinstance(item, dict) and item.get("type") == "function_call_output"]
            if len(results) == len(PLAN):
                text = f"I read {[item['output'] for item in results[1:]]}"
                content = [ResponseOutputText(text=text, type="output_text", annotations=[])]
                said = ResponseOutputMessage(
                    id="m", content=content, role="assistant", status="completed", type="message"
                )
                return ModelResponse(output=[said], usage=Usage(), response_id=None)
            name, arguments = PLAN[len(results)]
            assert name in [tool.name for tool in tools], name
            call = ResponseFunctionToolCall(
                id="f", call_id=f"c{len(results)}", type="function_call", name=name, arguments=json.dumps(arguments)
            )
            return ModelResponse(output=[call], usage=Usage(), response_id=None)

        def stream_response(self, *args: Any, **more: Any) -> Any:
            raise NotImplementedError

    skills = SkillTools(session(), run, by="Ada")
    await skills.session.load("weights")
    await skills.refresh()
    save: Any = next(tool for tool in skills.tools if tool.name == SAVE)
    unasked = ToolContext(None, tool_name=SAVE, tool_call_id="c0", tool_arguments=json.dumps(ENTRY))
    refused = await save.on_invoke_tool(unasked, json.dumps(ENTRY))
    assert "APPROVAL_REQUIRED" in refused, "who calls it without a person's word gets no result"
    skills = SkillTools(session(), run, by="Ada")
    agent = Agent(name="Assistant", instructions=skills.instructions, tools=skills.tools, model=Scripted())
    await skills.session.turn("a weigh-in")
    await skills.refresh()
    result = await Runner.run(agent, "a weigh-in")
    if result.interruptions:
        (waiting,) = result.interruptions
        print(f"asked: {waiting.name} {waiting.arguments}")
        state = result.to_state()
        if says_yes:
            state.approve(waiting)
        else:
            state.reject(waiting)
        result = await Runner.run(agent, state)
    return str(result.final_output)


async def langgraph(says_yes: bool) -> str:
    from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.graph import END, START, StateGraph
    from langgraph.types import Command

    from capability_client.integrations.langgraph import SkillNodes, SkillState

    skills = SkillNodes(source(), run_at_once, by="Ada", user=User(name="Ada"), environment=Environment(os="linux"))

    def think(state: SkillState) -> dict[str, Any]:
        assert "- weights: Weights." in str(skills.system(state).content)
        results = [each.content for each in state["messages"] if isinstance(each, ToolMessage)]
        if len(results) == len(PLAN):
            return {"messages": [AIMessage(f"I read {results[1:]}")]}
        name, arguments = PLAN[len(results)]
        assert name in [tool["function"]["name"] for tool in skills.tools(state)], name
        return {"messages": [AIMessage("", tool_calls=[{"id": f"c{len(results)}", "name": name, "args": arguments}])]}

    graph = StateGraph(SkillState)
    for name, node in (("hear", skills.hear), ("think", think), ("act", skills.act)):
        graph.add_node(name, node)
    graph.add_edge(START, "hear")
    graph.add_edge("hear", "think")
    graph.add_conditional_edges("think", skills.has_calls, {True: "act", False: END})
    graph.add_conditional_edges("act", skills.has_calls, {True: "act", False: "think"})
    compiled = graph.compile(checkpointer=InMemorySaver())
    shelf: Any = skills._source
    thread: Any = {"configurable": {"thread_id": "1"}}
    state = await asyncio.to_thread(compiled.invoke, {"messages": [HumanMessage("a weigh-in")]}, thread)
    while waiting := state.get("__interrupt__"):
        print(f"asked: {waiting[0].value}")
        state = await asyncio.to_thread(compiled.invoke, Command(resume=says_yes), thread)
    lists = [name for name, _ in shelf.requests if name == "list"]
    assert len(lists) == 1, f"one message, {len(lists)} requests for the list"
    return str(state["messages"][-1].content)


async def langgraph_form(says_yes: bool) -> str:
    """A form that the model opens, what the user sends instead of 187.6, and the approval of that."""
    from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.graph import END, START, StateGraph
    from langgraph.types import Command

    from capability_client.integrations.langgraph import SkillNodes, SkillState

    skills = SkillNodes(source(), run_at_once, by="Ada", user=User(name="Ada"), environment=Environment(os="linux"))

    def think(state: SkillState) -> dict[str, Any]:
        results = [each.content for each in state["messages"] if isinstance(each, ToolMessage)]
        if results:
            return {"messages": [AIMessage(f"I read {results[-1]}")]}
        name, arguments = OPEN
        return {"messages": [AIMessage("", tool_calls=[{"id": "c1", "name": name, "args": arguments}])]}

    graph = StateGraph(SkillState)
    for name, node in (("hear", skills.hear), ("think", think), ("act", skills.act)):
        graph.add_node(name, node)
    graph.add_edge(START, "hear")
    graph.add_edge("hear", "think")
    graph.add_conditional_edges("think", skills.has_calls, {True: "act", False: END})
    graph.add_conditional_edges("act", skills.has_calls, {True: "act", False: "think"})
    compiled = graph.compile(checkpointer=InMemorySaver())
    thread: Any = {"configurable": {"thread_id": "1"}}
    state = await asyncio.to_thread(compiled.invoke, {"messages": [HumanMessage("$weights")]}, thread)
    answers: list[Any] = [{"name": "nothing"}, SENT, says_yes]
    while waiting := state.get("__interrupt__"):
        asked = waiting[0].value
        print(f"asked: {asked['form']['problem'] or 'a form' if isinstance(asked, dict) else asked}")
        state = await asyncio.to_thread(compiled.invoke, Command(resume=answers.pop(0)), thread)
    return str(state["messages"][-1].content)


async def claude_agent_sdk(says_yes: bool) -> str:
    """The SDK's own program is not started: the server and the permission callback are what it would call."""
    from claude_agent_sdk import ClaudeAgentOptions, PermissionResultAllow, PermissionResultDeny

    from capability_client.integrations.claude_agent_sdk import CALL, SERVER, SkillServer

    async def approve(call: ToolCall) -> bool:
        print(f"asked: {call.summary()}")
        return says_yes

    skills = SkillServer(session(), run, approve, otherwise=None, by="Ada")
    options = ClaudeAgentOptions(
        system_prompt=await skills.system_prompt(),
        mcp_servers={SERVER: skills.server},
        can_use_tool=skills.can_use_tool,
        hooks=skills.hooks,
    )
    for foreign in ("Bash", "Write", "mcp__other__pay", f"mcp__{SERVER}__other"):
        denied = await skills.can_use_tool(foreign, {"command": "rm -rf /"}, None)
        assert isinstance(denied, PermissionResultDeny), foreign
        assert f"{foreign} is not a tool of the skills" in denied.message
    hook = skills.hooks["UserPromptSubmit"][0].hooks[0]
    assert options.hooks == skills.hooks
    assert "- weights: Weights." in str(options.system_prompt)
    tools = {each.name: each for each in skills.tools}
    assert "capability_file_load" in tools, "the SDK reads the tools before there is a skill with files"
    heard: Any = {"hook_event_name": "UserPromptSubmit", "prompt": "a weigh-in"}
    read: Any = await hook(heard, None, {"signal": None})
    assert "- weights (Weights): Weights." in read["hookSpecificOutput"]["additionalContext"], "the turn is hinted"
    results = []
    for name, arguments in PLAN:
        own = name in tools
        given: dict[str, Any] = dict(arguments) if own else {"tool": name, "arguments": arguments}
        called = name if own else CALL
        allowed = await skills.can_use_tool(f"mcp__{SERVER}__{called}", given, None)
        if not isinstance(allowed, PermissionResultAllow):
            results.append(allowed.message)
            continue
        answer = await tools[called].handler(given)
        results.append(answer["content"][0]["text"])
    assert "weights__weight_save (write, waits for a person's approval)" in results[0]
    return f"I read {results[1:]}"


if __name__ == "__main__":
    for answer in (True, False):
        print(f"model: {asyncio.run(globals()[sys.argv[1]](answer))}")
