"""What scanners report: their dialects are read, and what does not fit the bundle is refused with its place."""

from __future__ import annotations

import json
from typing import Any

import pytest

from capability_rules.errors import InvalidRequest
from capability_rules.validation.sarif_reader import ToolResults, clean_text, parse_sarif, read_sarif

FILES = {
    "capability.json": '{\n  "capability_id": "alpha"\n}\n',
    "skill.md": "# Alpha\n\n𝒳 is one sign\n",
    "scripts/a b.py": "import os\nos.system('x')\n",
}


def _result(uri: str = "skill.md", line: int | None = 1, **more: Any) -> dict[str, Any]:
    region = {} if line is None else {"region": {"startLine": line, "startColumn": more.pop("column", 1)}}
    place = {"physicalLocation": {"artifactLocation": {"uri": uri}, **region}}
    return {"ruleId": "rule-1", "level": "error", "message": {"text": "Bad."}, "locations": [place]} | more


def _log(*results: Any, **run: Any) -> dict[str, Any]:
    tool = {"driver": {"name": "Semgrep OSS", "semanticVersion": "1.2.3", "rules": run.pop("rules", [])}}
    return {"version": "2.1.0", "runs": [{"tool": tool, "results": list(results)} | run]}


def _read(*results: Any, below: str = "", **run: Any) -> ToolResults:
    (only,) = read_sarif(_log(*results, **run), FILES, below=below)
    return only


def _places(found: ToolResults) -> list[tuple[str, int | None, int | None]]:
    return [(one.file, one.line, one.column) for one in found.results]


def test_a_result_has_tool_rule_place_and_words() -> None:
    found = _read(_result("scripts/a%20b.py", 2, column=4))
    assert (found.tool, found.version, found.notes, found.suppressed) == ("Semgrep OSS", "1.2.3", 0, 0)
    assert found.results[0].as_dict() == {
        "severity": "error", "rule_id": "rule-1", "file": "scripts/a b.py", "line": 2, "column": 4, "message": "Bad.",
    }  # fmt: skip


def test_the_level_is_the_results_else_the_rules_else_a_warning() -> None:
    rules = [{"id": "rule-1", "defaultConfiguration": {"level": "error"}}, {"id": "rule-2"}]
    no_level = {key: value for key, value in _result().items() if key != "level"}
    found = _read(
        no_level,
        no_level | {"ruleId": "rule-2"},
        {key: value for key, value in no_level.items() if key != "ruleId"} | {"ruleIndex": 0},
        {key: value for key, value in no_level.items() if key != "ruleId"} | {"rule": {"id": "rule-1"}},
        no_level | {"ruleId": "rule-1/of/a/kind"},
        _result(level="note"),
        _result(level="none"),
        _result(kind="pass"),
        rules=rules,
    )
    assert [one.severity for one in found.results] == ["error", "warning", "error", "error", "error"]
    assert [one.rule_id for one in found.results] == ["rule-1", "rule-2", "rule-1", "rule-1", "rule-1/of/a/kind"]
    assert found.notes == 3


def test_accepted_suppressions_and_what_is_gone_block_nothing() -> None:
    found = _read(
        _result(suppressions=[{"kind": "inSource"}]),
        _result(suppressions=[{"kind": "external", "status": "accepted"}]),
        _result(suppressions=[{"kind": "external", "status": "underReview"}]),
        _result(suppressions=[{"kind": "inSource"}, {"kind": "external", "status": "rejected"}]),
        _result(suppressions=[]),
        _result(baselineState="absent"),
    )
    assert (len(found.results), found.suppressed) == (3, 2)


def test_paths_are_read_below_a_folder() -> None:
    absolute = "file:///src/alpha/skill.md"
    assert _places(_read(_result("alpha/./skill.md"), below="alpha/")) == [("skill.md", 1, 1)]
    assert _places(_read(_result(absolute), below="/src/alpha")) == [("skill.md", 1, 1)]
    assert _places(_read(_result("./skill.md"), below=".")) == [("skill.md", 1, 1)]
    by_index = _result() | {"locations": [{"physicalLocation": {"artifactLocation": {"index": 1}}}]}
    artifacts = [{"location": {"uri": "x"}}, {"location": {"uri": "skill.md"}}]
    assert _places(_read(by_index, artifacts=artifacts)) == [("skill.md", 1, 1)]


def test_a_result_without_a_place_is_about_the_bundle() -> None:
    bare = {"ruleId": "r", "level": "error", "message": {"text": "Bad."}}
    assert _places(_read(bare, bare | {"locations": [{}]}, _result(line=None))) == [
        ("capability.json", 1, 1), ("capability.json", 1, 1), ("skill.md", 1, 1),
    ]  # fmt: skip
    # One of the four files that is not there has no line.
    assert _places(_read(_result("tools.json", 4))) == [("tools.json", None, None)]


def test_columns_are_utf16_units_unless_the_run_says_otherwise() -> None:
    assert _places(_read(_result(line=3, column=3))) == [("skill.md", 3, 2)]
    assert _places(_read(_result(line=3, column=3), columnKind="unicodeCodePoints")) == [("skill.md", 3, 3)]
    assert _places(_read(_result(line=3, column=999))) == [("skill.md", 3, 14)]


def test_words_are_found_by_id_and_filled_in() -> None:
    rules = [
        {"id": "rule-1", "messageStrings": {"default": {"text": "Call of {0} in {1}, {7}"}}},
        {"id": "rule-2", "shortDescription": {"text": "Short."}},
    ]
    message = {"id": "default", "arguments": ["eval", "a.py"]}
    found = _read(_result(message=message), _result(message={}, ruleId="rule-2"), _result(message={}), rules=rules)
    assert [one.message for one in found.results] == ["Call of eval in a.py, {7}", "Short.", "no message"]


def test_words_are_not_trusted() -> None:
    hostile = "one\n\ttwo \x1b[2J\u202e \ud800 " + "x" * 9000
    found = _read(_result(message={"text": hostile}, ruleId="r\x07" + "y" * 900))
    (one,) = found.results
    assert one.message.startswith("one two <U+001B>[2J<U+202E> <U+D800> xxx")
    assert (len(one.message), len(one.rule_id)) == (500, 255)
    assert one.rule_id.startswith("r<U+0007>y")
    assert clean_text("plain", 5) == "plain"


def test_runs_of_one_tool_are_put_together() -> None:
    log = _log(_result())
    log["runs"] += [*_log(_result(level="note"))["runs"], *_log(_result(), _result())["runs"]]
    log["runs"][2]["tool"]["driver"]["name"] = "Trivy"
    found = read_sarif(log, FILES)
    assert [(one.tool, len(one.results), one.notes) for one in found] == [("Semgrep OSS", 1, 1), ("Trivy", 2, 0)]
    assert read_sarif({"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "x"}}}]}, FILES)[0].results == ()


def test_rules_of_extensions_are_known() -> None:
    log = _log({key: value for key, value in _result(ruleId="ext").items() if key != "level"})
    log["runs"][0]["tool"]["extensions"] = [{"rules": [{"id": "ext", "defaultConfiguration": {"level": "note"}}]}]
    assert read_sarif(log, FILES)[0].notes == 1


_ARTIFACT = "/runs/0/results/0/locations/0/physicalLocation/artifactLocation"
_REGION = "/runs/0/results/0/locations/0/physicalLocation/region"
WRONG: list[tuple[str, str, Any]] = [
    ("/", "must be an object, found a list", []),
    ("/version", "must be '2.1.0', found '2.0.0'", {"version": "2.0.0", "runs": []}),
    ("/runs", "must be a list, found", {"version": "2.1.0"}),
    ("/runs", "1 to 20 runs, found 0", {"version": "2.1.0", "runs": []}),
    ("/runs", "1 to 20 runs, found 21", {"version": "2.1.0", "runs": _log()["runs"] * 21}),
    ("/runs/0", "must be an object", {"version": "2.1.0", "runs": [1]}),
    ("/runs/0/tool", "must be an object", {"version": "2.1.0", "runs": [{}]}),
    ("/runs/0/tool/driver", "must be an object", {"version": "2.1.0", "runs": [{"tool": {}}]}),
    ("/runs/0/tool/driver/name", "printable", {"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "a\nb"}}}]}),
    ("/runs/0/results", "must be a list", _log() | {"runs": [_log()["runs"][0] | {"results": None}]}),
    ("/runs/0/results", "at most 2000", _log(*[_result(level="note")] * 2001)),
    ("/runs/0/results/1", "must be an object", _log(_result(), "x")),
    ("/runs/0/results/0/level", "must be one of none, note", _log(_result(level="fatal"))),
    ("/runs/0/invocations/0", "failed", _log(invocations=[{"executionSuccessful": False}])),
    (_ARTIFACT, "'src/app.py' is not", _log(_result("src/app.py"))),
    (_ARTIFACT, "is not a file", _log(_result("../skill.md"))),
    (_ARTIFACT, "is not a file", _log(_result("x/skill.md"))),
    (_ARTIFACT, "is not a file", _log(_result("https://a/skill.md"))),
    (_ARTIFACT, "is not a file", _log(_result(""))),
    (f"{_REGION}/startLine", "has 4 lines", _log(_result(line=5))),
    (f"{_REGION}/startLine", "from 1", _log(_result(line=0))),
    (f"{_REGION}/startLine", "from 1", _log(_result(line=True))),
    (f"{_REGION}/startColumn", "from 1", _log(_result(column=-1))),
]  # fmt: skip


@pytest.mark.parametrize(("pointer", "words", "log"), WRONG)
def test_what_does_not_fit_is_refused_with_its_place(pointer: str, words: str, log: Any) -> None:
    with pytest.raises(InvalidRequest) as refusal:
        read_sarif(log, FILES)
    assert words in refusal.value.message
    assert f"at {pointer}:" in refusal.value.message


def test_a_folder_is_no_way_around() -> None:
    with pytest.raises(InvalidRequest, match="is not a file of this bundle"):
        read_sarif(_log(_result("skill.md")), FILES, below="alpha")
    with pytest.raises(InvalidRequest, match="is not a file of this bundle"):
        read_sarif(_log(_result("beta/skill.md")), FILES, below="alpha")
    with pytest.raises(InvalidRequest, match="is not a file of this bundle"):
        read_sarif(_log(_result("alpha/../beta/skill.md")), FILES, below="alpha")


def test_bytes_are_strict_json_of_a_bounded_size() -> None:
    text = json.dumps(_log(_result())).encode()
    assert parse_sarif(b"\xef\xbb\xbf" + text) == _log(_result())
    for content, words in (
        (b"{", "line 1, column"),
        (b'{"a": 1,\n "a": 2}', "line 2, column 2"),
        (b"\xff\xfe", "not text in UTF-8"),
        (b"[" * 100 + b"]" * 100, "levels"),
        (b" " * (1024 * 1024 + 1), "at most 1,048,576"),
        (b"", "valid JSON"),
    ):
        with pytest.raises(InvalidRequest, match=words):
            parse_sarif(content)


# As Semgrep writes it: levels in the rules, paths below the folder that was scanned.
SEMGREP = """{"version": "2.1.0", "runs": [{
  "invocations": [{"executionSuccessful": true, "toolExecutionNotifications": []}],
  "tool": {"driver": {"name": "Semgrep OSS", "semanticVersion": "1.90.0", "rules": [
    {"id": "shell-true", "name": "shell-true", "defaultConfiguration": {"level": "error"},
     "shortDescription": {"text": "Short."}, "properties": {"tags": ["CWE-78"]}}]}},
  "results": [
    {"fingerprints": {"matchBasedId/v1": "requires login"}, "ruleId": "shell-true", "properties": {},
     "message": {"text": "Found 'run' with 'shell=True'."},
     "locations": [{"physicalLocation": {
       "artifactLocation": {"uri": "draft/scripts/a b.py", "uriBaseId": "%SRCROOT%"},
       "region": {"startLine": 2, "startColumn": 1, "endLine": 2, "endColumn": 5, "snippet": {"text": "x"}}}}]},
    {"ruleId": "shell-true", "message": {"text": "Seen."}, "suppressions": [{"kind": "inSource"}],
     "locations": [{"physicalLocation": {"artifactLocation": {"uri": "draft/skill.md"}}}]}]}]}"""


def test_a_log_of_semgrep() -> None:
    (found,) = read_sarif(parse_sarif(SEMGREP.encode()), FILES, below="draft")
    assert (found.tool, found.version, found.suppressed) == ("Semgrep OSS", "1.90.0", 1)
    (one,) = found.results
    assert (one.severity, one.rule_id, one.file, one.line) == ("error", "shell-true", "scripts/a b.py", 2)


def test_a_log_of_gitleaks_has_no_levels_and_so_warnings() -> None:
    result = {
        "message": {"text": "aws-access-token has detected secret for file skill.md."},
        "ruleId": "aws-access-token",
        "locations": [
            {"physicalLocation": {"artifactLocation": {"uri": "skill.md"}, "region": {"startLine": 3, "endLine": 3}}}
        ],
        "partialFingerprints": {"commitSha": "", "email": ""},
    }
    found = _read(result, rules=[{"id": "aws-access-token", "shortDescription": {"text": "Key."}}])
    assert [(one.severity, one.line, one.column) for one in found.results] == [("warning", 3, 1)]
