"""`capability-lint [PATH ...]`: checks bundles and Agent Skills, and exits with 1 where one has an error."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

from capability_rules.errors import SourceUnreadable
from capability_rules.lint.checks import LintResult, lint_paths
from capability_rules.output.github import format_annotations
from capability_rules.output.sarif import build_sarif
from capability_rules.output.text import TerminalStyle, escape_controls, format_validation
from capability_rules.validation import RULES_VERSION
from capability_rules.validation.isolation import pool

FORMATS: Final = ("text", "json", "sarif", "github")
# What makes the command fail, from the least on.
LEVELS: Final = ("error", "held", "warning")
_EXIT_FOUND: Final = 1
_EXIT_UNREADABLE: Final = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code 0, 1 where something was found that fails, 2 where an argument could not be read."""
    options = _parser().parse_args(arguments)
    # What others wrote is checked in processes that can be ended.
    pool.use_processes(min(2, os.cpu_count() or 1))
    try:
        result = lint_paths(options.paths, changed_since=options.changed_since)
    except SourceUnreadable as error:
        print(f"capability-lint: {escape_controls(error.message)}", file=sys.stderr)
        return _EXIT_UNREADABLE
    finally:
        pool.use_processes(0)
    _write(_format(result, options.format), options.output)
    for unreadable in result.unreadable:
        print(f"capability-lint: {escape_controls(unreadable.message)}", file=sys.stderr)
    if result.unreadable:
        return _EXIT_UNREADABLE
    return _EXIT_FOUND if _fails(result, options.fail_on) else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="capability-lint",
        description="Check capability bundles and Agent Skills with the rules of Capability Studio. Nothing is sent.",
    )
    parser.add_argument("paths", nargs="*", default=["."], metavar="PATH", help="a folder, an archive or a SKILL.md")
    words = "report only bundles with a file that differs from this git revision, such as origin/main"
    parser.add_argument("--changed-since", default="", metavar="REVISION", help=words)
    parser.add_argument("--format", choices=FORMATS, default="text", help="github: annotations of a workflow")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write there in place of printing")
    words = "what makes the command exit with 1; held is a passage that somebody has to decide about"
    parser.add_argument("--fail-on", choices=LEVELS, default="error", help=words)
    parser.add_argument("--version", action="version", version=f"%(prog)s {_version()}, rules {RULES_VERSION}")
    return parser


def _version() -> str:
    try:
        return version("capability-rules")
    except PackageNotFoundError:
        return "of this checkout"


def _format(result: LintResult, kind: str) -> Iterable[str]:
    if kind == "sarif":
        return [json.dumps(build_sarif(result.checked), indent=2)]
    if kind == "json":
        errors = sum(len(entry.report.errors) for entry in result.checked) + len(result.unreadable)
        warnings = sum(len(entry.report.warnings) for entry in result.checked)
        bundles = [entry.as_dict() for entry in result.checked]
        return [json.dumps({"bundles": bundles, "errors": errors, "warnings": warnings}, indent=2)]
    if kind == "github":
        return list(format_annotations(result.checked))
    paint = TerminalStyle(sys.stdout)
    lines = [line for entry in result.checked for line in format_validation(entry, paint)]
    return lines or ["No bundle has changed."]


def _write(lines: Iterable[str], file: Path | None) -> None:
    text = "".join(f"{line}\n" for line in lines)
    if file is None:
        # The name of a file may hold bytes that are not text.
        sys.stdout.buffer.write(text.encode("utf-8", "surrogateescape"))
        sys.stdout.flush()
    else:
        file.write_text(text, encoding="utf-8", errors="surrogateescape")


def _fails(result: LintResult, level: str) -> bool:
    reports = [entry.report for entry in result.checked]
    if any(report.errors for report in reports):
        return True
    if level == "held":
        return any(report.held for report in reports)
    return level == "warning" and any(report.warnings for report in reports)


if __name__ == "__main__":
    sys.exit(main())
