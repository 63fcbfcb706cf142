"""SARIF 2.1.0: the parts that its specification requires."""

from __future__ import annotations

import json
from urllib.parse import urlsplit

import pytest

from capability_rules.output.sarif import build_sarif
from capability_rules.validation import Finding, Report, validate_bundle
from capability_rules.validation.bundle_set import ValidationResult
from tests.cases import read_cases

LEVELS = {"none", "note", "warning", "error"}


def test_every_case_makes_a_document_of_the_right_shape() -> None:
    checked = [ValidationResult(f"bundles/{case.name}", validate_bundle(case.files)) for case in read_cases()[:60]]
    document = json.loads(json.dumps(build_sarif(checked)))
    assert set(document) == {"$schema", "version", "runs"}
    assert document["version"] == "2.1.0"
    (run,) = document["runs"]
    driver = run["tool"]["driver"]
    rules = {rule["id"] for rule in driver["rules"]}
    assert driver["name"]
    assert run["columnKind"] == "unicodeCodePoints"
    assert len(rules) == len(driver["rules"])
    for rule in driver["rules"]:
        assert rule["shortDescription"]["text"]
        assert rule["help"]["text"]
        assert rule["defaultConfiguration"]["level"] in LEVELS
    assert len(run["results"]) == sum(len(entry.report.findings) for entry in checked)
    for result in run["results"]:
        assert result["ruleId"] in rules
        assert result["level"] in LEVELS
        assert result["message"]["text"]
        (location,) = result["locations"]
        region = location["physicalLocation"].get("region", {"startLine": 1, "startColumn": 1})
        assert region["startLine"] >= 1
        assert region["startColumn"] >= 1
        uri = location["physicalLocation"]["artifactLocation"]["uri"]
        assert urlsplit(uri).path == uri


def test_nothing_found_is_an_empty_run() -> None:
    (run,) = build_sarif([])["runs"]
    assert (run["results"], run["tool"]["driver"]["rules"]) == ([], [])


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("a b", "a%20b/skill.md"),
        ("ä", "%C3%A4/skill.md"),
        ("a\udcff", "a%FF/skill.md"),
        ("a#?%", "a%23%3F%25/skill.md"),
    ],
)
def test_a_path_is_a_valid_address(path: str, uri: str) -> None:
    finding = Finding("FILE_MISSING", "error", "skill.md", "", None, None, "m", "h")
    (run,) = build_sarif([ValidationResult(path, Report({}, (finding,), None, ""))])["runs"]
    assert run["results"][0]["locations"][0]["physicalLocation"] == {"artifactLocation": {"uri": uri}}
