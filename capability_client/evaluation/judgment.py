"""Whether what an agent did is what a case expects: by its calls and words, without a judge model."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from capability_client.evaluation.matching_values import contains
from capability_client.evaluation.running import Observation
from capability_kit.evaluation_cases import EvaluationCase, ExpectedCall
from capability_kit.text.sanitize import one_line
from capability_kit.tool_gate import ToolCall

NOTHING: Final = "none"


def judge_case(case: EvaluationCase, found: Observation) -> list[str]:
    """What does not hold, each as a sentence; empty where the case has passed."""
    if found.error:
        return [found.error]
    return [*_about_loads(case, found), *_about_calls(case, found), *_about_words(case, found)]


def _about_loads(case: EvaluationCase, found: Observation) -> Iterator[str]:
    wanted, loads = case.expect.loads, found.loads
    if wanted == NOTHING and loads:
        yield f"It loaded {', '.join(loads)}; expected nothing"
    elif wanted not in (None, NOTHING) and wanted not in loads:
        yield f"It loaded {', '.join(loads) or 'nothing'}; expected {wanted}"
    if case.expect.does_not_load in loads:
        yield f"It loaded {case.expect.does_not_load}"


def _about_calls(case: EvaluationCase, found: Observation) -> Iterator[str]:
    expect = case.expect
    for wanted in expect.calls:
        if not any(_is_call(call, wanted) for call in found.calls):
            yield f"It did not call {_words(wanted.tool, wanted.arguments)}; {_calls_made(wanted, found)}"
    writes = [call.tool for call in found.calls if call.kind != "read"]
    if expect.no_writes and writes:
        yield f"It called {', '.join(writes)}; expected no write"
    for tool in expect.asks_before:
        if tool not in found.asked:
            yield f"It did not ask before {tool}"
    if expect.opens_form and expect.opens_form not in found.forms:
        yield f"It opened {', '.join(found.forms) or 'no form'}; expected {expect.opens_form}"
    if expect.calls_max is not None and len(found.calls) > expect.calls_max:
        yield f"It made {len(found.calls)} calls; expected at most {expect.calls_max}"
    if expect.tokens_max is not None and found.usage.tokens > expect.tokens_max:
        yield f"It took {found.usage.tokens:,} tokens; expected at most {expect.tokens_max:,}"


def _about_words(case: EvaluationCase, found: Observation) -> Iterator[str]:
    words = found.words.casefold()
    for text in case.expect.says:
        if text.casefold() not in words:
            yield f"It did not say “{one_line(text, most=120)}”"
    for text in case.expect.does_not_say:
        if text.casefold() in words:
            yield f"It said “{one_line(text, most=120)}”"


def _is_call(call: ToolCall, wanted: ExpectedCall) -> bool:
    return call.tool == wanted.tool and contains(call.arguments, wanted.arguments)


def _calls_made(wanted: ExpectedCall, found: Observation) -> str:
    of_tool = [_words(call.tool, call.arguments) for call in found.calls if call.tool == wanted.tool]
    made = of_tool or [call.tool for call in found.calls]
    return f"it called {', '.join(made[:5])}" if made else "it called no tool"


def _words(tool: str, arguments: Any) -> str:
    return f"{tool} with {one_line(json.dumps(arguments, ensure_ascii=False), most=300)}" if arguments else tool
