"""Every example under schemas/examples is judged as it says; every code has a case."""

from __future__ import annotations

from typing import Any

import pytest

from capability_rules.validation import validate_bundle
from capability_rules.validation.codes import list_codes
from tests.cases import Case, read_cases, valid_bundle, valid_names
from tests.sweeps import check_each

CASES = read_cases()
# Codes that need more than one bundle's texts, with the test that raises them.
RAISED_ELSEWHERE = {
    "BUNDLE_TOO_LARGE": "test_limits.py",
    "CAPABILITY_ID_DUPLICATE": "test_batches.py",
    "CHANGE_NOT_ALLOWED": "access/test_key_limits.py",
    "CHECK_FAILED": "test_limits.py",
    "CHECK_UNFINISHED": "test_limits.py",
    "CONTRACT_BROKEN": "test_gate.py",
    "HOST_ADDED": "test_gate.py",
    "FILE_TOO_LARGE": "test_limits.py",
    "APPROVAL_REQUIRED": "test_rules.py",
    "FILES_TOO_MANY": "test_supporting.py",
    "FILE_PATH_INVALID": "test_supporting.py",
    "FINDINGS_CUT": "test_limits.py",
    "DEPENDENCY_CIRCLE": "catalog/test_needed_skills.py",
    "DEPENDENCY_UNKNOWN": "catalog/test_needed_skills.py",
    "DIGEST_MISMATCH": "management/test_registry_check.py",
    "LOOSENING_NOT_ALLOWED": "test_rules.py",
    "COMMENTS_OPEN": "test_review_comments.py",
    "NOTE_REQUIRED": "test_rules.py",
    "EVALUATION_FAILED": "features/evaluations/tests/test_release_conditions.py",
    "EVALUATION_MISSING": "features/evaluations/tests/test_release_conditions.py",
    "SCAN_MISSING": "publishing/test_scan_results.py",
    "SEC_HELD": "../../../features/acceptances/tests/test_held_passages.py",
    "SEC_LANGUAGE_NOT_JUDGED": "security/test_suspicion.py",
    "SCAN_RESULT": "publishing/test_scan_results.py",
    "GOLDEN_SENTENCE_MISSED": "matching/test_rehearsal.py",
    "INTENT_DUPLICATED": "matching/test_duplicates.py",
    "LANGUAGE_NOT_READ": "matching/test_readability.py",
    "TRIGGERS_MISSING": "matching/test_trigger_overlaps.py",
    "GOLDEN_SENTENCE_MOVED": "matching/test_rehearsal.py",
    "POLICY_LOOSENED": "test_gate.py",
    "TOOL_SOURCE_BROKEN": "features/tool_sources/tests/test_drift.py",
    "TOOL_SOURCE_CHANGED": "features/tool_sources/tests/test_drift.py",
    "WAS_RETIRED": "features/sources/tests/test_automatic_acts.py",
    "SEC_LOOKALIKE_ID": "security/test_identity.py",
    "TOOL_NAME_COLLISION": "test_publishing.py",
    "TRIGGER_OVERLAP": "matching/test_overlaps.py",
    **{code: "agent_skills/test_taking.py" for code in list_codes() if code.startswith("IMPORT_")},
}


@pytest.mark.parametrize("name", valid_names())
def test_valid_example_has_no_finding(name: str) -> None:
    report = validate_bundle(valid_bundle(name))
    assert [finding.as_dict() for finding in report.findings] == []
    assert report.ok


def test_invalid_example_has_exactly_its_findings() -> None:
    def check(case: Case) -> None:
        found = [finding.as_dict() for finding in validate_bundle(case.files).findings]
        shown = [{key: row[key] for key in ("code", "severity", "file", "pointer", "line", "message")} for row in found]
        assert len(found) == len(case.expect), shown
        for expected in case.expect:
            assert any(_agrees(row, expected) for row in found), (expected, shown)

    check_each(CASES, check, name=lambda case: case.name)


def _agrees(row: dict[str, Any], expected: dict[str, Any]) -> bool:
    return all(row[key] == value for key, value in expected.items())


def test_every_code_is_raised_by_a_case() -> None:
    raised = {expected["code"] for case in CASES for expected in case.expect} | set(RAISED_ELSEWHERE)
    assert set(list_codes()) - raised == set()


def test_every_case_has_a_known_code() -> None:
    assert {expected["code"] for case in CASES for expected in case.expect} - set(list_codes()) == set()
