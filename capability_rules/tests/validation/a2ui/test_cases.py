"""Every recorded case: the valid forms give nothing, each invalid one gives exactly what is expected of it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from capability_rules.tests.validation.a2ui.a2ui_core import refusal
from capability_rules.tests.validation.a2ui.forms import REPOSITORY, SAMPLES, SEVERITIES, sample
from capability_rules.validation.a2ui import check_tool_ui, check_ui_schemas
from capability_rules.validation.codes import list_codes
from tests.sweeps import check_each

RECORDED = sorted((SAMPLES / "invalid").glob("*.json"))
EXAMPLES = sorted((REPOSITORY / "schemas" / "examples" / "invalid").glob("ui_*.json"))
# Found by the checks of JSON syntax and of skill.md, under codes that are described here.
ELSEWHERE = {"UI_FILE_NOT_JSON", "UI_DOC_REF_UNKNOWN"}


def found_in(entries: Any, tools: Any, skill: str) -> list[tuple[str, str, str, str]]:
    mentioned = frozenset(re.findall(r"\b[A-Z]\w*\.v\d+\b", skill))
    problems = check_ui_schemas(entries, tools, mentioned_schema_ids=mentioned) + check_tool_ui(tools, entries)
    return sorted(
        (each.code, each.file, "".join(f"/{step}" for step in each.path), each.severity or SEVERITIES[each.code])
        for each in problems
    )


def test_the_valid_forms_have_no_finding() -> None:
    assert found_in(sample("valid/ui_schemas.json"), sample("valid/tools.json"), "") == []


def test_a_recorded_case_gives_what_is_expected() -> None:
    def check(path: Path) -> None:
        case = json.loads(path.read_text(encoding="utf-8"))

        found = found_in(case["ui_schemas"], case["tools"], case.get("skill_md", ""))

        expected = [each for each in case["expect"] if each["code"] not in ELSEWHERE]
        assert [(code, place, severity) for code, _, place, severity in found] == sorted(
            (each["code"], each["path"], each["severity"]) for each in expected
        )

    check_each(RECORDED, check)


def test_an_example_gives_what_is_expected() -> None:
    def check(path: Path) -> None:
        case = json.loads(path.read_text(encoding="utf-8"))
        files = case["replace"]
        written = files["ui_schemas.json"]
        if case["case"] == "ui_file_not_json":
            with pytest.raises(ValueError, match=r"Expecting|trailing"):
                json.loads(written)
            return

        entries = json.loads(written) if isinstance(written, str) else written
        found = found_in(entries, files["tools.json"], files["skill.md"])

        expected = [each for each in case["expect"] if each["code"] not in ELSEWHERE]
        assert found == sorted((each["code"], each["file"], each["pointer"], each["severity"]) for each in expected)

    check_each(EXAMPLES, check)


def test_every_code_has_an_example_and_every_example_a_code() -> None:
    used = {each["code"] for path in EXAMPLES for each in json.loads(path.read_text(encoding="utf-8"))["expect"]}
    assert used == {code for code in list_codes() if code.startswith("UI_")}


@pytest.mark.slow
def test_a2ui_core_takes_the_valid_forms() -> None:
    for entry in sample("valid/ui_schemas.json"):
        assert refusal(entry["definition"]) is None
