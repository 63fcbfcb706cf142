"""`evals/evals.json`: what a user says, how tools answer, and what is expected of the agent.

The file is a superset of the one of Anthropic's skill-creator: its `prompt` is the one message of a case, and what no
run reads, such as `expected_output`, `expectations` or `assertions`, is kept. docs/evaluations.md describes each key.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from capability_kit.json_text import parse_json

PATH: Final = "evals/evals.json"
CASES_MAX: Final = 1000
MESSAGES_MAX: Final = 20
TEXT_LENGTH_MAX: Final = 4000
NAME_LENGTH_MAX: Final = 200
BYTES_MAX: Final = 1024 * 1024
_LIST_MAX: Final = 50
_EXPECT_KEYS: Final = (
    "loads", "does_not_load", "calls", "no_writes", "asks_before", "opens_form", "says", "does_not_say",
    "calls_max", "tokens_max",
)  # fmt: skip
# What a run reads of a case. All else is kept as it is, for people or for other tools.
_KNOWN_BESIDE: Final = ("id", "eval_name", "prompt", "expected_output", "expectations", "assertions", "files")
_CALL_KEYS: Final = ("tool", "arguments")
_MOCK_KEYS: Final = ("tool", "arguments", "result", "error")
_CASE_KEYS: Final = ("name", "messages", "mocks", "forms", "approve", "expect", "must", "rubric")


class CasesInvalid(ValueError):
    """The file is not one of cases; the message has the place and what is expected there."""


@dataclass(frozen=True, slots=True)
class ExpectedCall:
    """A call that has to be made: `arguments` are contained in its own; `*` in a text stands for anything. `beside` is
    what the file has and no run reads, here as in the other parts of a case."""

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    beside: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Expectations:
    """What has to hold. None and empty say nothing; `loads` is an id, or `none` for a message that nothing fits."""

    loads: str | None = None
    does_not_load: str = ""
    calls: tuple[ExpectedCall, ...] = ()
    no_writes: bool = False
    asks_before: tuple[str, ...] = ()
    opens_form: str = ""
    says: tuple[str, ...] = ()
    does_not_say: tuple[str, ...] = ()
    calls_max: int | None = None
    tokens_max: int | None = None
    beside: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ToolMock:
    """What a call of `tool` whose arguments contain `arguments` returns; `error` is raised in its place."""

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    result: Any = None
    error: str = ""
    beside: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class EvaluationCase:
    """One case. `must`: no release without it. `forms` are events by schema_id; a form without one is closed. `rubric`
    is what a model judges, in words; empty where it is not asked."""

    name: str
    messages: tuple[str, ...]
    expect: Expectations = field(default_factory=Expectations)
    mocks: tuple[ToolMock, ...] = ()
    forms: Mapping[str, Any] = field(default_factory=dict)
    approve: bool = True
    must: bool = False
    rubric: str = ""
    for_people: Mapping[str, Any] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """SHA-256 over all that a run depends on."""
        document = {name: value for name, value in case_document(self).items() if name in _CASE_KEYS}
        return "sha256:" + hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class CaseFile:
    """A file: its cases, in order, and what it has beside them at the top level."""

    cases: tuple[EvaluationCase, ...]
    beside: Mapping[str, Any]


def parse_cases(text: str) -> list[EvaluationCase]:
    """The cases of a file, in order. Raises `CasesInvalid`."""
    return list(parse_case_file(text).cases)


def parse_case_file(text: str) -> CaseFile:
    """The cases of an evals.json, with what stands beside them. Raises `CasesInvalid` with the place."""
    if len(text.encode()) > BYTES_MAX:
        raise CasesInvalid(f"{PATH} has more than {BYTES_MAX:,} bytes")
    document = parse_json(text)
    rows = document.get("evals") if isinstance(document, dict) else None
    if not isinstance(rows, list):
        raise CasesInvalid(f'{PATH}: expected an object with "evals", a list of cases')
    if len(rows) > CASES_MAX:
        raise CasesInvalid(f"{PATH}: {len(rows):,} cases; at most {CASES_MAX:,}")
    cases = [parse_case(row, f"evals[{place}]") for place, row in enumerate(rows)]
    seen: set[str] = set()
    for place, case in enumerate(cases):
        if case.name in seen:
            raise CasesInvalid(f"evals[{place}].name: '{case.name}' is the name of another case")
        seen.add(case.name)
    return CaseFile(tuple(cases), _beside(document, ("evals",)))


def write_cases(capability_id: str, cases: Iterable[EvaluationCase], beside: Mapping[str, Any] | None = None) -> str:
    """The file again, with what it had beside the cases."""
    rows = [{"id": number, **_as_written(case)} for number, case in enumerate(cases, 1)]
    document = {**(beside or {"skill_name": capability_id}), "evals": rows}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _as_written(case: EvaluationCase) -> dict[str, Any]:
    """One case as other tools read it: `prompt` where it came with one, and no name that was made for it."""
    document = case_document(case)
    prompt = document.get("prompt")
    if prompt is not None:
        del document["messages" if document["messages"] == [prompt] else "prompt"]
    if case.name == _made_name(case.for_people, case.messages[0]):
        del document["name"]
    return document


def _made_name(given: Mapping[str, Any], message: str) -> str:
    """What a case without a name is called."""
    return str(given.get("eval_name") or given.get("id") or message[:80])


def case_document(case: EvaluationCase) -> dict[str, Any]:
    """One case as JSON, without what says nothing."""
    expect = case.expect
    expected: dict[str, Any] = {
        "loads": expect.loads,
        "does_not_load": expect.does_not_load,
        "calls": [
            _without_empty({"tool": one.tool, "arguments": dict(one.arguments)}) | dict(one.beside)
            for one in expect.calls
        ],
        "no_writes": expect.no_writes,
        "asks_before": list(expect.asks_before),
        "opens_form": expect.opens_form,
        "says": list(expect.says),
        "does_not_say": list(expect.does_not_say),
        "calls_max": expect.calls_max,
        "tokens_max": expect.tokens_max,
    }
    mocks = [
        {
            "tool": one.tool,
            **_without_empty({"arguments": dict(one.arguments), "error": one.error}),
            "result": one.result,
            **one.beside,
        }
        for one in case.mocks
    ]
    document = {
        "name": case.name,
        "messages": list(case.messages),
        "mocks": mocks,
        "forms": dict(case.forms),
        "must": case.must,
        "expect": _without_empty(expected) | dict(expect.beside),
        "rubric": case.rubric,
    }
    return _without_empty(document) | dict(case.for_people) | ({} if case.approve else {"approve": False})


def _without_empty(document: dict[str, Any]) -> dict[str, Any]:
    # Not by `in`: 0 is equal to False, and says something.
    return {name: value for name, value in document.items() if value is not False and value not in (None, "", [], {})}


def parse_case(row: Any, place: str) -> EvaluationCase:
    """One case. Raises `CasesInvalid` with `place` in it."""
    found = _mapping(row, place)
    messages = found.get("messages")
    if messages is None and "prompt" in found:
        messages = [found["prompt"]]
    said = _texts(messages, f"{place}.messages", most=MESSAGES_MAX)
    if not said:
        raise CasesInvalid(f"{place}.messages: expected at least one message of the user")
    return EvaluationCase(
        name=_text(found.get("name") or _made_name(found, said[0]), f"{place}.name", most=NAME_LENGTH_MAX),
        messages=said,
        expect=_expectations(found.get("expect", {}), f"{place}.expect"),
        mocks=tuple(_mock(one, f"{place}.mocks[{n}]") for n, one in enumerate(_list(found, "mocks", place))),
        forms=_mapping(found.get("forms", {}), f"{place}.forms"),
        approve=_flag(found.get("approve", True), f"{place}.approve"),
        must=_flag(found.get("must", False), f"{place}.must"),
        rubric=_rubric(found.get("rubric"), f"{place}.rubric"),
        for_people=_beside(found, _CASE_KEYS),
    )


def _rubric(value: Any, place: str) -> str:
    """A text, or a list of texts, which is one per line."""
    if not value:
        return ""
    return _text("\n".join(_texts(value, place)) if isinstance(value, list) else value, place)


def _expectations(value: Any, place: str) -> Expectations:
    found = _mapping(value, place)
    calls = enumerate(_list(found, "calls", place))
    return Expectations(
        loads=None if found.get("loads") is None else _text(found["loads"], f"{place}.loads"),
        does_not_load=_text(found["does_not_load"], f"{place}.does_not_load") if found.get("does_not_load") else "",
        calls=tuple(_expected_call(one, f"{place}.calls[{number}]") for number, one in calls),
        no_writes=_flag(found.get("no_writes", False), f"{place}.no_writes"),
        asks_before=_texts(found.get("asks_before", []), f"{place}.asks_before"),
        opens_form=_text(found["opens_form"], f"{place}.opens_form") if found.get("opens_form") else "",
        says=_texts(found.get("says", []), f"{place}.says"),
        does_not_say=_texts(found.get("does_not_say", []), f"{place}.does_not_say"),
        calls_max=_count(found.get("calls_max"), f"{place}.calls_max"),
        tokens_max=_count(found.get("tokens_max"), f"{place}.tokens_max"),
        beside=_beside(found, _EXPECT_KEYS),
    )


def _expected_call(value: Any, place: str) -> ExpectedCall:
    found = _mapping(value, place)
    arguments = _mapping(found.get("arguments", {}), place)
    return ExpectedCall(_text(found.get("tool"), f"{place}.tool"), arguments, _beside(found, _CALL_KEYS))


def _mock(value: Any, place: str) -> ToolMock:
    found = _mapping(value, place)
    error = _text(found["error"], f"{place}.error") if found.get("error") else ""
    arguments = _mapping(found.get("arguments", {}), f"{place}.arguments")
    tool = _text(found.get("tool"), f"{place}.tool")
    return ToolMock(tool, arguments, found.get("result"), error, _beside(found, _MOCK_KEYS))


def _beside(found: Mapping[str, Any], keys: Iterable[str]) -> dict[str, Any]:
    """What a part has beside these keys."""
    return {name: value for name, value in found.items() if name not in keys}


def list_unread_keys(file: CaseFile) -> list[str]:
    """The keys that no run reads and that are not of a format known here, sorted: one may be a slip of the pen."""
    found = set(_beside(file.beside, ("skill_name", "$schema")))
    for case in file.cases:
        parts: list[Expectations | ExpectedCall | ToolMock] = [case.expect, *case.expect.calls, *case.mocks]
        found |= {*_beside(case.for_people, _KNOWN_BESIDE), *(name for part in parts for name in part.beside)}
    return sorted(found)


def _mapping(value: Any, place: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise CasesInvalid(f"{place}: expected an object")
    return value


def _list(found: Mapping[str, Any], name: str, place: str) -> list[Any]:
    value = found.get(name, [])
    if not isinstance(value, list) or len(value) > _LIST_MAX:
        raise CasesInvalid(f"{place}.{name}: expected a list of at most {_LIST_MAX} entries")
    return value


def _texts(value: Any, place: str, *, most: int = _LIST_MAX) -> tuple[str, ...]:
    if not isinstance(value, list) or len(value) > most:
        raise CasesInvalid(f"{place}: expected a list of at most {most} texts")
    return tuple(_text(one, f"{place}[{number}]") for number, one in enumerate(value))


def _text(value: Any, place: str, *, most: int = TEXT_LENGTH_MAX) -> str:
    if not isinstance(value, str) or not value.strip() or len(value) > most:
        raise CasesInvalid(f"{place}: expected a text of 1 to {most:,} characters")
    return value


def _flag(value: Any, place: str) -> bool:
    if not isinstance(value, bool):
        raise CasesInvalid(f"{place}: expected true or false")
    return value


def _count(value: Any, place: str) -> int | None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
        raise CasesInvalid(f"{place}: expected a whole number from 0")
    return value
