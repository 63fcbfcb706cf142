"""The recorded run that comes with each example, written again after its texts or cases have changed:

    .venv/bin/python -m tests.recorded_runs

A scripted model does what each case expects: the run shows the pages to somebody without a model, and says nothing
about a real one.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Final

from capability_client.client.local_registry import LocalSkills, read_folder
from capability_client.evaluation.example_values import example_of
from capability_client.evaluation.judgment import NOTHING, judge_case
from capability_client.evaluation.model_port import ModelSettings, VendorModel
from capability_client.evaluation.report import CaseResult, as_document
from capability_client.evaluation.running import run_case
from capability_kit import evaluation_cases as case_files
from capability_kit.evaluation_cases import EvaluationCase
from tests.model_servers import model_server
from tests.servers import ROOT
from tests.vendors import Reply, tool_names

EXAMPLES: Final = ROOT / "examples"
RESULTS: Final = "evals/results.json"


def record(folder: Path) -> tuple[str, list[str]]:
    """The text of the file, and what did not hold."""
    bundle = read_folder(folder)
    source = LocalSkills(folder.parent)
    results, problems = [], []
    for case in case_files.parse_cases((folder / case_files.PATH).read_text("utf-8")):
        with model_server("openai", _Script(case, bundle.capability_id)) as server:
            model = VendorModel(ModelSettings(server.url, "scripted"))
            found = run_case(case, source, model)
            model.wire.close()
        failures = judge_case(case, found)
        problems += [f"{folder.name}: {case.name}: {words}" for words in failures]
        results.append(CaseResult(case.name, 1, tuple(failures), must=case.must, case_digest=case.digest))
    about = {"tool": "recorded example", "digest": bundle.digest, "model": "scripted"}
    return json.dumps(as_document(results, **about), indent=2, ensure_ascii=False) + "\n", problems


class _Script:
    """Loads, opens, calls and says what a case expects, in this order."""

    def __init__(self, case: EvaluationCase, capability_id: str) -> None:
        expect = case.expect
        self.load = (expect.loads or (capability_id if expect.calls else "")).replace(NOTHING, "")
        self.calls: list[tuple[str, Any]] = [(one.tool, dict(one.arguments)) for one in expect.calls]
        known = {tool for tool, _arguments in self.calls}
        self.calls += [(tool, {}) for tool in expect.asks_before if tool not in known]
        if expect.opens_form:
            self.calls.insert(0, ("form_open", {"schema_id": expect.opens_form}))
        self.words = " ".join(expect.says) or "Done."

    def __call__(self, body: Any) -> Reply:
        names = tool_names(body)
        if (
            self.load
            and not any(name.startswith(f"{self.load}__") for name in names)
            and "capability_skill_load" in names
        ):
            load, self.load = self.load, ""
            return "", [("capability_skill_load", {"capability_id": load})]
        if self.calls:
            tool, arguments = self.calls.pop(0)
            name = next((one for one in names if one == tool or one.endswith(f"__{tool}")), tool)
            schema: dict[str, Any] = next(
                (one["function"]["parameters"] for one in body["tools"] if one["function"]["name"] == name), {}
            )
            return "", [(name, _merged(example_of(schema), _plain(arguments)))]
        return self.words, []


def _merged(example: Any, wanted: Any) -> Any:
    """What is wanted, and what the tool requires beside it."""
    if isinstance(example, dict) and isinstance(wanted, dict):
        names = [*example, *(name for name in wanted if name not in example)]
        return {name: _merged(example.get(name), wanted[name]) if name in wanted else example[name] for name in names}
    if isinstance(example, list) and isinstance(wanted, list) and example:
        return [_merged(example[0], one) for one in wanted]
    return wanted


def _plain(value: Any) -> Any:
    """What an expectation stands for: `*` is for anything."""
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return value.replace("*", "") if isinstance(value, str) else value


def list_folders() -> list[Path]:
    """The examples that have cases."""
    return sorted(path.parent.parent for path in EXAMPLES.glob(f"*/{case_files.PATH}"))


if __name__ == "__main__":
    for each in list_folders():
        text, missed = record(each)
        (each / RESULTS).write_text(text, "utf-8")
        sys.stdout.write("".join(f"{line}\n" for line in missed) or f"{each.name}: all pass\n")
