"""The file of cases: what is read, what is written again, and where a mistake is."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from capability_kit.evaluation_cases import (
    CaseFile,
    CasesInvalid,
    list_unread_keys,
    parse_case_file,
    parse_cases,
    write_cases,
)
from tests.servers import ROOT

# As skill-creator writes it.
ANTHROPIC = {
    "skill_name": "pdf",
    "evals": [
        {"id": 1, "prompt": "Fill this form", "expected_output": "A filled form", "files": ["form.pdf"]},
        {"id": 2, "prompt": "Merge two files", "expected_output": "One file", "expectations": ["It has five pages"]},
    ],
}
FULL = {
    "evals": [
        {
            "name": "saves after a yes",
            "messages": ["I weighed 84.2 kg today", "yes"],
            "mocks": [
                {"tool": "weight_entry_save_batch", "arguments": {"entries": [{"unit": "kg"}]}, "result": {"saved": 1}}
            ],
            "forms": {"WeightEntryForm.v1": {"name": "save", "context": {"weight": 84.2}}},
            "approve": False,
            "must": True,
            "expect": {
                "loads": "weights",
                "does_not_load": "workouts",
                "calls": [{"tool": "weight_entry_save_batch", "arguments": {"entries": [{"weight": 84.2}]}}],
                "no_writes": True,
                "asks_before": ["weight_entry_save_batch"],
                "opens_form": "WeightEntryForm.v1",
                "says": ["84.2"],
                "does_not_say": ["sorry"],
                "calls_max": 0,
                "tokens_max": 9000,
            },
        }
    ]
}


def test_a_file_of_skill_creator_is_read_and_kept() -> None:
    first, second = parse_cases(json.dumps(ANTHROPIC))
    assert (first.name, first.messages) == ("1", ("Fill this form",))
    assert second.for_people["expectations"] == ["It has five pages"]
    again = json.loads(write_cases("pdf", [first, second]))
    assert [row["expected_output"] for row in again["evals"]] == ["A filled form", "One file"]


def test_what_is_written_is_read_as_the_same() -> None:
    (case,) = parse_cases(json.dumps(FULL))
    (again,) = parse_cases(write_cases("weights", [case]))
    # Each has a number in the file.
    assert (replace(again, for_people={}), dict(again.for_people)) == (case, {"id": 1})
    assert (again.expect.calls_max, again.approve, again.must) == (0, False, True)
    assert again.digest == case.digest


def test_the_digest_changes_with_what_a_run_depends_on() -> None:
    (case,) = parse_cases(json.dumps(FULL))
    row = FULL["evals"][0]
    for change, is_same in (
        ({"messages": ["other"]}, False),
        ({"must": False}, False),
        ({"rubric": "be kind"}, False),
        ({"files": ["a.txt"]}, True),
    ):
        (other,) = parse_cases(json.dumps({"evals": [row | change]}))
        assert (other.digest == case.digest) is is_same


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ("no json", 'expected an object with "evals"'),
        ("[]", 'expected an object with "evals"'),
        ('{"evals": [{"name": "a"}]}', r"evals\[0\].messages: expected a list"),
        ('{"evals": [{"name": "a", "messages": []}]}', r"evals\[0\].messages: expected at least one"),
        ('{"evals": [{"prompt": "a", "rubric": 5}]}', r"evals\[0\].rubric: expected a text"),
        ('{"evals": [{"prompt": ""}]}', r"evals\[0\].messages\[0\]: expected a text"),
        ('{"evals": [{"prompt": "a", "expect": {"calls": [{}]}}]}', r"expect.calls\[0\].tool: expected a text"),
        ('{"evals": [{"prompt": "a", "expect": {"calls_max": -1}}]}', "calls_max: expected a whole number"),
        ('{"evals": [{"prompt": "a", "must": "yes"}]}', "must: expected true or false"),
        ('{"evals": [{"prompt": "a"}, {"prompt": "a"}]}', r"evals\[1\].name: 'a' is the name of another case"),
    ],
)  # fmt: skip
def test_a_mistake_is_named_with_its_place(document: str, words: str) -> None:
    with pytest.raises(CasesInvalid, match=words):
        parse_cases(document)
    assert parse_cases('{"evals": []}') == []


def test_too_many_cases_are_refused_by_their_number() -> None:
    rows = [{"name": str(number), "prompt": "a"} for number in range(1001)]
    with pytest.raises(CasesInvalid, match="1,001 cases; at most 1,000"):
        parse_cases(json.dumps({"evals": rows}))


SCHEMA = jsonschema.Draft202012Validator(json.loads((ROOT / "schemas" / "evals.schema.json").read_text("utf-8")))
EXAMPLES = sorted(ROOT.glob("examples/*/evals/evals.json"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.parent.parent.name)
def test_the_cases_of_the_examples_fit_the_schema(path: Path) -> None:
    assert not list(SCHEMA.iter_errors(json.loads(path.read_text("utf-8"))))


def test_the_schema_takes_what_is_read_and_refuses_what_is_refused() -> None:
    assert len(EXAMPLES) == 7
    assert not list(SCHEMA.iter_errors(FULL))
    assert not list(SCHEMA.iter_errors(ANTHROPIC))
    (mistakes,) = test_a_mistake_is_named_with_its_place.pytestmark  # type: ignore[attr-defined]
    for document, words in mistakes.args[1]:
        # Not a document at all, and a name that another case has, are beyond a schema.
        if document != "no json" and "another case" not in words:
            assert list(SCHEMA.iter_errors(json.loads(document))), document


def test_what_no_run_reads_is_kept_named_and_written_as_it_came() -> None:
    rows = [
        {"id": "first", "prompt": "a", "expected_output": "b", "files": [], "assertions": ["c"]},
        {"id": 7, "eval_name": "second", "prompt": "d", "odd": 0, "expect": {"loads": "x", "call": [1]}},
        {"id": 3, "name": "third", "messages": ["e"], "mocks": [{"tool": "t", "result": 1, "why": "f"}]},
    ]
    cases = parse_cases(json.dumps({"skill_name": "x", "evals": rows}))
    assert [case.name for case in cases] == ["first", "second", "third"]
    assert list_unread_keys(CaseFile(tuple(cases), {})) == ["call", "odd", "why"]
    assert json.loads(write_cases("x", cases))["evals"] == rows
    # What nobody reads changes no result.
    assert cases[0].digest == parse_cases('{"evals": [{"id": "first", "prompt": "a"}]}')[0].digest


def test_what_a_file_has_beside_its_cases_comes_back() -> None:
    document = {"skill_name": "one-case", "author": "QA", "evals": [{"id": "a", "prompt": "Say hello", "note": 1}]}
    file = parse_case_file(json.dumps(document))
    assert list_unread_keys(file) == ["author", "note"]
    assert json.loads(write_cases("one_case", file.cases, file.beside)) == document
