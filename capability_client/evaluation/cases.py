"""`evals/evals.json`: what a user says, how tools answer, and what is expected of the agent.

The file is a superset of the one of Anthropic's skill-creator: its `prompt` is the one message of a case, its
`expected_output` and `expectations` are kept for people. docs/evaluations.md describes each key.
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
# Kept as they are: they are for people, or for other tools.
_FOR_PEOPLE: Final = ("expected_output", "expectations", "files")
_EXPECT_KEYS: Final = (
    "loads", "does_not_load", "calls", "no_writes", "asks_before", "opens_form", "says", "does_not_say",
    "calls_max", "tokens_max",
)  # fmt: skip
_CASE_KEYS: Final = (
    "id", "name", "prompt", "messages", "mocks", "forms", "approve", "expect", "must", "rubric", *_FOR_PEOPLE,
)  # fmt: skip


class CasesInvalid(ValueError):
    """The file is not one of cases; the message has the place and what is expected there."""


@dataclass(frozen=True, slots=True)
class ExpectedCall:
    """A call that has to be made: `arguments` are contained in its own; `*` in a text stands for anything."""

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


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


@dataclass(frozen=True, slots=True)
class ToolMock:
    """What a call of `tool` whose arguments contain `arguments` returns; `error` is raised in its place."""

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    result: Any = None
    error: str = ""


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
        document = {name: value for name, value in case_document(self).items() if name not in _FOR_PEOPLE}
        return "sha256:" + hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()


def parse_cases(text: str) -> list[EvaluationCase]:
    """The cases of a file, in order. Raises `CasesInvalid`."""
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
    return cases


def write_cases(capability_id: str, cases: Iterable[EvaluationCase]) -> str:
    """The file again."""
    rows = [{"id": number, **case_document(case)} for number, case in enumerate(cases, 1)]
    return json.dumps({"skill_name": capability_id, "evals": rows}, indent=2, ensure_ascii=False) + "\n"


def case_document(case: EvaluationCase) -> dict[str, Any]:
    """One case as JSON, without what says nothing."""
    expect = case.expect
    expected: dict[str, Any] = {
        "loads": expect.loads,
        "does_not_load": expect.does_not_load,
        "calls": [_without_empty({"tool": one.tool, "arguments": dict(one.arguments)}) for one in expect.calls],
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
        }
        for one in case.mocks
    ]
    document = {
        "name": case.name,
        "messages": list(case.messages),
        "mocks": mocks,
        "forms": dict(case.forms),
        "must": case.must,
        "expect": _without_empty(expected),
        "rubric": case.rubric,
        **case.for_people,
    }
    return _without_empty(document) | ({} if case.approve else {"approve": False})


def _without_empty(document: dict[str, Any]) -> dict[str, Any]:
    # Not by `in`: 0 is equal to False, and says something.
    return {name: value for name, value in document.items() if value is not False and value not in (None, "", [], {})}


def parse_case(row: Any, place: str) -> EvaluationCase:
    """One case. Raises `CasesInvalid` with `place` in it."""
    found = _object(row, place, _CASE_KEYS)
    messages = found.get("messages")
    if messages is None and "prompt" in found:
        messages = [found["prompt"]]
    said = _texts(messages, f"{place}.messages", most=MESSAGES_MAX)
    if not said:
        raise CasesInvalid(f"{place}.messages: expected at least one message of the user")
    name = found.get("name") or found.get("id") or said[0][:80]
    return EvaluationCase(
        name=_text(str(name) if isinstance(name, int) else name, f"{place}.name", most=NAME_LENGTH_MAX),
        messages=said,
        expect=_expectations(found.get("expect", {}), f"{place}.expect"),
        mocks=tuple(_mock(one, f"{place}.mocks[{n}]") for n, one in enumerate(_list(found, "mocks", place))),
        forms=_mapping(found.get("forms", {}), f"{place}.forms"),
        approve=_flag(found.get("approve", True), f"{place}.approve"),
        must=_flag(found.get("must", False), f"{place}.must"),
        rubric=_rubric(found.get("rubric"), f"{place}.rubric"),
        for_people={key: found[key] for key in _FOR_PEOPLE if key in found},
    )


def _rubric(value: Any, place: str) -> str:
    """A text, or a list of texts, which is one per line."""
    if not value:
        return ""
    return _text("\n".join(_texts(value, place)) if isinstance(value, list) else value, place)


def _expectations(value: Any, place: str) -> Expectations:
    found = _object(value, place, _EXPECT_KEYS)
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
    )


def _expected_call(value: Any, place: str) -> ExpectedCall:
    found = _object(value, place, ("tool", "arguments"))
    return ExpectedCall(_text(found.get("tool"), f"{place}.tool"), _mapping(found.get("arguments", {}), place))


def _mock(value: Any, place: str) -> ToolMock:
    found = _object(value, place, ("tool", "arguments", "result", "error"))
    error = _text(found["error"], f"{place}.error") if found.get("error") else ""
    arguments = _mapping(found.get("arguments", {}), f"{place}.arguments")
    return ToolMock(_text(found.get("tool"), f"{place}.tool"), arguments, found.get("result"), error)


def _object(value: Any, place: str, keys: Iterable[str]) -> dict[str, Any]:
    found = _mapping(value, place)
    unknown = sorted(set(found) - set(keys))
    if unknown:
        raise CasesInvalid(f"{place}.{unknown[0]}: not a known key; there are {', '.join(keys)}")
    return found


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
