"""Helpers for the tests of the security rules: a passage put where an author would write it, and what comes of it."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator

from capability_rules.bundles.problem import RawFinding
from capability_rules.validation.codes import list_codes
from capability_rules.validation.security.rule_loader import RULES_FOLDER
from capability_rules.validation.security.scanner import check_texts
from capability_rules.validation.security.text_corpus import AuthorText, find_json_texts

TABLE = list_codes()
PAGE = """# Weight log

## When to use
When the user records a weight.

## Default behavior
{}

## Examples
Weigh-in: 80 kg.
"""


def problems_of_page(passage: str) -> list[RawFinding]:
    return [each for each in _check_page(passage) if severity(each) != "note"]


def notes_of_page(passage: str) -> list[RawFinding]:
    return [each for each in _check_page(passage) if severity(each) == "note"]


def _check_page(passage: str) -> list[RawFinding]:
    return check_texts([AuthorText("skill.md", (), PAGE.format(passage))])


def problems_of_tools(tools: list[dict[str, object]]) -> list[RawFinding]:
    found = check_texts(find_json_texts("tools.json", tools))
    return [each for each in found if severity(each) != "note"]


def severity(problem: RawFinding) -> str:
    return problem.severity or TABLE[problem.code].severity


def verdict(problems: list[RawFinding]) -> str:
    if any(severity(problem) == "error" for problem in problems):
        return "error"
    return "warning" if any(severity(problem) == "warning" for problem in problems) else "none"


def verdict_of_page(passage: str) -> str:
    return verdict(problems_of_page(passage))


def verdict_of_description(passage: str) -> str:
    return verdict(problems_of_tools([{"name": "weight_list", "description": passage, "policy": {"kind": "read"}}]))


def codes_of_page(passage: str) -> set[str]:
    return {problem.code for problem in problems_of_page(passage)}


def list_examples(kind: str) -> Iterator[tuple[str, str, str]]:
    """The examples of one kind in the files of rules: (file, code, passage)."""
    for path in sorted(RULES_FOLDER.glob("*.toml")):
        table = tomllib.loads(path.read_text(encoding="utf-8"))
        yield from ((path.name, table.get("code", ""), passage) for passage in table.get("examples", {}).get(kind, ()))
