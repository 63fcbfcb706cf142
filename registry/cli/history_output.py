"""What `registry verify` and `backup verify` say of a history."""

from __future__ import annotations

from typing import Any

from registry.cli.command import SubcommandBase
from registry.operations.verification.verify import HistoryReport


def tell_history(command: SubcommandBase, report: HistoryReport, options: dict[str, Any]) -> int:
    """Print it, as one document or a line for each problem; returns the exit code."""
    counts = (
        f"{report.audit_rows} audit rows, {report.revisions} revisions, {report.releases} releases and "
        f"{report.checkpoints} checkpoints"
    )
    words = [f"error[{problem.code}] {problem.table} {problem.row}: {problem.message}" for problem in report.problems]
    end = f"{len(words)} problems in {counts}" if words else f"{counts} are what was signed and recorded"
    command.tell(report.as_dict(), [*words, end], options)
    return 1 if words else 0
