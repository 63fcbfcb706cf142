"""schemas/findings.toml has every code that the product reports, and no other."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from capability_rules.validation.codes import FINDINGS_FILE, list_codes, list_families, parse_families, severity_by_code
from capability_rules.validation.security.rule_loader import load_rule_files

REPOSITORY = FINDINGS_FILE.parent.parent
CODE = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
# Words that begin so are finding codes wherever they stand.
PREFIXES = ("UI_", "SEC_")
# What takes a code first.
CONSTRUCTORS = {"RawFinding", "Finding", "RuleHit", "build_finding"}
# What takes a code first in the packages that import Agent Skills.
IMPORT_METHODS = {"add", "add_file", "note"}
IMPORT_PACKAGES = ("capability_rules/agent_skills", "capability_kit/bundles")
ROW = '[files]\ntitle = "Files"\ndescription = "Texts."\n[files.FILE_ODD]\n'
TEXTS = 'severity = "error"\ncause = "a"\nexample = "b"\nfix = "c"\n'


@cache
def _read_source() -> tuple[dict[str, Path], set[str]]:
    """Every constant of the product's Python that is spelled like a code, and those that are a finding's."""
    constants: dict[str, Path] = {}
    codes: set[str] = set()
    folders = [REPOSITORY / name for name in ("registry", "features", "capability_rules", "capability_kit/bundles")]
    for path in sorted(
        found
        for folder in folders
        for found in folder.rglob("*.py")
        if "tests" not in found.relative_to(REPOSITORY).parts
    ):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and CODE.fullmatch(node.value):
                constants[node.value] = path
                codes |= {node.value} if node.value.startswith(PREFIXES) else set()
            if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
                name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                takes = CONSTRUCTORS | (IMPORT_METHODS if path.parent.as_posix().endswith(IMPORT_PACKAGES) else set())
                codes |= {node.args[0].value} if name in takes and isinstance(node.args[0].value, str) else set()
    return constants, codes


def test_every_code_that_python_reports_is_in_the_table() -> None:
    constants, codes = _read_source()
    assert {code: str(constants.get(code)) for code in codes - set(list_codes())} == {}


def test_every_row_of_the_table_is_reported_by_python_or_by_a_security_rule() -> None:
    constants, _ = _read_source()
    rules = {file.code for file in load_rule_files()}
    assert set(list_codes()) - set(constants) - rules == set()


def test_every_code_is_spelled_and_explained() -> None:
    for code, row in list_codes().items():
        assert CODE.fullmatch(code), code
        assert row.cause.endswith("."), code
        assert min(len(row.cause), len(row.example), len(row.fix)) > 3, code


def test_every_family_has_codes_of_its_own() -> None:
    assert sum(len(family.codes) for family in list_families()) == len(list_codes())
    for family in list_families():
        assert family.codes, family.key
        assert family.description.endswith("."), family.key
    (ui,) = (family for family in list_families() if family.key == "ui_schemas")
    (security,) = (family for family in list_families() if family.key == "security")
    assert all(row.code.startswith("UI_") for row in ui.codes)
    assert all(row.code.startswith("SEC_") for row in security.codes)


def test_the_table_is_read_once() -> None:
    assert list_codes() is list_codes()
    assert severity_by_code()["FILE_UNKNOWN"] == "warning"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (ROW, "FILE_ODD must have the texts severity, cause, example and fix"),
        (ROW + TEXTS + "mend = 'd'\n", "FILE_ODD must have the texts"),
        (ROW + TEXTS.replace('"a"', "1"), "FILE_ODD must have the texts"),
        (ROW + TEXTS.replace("error", "fatal"), "FILE_ODD: severity must be error, warning or note, not fatal"),
        (ROW.replace("title", "name") + TEXTS, "files must have title and description, not name, description"),
        (ROW + TEXTS + (ROW + TEXTS).replace("[files", "[json"), "FILE_ODD is in two families"),
    ],
)
def test_a_faulty_table_is_refused_with_code_and_key(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        parse_families(text)
