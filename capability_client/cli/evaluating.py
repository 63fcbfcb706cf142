"""`evaluate DIR --model URL`: the cases of a folder, played by a model, without a server."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any, Final

from capability_client.client.local_registry import LocalSkills, read_folder
from capability_client.evaluation.model_port import KINDS, ModelSettings, VendorModel
from capability_client.evaluation.report import CaseResult, as_document, as_junit, rate, table
from capability_client.evaluation.rubric import judge_play
from capability_client.evaluation.running import run_case
from capability_client.version import __version__
from capability_kit import evaluation_cases as case_files
from capability_kit.evaluation_cases import CasesInvalid, EvaluationCase

KEY_VARIABLE: Final = "MODEL_API_KEY"
_REPETITIONS_MAX: Final = 100


def add_verb(verbs: Any, add: Callable[..., argparse.ArgumentParser]) -> None:
    """The verb with its options."""
    parser = add(
        verbs, "evaluate", _evaluate, "play the cases of a skill's folder with a model, and judge what it does"
    )
    parser.add_argument("folder", type=Path, help=f"a folder with a skill and its {case_files.PATH}")
    parser.add_argument("--model", required=True, metavar="URL", help="such as http://127.0.0.1:11434/v1")
    parser.add_argument("--model-name", required=True, metavar="NAME", help="as the server calls it")
    parser.add_argument("--kind", choices=KINDS, default="openai", help="the form of its interface")
    parser.add_argument("--repeat", type=int, default=1, metavar="N", help="play each case so often")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results, with what was said")
    parser.add_argument("--junit", type=Path, metavar="FILE", help="write the results for a pipeline")


def _evaluate(options: argparse.Namespace) -> int:
    """Exit code 1 where a case has failed."""
    folder: Path = options.folder.resolve()
    if not 1 <= options.repeat <= _REPETITIONS_MAX:
        raise ValueError(f"--repeat is 1 to {_REPETITIONS_MAX}")
    cases = _read(folder)
    settings = ModelSettings(options.model, options.model_name, options.kind, os.environ.get(KEY_VARIABLE, ""))
    source = LocalSkills(folder.parent)
    results: list[CaseResult] = []
    for case, number in product(cases, range(1, options.repeat + 1)):
        result, error = _play(case, number, source, settings)
        if error and not results and not result.tokens:
            raise ValueError(f"No case is played: {error}")
        results.append(result)
    print(table(results))
    if options.json:
        about = _about(folder) | {"model": options.model_name, "settings": {"kind": options.kind}}
        text = json.dumps(as_document(results, **about), indent=2, ensure_ascii=False)
        options.json.write_text(text + "\n", "utf-8")
    if options.junit:
        options.junit.write_text(as_junit(results, name=folder.name), "utf-8")
    whole = rate(results)
    return 0 if whole.passed == whole.total else 1


def _about(folder: Path) -> dict[str, Any]:
    """What was played, and by what: a registry takes results for exactly these texts."""
    bundle = read_folder(folder)
    return {"tool": f"capability-client {__version__}", "capability_id": bundle.capability_id, "digest": bundle.digest}


def _read(folder: Path) -> list[EvaluationCase]:
    path = folder / case_files.PATH
    if not path.is_file():
        raise CasesInvalid(f"{path} is not there: docs/evaluations.md says what is in it")
    return case_files.parse_cases(path.read_text("utf-8"))


def _play(case: EvaluationCase, number: int, source: LocalSkills, settings: ModelSettings) -> tuple[CaseResult, str]:
    """What came of it, and why the model did not answer; empty where it did."""
    model = VendorModel(settings)
    try:
        found = run_case(case, source, model)
        failures = tuple(judge_play(case, found, model))
    finally:
        model.wire.close()
    print(".", end="", file=sys.stderr, flush=True)
    usage = found.usage
    result = CaseResult(
        case.name, number, failures, usage.tokens, usage.seconds, case.must, case.digest, found.transcript()
    )
    return result, found.error
